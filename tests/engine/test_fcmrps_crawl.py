from __future__ import annotations

from pathlib import Path

import pytest
from crawls import finish, small_crawl
from loopback import config_for, crawl_all, recording

from honeyguide.collection.collection import Collection
from honeyguide.lab.webs.served import Served


@pytest.mark.parametrize("recipe", ["fcmrps", "fcmrps13"])
async def test_same_journal_also_across_stops(tmp_path: Path, recipe: str) -> None:
    await finish(small_crawl(tmp_path / "once", recipe=recipe, max_pages=80))
    for pages in (30, 80):
        await finish(small_crawl(tmp_path / "parts", recipe=recipe, max_pages=pages))
    journals = []
    for name in ("once", "parts"):
        with Collection.open(tmp_path / name) as collection:
            collection.state.dump_journal(tmp_path / f"{name}.jsonl")
        journals.append((tmp_path / f"{name}.jsonl").read_bytes())
    assert journals[0].count(b'"kind":"page"') >= 40
    assert journals[0] == journals[1]


def html(title: str, text: str, links: dict[str, str], charset: str = "utf-8") -> Served:
    anchors = "".join(f'<li><a href="{url}">{anchor}</a></li>' for url, anchor in links.items())
    body = f'<meta charset="{charset}"><title>{title}</title><p>{text}</p><ul>{anchors}</ul>'
    return Served(200, (("Content-Type", "text/html"),), body.encode(charset))


ENGLISH = (
    "Basketball is a sport. The basketball season of the national league begins with a game of sports stars."
)
CHINESE = "篮球是一项体育运动。全国篮球联赛本赛季开始。体育明星参加篮球比赛。"
TRADITIONAL = "籃球是一項體育運動。全國籃球聯賽本賽季開始。體育明星參加籃球比賽。"
TAXES = "Income tax forms are due in April; the tax office answers questions about forms."


def bilingual_web() -> dict[str, Served]:
    """An English site, a Chinese one in GBK and one in Big5, joined by a link or two; and tax pages."""
    web = {
        "http://en.example/": html(
            "Sports home", "All sports, from basketball to chess.",
            {"http://en.example/basketball/": "basketball", "http://tax.example/": "tax tips"},
        ),
        "http://en.example/basketball/": html(
            "Basketball", ENGLISH,
            {
                "http://en.example/basketball/league.html": "the league",
                "http://zh.example/tiyu/": "中文",
                "http://tw.example/lanqiu/": "other languages",
            },
        ),
        "http://en.example/basketball/league.html": html("League", ENGLISH, {}),
        "http://zh.example/tiyu/": html(
            "体育", "体育新闻。篮球和足球。",
            {"http://zh.example/tiyu/lanqiu.shtml": "篮球", "http://zh.example/shuiwu/": "税务"}, "gbk",
        ),
        "http://zh.example/tiyu/lanqiu.shtml": html("篮球", CHINESE, {}, "gb18030"),
        "http://tw.example/lanqiu/": html("籃球", TRADITIONAL, {}, "big5"),
        "http://zh.example/shuiwu/": html("税务", "税务局解答个人所得税的问题。", {}, "gb2312"),
        "http://tax.example/": html(
            "Taxes", TAXES, {f"http://tax.example/{n}.html": "form" for n in range(8)}
        ),
    }  # fmt: skip
    return web | {f"http://tax.example/{n}.html": html("Form", TAXES, {}) for n in range(8)}


@pytest.mark.realtime
async def test_seeds_in_english_find_relevant_pages_in_both_languages(tmp_path: Path) -> None:
    async with recording(bilingual_web()) as server:
        config = config_for(
            ["http://en.example/"],
            server.connect_to,
            topic={
                "name": "Basketball",
                "keywords": [],
                "taxonomy": "Sports|体育|體育/Basketball|篮球|籃球",
                "languages": ["en", "zh"],
            },
            crawl={"recipe": "fcmrps", "concurrency": 1, "max_pages": 7},
        )
        await crawl_all(config, tmp_path / "out")
    with Collection.open(tmp_path / "out") as collection:
        relevant = {page.url: page.language for page in collection.pages(relevant=True)}
        assert relevant["http://en.example/basketball/league.html"] == "en"
        assert relevant["http://zh.example/tiyu/lanqiu.shtml"] == "zh"
        assert relevant["http://tw.example/lanqiu/"] == "zh"
        story = collection.why("http://zh.example/tiyu/lanqiu.shtml")
        assert {"R_PC", "R_AT", "R_url", "R_LT", "link term 篮球", "token lanqiu (pinyin)"} <= set(
            story.factors
        )
        assert story.factors["R_url"] == 1.0
        assert story.factors["page term 体育"] > 0.0
        assert "籃" in "".join(term for term, _ in collection.why("http://tw.example/lanqiu/").terms)
        taxes = [page.url for page in collection.pages(relevant=None) if "tax.example" in page.url]
        assert len(taxes) <= 1  # the way to the Chinese pages was found before the tax forms
