from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.text.segmentation import UNSPACED
from honeyguide.text.simhash import _bit_counts, _class_table, _word_hashes, hamming, simhash


def text_of(seed: int, count: int = 600) -> list[str]:
    generator = random.Random(seed)
    return [f"w{generator.randrange(3000)}" for _ in range(count)]


def test_empty_text_has_no_fingerprint() -> None:
    assert simhash("") == 0
    assert simhash(" -- !? ") == 0


def test_signed_64_bits_and_stable() -> None:
    value = simhash("the quick brown fox jumps over the lazy dog")
    assert -(2**63) <= value < 2**63
    # Fingerprints are stored: this value may only change together with the store's format.
    assert value == -8010162469187947156


def test_case_and_punctuation_do_not_matter() -> None:
    assert simhash("Alpha, beta. GAMMA delta") == simhash("alpha beta (gamma) delta")


def test_near_duplicates_are_near_and_others_far() -> None:
    words = text_of(1)
    changed = words.copy()
    changed[300] = "changed"
    near = hamming(simhash(" ".join(words)), simhash(" ".join(changed)))
    far = hamming(simhash(" ".join(words)), simhash(" ".join(text_of(2))))
    assert near <= 6
    assert far >= 16


def test_word_order_matters() -> None:
    words = text_of(3)
    assert hamming(simhash(" ".join(words)), simhash(" ".join(reversed(words)))) > 10


def test_chinese_characters_are_words() -> None:
    assert len(_word_hashes("神经网络abc 模型")) == 7


def test_bit_counts_over_more_than_one_group() -> None:
    hashes = _word_hashes(" ".join(text_of(4, 1000)))
    expected = [sum(int(h) >> bit & 1 for h in hashes) for bit in range(64)]
    assert _bit_counts(hashes).tolist() == expected


def test_hamming_of_signed_values() -> None:
    assert hamming(-1, -2) == 1
    assert hamming(5, 5) == 0


@given(st.text())
def test_any_text_has_a_fingerprint(text: str) -> None:
    assert simhash(text) == simhash(text)


def test_every_character_has_its_class() -> None:
    table = _class_table()
    assert len(table) == 0x10000
    for code in (*range(0, 0x3000, 7), *range(0x3000, 0xFFFF, 101), 0x4E00, 0xD800, 0xFFFE):
        alone = UNSPACED.fullmatch(chr(code)) is not None
        assert table[code] == (2 if alone else int(chr(code).isalnum())), hex(code)
    assert table[0xFFFF] == 2
