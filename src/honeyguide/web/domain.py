"""Registered domains: which hosts belong to one owner.

Politeness caps, scope and the sitemap rule count by owner, not by host name, or one owner with a
wildcard DNS record would be as many sites as it likes. The public suffix list says where owners
begin; its private part is used too, so that two users of one blog host are two owners.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from publicsuffixlist import PSLFILE, PublicSuffixList, encode_idn

from honeyguide.web.url import host_key


@cache
def _suffixes() -> PublicSuffixList:
    """The list that came with the installed package, read on first use."""
    return PublicSuffixList()


@cache
def _special() -> frozenset[str]:
    """The last two labels of suffixes that have more than one; `*.LAST` where all names are suffixes."""
    found: set[str] = set()
    with Path(PSLFILE).open(encoding="utf-8") as lines:
        for line in lines:
            rule = line.partition(" ")[0].strip().lower().removeprefix("!")
            if "." in rule and not rule.startswith("//"):
                found.update(".".join(one.split(".")[-2:]) for one in (rule, encode_idn(rule)))
    return frozenset(found)


def registrable(host: str) -> str | None:
    """The public suffix of a host name plus one label; None when the name has no such part.

    Example:
        >>> registrable("www.bbc.co.uk")
        'bbc.co.uk'
        >>> registrable("co.uk") is None
        True
    """
    # Nearly all names end in a suffix of one label. A crawl may know millions of hosts, more than could be
    # remembered, and to look through the list for each takes several times as long.
    before, _, last = host.rpartition(".")
    owner, special = before.rpartition(".")[2], _special()
    # As `canonical` writes names; of others the list knows what to think.
    plain = owner and last and host[0] != "." and ".." not in before and host.islower()
    if plain and (two := f"{owner}.{last}") not in special and f"*.{last}" not in special:
        return two
    found: str | None = _suffixes().privatesuffix(host) if host else None
    return found


@lru_cache(maxsize=65_536)
def registered_domain(host: str) -> str:
    """The registered domain of a host; addresses and bare suffixes stand for themselves.

    Args:
        host: A host name or address as `canonical` writes it, with or without a port.

    Example:
        >>> registered_domain("news.example.co.uk:8080")
        'example.co.uk'
        >>> registered_domain("127.0.0.1"), registered_domain("[::1]:80"), registered_domain("localhost")
        ('127.0.0.1', '[::1]', 'localhost')
    """
    if host.startswith("["):
        return host[: host.find("]") + 1]
    name = host.partition(":")[0]
    # A name whose last label is a number is an IPv4 address: the URL parser refuses all others.
    if name.rpartition(".")[2].isdigit():
        return name
    bare = name.removesuffix(".")
    return registrable(bare) or bare


def same_site(url: str, other: str) -> bool:
    """Whether two canonical URLs belong to one registered domain.

    Example:
        >>> same_site("https://a.example.org/x", "http://b.example.org/y")
        True
    """
    first, second = host_key(url), host_key(other)
    return first == second or registered_domain(first) == registered_domain(second)
