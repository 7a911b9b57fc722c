"""Any HTTP service as backlink service, by a template for its addresses and a path into its JSON."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from honeyguide.discovery.backlinks.base import Parents
from honeyguide.discovery.http import Http, HttpAnswer
from honeyguide.errors import TopicError
from honeyguide.web import host_key

PLACEHOLDERS: Final = ("url", "host", "limit", "key")
_MOST_VALUES: Final = 10_000


class JsonService:
    """Asks `template` and takes the addresses that `path` leads to.

    In the template `{url}` stands for the page (percent-encoded), `{host}` for its host, `{limit}` for how
    many answers are wanted and `{key}` for the key. The path names keys and positions with dots between
    them; `*` stands for every member: `results.*.source.url`.

    Args:
        http: Asks.
        template: Address of the service.
        path: Where the addresses are in its answer.
        key_env: Environment variable that holds the key; empty: there is none.
        key_header: Header that carries the key, such as `Authorization`; the template may do so instead.
        rate: Questions a second at most.
    """

    remote = True

    def __init__(
        self,
        http: Http,
        *,
        template: str,
        path: str,
        key_env: str = "",
        key_header: str = "",
        rate: float = 1.0,
    ) -> None:
        names = _placeholders(template)
        if not {"url", "host"} & names:
            raise TopicError("service 'http': its template names neither {url} nor {host}; add one of them")
        if bool(key_env) != ("key" in names or bool(key_header)):
            raise TopicError(
                "service 'http': a key needs both key_env and a place ({key} in the template, or key_header);"
                " give both or neither"
            )
        key = os.environ.get(key_env, "") if key_env else ""
        if key_env and not key:
            raise TopicError(f"service 'http': the environment has no {key_env}; set it to the service's key")
        self.rate = rate
        self._http = http
        self._template = template
        self._path = tuple(path.split("."))
        self._key = key
        self._headers = ((key_header, key),) if key_header else ()

    async def parents(self, url: str, limit: int) -> Parents:
        """What the service says links to the URL."""
        address = self._template.format(
            url=quote(url, safe=""), host=quote(host_key(url)), limit=limit, key=quote(self._key, safe="")
        )
        answer = await self._http.get(address, headers=self._headers)
        values = decode(answer)
        if isinstance(values, Parents):
            return values
        found = [one for one in follow(values, self._path) if isinstance(one, str)]
        if not found and not reaches(values, self._path):
            return Parents(requests=1, note=f"the answer has nothing at {'.'.join(self._path)}", failed=True)
        return Parents(tuple(found[:limit]), requests=1)


def decode(answer: HttpAnswer) -> object:
    """The JSON of an answer, or what went wrong as `Parents`."""
    if answer.status != 200:
        said = answer.problem or f"it answered HTTP {answer.status}"
        return Parents(requests=1, note=said, failed=True, retry_after=answer.retry_after)
    if answer.problem:
        return Parents(requests=1, note=answer.problem, failed=True)
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        return Parents(requests=1, note="its answer is no JSON", failed=True)


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


def reaches(value: object, path: tuple[str, ...]) -> bool:
    """Whether the part of the path before the first `*` is there: an empty list is an answer too."""
    head = path[: path.index("*")] if "*" in path else path[:-1]
    return bool(list(follow(value, head)))


def _placeholders(template: str) -> set[str]:
    try:
        names = {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
    except ValueError as error:
        raise TopicError(f"service 'http': bad template ({error}); write {{url}} for the page") from None
    unknown = names - set(PLACEHOLDERS)
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise TopicError(f"service 'http': unknown {{{min(unknown)}}} in the template; choose from: {known}")
    return names
