"""Every key of a topic file by an environment variable."""

from __future__ import annotations

import json
from typing import Any

import pytest

from honeyguide.config.environment import with_environment
from honeyguide.config.load import check_values
from honeyguide.config.schema import Config, OpenTable
from honeyguide.errors import TopicError

BARE = check_values({"topic": {"name": "owls", "keywords": ["owl"]}})
OTHER: dict[tuple[str, str], tuple[str, object]] = {
    ("topic", "name"): ("barn owls, and others", "barn owls, and others"),
    ("topic", "keywords"): ("barn owl, strix", ("barn owl", "strix")),
    ("topic", "languages"): ("de,fr", ("de", "fr")),
    ("crawl", "seeds"): ('["https://a.example/x,y"]', ("https://a.example/x,y",)),
    ("crawl", "recipe"): ("best-first", "best-first"),
    ("crawl", "max_pages"): ("unlimited", None),
    ("crawl", "max_bytes"): ("8 MiB", 8 * 2**20),
    ("crawl", "max_seconds"): ("2 h", 7200.0),
    ("scope", "allow_domains"): ("a.example, b.example", ("a.example", "b.example")),
    ("scope", "deny_domains"): ("a.example", ("a.example",)),
    ("identity", "user_agent"): ("bot/1 (+https://a.example, me)", "bot/1 (+https://a.example, me)"),
    ("politeness", "robots_max_age"): ("1 h", 3600.0),
    ("limits", "max_body"): ("1 MiB", 2**20),
    ("limits", "max_url_length"): ("1000", 1000),
    ("limits", "parse_memory"): ("512 MiB", 512 * 2**20),
    ("fetch", "render"): ("never", "never"),
    ("fetch", "render_bytes"): ("1 MiB", 2**20),
    ("fetch", "render_memory"): ("512 MiB", 512 * 2**20),
    ("network", "allow_net"): ("127.0.0.0/8, ::1/128", ("127.0.0.0/8", "::1/128")),
    ("network", "connect_to"): ('{"*" = "127.0.0.1:80"}', {"*": "127.0.0.1:80"}),
    ("crawl", "fresh_share"): ("0.25", 0.25),
    ("crawl", "fresh_policy"): ("uniform", "uniform"),
    ("storage", "sync"): ("full", "full"),
    ("storage", "frontier_in_memory"): ("500", 500),
}


def written(kind: Any) -> tuple[str, object]:
    """Some value of a type, as text and as it should come out."""
    if "bool" in str(kind):
        return "true", True
    if "tuple" in str(kind) or "str" in str(kind):
        return ("a,b", ("a", "b")) if "tuple" in str(kind) else ("a", "a")
    return ("3.0", 3.0) if "float" in str(kind) else ("3", 3)


KEYS = [
    (table, key)
    for table, field in Config.model_fields.items()
    if hasattr(field.annotation, "model_fields")
    for key in field.annotation.model_fields  # type: ignore[union-attr]
]


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_every_key_has_its_variable(table: str, key: str) -> None:
    model: Any = Config.model_fields[table].annotation
    text, expected = OTHER.get((table, key)) or written(model.model_fields[key].annotation)
    made = with_environment(BARE, {f"HONEYGUIDE_{table}_{key}".upper(): text})
    assert getattr(getattr(made, table), key) == expected


def test_options_of_parts_and_sources() -> None:
    assert issubclass(Config.model_fields["ordering"].annotation, OpenTable)  # type: ignore[arg-type]
    made = with_environment(
        BARE,
        {
            "HONEYGUIDE_ORDERING_ORDER": "shark-search",
            "HONEYGUIDE_ORDERING_DECAY": "0.5",
            "HONEYGUIDE_DISCOVERY": '[{source = "backlinks"}]',
            "HONEYGUIDE_TOKEN": "not a key",
            "HOME": "/root",
        },
    )
    assert (made.ordering.order, made.ordering.options) == ("shark-search", {"decay": 0.5})
    assert [one.source for one in made.discovery] == ["backlinks"]


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"HONEYGUIDE_POLITENESS_DELAI": "2"}, "HONEYGUIDE_POLITENESS_DELAI: .* did you mean 'delay'"),
        ({"HONEYGUIDE_POLITENESS_DELAY": "soon"}, "'delay' in .*set by HONEYGUIDE_POLITENESS_DELAY"),
        ({"HONEYGUIDE_NETWORK_CONNECT_TO": "x"}, "CONNECT_TO: .* write it as in a topic file"),
        ({"HONEYGUIDE_DISCOVERY": "3"}, "HONEYGUIDE_DISCOVERY must be a list"),
        ({"HONEYGUIDE_DISCOVERY_SOURCE": "x"}, "write all sources into HONEYGUIDE_DISCOVERY"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_refused_by_the_name_of_the_variable(
    variables: dict[str, str], said: str
) -> None:
    with pytest.raises(TopicError, match=said):
        with_environment(BARE, variables)


def test_variables_of_commands_are_left_alone() -> None:
    given = {"HONEYGUIDE_TOPIC_NEW_KEYWORDS": "x", "HONEYGUIDE_CRAWL_OUT": "x"}
    others = ("HONEYGUIDE_TOPIC_NEW_", "HONEYGUIDE_CRAWL_OUT")
    assert with_environment(BARE, given, others=others) is BARE


def test_the_command_line_uses_them(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from honeyguide.cli import main

    file = tmp_path / "topic.toml"
    file.write_text('[topic]\nname = "owls"\nkeywords = ["owl"]\n[crawl]\nseeds = ["https://a.example/"]\n')
    monkeypatch.setenv("HONEYGUIDE_POLITENESS_DELAY", "7")
    monkeypatch.setenv("HONEYGUIDE_CRAWL_OUT", "elsewhere")
    monkeypatch.setenv("HONEYGUIDE_TOPIC_NEW_KEYWORDS", "lark")
    assert main(["topic", "check", str(file), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (made["politeness"]["delay"], made["topic"]["keywords"]) == (7.0, ["owl"])


def test_a_misspelt_table_is_refused_and_other_variables_are_left_alone() -> None:
    with pytest.raises(TopicError, match=r"POLITENES_DELAY: .* did you mean HONEYGUIDE_POLITENESS_DELAY\?"):
        with_environment(BARE, {"HONEYGUIDE_POLITENES_DELAY": "3"})
    others = {"HONEYGUIDE_SERVE_PORT": "1", "HONEYGUIDE_STATE": "x", "HONEYGUIDE_LINKS_LIMIT": "3"}
    assert with_environment(BARE, others) == BARE
