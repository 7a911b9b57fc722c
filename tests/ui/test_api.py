"""The REST API over real HTTP: every operation, JSON errors, paging, several collections, its document."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crawls import finish, small_crawl
from openapi_answers import ask
from openapi_spec_validator import validate
from portals import TOKEN, RunningPortal, running_portal

ONE = "/api/v1/collections/owls"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("api") / "owls"
    asyncio.run(finish(small_crawl(path, max_pages=60)))
    return path


@pytest.fixture(scope="module")
def portal(folder: Path) -> Iterator[RunningPortal]:
    with running_portal(folder) as running:
        yield running


def test_the_document_is_valid_openapi_and_is_shown(portal: RunningPortal) -> None:
    status, document = ask(portal, "GET", "/api/v1/openapi.json")
    assert status == 200
    validate(document)
    page = portal.get("/api/v1/docs")
    assert page.status == 200
    assert "/api/v1/collections/{name}/search" in page.text


def test_lists_are_paged(portal: RunningPortal) -> None:
    _, listed = ask(portal, "GET", "/api/v1/collections")
    assert [line["name"] for line in listed["items"]] == ["owls"]
    _, first = ask(portal, "GET", f"{ONE}/pages?limit=3&verdict=all&sort=oldest")
    _, second = ask(portal, "GET", f"{ONE}/pages?limit=3&offset=3&verdict=all&sort=oldest")
    urls = [page["url"] for page in [*first["items"], *second["items"]]]
    assert len(set(urls)) == 6
    assert first["total"] == 60


def test_a_page_with_all_its_parts(portal: RunningPortal) -> None:
    _, listed = ask(portal, "GET", f"{ONE}/pages?limit=1")
    url = listed["items"][0]["url"]
    status, page = ask(portal, "GET", f"{ONE}/page?url={url}&include=text,markdown,why,links,versions")
    assert status == 200
    assert page["text"]
    assert page["markdown"]
    assert page["why"]["outcome"] == "fetched"
    assert isinstance(page["links"], list)
    assert page["versions"][0]["status"] == 200
    _, twice = ask(portal, "GET", f"{ONE}/page?url={url}&include=text&include=why")
    assert (twice["text"], twice["why"]) == (page["text"], page["why"])
    _, bare = ask(portal, "GET", f"{ONE}/page?url={url}")
    assert bare["text"] is bare["why"] is None


def test_search_reviews_and_undo(portal: RunningPortal, folder: Path) -> None:
    _, listed = ask(portal, "GET", f"{ONE}/pages?limit=1")
    url, title = listed["items"][0]["url"], listed["items"][0]["title"]
    _, found = ask(portal, "GET", f"{ONE}/search?q={title.split()[0]}")
    assert found["items"]
    status, made = ask(portal, "POST", f"{ONE}/reviews", {"said": "accept", "url": url})
    assert (status, made["url"]) == (201, url)
    _, held = ask(portal, "GET", f"{ONE}/reviews")
    assert held["total"] == 1
    status, _ = ask(portal, "DELETE", f"{ONE}/reviews?number={made['number']}")
    assert status == 200
    _, held = ask(portal, "GET", f"{ONE}/reviews")
    assert held["total"] == 0


def test_an_export_is_made_and_downloaded(portal: RunningPortal) -> None:
    status, job = ask(portal, "POST", f"{ONE}/exports", {"format": "csv"})
    assert status == 202
    until = time.monotonic() + 60
    while job["state"] not in ("done", "failed") and time.monotonic() < until:
        time.sleep(0.05)
        _, job = ask(portal, "GET", f"{ONE}/exports/csv")
    assert job["files"] == ["pages.csv"]
    reply = portal.get(f"{ONE}/exports/files/pages.csv")
    assert reply.text.startswith("\ufeffurl,title")  # with the mark that Excel needs


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/v1/collections/none", None, 404),
        ("GET", "/api/v1/nothing", None, 404),
        ("GET", f"{ONE}/pages?limit=0", None, 422),
        ("GET", f"{ONE}/pages?limt=1", None, 422),
        ("GET", f"{ONE}/search", None, 422),
        ("GET", f"{ONE}/page?url=https://nowhere.example/", None, 404),
        ("GET", f"{ONE}/exports/files/..%2f..%2fstate.sqlite", None, 404),
        ("POST", f"{ONE}/reviews", {"said": "maybe"}, 422),
        ("POST", f"{ONE}/pause", None, 409),
        ("POST", f"{ONE}/start", {"max_pages": 0}, 422),
        ("POST", "/api/v1/collections", {"name": "../up", "keywords": ["a"], "seeds": ["http://a.example/"]},
         400),
        ("POST", "/api/v1/collections", {"name": "new", "keywords": ["owl"], "seeds": ["c"]}, 422),
        ("POST", "/api/v1/collections", {"name": "new", "keywords": ["owl"]}, 422),
        ("POST", "/api/v1/collections", {"name": "new", "keyword": ["owl"]}, 422),
        ("POST", "/api/v1/collections", None, 415),
        ("POST", f"{ONE}/reviews", {"said": "accept", "url": "https://nowhere.example/"}, 404),
        ("DELETE", f"{ONE}/reviews?number=77", None, 400),
        ("GET", f"{ONE}/pages?limit=1&limit=2", None, 422),
        ("GET", f"{ONE}/page?url=nonsense", None, 422),
        ("GET", f"{ONE}/page?url=https://a.example/&include=all", None, 422),
        ("GET", f"{ONE}/exports/none", None, 404),
        ("POST", f"{ONE}/exports", {"format": "none"}, 422),
        ("GET", "/api/v1/collections/none/events", None, 404),
        ("GET", "/api/v1/collections/a%00b", None, 422),
        ("PUT", ONE, None, 405),
    ],
)  # fmt: skip
def test_errors_are_json_and_say_what_to_do(
    portal: RunningPortal, method: str, path: str, body: object, status: int
) -> None:
    answered, said = ask(portal, method, path, body)
    assert answered == status
    assert said["error"]["status"] == status
    message = said["error"]["message"]
    assert message
    assert message not in ("Not Found", "Method Not Allowed")


def test_the_gate_speaks_json_to_the_api(portal: RunningPortal) -> None:
    locked = portal.get("/api/v1/collections", token=None)
    assert locked.status == 401
    assert json.loads(locked.text)["error"]["status"] == 401
    stranger = portal.ask("GET", "/api/v1/collections", headers={"Origin": "https://evil.example"})
    assert (stranger.status, json.loads(stranger.text)["error"]["status"]) == (403, 403)
    rebound = portal.ask("GET", "/api/v1/collections", headers={"Host": "evil.example"})
    assert rebound.status == 421


def test_health_needs_no_token(portal: RunningPortal) -> None:
    assert portal.get("/healthz", token=None).text == "ok\n"
    assert portal.get("/readyz", token=None, headers={"Host": "10.0.0.7:8642"}).text == "ready\n"


@pytest.mark.slow
def test_schemathesis_finds_no_answer_outside_the_document(portal: RunningPortal) -> None:
    """Generated requests to every reading operation: no failure of ours, every answer as described."""
    import schemathesis
    from hypothesis import HealthCheck, Phase, given, settings

    headers = {"Authorization": f"Bearer {TOKEN}"}
    schema = schemathesis.openapi.from_url(f"{portal.url}/api/v1/openapi.json", headers=headers)
    for found in schema.get_all_operations():
        operation: Any = found.ok()  # type: ignore[union-attr]
        if operation.method.upper() != "GET" or operation.path.endswith("/events"):
            continue

        @given(case=operation.as_strategy())
        @settings(
            max_examples=8,
            deadline=None,
            database=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        def check(case: Any) -> None:
            if "name" in case.path_parameters and len(case.path_parameters["name"]) % 2:
                case.path_parameters["name"] = "owls"
            case.call_and_validate(headers=headers)

        check()


def test_several_collections_have_a_home_page(folder: Path, tmp_path: Path) -> None:
    for name in ("owls", "larks"):
        asyncio.run(finish(small_crawl(tmp_path / name, max_pages=10)))
    with running_portal(tmp_path) as portal:
        home = portal.get("/")
        assert "/c/owls/" in home.text
        assert "/c/larks/" in home.text
        live = portal.get("/c/larks/")
        assert live.status == 200
        assert 'href="/c/larks/search"' in live.text
        assert portal.get("/c/larks/search").status == 200
        assert portal.get("/c/none/").status == 404
        moved = portal.post("/c/larks/review", said="undo")
        assert moved.status == 400
        assert 'collection="larks"' in portal.get("/metrics").text
        refused = portal.post("/new", action="begin", name="owls", pasted="owl")
        assert (refused.status, "add addresses to begin with" in refused.text) == (400, True)
        _, listed = ask(portal, "GET", "/api/v1/collections?limit=1&offset=1")
        assert (listed["total"], [line["name"] for line in listed["items"]]) == (2, ["owls"])
