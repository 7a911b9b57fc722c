"""Web services that answer in JSON, by a template for their addresses and a path into their answers."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote

import msgspec

from honeyguide.discovery.http import Http, HttpAnswer
from honeyguide.errors import TopicError

_MOST_VALUES: Final = 10_000


class JsonProblem(msgspec.Struct, frozen=True):
    """Why a service gave nothing usable."""

    note: str
    """For people. Never holds a key."""
    retry_after: float | None = None
    """Seconds the service asked us to stay away."""


class JsonApi:
    """Asks `template` and takes the texts that `path` leads to.

    In the template, each placeholder such as `{query}` stands for a word of the question (percent-encoded)
    and `{key}` for the key. The path names keys and positions with dots between them; `*` stands for every
    member: `results.*.source.url`.

    Args:
        http: Asks, through the egress guard.
        title: What messages call the service, such as "engine 'http'".
        template: Address of the service.
        path: Where the texts are in its answer.
        placeholders: Words that the template may name.
        key_env: Environment variable that holds the key; empty for none.
        key_header: Header that carries the key, such as `Authorization`; the template may do so instead.

    Raises:
        TopicError: The template or the key cannot be used.
    """

    def __init__(
        self,
        http: Http,
        title: str,
        *,
        template: str,
        path: str,
        placeholders: Sequence[str],
        key_env: str = "",
        key_header: str = "",
    ) -> None:
        self.named = _placeholders(template, (*placeholders, "key"), title)
        """Placeholders that the template names."""
        if bool(key_env) != ("key" in self.named or bool(key_header)):
            raise TopicError(
                f"{title}: a key needs both key_env and a place ({{key}} in the template, or key_header);"
                " give both or neither"
            )
        key = os.environ.get(key_env, "") if key_env else ""
        if key_env and not key:
            raise TopicError(f"{title}: the environment has no {key_env}; set it to the service's key")
        if not (key.isascii() and (key.isprintable() or not key)):
            raise TopicError(f"{title}: {key_env} holds more than a key; set it to one line of ASCII")
        self._http = http
        self._template = template
        self._path = tuple(path.split("."))
        self._key = key
        self._headers = ((key_header, key),) if key_header else ()

    async def ask(self, **words: object) -> tuple[str, ...] | JsonProblem:
        """The texts in the answer to one question, or why there are none."""
        quoted = {name: quote(str(word), safe="") for name, word in words.items()}
        address = self._template.format(**quoted, key=quote(self._key, safe=""))
        values = decode_json(await self._http.get(address, headers=self._headers))
        if isinstance(values, JsonProblem):
            return values
        found = tuple(one for one in follow(values, self._path) if isinstance(one, str))
        if not found and not _reaches(values, self._path):
            return JsonProblem(f"the answer has nothing at {'.'.join(self._path)}")
        return found


def decode_json(answer: HttpAnswer) -> object:
    """The JSON of an answer, or a `JsonProblem`."""
    if answer.status != 200:
        return JsonProblem(answer.problem or f"it answered HTTP {answer.status}", answer.retry_after)
    if answer.problem:
        return JsonProblem(answer.problem)
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return JsonProblem("the answer is not JSON")


def follow(value: object, path: tuple[str, ...]) -> Iterable[object]:
    """Everything that a path leads to, at most 10,000 things.

    Example:
        >>> list(follow({"rows": [{"url": "a"}, {"url": "b"}, {}]}, ("rows", "*", "url")))
        ['a', 'b']
    """
    level: list[object] = [value]
    for step in path:
        below: list[object] = []
        for one in level:
            if step == "*" and isinstance(one, list | dict):
                below.extend(one if isinstance(one, list) else one.values())
            elif isinstance(one, dict) and step in one:
                below.append(one[step])
            elif isinstance(one, list) and step.isdecimal() and int(step[:9]) < len(one):
                below.append(one[int(step)])
        level = below[:_MOST_VALUES]
    return level


def _reaches(value: object, path: tuple[str, ...]) -> bool:
    """Whether the part of the path before the first `*` is there: an empty list is an answer too."""
    head = path[: path.index("*")] if "*" in path else path[:-1]
    return bool(list(follow(value, head)))


def _placeholders(template: str, known: Sequence[str], title: str) -> set[str]:
    try:
        names = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
    except ValueError as error:
        raise TopicError(f"{title}: bad template ({error}); write placeholders as {{{known[0]}}}") from None
    unknown = names - set(known)
    if unknown:
        listed = ", ".join(f"{{{name}}}" for name in known)
        raise TopicError(f"{title}: unknown {{{min(unknown)}}} in the template; choose from: {listed}")
    return names
