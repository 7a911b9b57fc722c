from __future__ import annotations

from honeyguide.topic.tokens import built_in_table
from honeyguide.topic.tokens_of_url import placed_tokens, url_tokens
from honeyguide.topic.tokens_seen import unmapped_tokens


def test_the_papers_addresses() -> None:
    assert url_tokens("http://sports.sohu.com/lanqiu.shtml") == ["sports", "sohu", "lanqiu"]
    assert url_tokens("http://www.sh.xinhuanet.com") == ["sh", "xinhuanet"]
    assert "taigangao" in url_tokens("http://www.xinhuanet.com/tai_gang_ao")
    assert "tai" in url_tokens("http://www.xinhuanet.com/tai-gang-ao/")


def test_percent_codes_queries_and_ports() -> None:
    assert url_tokens("http://a.example/%E7%AF%AE%E7%90%83?cat=Sports&id=7") == [
        "a", "example", "篮球", "cat", "sports", "7",
    ]  # fmt: skip
    assert placed_tokens("http://user@www.b.example/NEWS/2008/lanqiu.shtml?x=NBA") == [
        ("b", "host"), ("example", "host"), ("news", "folder"), ("lanqiu", "file"), ("x", "query"),
        ("nba", "query"),
    ]  # fmt: skip
    assert url_tokens("") == []


def test_unmapped_tokens_are_listed_with_places_and_examples() -> None:
    urls = [f"http://h{n % 3}.example/hupu/sports/{n}.html" for n in range(30)]
    urls += [f"http://hupu.example/x{n}" for n in range(5)]
    found = {one.token: one for one in unmapped_tokens(urls, built_in_table(), at_least=10)}
    assert "sports" not in {token for token in found if built_in_table().topic_of(token)}
    hupu = found["hupu"]
    assert (hupu.count, hupu.hosts, hupu.places) == (35, 4, {"folder": 30, "host": 5})
    assert len(hupu.examples) == 3
    assert len({url.split("/")[2] for url in hupu.examples}) == 3
    assert unmapped_tokens(urls, built_in_table(), at_least=36) == []


def test_mapped_tokens_are_not_listed() -> None:
    urls = [f"http://lanqiu.example/tiyu/{n}" for n in range(20)]
    listed = unmapped_tokens(urls, built_in_table(), at_least=1, limit=5)
    assert [one.token for one in listed] == ["example"]
