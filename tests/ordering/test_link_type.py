from __future__ import annotations

import pytest

from honeyguide.ordering.link_type import LINK_TYPES, LinkType, link_type

HERE = "http://www.a.example/birds/owls/barn.html"


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("http://www.a.example/birds/owls/young/nest.html", "downward"),
        ("http://a.example/birds/owls/young/", "downward"),
        ("http://www.a.example/birds/owls/snowy.html", "sibling"),
        ("http://www.a.example/birds/owls/", "sibling"),
        ("http://www.a.example/birds/owls/barn.html?page=2", "sibling"),
        ("http://www.a.example/birds/", "upward"),
        ("http://www.a.example/birds/list.html", "upward"),
        ("http://www.a.example/", "upward"),
        ("http://www.a.example", "upward"),
        ("http://www.a.example/birds/owlsandmore/x.html", "crosswise"),
        ("http://www.a.example/fish/", "crosswise"),
        ("http://shop.a.example/birds/owls/", "outward"),
        ("http://b.example/birds/owls/", "outward"),
        ("http://www.a.example:8080/birds/owls/", "outward"),
    ],
)
def test_types_by_the_two_addresses(target: str, expected: LinkType) -> None:
    assert link_type(HERE, target) == expected


def test_a_site_may_be_a_registered_domain() -> None:
    assert link_type(HERE, "http://shop.a.example/fish/", site="domain") == "crosswise"
    assert link_type("http://sports.sohu.com/", "http://auto.sohu.com/a/", site="domain") == "downward"
    assert link_type("http://a.co.uk/", "http://b.co.uk/", site="domain") == "outward"


def test_odd_addresses_have_a_type_too() -> None:
    for target in ("", "http://", "not an address", "http:///", "http://[::1]/a/?b=/c/"):
        assert link_type(HERE, target) in LINK_TYPES
        assert link_type(target, HERE) in LINK_TYPES
