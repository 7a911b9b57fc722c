from __future__ import annotations

from pathlib import Path

import pytest

from honeyguide.errors import TopicError
from honeyguide.topic.patterns import find_files


@pytest.mark.parametrize(
    ("pattern", "advice"),
    [
        ("example.org/owls", "write https://example.org/owls"),
        ("www.example.co.uk/", "write https://www.example.co.uk/"),
        ("pages/owl.html", "it starts from the topic file's folder"),
        ("../owl.html", "it starts from the topic file's folder"),
    ],
)
def test_an_address_without_its_beginning_is_known_for_one(tmp_path: Path, pattern: str, advice: str) -> None:
    with pytest.raises(TopicError, match=advice):
        find_files(pattern, base=tmp_path, key="'examples' in [topic]")
