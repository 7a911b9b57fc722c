"""Every answer of the REST API is held against its own OpenAPI document."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from portals import RunningPortal, ask_json

from honeyguide.ui.api import OPERATIONS
from honeyguide.ui.openapi import document


@cache
def described() -> dict[str, Any]:
    """The document."""
    return document(OPERATIONS)


def ask(portal: RunningPortal, method: str, path: str, body: object = None) -> tuple[int, Any]:
    """One request: the status and the answer, which must be as the document says."""
    status, answer = ask_json(portal, method, path, body)
    bare = path.partition("?")[0].removeprefix("/api/v1")
    for template, operations in described()["paths"].items():
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", template), bare) and method.lower() in operations:
            answers = operations[method.lower()]["responses"]
            held = answers.get(str(status)) or answers["default"]
            assert str(status) in answers or status >= 400, f"{method} {path}: {status} is not documented"
            schema = held["content"]["application/json"]["schema"]
            whole = {**schema, "components": described()["components"]}
            Draft202012Validator(whole).validate(answer)
    return status, answer
