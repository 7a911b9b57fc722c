from __future__ import annotations

import numpy as np
import pytest

from honeyguide.web.zones import CALENDAR, FACETS, FAILURES, SAMENESS, TREE, ZoneLimits, Zones, zone_of


@pytest.mark.parametrize(
    ("url", "zone"),
    [
        ("https://www.example.org/", "example.org/"),
        ("https://www.example.org/about.html", "example.org/"),
        ("http://a.b.example.co.uk:8080/x/y/z?q=1", "example.co.uk/x/?"),
        ("http://127.0.0.1:80/x/", "127.0.0.1/x/"),
        ("http://[::1]/x", "[::1]/"),
    ],
)
def test_zones(url: str, zone: str) -> None:
    assert zone_of(url) == zone


def test_a_maze_is_a_tree_whatever_its_shape() -> None:
    for branching in (1, 3, 10):
        zones = Zones()
        known = 1
        for row in range(1, 60):
            targets = list(range(known + 1, known + 1 + branching))
            known += branching
            zones.fetched(row, f"http://m{row % 7}.example.org/maze/{row}.html", targets=targets)
            if zones.reason("http://example.org/maze/next.html"):
                break
        assert zones.reason("http://example.org/maze/next.html") == TREE
        assert row <= 50
        assert zones.reason("http://example.org/articles/next.html") is None


def test_a_site_is_no_maze() -> None:
    """A list of two hundred articles that link back, to the next one and to nothing else."""
    zones = Zones()
    zones.fetched(1, "http://example.org/news/", targets=list(range(2, 202)))
    for row in range(2, 202):
        zones.fetched(row, f"http://example.org/news/{row}", targets=[1, row + 1])
    assert zones.reason("http://example.org/news/x") is None


def test_a_list_whose_articles_link_nowhere_is_no_maze() -> None:
    zones = Zones()
    zones.fetched(1, "http://example.org/news/", targets=list(range(2, 202)))
    for row in range(2, 202):
        zones.fetched(row, f"http://example.org/news/{row}", targets=[])
    assert zones.reason("http://example.org/news/x") is None


def test_pages_linked_backwards_are_no_maze() -> None:
    """An archive that is read page by page: every page names the next and the one before."""
    zones = Zones()
    for row in range(1, 100):
        zones.fetched(row, f"http://example.org/archive/{row}", targets=[row + 1, max(1, row - 1)])
    assert zones.reason("http://example.org/archive/x") is None


def test_folders_that_go_down_are_no_maze() -> None:
    """Products of a list, each with pages below it that nothing else links to."""
    zones = Zones()
    zones.fetched(1, "http://example.org/product/", targets=list(range(2, 102)))
    for row in range(2, 102):
        zones.fetched(row, f"http://example.org/product/{row}", targets=[1, row + 1000])
        zones.fetched(row + 1000, f"http://example.org/product/{row}/reviews", targets=[1])
    assert zones.reason("http://example.org/product/x") is None


def test_facets_and_not_a_forum() -> None:
    zones = Zones()
    colours, sizes = ("red", "blue", "green", "black"), ("s", "m", "l", "xl")
    row = 0
    for colour in colours:
        for size in sizes:
            row += 1
            zones.fetched(row, f"http://example.org/shop/?colour={colour}&size={size}&page=1", targets=[])
            zones.fetched(row + 100, f"http://example.org/forum/?f={row % 3}&t={5000 + row}", targets=[])
    assert zones.reason("http://example.org/shop/?colour=white") == FACETS
    assert zones.reason("http://example.org/shop/chair") is None
    assert zones.reason("http://example.org/forum/?f=1&t=1") is None


def test_calendars_and_not_articles_with_a_date() -> None:
    zones = Zones()
    for row in range(1, 30):
        zones.fetched(row, f"http://example.org/calendar/2024/{row % 12 + 1:02d}/{row:02d}/", targets=[])
        zones.fetched(row + 100, f"http://example.org/news/2024/05/{row:02d}/owl-{row}", targets=[])
    assert zones.reason("http://example.org/calendar/2031/01/") == CALENDAR
    assert zones.reason("http://example.org/calendar/2031/01/feast-of-owls") is None
    assert zones.reason("http://example.org/news/2024/05/01/") is None


def test_copies() -> None:
    zones = Zones()
    for row in range(1, 30):
        zones.fetched(row, f"http://example.org/item/?sid={row}", targets=[1], twin=1 if row > 1 else 0)
        zones.fetched(row + 100, f"http://mirror.example/item/{row}", targets=[101], twin=row)
    assert zones.reason("http://example.org/item/?sid=x") == SAMENESS
    assert zones.reason("http://mirror.example/item/99") is None, (
        "a mirror is not a trap: its twins are elsewhere"
    )


def test_limits_can_be_set() -> None:
    zones = Zones(ZoneLimits(copies=2, copy_share=0.1))
    for row in range(1, 5):
        zones.fetched(row, f"http://example.org/item/{row}", targets=[1], twin=1 if row > 1 else 0)
    assert zones.reason("http://example.org/item/9") == SAMENESS


def crawled(zones: Zones, rows: range) -> None:
    """A site, a maze, facets, dates and copies, page by page."""
    for row in rows:
        kinds = (
            f"http://example.org/news/{row}",
            f"http://m.example/maze/{row}",
            f"http://shop.example/list/?size={row % 3}&colour={row % 4}&page={row}",
            f"http://town.example/calendar/2024/{row % 12 + 1}",
            f"http://copy.example/a?session={row}",
        )
        url = kinds[row % len(kinds)]
        targets = [row + 5] if "maze" in url else [row + 5, row + 10]
        zones.fetched(row, url, targets=targets, twin=4 if "copy" in url else 0)


def test_a_part_of_a_site_where_nothing_is_found_is_left_alone_until_something_is() -> None:
    zones = Zones(ZoneLimits(failures=5, sample=0))
    picture = "http://example.org/images/{}/{}.jpg.htm"
    for number in range(5):
        assert zones.reason_to_drop(picture.format(number, 99)) is None
        zones.failed(picture.format(number, number))
    assert zones.reason_to_drop(picture.format(99, 99)) == FAILURES
    assert zones.reason(picture.format(99, 99)) is None  # links to it are taken: it may come to life
    assert zones.reason_to_drop("http://example.org/wp/Owl.htm") is None
    assert not zones.has_traps  # every link of every page would be looked at one by one
    saved = Zones(ZoneLimits(failures=5, sample=0))
    saved.load(*zones.save())
    assert saved.reason_to_drop(picture.format(99, 99)) == FAILURES
    saved.fetched(1, picture.format(7, 7), targets=[])
    for number in range(50):
        saved.failed(picture.format(number, number))
    assert saved.reason_to_drop(picture.format(99, 99)) is None  # dead links among pages are no dead folder
    assert Zones(ZoneLimits(close=False, failures=0)).reason_to_drop(picture.format(1, 1)) is None


def test_one_address_in_so_many_of_a_dead_part_is_asked_for() -> None:
    zones = Zones(ZoneLimits(failures=1, sample=10))
    zones.failed("http://example.org/images/x")
    urls = [f"http://example.org/images/{number}" for number in range(1000)]
    assert 50 < sum(zones.reason_to_drop(url) is None for url in urls) < 150


def test_saved_zones_go_on_as_if_nothing_had_happened() -> None:
    once, first, second = Zones(), Zones(), Zones()
    crawled(once, range(1, 301))
    crawled(first, range(1, 121))
    second.load(*first.save())
    crawled(second, range(121, 301))
    values, arrays = once.save()
    again_values, again_arrays = second.save()
    assert again_values == values
    traps = values["traps"]
    assert isinstance(traps, dict)
    assert sorted(traps.values()) == sorted((SAMENESS, TREE, FACETS, CALENDAR))
    assert {name: array.tolist() for name, array in again_arrays.items()} == {
        name: array.tolist() for name, array in arrays.items()
    }


def test_saved_zones_that_do_not_agree_are_refused() -> None:
    zones = Zones()
    crawled(zones, range(1, 60))
    values, arrays = zones.save()
    wrong = {
        "page_zone": np.full_like(arrays["page_zone"], 99),
        "page_source": np.full_like(arrays["page_source"], -2),
        "page_depth": arrays["page_depth"].astype(np.int64),
        "page_chain": arrays["page_chain"][:-1],
        "source": np.maximum(arrays["source"], -2),
        "counts": arrays["counts"][:-1],
    }
    for name, array in wrong.items():
        with pytest.raises(ValueError, match="do not agree"):
            Zones().load(values, arrays | {name: array})
    with pytest.raises(ValueError, match="lack something"):
        Zones().load({**values, "keys": 3}, arrays)
    with pytest.raises(ValueError, match="lack something"):
        Zones().load(values, {})
