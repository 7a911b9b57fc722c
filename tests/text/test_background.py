from __future__ import annotations

from honeyguide.text.background import background
from honeyguide.text.tokens import Analyser


def test_common_words_weigh_less_than_rare_ones() -> None:
    analyser = Analyser()
    table = background(analyser)
    home, birth, rare = (table.idf(analyser.terms(word)[0]) for word in ("home", "birth", "backpropagation"))
    assert home < birth < rare


def test_frequencies_are_plausible() -> None:
    table = background(Analyser())
    assert len(table.counts) > 500
    assert all(0 < count <= 0.4 * table.documents for count in table.counts.values())


def test_chinese_words_are_known() -> None:
    table = background(Analyser(("zh",)))
    assert table.idf("首页") < table.idf("猫头鹰")
