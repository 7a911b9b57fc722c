"""The OpenAPI document of the REST API, made from the operations themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """What went wrong, and what to do about it."""

    status: int
    message: str


class Failure(msgspec.Struct, frozen=True):
    """The body of every answer that is not a success."""

    error: Problem


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of the path or the query."""

    name: str
    meaning: str
    schema: dict[str, Any]
    place: str = "query"
    required: bool = False


class Operation(msgspec.Struct, frozen=True):
    """One thing that can be asked of the API."""

    method: str
    path: str
    name: str
    handler: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    body: type | None = None
    answer: Any = None
    """Type of the answer; None for a file or a stream of `media_type`."""
    status: int = 200
    media_type: str = "application/json"

    @property
    def body_required(self) -> bool:
        """Whether the body has a field without a default."""
        return self.body is not None and any(one.required for one in msgspec.structs.fields(self.body))

    @property
    def summary(self) -> str:
        """What it does: the first line of its handler's docstring."""
        return (self.handler.__doc__ or "").partition("\n")[0]


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """The OpenAPI 3.1 document."""
    types = [each.body for each in operations if each.body] + [
        each.answer for each in operations if each.answer
    ]
    _, components = msgspec.json.schema_components(
        [*types, Failure], ref_template="#/components/schemas/{name}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Honeyguide",
            "version": version("honeyguide"),
            "description": "Collections of a focused crawler: read them, review them, steer their crawls."
            " Texts of pages are untrusted content from the web.",
        },
        "servers": [{"url": "/api/v1"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "As `honeyguide serve` printed it.",
                }
            },
        },
    }


def _operation(each: Operation) -> dict[str, Any]:
    said: dict[str, Any] = {
        "operationId": each.name,
        "summary": each.summary,
        "responses": {
            str(each.status): {
                "description": "Done.",
                "content": {each.media_type: {"schema": _answer(each)}},
            },
            "default": {
                "description": "Not possible; `message` says why and what to do.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
            },
        },
    }
    if each.parameters:
        said["parameters"] = [
            {
                "name": one.name,
                "in": one.place,
                "required": one.required or one.place == "path",
                "description": one.meaning,
                "schema": one.schema,
                **({"style": "form", "explode": False} if one.schema.get("type") == "array" else {}),
            }
            for one in each.parameters
        ]
    if each.body:
        said["requestBody"] = {
            "required": each.body_required,
            "content": {
                "application/json": {"schema": {"$ref": f"#/components/schemas/{each.body.__name__}"}}
            },
        }
    return said


def _answer(each: Operation) -> dict[str, Any]:
    if each.answer is None:
        return {"type": "string"}
    (schema,), _ = msgspec.json.schema_components([each.answer], ref_template="#/components/schemas/{name}")
    return schema
