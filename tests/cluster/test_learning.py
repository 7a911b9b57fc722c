"""What shards learn becomes what all know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from honeyguide.cluster.learning import FIRST_AGREEMENT, added, exchange_due, next_agreement, others_of
from honeyguide.model import Block, Examples, Link, Page, Verdict
from honeyguide.ordering.scout import Scout
from honeyguide.ordering.scout_evidence import SCORES
from honeyguide.ordering.sharing import SharingOrder, change, checked, sparse
from honeyguide.relevance import calibrated
from honeyguide.relevance.base import SharingModel
from honeyguide.relevance.calibrated import Calibrated
from honeyguide.store.models import Saved
from honeyguide.testing import WordJudge
from honeyguide.web.url import url_id


def whole(title: str, told: Saved, like: NDArray[Any]) -> NDArray[Any]:
    """A table of which nothing was known but what was told."""
    table = np.zeros_like(like)
    change(title, table, Saved(), told)
    return table


def test_tables_travel_without_their_zeros() -> None:
    table = np.zeros((50, 2), np.float32)
    table[7] = 3.0, 1.0
    told = Saved(arrays=dict(sparse("words", table)))
    assert len(told.arrays["at words"]) == 1
    assert np.array_equal(whole("words", told, table), table)
    with pytest.raises(ValueError, match="does not fit"):
        checked("words", told, np.zeros((5, 2)))


def test_what_others_told_is_replaced_and_not_told_on() -> None:
    own = np.zeros((50, 2), np.float32)
    own[7], own[9] = (3.0, 1.0), (0.5, 2.0)
    table = own.copy()
    before = Saved(arrays=dict(sparse("words", np.eye(50, 2, dtype=np.float32))))
    after = Saved(arrays=dict(sparse("words", 2.0 * np.eye(50, 2, k=-8, dtype=np.float32))))
    for told, earlier in ((before, Saved()), (after, before)):
        change("words", table, earlier, told)
        mine = Saved(arrays=dict(sparse("words", table, told, 1e-4)))
        assert mine.arrays["at words"].tolist() == [7, 9], "entries of others are not among them"
        assert np.array_equal(whole("words", mine, own), own)
    assert table[8].tolist() == [2.0, 0.0]
    assert table[9].tolist() == [0.5, 4.0]
    assert not table[:2].any(), "what was told before is gone"
    change("words", table, after, Saved())
    assert np.array_equal(table, own)


def test_sums_are_added_and_samples_put_together() -> None:
    first = Saved(arrays={**sparse("x", np.array([0.0, 1.0, 2.0])), "rows y": np.ones((3, 2))})
    second = Saved(arrays={**sparse("x", np.array([4.0, 0.0, 1.0])), "rows y": np.zeros((1, 2))})
    total = added([first, second])
    assert whole("x", total, np.zeros(3)).tolist() == [4.0, 1.0, 3.0]
    assert len(total.arrays["rows y"]) == 4
    assert added([]).arrays == {}


def test_nobody_is_told_its_own() -> None:
    told = {name: Saved(arrays={"sum x": np.array([number])}) for name, number in (("00", 1), ("01", 10))}
    assert {name: int(one.arrays["sum x"][0]) for name, one in others_of(told).items()} == {"00": 10, "01": 1}


def test_learning_is_merged_often_at_first() -> None:
    moments, last = [], 0
    for pages in range(2_000):
        if exchange_due(pages, last):
            last = pages
            moments.append(pages)
    assert moments[:3] == [1, 2, 3]
    assert sum(moment > 256 for moment in moments) < 8, "all shards fit their models each time"


def test_page_models_alone_are_told_in_time_for_their_fits() -> None:
    last, moments = 0, []
    for pages in range(2_000):
        if exchange_due(pages, last, orders=False):
            last = pages
            moments.append(pages)
    assert moments[:3] == [10, 20, 30]
    assert sum(moment > 256 for moment in moments) < 8
    assert len(moments) < 30


def crawled(host: str, good: str, count: int = 40) -> Scout:
    """A scout that has seen pages of a host: those with a word in their anchors are on topic."""
    order = Scout(WordJudge())
    home = Page(url=f"https://{host}/", id=url_id(f"https://{host}/"), text="home of many things")
    links = []
    for number in range(count):
        url = f"https://{host}/{number}"
        links.append(Link(url, url_id(url), good if number % 2 else "dust", position=number))
    order.learn(home, Verdict(0.5, True))
    order.rank(home, Verdict(0.5, True), links)
    for number, link in enumerate(links[: count - 2]):
        page = Page(url=link.url, id=link.id, text=f"{good} text" if number % 2 else "dust text")
        order.learn(page, Verdict(float(number % 2), bool(number % 2)))
        order.revised()
    return order


def rank_of(order: Scout, *anchors: str) -> list[float]:
    page = Page(url="https://new.example/", id=url_id("https://new.example/"), text="new")
    order.learn(page, Verdict(0.5, True))
    links = [
        Link(f"https://new.example/{n}", url_id(f"https://new.example/{n}"), anchor, position=n)
        for n, anchor in enumerate(anchors)
    ]
    return [one.priority for one in order.rank(page, Verdict(0.5, True), links)]


def test_scout_knows_the_words_of_other_shards() -> None:
    alone, told, other = (
        crawled("a.example", "owls"),
        crawled("a.example", "owls"),
        crawled("b.example", "bees"),
    )
    assert isinstance(told, SharingOrder)
    told.join(others_of({"00": told.shared(), "01": other.shared()})["00"])
    before = rank_of(alone, "bees", "dust")
    after = rank_of(told, "bees", "dust")
    assert after[0] - after[1] > before[0] - before[1]


def test_telling_scout_twice_is_telling_it_once() -> None:
    order, other = crawled("a.example", "owls"), crawled("b.example", "bees")
    own = order.shared()
    order.join(added([other.shared()]))
    order.join(added([other.shared()]))
    again = order.shared()
    for name in own.arrays:
        assert np.allclose(own.arrays[name], again.arrays[name], atol=1e-3), name
    order.join(Saved())
    saved, fresh = order.save(), crawled("a.example", "owls").save()
    assert np.allclose(saved.arrays["sum_anchor"], fresh.arrays["sum_anchor"], atol=1e-3)


def test_a_checkpoint_of_scout_has_its_own_only() -> None:
    order, other = crawled("a.example", "owls"), crawled("b.example", "bees")
    bare = order.save().arrays["sum_anchor"].copy()
    order.join(added([other.shared()]))
    assert np.allclose(order.save().arrays["sum_anchor"], bare, atol=1e-3)
    with_others = order.shared().arrays
    assert np.allclose(
        Scout(WordJudge()).load(order.save()).shared().arrays["sum total"], with_others["sum total"]
    )


def test_scout_refuses_what_does_not_fit() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        Scout(WordJudge()).join(Saved(arrays={"rows outcomes": np.zeros((2, 3)), "rows worths": np.zeros(2)}))


def two_lists(order: Scout, *, met: bool = False) -> list[float]:
    """What two lists of a page say for one link each, of which the others wait in another shard."""
    names = {"li/a": ["good1", "good2", "good3", "mine1"], "td/a": ["bad1", "bad2", "bad3", "mine2"]}
    links = [
        Link(f"https://{name}.example/", url_id(f"https://{name}.example/"), tag_path=path, position=place)
        for place, (path, name) in enumerate((path, name) for path in names for name in names[path])
    ]
    mine = [link for link in links if "mine" in link.url]
    page = Page(
        url="https://a.example/list", id=url_id("https://a.example/list"), text="list", links=tuple(mine)
    )
    if met:
        order.meet(page, Verdict(0.5, True), {"likeness": 0.5, "parents": 0.25}, {})
        order.rank(page, Verdict(0.5, True), mine)
    else:
        order.learn(page, Verdict(0.5, True))
        order.rank(page, Verdict(0.5, True), links)
        order.away([link.id for link in links if link not in mine])
    order.revised()
    order.rank(page, Verdict(0.5, True), mine)
    column = SCORES.index("same list")
    return [float(order._urls.scores[order._slots[link.id], column]) for link in mine]


def ends(**worth: float) -> Saved:
    ids = [url_id(f"https://{name}.example/") for name in worth]
    return Saved(
        arrays={"rows end ids": np.array(ids), "rows end worth": np.array(list(worth.values()), np.float32)}
    )


def test_what_became_of_links_in_other_shards_counts_for_their_neighbours() -> None:
    order = crawled("b.example", "owls")
    two_lists(order)
    fetched = order.shared().arrays["sum fetched"][0]
    told = ends(good1=1.0, good2=1.0, good3=0.9, bad1=0.0, bad2=0.0, bad3=0.1)
    order.join(told)
    good, bad = two_lists(order)
    assert good > bad
    twice = crawled("b.example", "owls")
    two_lists(twice)
    for _ in range(2):
        twice.join(told)
    assert two_lists(twice) == pytest.approx([good, bad]), "told again, it counts once"
    order.join(ends(good1=0.0, good2=0.0, good3=0.0))
    assert two_lists(order)[0] < good, "the latest word counts"
    assert order.shared().arrays["sum fetched"][0] == fetched
    ids = order.shared().arrays["rows end ids"]
    assert url_id("https://good1.example/") not in ids, "what others fetched is theirs to tell"
    assert url_id("https://b.example/1") in ids
    with pytest.raises(ValueError, match="do not fit"):
        order.join(Saved(arrays={"rows end ids": np.zeros(2, np.int64), "rows end worth": np.zeros(1)}))


def test_a_page_of_another_shard_is_worth_what_that_knows_of_it() -> None:
    order = crawled("b.example", "owls")
    page = Page(url="https://a.example/list", id=url_id("https://a.example/list"))
    two_lists(order, met=True)
    assert order.of_page(page).items() >= {"likeness": 0.5, "parents": 0.25}.items()
    assert order.of_page(Page(url="https://nowhere.example/", id=77)) == {}
    assert page.id not in order.shared().arrays["rows end ids"]
    before = order.shared().arrays["sum total"].tolist()
    order.rejudged(page, Verdict(0.9, True))
    assert order.shared().arrays["sum total"].tolist() == before
    again = Scout(WordJudge()).load(order.save())
    again.rejudged(page, Verdict(0.1, False))
    assert again.shared().arrays["sum total"].tolist() == before
    assert page.id not in again.shared().arrays["rows end ids"]


BESIDE = [SCORES.index(name) for name in ("neighbours", "same page", "same list")]


def shelf(names: Sequence[str]) -> tuple[Page, list[Link]]:
    """A page with two lists of links."""
    links = [
        Link(
            f"https://{name}.example/",
            url_id(f"https://{name}.example/"),
            tag_path="li/a" if place < 6 else "td/a",
            position=place,
            group=int(place >= 6),
        )
        for place, name in enumerate(names)
    ]
    return Page(url="https://a.example/shelf", id=url_id("https://a.example/shelf"), text="shelf"), links


def on_shelf(links: Sequence[Link], *, mine: str, own_page: bool) -> Scout:
    """The scout of a shard that has the hosts whose names begin so, after the page of all links."""
    order = Scout(WordJudge())
    page, _ = shelf(())
    ours = [link for link in links if link.url.startswith(f"https://{mine}")]
    if own_page:
        order.learn(page, Verdict(0.5, True))
        order.rank(page, Verdict(0.5, True), links)
        order.away([link.id for link in links if link not in ours])
    else:
        order.meet(msgspec.structs.replace(page, links=tuple(ours)), Verdict(0.5, True), {"page": 1.0}, {})
        order.rank(page, Verdict(0.5, True), ours)
    return order


def fetch(order: Scout, link: Link, worth: float) -> None:
    order.learn(Page(url=link.url, id=link.id, text="words"), Verdict(worth, worth > 0.5))


def exchanged(shards: Sequence[Scout]) -> None:
    told = others_of({str(number): order.shared() for number, order in enumerate(shards)})
    for number, order in enumerate(shards):
        order.join(told[str(number)])
        order.revised()


def beside(order: Scout, link: Link) -> list[float]:
    found: list[float] = order._urls.scores[order._slots[link.id], BESIDE].tolist()
    return found


def test_links_of_a_page_are_neighbours_wherever_they_wait() -> None:
    names = ["a1", "b1", "c1", "a2", "b2", "c2", "a3", "b3", "c3", "b4"]
    page, links = shelf(names)
    by_name = dict(zip(names, links, strict=True))
    one = Scout(WordJudge())
    one.learn(page, Verdict(0.5, True))
    one.rank(page, Verdict(0.5, True), links)
    a, b, c = (on_shelf(links, mine=name, own_page=name == "a") for name in "abc")
    for order, name, worth in ((b, "b1", 1.0), (c, "c3", 0.75), (a, "a1", 0.0)):
        for each in (order, one):
            fetch(each, by_name[name], worth)
    one.rejudged(Page(url=links[1].url, id=links[1].id), Verdict(1.0, True))  # all is looked at again
    one.revised()
    for _ in range(2):  # told again, it counts once
        exchanged((a, b, c))
        for order, waits in ((a, ("a2", "a3")), (b, ("b2", "b3", "b4")), (c, ("c1", "c2"))):
            for name in waits:
                assert beside(order, by_name[name]) == pytest.approx(beside(one, by_name[name])), name
    bare = on_shelf(links, mine="c", own_page=False)
    fetch(bare, by_name["c3"], 0.75)
    assert np.allclose(c.save().arrays["sum_place"], bare.save().arrays["sum_place"], atol=1e-6)
    late = Scout(WordJudge())
    late.join(added([order.shared() for order in (a, b, c)]))
    ours = [by_name["c2"]]
    late.meet(msgspec.structs.replace(page, links=tuple(ours)), Verdict(0.5, True), {"page": 1.0}, {})
    late.rank(page, Verdict(0.5, True), ours)
    late.revised()
    assert beside(late, by_name["c2"]) == pytest.approx(beside(one, by_name["c2"])), "it met the page later"
    with pytest.raises(ValueError, match="links of other shards do not fit"):
        c.join(Saved(arrays={"rows beside page": np.zeros(2, np.int64)}))


def test_links_to_a_page_with_many_links_are_told_as_well() -> None:
    names = ["a1", "b1", "b2"]
    _, links = shelf(names)
    a = on_shelf(links, mine="a", own_page=True)
    b = on_shelf(links, mine="b", own_page=False)
    exchanged((a, b))
    fetch(a, links[0], 1.0)
    for number in range(12):
        url = f"https://a.example/{number}"
        page = Page(url=url, id=url_id(url), text="more", links=tuple(links[1:]))
        a.learn(page, Verdict(0.5, True))
        a.rank(page, Verdict(0.5, True), links)
        a.away([links[1].id, links[2].id])
        b.meet(page, Verdict(0.5, True), a.of_page(page), {})
        b.rank(page, Verdict(0.5, True), links[1:])
    exchanged((a, b))
    number = b._urls.page[b._slots[url_id("https://a.example/11")]]
    assert b._sums.place[b._pages.base[number]].tolist() == [1.0, 1.0]


def test_a_link_is_told_with_what_the_rest_of_its_page_says() -> None:
    first = Link("https://b.example/", url_id("https://b.example/"), "plain", context="of owls", group=1)
    second = Link("https://a.example/1", url_id("https://a.example/1"), "owl", group=1)
    block = Block("all about the owl", links=(0,))
    page = Page("https://a.example/", url_id("https://a.example/"), links=(first, second), blocks=(block,))
    one, other = Scout(WordJudge()), Scout(WordJudge())
    one.learn(page, Verdict(0.5, True))
    one.rank(page, Verdict(0.5, True), [first, second])
    bare = msgspec.structs.replace(first, context="")
    met = Page(page.url, page.id, links=(bare,))
    other.meet(met, Verdict(0.5, True), one.of_page(page), {first.id: one.of_link(first.id)})
    other.rank(met, Verdict(0.5, True), [bare])
    there, here = one._slots[first.id], other._slots[first.id]
    assert other._urls.topic[here].tolist() == one._urls.topic[there].tolist()
    assert other._urls.topic[here, [1, 3, 5]].min() > 0.0
    assert other._urls.list_words[here].tolist() == one._urls.list_words[there].tolist()
    assert other._urls.list_words[here, 1] >= 0, "those of both anchors"
    before = other._urls.topic[here].tolist()
    other.meet(met, Verdict(0.5, True), {}, {first.id: "none", 77: one.of_link(first.id)})
    other.rank(met, Verdict(0.5, True), [bare])
    assert other._urls.topic[here].tolist() == before
    assert one.of_link(77) == ""


def test_equal_urls_of_different_shards_are_asked_for_as_they_were_found() -> None:
    names = ["b1", "a1", "b2", "a2"]
    _, links = shelf(names)
    a, b = on_shelf(links, mine="a", own_page=True), on_shelf(links, mine="b", own_page=False)
    told_by = {"0": a.shared(), "1": b.shared()}
    given: dict[int, float] = {}
    for order, name in ((a, "0"), (b, "1")):
        order.join(others_of(told_by)[name])
        revised = order.revised()
        given |= dict(zip(revised.ids.tolist(), revised.priorities.tolist(), strict=True))
    told = [given[link.id] for link in links]
    assert told == sorted(told, reverse=True)
    assert len(set(told)) == 4
    assert max(told) - min(told) < 1e-6


def test_shards_weigh_alike() -> None:
    one, other = crawled("a.example", "owls"), crawled("b.example", "bees", 60)
    exchanged((one, other))
    spreads = others_of({"0": one.spread(), "1": other.spread()})
    for order, name in ((one, "0"), (other, "1")):
        order.agree(spreads[name])
        order.revised()
    mine: Any
    for mine, theirs in zip(one._joining, other._joining, strict=True):
        assert np.allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-4)
    with pytest.raises(ValueError, match="do not fit"):
        one.agree(Saved(arrays={"sum waiting": np.zeros(3)}))


def test_weights_are_fitted_as_often_as_by_one_crawl() -> None:
    moments = [FIRST_AGREEMENT]
    while moments[-1] < 120:
        moments.append(next_agreement(moments[-1]))
    assert moments == [3, 6, 12, 24, 48, 73, 98, 123]


def model(host: str, good: str) -> Calibrated:
    found = Calibrated().fit(Examples(keywords=("owl",)))
    for number in range(30):
        on = number % 2
        text = f"the owl and its {good} wings at night" if on else f"plain {host} page number {number}"
        page = Page(url=f"https://{host}/{number}", id=url_id(f"https://{host}/{number}"), text=text)
        found.observe(page, found.judge(page))
    return found


def test_page_models_learn_from_each_others_pages() -> None:
    one, other = model("a.example", "silent"), model("b.example", "feathered")
    assert isinstance(one, SharingModel)
    new = Page(url="https://c.example/", id=5, text="feathered wings at night")
    before = one.judge(new).score
    assert one.join([other.shared(2)]), "the fit was due"
    assert one.judge(new).score > before
    assert not one.join([other.shared(2)])
    with pytest.raises(ValueError, match="other keywords"):
        one.join([Calibrated().fit(Examples(keywords=("owl", "barn"))).shared(2)])


def test_pages_that_other_shards_told_before_are_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = model("a.example", "silent"), model("b.example", "feathered")
    fresh = model("a.example", "silent")
    one.join([other.shared(2)])
    new = Page(url="https://b.example/new", id=url_id("https://b.example/new"), text="the owl at dusk")
    other.observe(new, other.judge(new))
    read: list[int] = []
    words = calibrated._words

    def counted(counts: calibrated.Array) -> float:
        read.append(len(counts))
        return words(counts)

    monkeypatch.setattr(calibrated, "_words", counted)
    one.join([other.shared(2)])
    assert not read, "nobody looks at them before the next fit"
    one.teach((), ())  # fits anew
    assert len(read) == 1
    fresh.join([other.shared(2)])
    fresh.teach((), ())
    assert len(read) == 1 + 30 + 1
    night = Page(url="https://c.example/", id=5, text="feathered wings at dusk")
    assert one.judge(night).score == pytest.approx(fresh.judge(night).score)


def test_page_models_are_fitted_as_often_as_that_of_one_crawl() -> None:
    one, other = (Calibrated().fit(Examples(keywords=("owl",))) for _ in range(2))

    def seen(model: Calibrated, first: int, count: int) -> list[int]:
        """Which of some pages made it learn."""
        moved = []
        for number in range(first, first + count):
            text = f"{'owl barn' if number % 3 else 'tax law'} page {number}"
            page = Page(f"https://a.example/{number}", url_id(f"https://a.example/{number}"), text=text)
            if model.observe(page, model.judge(page)):
                moved.append(number)
        return moved

    assert seen(one, 0, 12) == seen(other, 100, 12) == []
    assert one.join([other.shared(2)]), "24 pages of both, and 20 are enough"
    assert seen(one, 12, 9) == [], "33 of both"
    assert seen(one, 21, 1) == [21], "a quarter more, or ten pages: 34"
    seen(other, 112, 20)
    assert one.join([other.shared(2)]), "54"
    assert seen(one, 22, 1) == []
