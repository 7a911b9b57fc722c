from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from honeyguide.config.load import changed, check_values, freeze, load
from honeyguide.config.schema import Config, OpenTable
from honeyguide.errors import TopicError
from honeyguide.model import Topic
from honeyguide.topic import render

HEAD = '[topic]\nname = "n"\nkeywords = ["k"]\n'


def put(folder: Path, text: str) -> Path:
    path = folder / "topic.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(path: Path) -> str:
    with pytest.raises(TopicError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(f"{path}:")
    return message.removeprefix(f"{path}:")


def test_a_misspelt_table_is_named_and_not_only_missed(tmp_path: Path) -> None:
    text = '[topics]\nname = "n"\nkeywords = ["k"]\n'
    assert refusal(put(tmp_path, text)).startswith("1: unknown table [topics]; did you mean '[topic]'?")


def test_what_is_too_long_is_said_in_its_own_words(tmp_path: Path) -> None:
    told = refusal(put(tmp_path, f'[topic]\nname = "n"\nkeywords = ["{"a" * 12_000}"]\n'))
    assert told == (
        "3: item 1 of 'keywords' in [topic] is too long: 12,000 characters; at most 10,000 are allowed"
    )


def test_every_key_has_a_description_and_a_default_that_is_valid() -> None:
    config = check_values({"topic": {"name": "n"}})
    assert check_values(tomllib.loads(freeze(config))).model_dump(exclude={"versions"}) == config.model_dump(
        exclude={"versions"}
    )
    for name in Config.model_fields:
        table = getattr(config, name)
        if hasattr(type(table), "model_fields"):
            for key, field in type(table).model_fields.items():
                assert field.description, f"{name}.{key}"


def test_the_template_is_valid_with_all_its_suggestions(tmp_path: Path) -> None:
    text = render(Topic(name="n"))
    lines = [
        line.removeprefix("# ")
        if line.startswith("# ") and ("= " in line or line.startswith("# ["))
        else line
        for line in text.splitlines()
        if "honeyguide topic check" not in line
    ]
    config = load(put(tmp_path, "\n".join(lines)))
    assert config.crawl.seeds == ("https://example.org/",)
    assert config.relevance.model == "calibrated"
    assert config.scope.exclude == ("*/login*", "*.zip")
    assert config.identity.has_contact


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[crawl]\nmax_page = 5", "5: unknown key 'max_page' in [crawl]; did you mean 'max_pages'?"),
        ("[crawl]\n\n# x\ndelay = 5", "7: unknown key 'delay' in [crawl]; it belongs in [politeness]"),
        ("[politeness]\nzebra = 5", "5: unknown key 'zebra' in [politeness]; choose from: backoff, "),
        ("[crwl]\nmax_pages = 5", "4: unknown table [crwl]; did you mean '[crawl]'?"),
        ("[crawl]\nmax_pages = -5", "5: 'max_pages' in [crawl] must be greater than or equal to 1, not -5"),
        ("[crawl]\nmax_pages = true", "5: 'max_pages' in [crawl] must be a whole number, not true"),
        ("[crawl]\nmax_pages = 1.5", "5: 'max_pages' in [crawl] must be a whole number, not 1.5"),
        ("[crawl]\nseeds = 'x'", "5: 'seeds' in [crawl] must be a list in brackets, not 'x'"),
        (
            "[crawl]\nseeds = [\n'https://a.example/',\n'b.example',\n]",
            "7: item 2 of 'seeds' in [crawl]: 'b.example' is not a valid URL; write https://b.example",
        ),
        ("[crawl]\nseeds = ['ftp://a/']", "5: item 1 of 'seeds' in [crawl]: 'ftp://a/' is not a valid URL"),
        ("[crawl]\nrecipe = 7", "5: 'recipe' in [crawl] must be a text in quotes, not 7"),
        ("[crawl]\nmax_bytes = '3 parsecs'", "5: 'max_bytes' in [crawl]: write a number and a unit"),
        ("[crawl]\nmax_seconds = nan", "5: 'max_seconds' in [crawl] must be "),
        ("[crawl]\nfollow_feeds = 'yes'", "5: 'follow_feeds' in [crawl]: must be true or false"),
        (
            "[scope]\nallow_domains = ['https://a/']",
            "5: item 1 of 'allow_domains' in [scope]: 'https://a/' is not a domain",
        ),
        (
            '[identity]\nuser_agent = "a\\nb"',
            "5: 'user_agent' in [identity]: must be plain ASCII on one line",
        ),
        (
            '[identity]\nuser_agent = "1/2"',
            "5: 'user_agent' in [identity]: must begin with a name of letters",
        ),
        (
            "[network]\nallow_net = ['127.0.0.1/8']",
            "5: item 1 of 'allow_net' in [network]: '127.0.0.1/8' is not a network",
        ),
        (
            "[network]\nproxy = 'http://me:secret@proxy.example:3128'",
            "5: 'proxy' in [network]: must not hold a password, since collections keep their topic file",
        ),
        (
            "[network]\nproxy = 'socks5://proxy.example'",
            "5: 'proxy' in [network]: a proxy of the kind socks5:// is not spoken; name an HTTP proxy",
        ),
        (
            "[network.connect_to]\na = 'b:1'",
            "5: 'a' in [network.connect_to]: 'b:1' is not an address with a port",
        ),
        ("[storage]\nsync = 'ful'", "5: 'sync' in [storage] must be 'normal' or 'full', not 'ful'"),
        ("[discovery]\nsource = 'x'", "4: [discovery] must be a list of tables; write it as [[discovery]]"),
        ("[[crawl]]\nmax_pages = 1", "4: [crawl] must be a table; write it as [crawl]"),
        ("[[discovery]]\nrate = 1", "4: 'source' in [discovery] is missing; add it"),
        ("[[discovery]]\nsourc = 'x'", "4: 'source' in [discovery] is missing; is 'sourc' meant to be it?"),
        (
            "[crawl]\nmax_page = 5\nseed = 1",
            "5: unknown key 'max_page' in [crawl]; did you mean 'max_pages'? (and 1 more)",
        ),
    ],
)
def test_refusals_name_the_line_and_the_remedy(tmp_path: Path, text: str, expected: str) -> None:
    assert refusal(put(tmp_path, HEAD + text + "\n")).startswith(expected)


def test_refusals_outside_of_tables(tmp_path: Path) -> None:
    assert refusal(put(tmp_path, "max_pages = 3\n" + HEAD)).startswith(
        "1: unknown key 'max_pages' outside of any table; it belongs in [crawl]"
    )
    assert refusal(put(tmp_path, "")) == "1: table [topic] is missing; add it"
    assert refusal(put(tmp_path, "[topic]\n")) == "1: 'name' in [topic] is missing; add it"
    assert refusal(put(tmp_path, "[topic]\nname = ' '\n")).startswith(
        "2: 'name' in [topic]: must not be empty"
    )
    assert refusal(put(tmp_path, "[topic]\nname = 'x'\nlanguages = ['English']")).startswith(
        "3: item 1 of 'languages' in [topic]: 'English' is not a language code"
    )


def test_values_as_people_write_them(tmp_path: Path) -> None:
    text = HEAD + (
        "[crawl]\nmax_pages = 'unlimited'\nmax_bytes = '2 GB'\nmax_seconds = '1 h'\n"
        "[relevance]\nmodel = 'okapi'\nk1 = 1.2\n[[discovery]]\nsource = 's'\nengines = ['a']\n"
        "[network]\nallow_net = ['127.0.0.0/8']\n"
        "connect_to = {'*' = '127.0.0.1:8080', 'a.example' = '[::1]:80'}\n"
    )
    config = load(put(tmp_path, text))
    assert config.crawl.max_pages is None
    assert config.crawl.max_bytes == 2 * 10**9
    assert config.crawl.max_seconds == 3600.0
    assert config.relevance.options == {"k1": 1.2}
    assert isinstance(config.discovery[0], OpenTable)
    assert config.discovery[0].options == {"engines": ["a"]}
    assert config.as_topic() == Topic(name="n", keywords=("k",))
    again = check_values(tomllib.loads(freeze(config)))
    assert again.crawl == config.crawl
    assert again.network == config.network
    assert again.relevance.options == {"k1": 1.2}


def test_the_frozen_copy_means_the_same_elsewhere(tmp_path: Path) -> None:
    text = HEAD + "examples = ['pages/*.html', 'https://a.example/']\n"
    frozen = tomllib.loads(freeze(load(put(tmp_path, text))))
    assert frozen["topic"]["examples"] == [str(tmp_path / "pages/*.html"), "https://a.example/"]
    assert frozen["versions"].keys() == {"honeyguide", "python"}
    assert frozen["crawl"]["max_pages"] == 1000


def test_options_of_a_command_line_are_checked_like_the_file(tmp_path: Path) -> None:
    config = load(put(tmp_path, HEAD + "[crawl]\nmax_depth = 3\n"))
    fresh = changed(config, {"crawl": {"max_pages": 5, "recipe": None}, "storage": {"archive": False}})
    assert (fresh.crawl.max_pages, fresh.crawl.max_depth, fresh.crawl.recipe) == (5, 3, "scout")
    assert not fresh.storage.archive
    assert fresh.base == tmp_path
    with pytest.raises(
        TopicError, match=r"'max_pages' in \[crawl\] must be greater than or equal to 1, not 0"
    ):
        changed(config, {"crawl": {"max_pages": 0}})


def test_identity_is_honest_by_default() -> None:
    identity = check_values({"topic": {"name": "n"}}).identity
    assert identity.product == "honeyguide"
    assert not identity.has_contact
    named = check_values(
        {"topic": {"name": "n"}, "identity": {"user_agent": "My-Bot/2 (me@example.org)"}}
    ).identity
    assert named.product == "my-bot"
    assert named.has_contact


def test_frozen_lists_read_back() -> None:
    keywords = ['say "owl"', "back\\slash", "é 猫头鹰 😀", "it's"]
    values = {"topic": {"name": "owls", "keywords": keywords}, "crawl": {"seeds": ["https://example.org/"]}}
    held = tomllib.loads(freeze(check_values(values)))
    assert held["topic"]["keywords"] == keywords
    assert held["crawl"]["seeds"] == ["https://example.org/"]
    assert held["topic"]["examples"] == []
