from __future__ import annotations

import tomllib

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.topic.positions import Location, positions

TEXT = '''\
top = 1
# [comment]
[topic]   # and more
name = """
[not.a.table]
key = 1
"""
words = ["a", "b = 2",
  # comment, with ] bracket
  'c',

  """d""""
]
"quoted.key" = 1.5
dotted.key.here = 2021-01-01T00:00:00Z
inline = {x = 1, y = [10, {z = "}"}]}

[[discovery]]
source = "one"
[discovery.options]
rate = 2
[[discovery]]
source = 'two'
[network.connect_to]
"a.example:80" = "127.0.0.1:1"
'''


def leaves(value: object, at: Location = ()) -> list[Location]:
    if isinstance(value, dict):
        return [at] * bool(at) + [leaf for key, item in value.items() for leaf in leaves(item, (*at, key))]
    if isinstance(value, list):
        return [at] + [leaf for index, item in enumerate(value) for leaf in leaves(item, (*at, index))]
    return [at]


def test_every_value_has_its_line() -> None:
    found = positions(TEXT)
    lines = TEXT.splitlines()
    assert set(leaves(tomllib.loads(TEXT))) == set(found)
    for location, start in {
        ("top",): "top",
        ("topic",): "[topic]",
        ("topic", "name"): "name",
        ("topic", "words", 1): "words",
        ("topic", "words", 2): "  'c'",
        ("topic", "words", 3): '  """d',
        ("topic", "quoted.key"): '"quoted',
        ("topic", "dotted", "key", "here"): "dotted",
        ("topic", "inline", "y", 1, "z"): "inline",
        ("discovery", 0, "options", "rate"): "rate",
        ("discovery", 1, "source"): "source = 'two'",
        ("network", "connect_to", "a.example:80"): '"a.example',
    }.items():
        assert lines[found[location] - 1].startswith(start), location


def test_an_empty_text_has_no_positions() -> None:
    assert positions("") == {}
    assert positions("# nothing\n\n") == {}


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])), max_size=8), st.booleans())
def test_items_are_counted_whatever_they_hold(items: list[str], one_line: bool) -> None:
    join = ", " if one_line else ",\n"
    quoted = ['"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"' for item in items]
    text = "[t]\nitems = [" + join.join(quoted) + "]\nlast = 1\n"
    found = positions(text)
    assert found["t", "last"] == 2 + (1 if one_line else max(1, len(items)))
    for index in range(len(items)):
        assert found["t", "items", index] == 2 + (0 if one_line else index)
    assert set(leaves(tomllib.loads(text))) == set(found)
