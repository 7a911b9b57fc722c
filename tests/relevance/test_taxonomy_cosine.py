from __future__ import annotations

import pytest

from honeyguide.model import Document, Examples, Page
from honeyguide.parse.base import ParseJob
from honeyguide.parse.html import parse_page
from honeyguide.relevance.description_cosine import DescriptionCosine
from honeyguide.relevance.taxonomy_cosine import TaxonomyCosine

SPORTS = Examples(taxonomy=("Sports|体育", "Basketball|篮球"), languages=("en", "zh"))
SIMPLE = "<p>我们报道篮球和其他体育新闻。篮球比赛今天在北京开始。篮球队员已经到了。</p>"
TRADITIONAL = "<p>我們報導籃球和其他體育新聞。籃球比賽今天在臺北開始。籃球隊員已經到了。</p>"


def a_page(text: str) -> Page:
    return Page(url="http://a.example/", id=1, text=text)


def parsed(body: bytes, content_type: str) -> Page:
    page = parse_page(ParseJob("http://a.example/", body, content_type))
    assert isinstance(page, Page)
    return page


def test_title_counts_and_threshold_is_an_option() -> None:
    model = TaxonomyCosine().fit(SPORTS)
    page = Page(url="http://a.example/", id=1, title="Basketball", text="nothing else of note")
    assert model.judge(page).on_topic
    assert not TaxonomyCosine(threshold=0.9).fit(SPORTS).judge(page).on_topic
    assert model.judge(a_page("tax law")).score == 0.0


@pytest.mark.parametrize("charset", ["gb2312", "gbk", "gb18030", "utf-8", "big5"])
@pytest.mark.parametrize("declared", ["header", "meta", "not at all"])
def test_chinese_pages_in_any_charset_are_on_topic(charset: str, declared: str) -> None:
    meta = f'<meta charset="{charset}">' if declared == "meta" else ""
    text = TRADITIONAL if charset == "big5" else SIMPLE
    body = f"<html><head>{meta}<title>篮球</title></head><body>{text * 3}</body></html>"
    body = body.replace("<title>篮球", "<title>籃球") if charset == "big5" else body
    header = f"text/html; charset={charset}" if declared == "header" else "text/html"
    page = parsed(body.encode(charset), header)
    path = ("Sports|体育|體育", "Basketball|篮球|籃球")
    verdict = TaxonomyCosine().fit(Examples(taxonomy=path, languages=("en", "zh"))).judge(page)
    assert page.language == "zh"
    assert verdict.on_topic
    assert {"篮球", "籃", "籃球"} & {term for term, _ in verdict.terms}


def test_stop_words_do_not_lengthen_a_chinese_page() -> None:
    model = TaxonomyCosine().fit(SPORTS)
    assert model.judge(a_page("篮球")).score == model.judge(a_page("我们的篮球和")).score


def test_a_mixed_page_is_on_topic_and_shows_words_of_both() -> None:
    model = TaxonomyCosine().fit(SPORTS)
    verdict = model.judge(a_page("Basketball 篮球 sports 体育 news from Beijing 今天"))
    assert verdict.on_topic
    assert {term for term, _ in verdict.terms} == {"basketbal", "篮球", "sport", "体育"}


def test_description_cosine_by_hand() -> None:
    examples = Examples(positives=(Document("owl owl", "nest"),))
    model = DescriptionCosine(threshold=0.5).fit(examples)
    assert model.judge_texts(["owl", "nest", "tax"]) == pytest.approx([2 / 5**0.5, 1 / 5**0.5, 0.0])
    lead = DescriptionCosine(lead=4).fit(Examples(positives=(Document("owl tax tax tax", "nest"),)))
    assert lead.judge_texts(["tax"]) == [0.0]
