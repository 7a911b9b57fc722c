"""Scout: the contract, what it learns, how it explores, and that its reasons add up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from honeyguide.errors import CollectionError
from honeyguide.model import Block, Link, Page, Verdict, Via
from honeyguide.ordering import scout_evidence
from honeyguide.ordering.base import PausingOrder, RevisingOrder, done
from honeyguide.ordering.scout import Scout, ScoutBlocks
from honeyguide.store.models import Saved
from honeyguide.testing.link_orders import Check, all_checks
from honeyguide.web.url import url_id


class Owls:
    """A page model that knows one word."""

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        return [float("owl" in text) for text in texts]


@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
def test_contract(check: Check) -> None:
    check(lambda: Scout(Owls()))


def link(url: str, anchor: str = "", path: str = "body/ul/li/a", position: int = 0) -> Link:
    return Link(url, url_id(url), anchor, tag_path=path, position=position)


def fetch(order: Scout, url: str, score: float, links: list[Link] = []) -> dict[str, float]:  # noqa: B006
    text = 400 * ("owl nest " if score > 0.5 else "tax ledger ")
    page = Page(url=url, id=url_id(url), text=text, links=tuple(links))
    order.learn(page, Verdict(score, score >= 0.5))
    ranked = order.rank(page, Verdict(score, score >= 0.5), links)
    return {links[one.link].url: one.priority for one in ranked}


def priority_of(order: Scout, url: str) -> float:
    return sum(reason.adds for reason in order.contributions(url))


LISTED = [link(f"https://a.example/l/{i}", path="body/ul/li/a", position=i) for i in range(12)]
MENU = [link(f"https://a.example/m/{i}", path="body/nav/a", position=12 + i) for i in range(12)]


@pytest.mark.parametrize(("worths", "least", "most"), [((0.0, 1.0), 0.7, 1.0), ((0.45, 0.55), 0.0, 0.3)])
def test_exploring_counts_as_far_as_verdicts_tell_pages_apart(
    worths: tuple[float, float], least: float, most: float
) -> None:
    """Where all verdicts lay around one half, hosts that nobody knew came before one full of targets."""
    order = Scout(Owls())
    pages = [link(f"https://a.example/l/{i}", position=i) for i in range(60)]
    fetch(order, "https://a.example/", 0.5, [*pages, link("https://b.example/x", position=60)])
    for number, one in enumerate(pages):
        fetch(order, one.url, worths[number % 2])
        order.revised()
    exploring = [each.adds for each in order.contributions("https://b.example/x") if each.name == "exploring"]
    assert least < sum(exploring) < most


def test_siblings_of_good_pages_come_first() -> None:
    order = Scout(Owls(), by_folder=0.0)
    fetch(order, "https://a.example/", 0.5, [*LISTED, *MENU])
    for good, bad in zip(LISTED[:6], MENU[:6], strict=True):
        fetch(order, good.url, 0.9)
        order.revised()
        fetch(order, bad.url, 0.0)
        order.revised()
    listed, menu = priority_of(order, LISTED[-1].url), priority_of(order, MENU[-1].url)
    assert listed > menu + 0.1
    told = " ".join(reason.text for reason in order.contributions(LISTED[-1].url))
    assert "found on the same lists were on topic" in told
    assert "of 6 pages found on the same lists" in told


def boxes() -> list[list[Link]]:
    """Two boxes of links at the same tag path, one of owls; the last link of each says nothing by itself."""
    found: list[list[Link]] = []
    for box, word in enumerate(("owl", "tax"), 1):
        names = [*(f"{word} {i}" for i in range(9)), "more"]
        urls = [f"https://a.example/{box * 100 + i}" for i in range(10)]
        pairs = zip(urls, names, strict=True)
        found.append([Link(u, url_id(u), n, tag_path="body/div/ul/li/a", group=box) for u, n in pairs])
    return found


def test_a_link_is_judged_by_the_other_links_of_its_list() -> None:
    owls, taxes = boxes()
    given = fetch(Scout(Owls()), "https://a.example/", 0.3, [*owls, *taxes])
    assert given[owls[-1].url] > given[taxes[-1].url]
    blind = Scout(Owls(), without=["topic in list", "list's likeness"])
    given = fetch(blind, "https://a.example/", 0.3, [*owls, *taxes])
    assert given[owls[-1].url] == pytest.approx(given[taxes[-1].url], abs=1e-6)


def test_lists_of_one_tag_path_are_told_apart() -> None:
    owls, taxes = boxes()
    order = Scout(Owls(), without=["topic in list", "list's likeness", "neighbours"])
    fetch(order, "https://a.example/", 0.3, [*owls, *taxes])
    for good, bad in zip(owls[:6], taxes[:6], strict=True):
        fetch(order, good.url, 0.9)
        fetch(order, bad.url, 0.0)
        order.revised()
    told = " ".join(reason.text for reason in order.contributions(owls[-1].url))
    assert "about 5 of 6 pages found on the same lists" in told
    assert priority_of(order, owls[-1].url) > priority_of(order, taxes[-1].url)


def test_a_host_that_nobody_tried_is_explored() -> None:
    order = Scout(Owls())
    others = [link(f"https://h{i}.example/", position=i) for i in range(3)]
    fetch(order, "https://a.example/", 0.3, [*others, *LISTED])
    for one in LISTED[:10]:
        fetch(order, one.url, 0.3)
        order.revised()
    revised = dict(zip(*(each.tolist() for each in _now(order)), strict=True))
    assert revised[others[0].id] > revised[LISTED[-1].id]
    assert "only 0 pages of this host" in " ".join(r.text for r in order.contributions(others[0].url))


def _now(order: Scout) -> tuple[NDArray[Any], NDArray[Any]]:
    fetch(order, "https://z.example/", 0.1, [link("https://h0.example/"), LISTED[-1]])
    revised = order.revised()
    return revised.ids, revised.priorities


def test_links_to_a_known_url_add_evidence() -> None:
    order = Scout(Owls())
    target = "https://b.example/x"
    first = fetch(order, "https://a.example/", 0.1, [link(target), link("https://b.example/y")])
    fetch(order, "https://c.example/", 1.0, [link(target, "owl"), link("https://b.example/z")])
    revised = order.revised()
    changed = dict(zip(revised.ids.tolist(), revised.priorities.tolist(), strict=True))
    assert changed[url_id(target)] > first[target]


def test_reasons_add_up_to_the_priority_that_was_given() -> None:
    order = Scout(Owls())
    fetch(order, "https://a.example/", 0.5, [*LISTED, *MENU])
    for one in (*LISTED[:5], *MENU[:5]):
        given = fetch(order, one.url, 0.7, [link("https://d.example/new", "owl")])
        assert priority_of(order, "https://d.example/new") == pytest.approx(given["https://d.example/new"])
    assert order.contributions("https://never.example/") == []


def test_rejudged_pages_change_the_evidence_and_back() -> None:
    order = Scout(Owls())
    fetch(order, "https://a.example/", 0.5, [*LISTED, *MENU])
    fetch(order, LISTED[0].url, 0.9)
    before = [each.copy() for each in order._sums]
    page = Page(url=LISTED[0].url, id=LISTED[0].id)
    order.rejudged(page, Verdict(0.1, False))
    assert not np.array_equal(order._sums.place, before[0])
    order.rejudged(page, Verdict(0.9, True))
    for each, old in zip(order._sums, before, strict=True):
        assert np.allclose(each, old, atol=1e-6)


def test_urls_that_ended_are_told_no_more() -> None:
    order = Scout(Owls())
    assert isinstance(order, RevisingOrder)
    fetch(order, "https://a.example/", 0.5, LISTED)
    order.gone(LISTED[3].id)
    order.gone(12345)
    for number in range(8):
        fetch(order, f"https://b.example/{number}", 0.5, LISTED)
        assert LISTED[3].id not in order.revised().ids.tolist()


def test_a_redirect_is_an_outcome_of_the_url_that_led_there() -> None:
    order = Scout(Owls())
    fetch(order, "https://a.example/", 0.5, LISTED)
    via = Via(parent=LISTED[0].id, parent_url=LISTED[0].url, source="redirect")
    order.learn(Page(url="https://a.example/new", id=77, via=via), Verdict(1.0, True))
    assert "about 1 of 1 page found on the same lists" in " ".join(
        reason.text for reason in order.contributions(LISTED[1].url)
    )
    loaded = Scout(Owls()).load(order.save())
    assert loaded._slots == order._slots
    assert len(order._slots) == order._held + 1


def test_the_frontier_is_told_whatever_changed() -> None:
    order = Scout(Owls())
    given: dict[int, float] = {}
    for number in range(60):
        links = [link(f"https://h{number % 5}.example/{number}/{i}", "owl" * (i % 2)) for i in range(6)]
        ranked = fetch(order, f"https://b.example/{number}", (number % 5) / 5, links)
        given |= {one.id: ranked[one.url] for one in links}
        revised = order.revised()
        given |= dict(zip(revised.ids.tolist(), revised.priorities.tolist(), strict=True))
    for _ in range(16):  # two looks at everything, with nothing new
        fetch(order, f"https://b.example/{_}/again", 0.5)
        revised = order.revised()
        given |= dict(zip(revised.ids.tolist(), revised.priorities.tolist(), strict=True))
    last = order._waiting()
    told = np.array([given[number] for number in order._urls.id[last].tolist()])
    assert np.abs(told - order._urls.priority[last]).max() < 0.02


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("honeyguide.ordering.scout.MOST", 300)
    order = Scout(Owls())
    for number in range(40):
        links = [link(f"https://a.example/{number}/{i}", position=i) for i in range(50)]
        fetch(order, f"https://b.example/{number}", 0.5, links)
        order.revised()
    assert order._held <= 300
    assert len(order._slots) <= 300
    assert all(order._urls.id[at] == number for number, at in order._slots.items())
    many = [link(f"https://c.example/{i}", position=i) for i in range(500)]
    assert len(fetch(order, "https://c.example/", 0.5, many)) == 500
    loaded = Scout(Owls()).load(order.save())
    assert loaded._held == order._held


def test_room_is_made_for_the_better_half_of_what_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of equal URLs those found first stay; what is kept of each moves with it."""
    monkeypatch.setattr("honeyguide.ordering.scout.MOST", 600)
    monkeypatch.setattr("honeyguide.ordering.scout.MOVED_AT_ONCE", 7)
    order = Scout(Owls())
    for number in range(11):
        links = [link(f"https://a.example/{number}/{i}", position=i) for i in range(50)]
        fetch(order, f"https://b.example/{number}", 0.5, links)
    order._slots[4711] = order._slots[url_id("https://a.example/3/7")]  # which a redirect led from
    waiting = order._waiting()
    order._urls.priority[waiting] = np.random.default_rng(1).integers(0, 3, len(waiting))
    order._urls.topic[: order._held, 4] = np.arange(order._held)
    best = waiting[np.argsort(-order._urls.priority[waiting], kind="stable")[:200]]
    kept = np.union1d(best, np.flatnonzero(order._urls.state[: order._held] == scout_evidence.FETCHED))
    ids = order._urls.id[kept].tolist()
    order._let_go()
    assert order._urls.id[: order._held].tolist() == ids
    assert order._urls.topic[: order._held, 4].tolist() == kept.tolist()
    led = order._slots.pop(4711, None)
    assert led == order._slots.get(url_id("https://a.example/3/7"))
    assert order._slots == {number: at for at, number in enumerate(ids)}


def test_pauses_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """With small portions there are pauses, and what is told in the end is the same."""

    def crawled() -> tuple[list[int], list[list[Any]]]:
        order = Scout(Owls())
        assert isinstance(order, PausingOrder)
        pauses, told = [], []
        for number in range(30):
            links = [
                link(f"https://a.example/{i}", "an owl" * (i % 2), position=i) for i in range(number, 60)
            ]
            fetch(order, f"https://a.example/{number}", number % 3 / 2, links)
            if number % 7 == 6:
                order.rejudged(Page("https://a.example/2", url_id("https://a.example/2")), Verdict(0.9, True))
            steps, count = order.revising(), 0
            while True:
                try:
                    next(steps)
                except StopIteration as end:
                    told.append([end.value.ids.tolist(), end.value.priorities.tolist()])
                    break
                count += 1
            pauses.append(count)
        return pauses, told

    pauses, told = crawled()
    assert not any(pauses)
    monkeypatch.setattr("honeyguide.ordering.scout.SCORED_AT_ONCE", 10)
    pauses, parted = crawled()
    assert max(pauses) >= 5
    assert parted == told


def test_options_are_checked() -> None:
    with pytest.raises(ValueError, match="best parent"):
        Scout(Owls(), without=["magic"])
    with pytest.raises(ValueError, match="trust"):
        Scout(Owls(), trust=0.0)
    assert Scout(Owls(), without=scout_evidence.SCORES[:2])._left_out.sum() == 2


def test_addresses_that_fail_count_against_their_like() -> None:
    order = Scout(Owls(), by_folder=0.0)
    fetch(order, "https://a.example/", 0.5, [*LISTED, *MENU])
    for good, dead in zip(LISTED[:6], MENU[:6], strict=True):
        fetch(order, good.url, 0.9)
        order.gone(dead.id)
        order.revised()
    assert priority_of(order, LISTED[-1].url) > priority_of(order, MENU[-1].url) + 0.1
    assert "of 6 pages" in " ".join(each.fact for each in order.contributions(MENU[-1].url))


def test_a_page_that_is_judged_again_teaches_anew() -> None:
    order = Scout(Owls(), by_folder=0.0)
    fetch(order, "https://a.example/", 0.5, [*LISTED, *MENU])
    for good, bad in zip(LISTED[:10], MENU[:10], strict=True):
        fetch(order, good.url, 0.9)
        fetch(order, bad.url, 0.0)
    before = priority_of(order, LISTED[-1].url)
    for good in LISTED[:10]:
        order.rejudged(Page(good.url, good.id), Verdict(0.0, False))
    done(order._relearn())
    order.revised()
    assert priority_of(order, LISTED[-1].url) < before - 0.1
    assert order._worths[: order._learned].max() == pytest.approx(0.0)


def test_a_doubtful_page_is_worth_what_the_pages_beside_it_are() -> None:
    """A page in doubt on a list of good ones is likely good, too; one without any evidence is not."""
    worths = {}
    for beside in (0.9, 0.1):
        order = Scout(Owls(), hubs=0.0, fellows=1.0)
        fetch(order, "https://a.example/", 0.5, LISTED)
        for one in LISTED[:5]:
            fetch(order, one.url, beside)
        for one, score in ((LISTED[5], 0.3), (LISTED[6], 0.0)):
            fetch(order, one.url, score)
        worths[beside] = order._worths[5:7].tolist()
        # Judged again the same way, it is worth the same: it does not count as its own fellow.
        lone = Page(LISTED[6].url, LISTED[6].id)
        order.rejudged(lone, Verdict(0.3, False))
        again = float(order._worths[6])
        order.rejudged(lone, Verdict(0.3, False))
        assert float(order._worths[6]) == pytest.approx(again, abs=1e-6)
    assert worths[0.9][0] > 0.3 > worths[0.1][0] - 1e-6
    assert worths[0.9][0] > worths[0.1][0] + 0.1
    assert worths[0.9][1] == worths[0.1][1] == 0.0


def test_a_host_of_short_pages_is_no_way_out() -> None:
    """A machine that makes pages of three words without end is left, though no page of it says much."""
    order = Scout(Owls(), by_folder=0.0)
    endless = [link(f"https://a.example/x/{i}", position=i) for i in range(200)]
    fetch(order, "https://a.example/", 0.9, endless)
    for one in endless[:150]:
        order.learn(Page(one.url, one.id, text="tax ledger sum"), Verdict(0.0, False))
        order.revised()
    assert priority_of(order, endless[-1].url) < 0.1


def test_a_checkpoint_with_what_is_no_longer_kept_is_read() -> None:
    saved = _crawled().save()
    older = {**saved.arrays, "page_said": np.ones(3, np.float32)}
    order = Scout(Owls()).load(Saved(values=saved.values, arrays=older))
    assert order.contributions(LISTED[-1].url)


def test_a_page_that_leads_to_promising_urls_is_a_better_outcome_once() -> None:
    worths = []
    for hubs in (0.0, 1.0):
        order = Scout(Owls(), hubs=hubs)
        fetch(order, "https://a.example/", 0.5, [link("https://a.example/hub")])
        for _ in range(2):  # asked again, it is worth no more
            fetch(order, "https://a.example/hub", 0.1, LISTED)
        worths.append(float(order._worths[0]))
    assert worths[0] == pytest.approx(0.1)
    best = np.sort(order._urls.priority[order._waiting()])[-3:].mean()
    assert worths[1] == pytest.approx(0.1 + 0.9 * best, abs=1e-3)


def _crawled() -> Scout:
    order = Scout(Owls())
    fetch(order, "https://a.example/", 0.5, [*LISTED, *MENU])
    for one in (*LISTED[:6], *MENU[:6]):
        fetch(order, one.url, 0.9 if one in LISTED else 0.0)
        order.revised()
    return order


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("url_parent", lambda each: each + 1_000_000),
        ("url_parent", lambda each: each - 2),
        ("url_page", lambda each: each + 1_000_000),
        ("url_links", lambda each: -each - 1),
        ("url_state", lambda each: each + 7),
        ("url_host", lambda each: each[:1]),
        ("url_scores", lambda each: each[:, :14]),
        ("url_priority", lambda each: each * np.nan),
        ("page_base", lambda each: each + (1 << 40)),
        ("page_outcome", lambda each: each + 1_000_000),
        ("sum_place", lambda each: each[:-1]),
        ("sum_host", lambda each: each[:3]),
        ("best", lambda each: each + 1_000_000),
        ("best", lambda each: each - 1_000_000),
        ("aliases", lambda each: np.array([[7, 1 << 40]], np.int64)),
        ("weight", lambda each: each[:2]),
        ("likeness_picture", lambda each: each[:9]),
    ],
)
def test_a_forged_checkpoint_is_refused_and_changes_nothing(name: str, change: Any) -> None:
    order = _crawled()
    saved = order.save()
    arrays = dict(saved.arrays)
    arrays[name] = change(arrays[name])
    other = Scout(Owls())
    with pytest.raises(CollectionError):
        other.load(Saved(values=saved.values, arrays=arrays))
    assert other.contributions(LISTED[0].url) == []
    assert [(one.name, one.adds) for one in other.load(saved).contributions(LISTED[-1].url)] == [
        (one.name, one.adds) for one in order.contributions(LISTED[-1].url)
    ]


def test_numbers_of_a_forged_checkpoint_are_checked() -> None:
    saved = _crawled().save()
    for name, value in (("swept", 1 << 40), ("swept", -1), ("next_place", -5), ("learned", 0)):
        with pytest.raises(CollectionError):
            Scout(Owls()).load(Saved(values=saved.values | {name: value}, arrays=saved.arrays))


def test_fresh_folders_of_a_barren_place_are_not_explored() -> None:
    """Folders without number, each with one address that fails: after some, the others are like them."""
    order = Scout(Owls())
    barren = [link(f"https://a.example/images/{i}/", position=i) for i in range(60)]
    other = link("https://a.example/texts/1/", position=60)
    fetch(order, "https://a.example/", 0.3, [*barren, other])
    first = {one.name: one.adds for one in order.contributions(barren[-1].url)}["exploring"]
    for one in barren[:30]:
        order.gone(one.id)
        order.revised()
    fetch(order, "https://a.example/again", 0.3, [barren[-1], other])
    adds = [{one.name: one.adds for one in order.contributions(each.url)} for each in (barren[-1], other)]
    assert adds[0].get("exploring", 0.0) < 0.5 * first
    assert adds[0].get("exploring", 0.0) < adds[1]["exploring"]


def test_topic_words_of_context_and_address_are_evidence() -> None:
    order = Scout(Owls(), topic_terms=["owl"])
    plain = link("https://a.example/1", "read more", position=0)
    context = Link("https://a.example/2", url_id("https://a.example/2"), "read more", "all about the owl",
                   tag_path="body/ul/li/a", position=1)  # fmt: skip
    address = link("https://a.example/owl", "read more", position=2)
    found = fetch(order, "https://a.example/", 0.3, [plain, context, address])
    assert found[context.url] > found[plain.url]
    assert found[address.url] > found[plain.url]


def test_what_is_said_to_link_to_good_pages_comes_before_what_links_to_others() -> None:
    order = Scout(Owls(), by_folder=0.0)
    fetch(order, "https://a.example/", 0.5, [*LISTED, *MENU])
    for good, bad in zip(LISTED[:6], MENU[:6], strict=True):
        fetch(order, good.url, 0.9)
        fetch(order, bad.url, 0.0)
    order.revised()
    hub, other = "https://a.example/hub", "https://a.example/other"
    for good, bad in zip(LISTED[:6], MENU[:6], strict=True):
        high = order.said_to_link(hub, url_id(hub), url_id(good.url))
        low = order.said_to_link(other, url_id(other), url_id(bad.url))
    assert high == pytest.approx(low), "nobody has compared what waits yet"
    done(order._relearn())
    assert priority_of(order, hub) > priority_of(order, other)
    facts = [one.fact for one in order.contributions(hub)]
    assert "it is said to link to pages on topic (worth 5.4 in all)" in facts


def test_a_url_that_only_backlinks_know_is_neither_good_nor_bad_for_its_parents() -> None:
    order = Scout(Owls(), by_folder=0.0)
    fetch(order, "https://a.example/", 0.5, [*LISTED, *MENU])
    for good in LISTED[:6]:
        fetch(order, good.url, 0.9)
    done(order._relearn())
    new = "https://a.example/hub"
    order.said_to_link(new, url_id(new), url_id(LISTED[0].url))
    at = order._slots[url_id(new)]
    assert order._urls.scores[at, 1] == pytest.approx(order._mean)
    assert order.said_to_link(LISTED[0].url, url_id(LISTED[0].url), url_id(LISTED[1].url)) == 0.0, "fetched"


def test_what_backlinks_told_is_in_the_checkpoint() -> None:
    order = Scout(Owls())
    fetch(order, "https://a.example/", 0.9, LISTED)
    order.said_to_link(LISTED[0].url, url_id(LISTED[0].url), url_id("https://a.example/"))
    again = Scout(Owls()).load(order.save())
    assert again._urls.topic[again._slots[url_id(LISTED[0].url)], 4] == pytest.approx(0.9)


def test_links_of_a_block_about_the_topic_come_first() -> None:
    links = (link("https://a.example/x"), link("https://a.example/y"), link("https://a.example/x?again=1"))
    blocks = (Block("owl nest", (0, 2)), Block("tax ledger", (1,)), Block("owl without links", ()))
    page = Page(url="https://a.example/", id=url_id("https://a.example/"), links=links, blocks=blocks)
    order = ScoutBlocks(Owls())
    order.learn(page, Verdict(0.1, False))
    first, second, third = (one.priority for one in order.rank(page, Verdict(0.1, False), links))
    assert first == third > second
    order.revised()
    names = {reason.name: reason.text for reason in order.contributions(links[0].url)}
    assert "scores 1.00" in names["topic in block"]
    other = ScoutBlocks(Owls()).load(order.save())
    assert priority_of(other, links[0].url) == priority_of(order, links[0].url)


def test_a_worse_block_takes_nothing_back() -> None:
    target = link("https://a.example/x")
    order = ScoutBlocks(Owls())
    for url, text in (("https://a.example/1", "owl nest"), ("https://a.example/2", "tax ledger")):
        page = Page(url=url, id=url_id(url), links=(target,), blocks=(Block(text, (0,)),))
        order.learn(page, Verdict(0.1, False))
        order.rank(page, Verdict(0.1, False), page.links)
    assert order._urls.topic[order._slots[target.id], 5] == 1.0


def test_a_page_has_no_part_in_what_is_known_of_its_links() -> None:
    """The row of a fetched page is what it would be had nobody heard what became of that page."""
    order = _crawled()
    evidence, standing = order._evidence, order._standing
    fetched = np.flatnonzero(order._urls.state[: order._held] == scout_evidence.FETCHED)
    linked = fetched[order._urls.links[fetched] > 0]
    assert len(linked) > 5
    rows = order.evidence_of(order._urls.id[linked].tolist())
    for at, row in zip(linked.tolist(), rows, strict=True):
        worth = float(order._pages.known[order._urls.page[at], 0])
        scout_evidence.add_outcome(evidence, at, (-worth, -1.0), order._oldest)
        scout_evidence.read_scores(evidence, np.array([at]), standing, order._joining)
        np.testing.assert_allclose(row, order._urls.scores[at], atol=1e-5)
        scout_evidence.add_outcome(evidence, at, (worth, 1.0), order._oldest)
    unknown = order.evidence_of([url_id("https://nobody.example/"), int(order._urls.id[fetched[0]])])
    assert order._urls.links[fetched[0]] == 0  # the page that the crawl began with
    assert np.isnan(unknown).all()


def test_what_waits_is_told_by_its_scores_as_they_stand() -> None:
    order = _crawled()
    waiting = order._waiting()[:3]
    np.testing.assert_array_equal(
        order.evidence_of(order._urls.id[waiting].tolist()), order._urls.scores[waiting]
    )


def disappointed(times: int, *, promise: float) -> Scout:
    """A crawl of pages off topic that had promised so much when they were asked for."""
    order = Scout(Owls(), by_host=0.0, by_folder=0.0)
    fetch(order, "https://a.example/", 0.0, [*LISTED, *MENU])
    for one in MENU[:times]:
        via = Via(1, priority=promise)
        order.learn(Page(one.url, one.id, text="tax", via=via), Verdict(0.0, False))
        order.revised()
    return order


def test_while_all_that_is_known_promises_little_the_longest_known_has_its_turn() -> None:
    first = LISTED[0].url
    assert priority_of(disappointed(1, promise=0.1), first) < 0.2
    assert priority_of(disappointed(2, promise=0.1), first) == pytest.approx(0.3)
    assert priority_of(disappointed(9, promise=0.5), first) < 0.2


def test_a_turn_ends_when_it_was_taken_and_every_third_request_is_one() -> None:
    order = disappointed(2, promise=0.1)
    order.learn(Page(LISTED[0].url, LISTED[0].id, via=Via(1, priority=0.3)), Verdict(0.0, False))
    order.revised()
    assert priority_of(order, LISTED[1].url) < 0.2
    told = {each.name: each.text for each in order.contributions(LISTED[0].url)}
    assert "the longest known had its turn" in told["its turn"]
    for one in MENU[2:4]:
        order.learn(Page(one.url, one.id, via=Via(1, priority=0.1)), Verdict(0.0, False))
        revised = order.revised()
    assert revised.priorities[revised.ids.tolist().index(LISTED[1].id)] == pytest.approx(0.3)


def test_a_turn_survives_another_look_a_checkpoint_and_making_room(monkeypatch: pytest.MonkeyPatch) -> None:
    order = disappointed(2, promise=0.1)
    order._score(order._waiting())
    assert priority_of(order, LISTED[0].url) == pytest.approx(0.3) == order._urls.priority[order._turn]
    again = Scout(Owls()).load(order.save())
    assert (again._turn, again._barren) == (order._turn, 0)
    order._let_go()
    assert order._urls.id[order._turn] == LISTED[0].id
