from __future__ import annotations

from pathlib import Path

from crawls import finish, small_crawl, small_topic

from honeyguide.collection.collection import Collection
from honeyguide.job.verdict_reasons import verdict_reasons


async def test_words_of_the_page_speak_for_and_against_it(tmp_path: Path) -> None:
    out = tmp_path / "crawl"
    await finish(small_crawl(out, max_pages=60))
    with Collection.open(out) as collection:
        pages = sorted(collection.pages(relevant=None), key=lambda page: page.score)
        worst, best = pages[0], pages[-1]
        text = str(collection.text(best.url)).lower()
    for_it = verdict_reasons(out, best.url, best.terms)
    assert for_it.for_it
    assert any(word in text for word, _ in for_it.for_it)
    assert for_it.sentences
    against = verdict_reasons(out, worst.url, worst.terms)
    assert against.against
    assert set(against.missing) <= set(small_topic().keywords)
    assert len(against.missing) > len(for_it.missing)
