"""`honeyguide topic map-token`."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.cli.output import note, print_json
from honeyguide.errors import TopicError
from honeyguide.topic import write_new
from honeyguide.topic.tokens import Mapping, UserTable, built_in_table, check_mapping
from honeyguide.topic.tokens_home import personal_table_file


def map_token(
    token: str,
    topic: str,
    /,
    *,
    kind: str = "english",
    table: Path | None = None,
    replace: bool = False,
    json: bool = False,
) -> None:
    """Map a token that occurs in URLs to a topic.

    Args:
        token: As it occurs in URLs, such as lanqiu.
        topic: Label of the topic, in English or Chinese, such as Basketball.
        kind: english (full word), abbreviation, pinyin (full) or initials (of Pinyin).
        table: File to add it to; by default your personal table, which every crawl uses.
        replace: Replace the topic that the token is mapped to.
        json: Print JSON.
    """
    one = check_mapping(token, topic, kind)
    file = table or personal_table_file()
    known = UserTable.read(file, missing_ok=True)
    _refuse_second(one, known, replace=replace)
    kept = tuple(other for other in known.mappings if other.token != one.token)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_new(file, msgspec.structs.replace(known, mappings=(*kept, one)).text(), overwrite=True)
    print_json({"file": str(file), **msgspec.to_builtins(one)}) if json else print(file)
    if table is not None:
        note(f'Use it with: [ordering] tables = ["{file.absolute()}"]')


def _refuse_second(one: Mapping, known: UserTable, *, replace: bool) -> None:
    """A token stands for one topic; a second mapping must be asked for."""
    mine = next((other for other in known.mappings if other.token == one.token), None)
    topic = mine.topic if mine is not None else built_in_table().topic_of(one.token)
    where = f"in {known.path}" if mine is not None else "in the built-in table"
    if topic is not None and not replace:
        raise TopicError(
            f"token {one.token!r} is mapped to {topic!r} already, {where}; add --replace to change it"
        )
