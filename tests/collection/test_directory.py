from __future__ import annotations

import asyncio
import random
from pathlib import Path

import pytest
from crawls import finish, small_crawl

from honeyguide.collection.collection import Collection
from honeyguide.collection.directory import Directory, build_directory, subjects_for
from honeyguide.collection.subject_terms import SubjectSpace
from honeyguide.errors import CollectionError
from honeyguide.model import Outcome
from honeyguide.testing.made_collection import MadeCollection

SUBJECTS = {
    "owls": "owls nest barn hoot feathers prey night hunting talons chick",
    "trains": "railway locomotive station track signal carriage steam timetable platform gauge",
    "bread": "dough yeast oven flour crust knead loaf sourdough bakery rise",
}
SHARED = ["people", "world", "place", "time", "little", "great", "home", "work", "often", "many"]


def planted(folder: Path, *, each: int = 40, hosts: int = 8) -> dict[int, str]:
    """Pages of three subjects over several hosts; the subject of each row."""
    draw = random.Random(3)
    truth = {}
    with MadeCollection(folder) as made:
        for number in range(3 * each):
            name = list(SUBJECTS)[number % 3]
            words = draw.choices(SUBJECTS[name].split(), k=40) + draw.choices(SHARED, k=30)
            draw.shuffle(words)
            host = f"h{number // 3 % hosts}.example"
            site = f"sitename{number // 3 % hosts}"
            row = made.page(
                f"http://{host}/{number}",
                host=host,
                title=f"{words[0]} {number}",
                text=" ".join([site] * 5 + words),
                score=0.5 + draw.random() / 2,
            )
            truth[row] = name
        made.page("http://h0.example/off", host="h0.example", title="off", text="tax forms", on_topic=False)
    return truth


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("directory") / "collection"
    planted(path)
    return path


@pytest.mark.parametrize("sample", [10_000, 30])
def test_pages_about_the_same_are_together_under_a_name_that_says_so(folder: Path, sample: int) -> None:
    """Also where most pages are only put into subjects that were learned from others."""
    with Collection.open(folder) as collection, collection.index() as index:
        made = build_directory(collection.state, index.text, subjects=3, sample=sample)
        names = {row: list(SUBJECTS)[(row - 1) % 3] for row in range(1, 121)}
    assert sorted(row for subject in made.subjects for row in subject.rows) == list(names)
    for subject in made.subjects:
        owners = [names[row] for row in subject.rows]
        most = max(set(owners), key=owners.count)
        assert owners.count(most) >= 0.95 * len(owners)
        known = set(SUBJECTS[most].split())
        assert set(subject.label.lower().replace(",", "").split()) <= known | {"owl", "nests", "chicks"}


def test_equal_seeds_give_equal_directories_and_files_bring_them_back(folder: Path, tmp_path: Path) -> None:
    with Collection.open(folder) as collection:
        first, second = (collection.directory(seed=5) for _ in range(2))
    assert first == second
    first.save(tmp_path / "directory.json")
    assert Directory.load(tmp_path / "directory.json") == first
    (tmp_path / "directory.json").write_text('{"subjects": 3}')
    assert Directory.load(tmp_path / "directory.json") is None
    assert Directory.load(tmp_path / "missing.json") is None


def test_hosts_hold_every_page_best_first(folder: Path) -> None:
    with Collection.open(folder) as collection:
        made = collection.directory()
        assert [host.name for host in made.hosts] == [f"h{number}.example" for number in range(8)]
        assert sum(len(host.rows) for host in made.hosts) == made.listed == 120
        scores = dict(zip(*collection.state.scores(), strict=True))
    best = [max(scores[row] for row in host.rows) for host in made.hosts]
    assert all(scores[host.rows[0]] > 0.85 * top for host, top in zip(made.hosts, best, strict=True))


def test_names_of_sites_are_no_subjects() -> None:
    documents = [["site", "owl", "nest"], ["site", "owl", "sky"], ["other", "nest", "sky"], ["third", "sky"]]
    space = SubjectSpace(documents * 2, [1, 1, 2, 3] * 2)
    assert set(space.vocabulary.terms) == {"nest"}


def test_copies_and_noindex_pages_are_left_out(tmp_path: Path) -> None:
    asyncio.run(finish(small_crawl(tmp_path / "c", max_pages=200)))
    with Collection.open(tmp_path / "c") as collection:
        made = collection.directory()
        listed = {row for subject in made.subjects for row in subject.rows}
        copies = sum(len(group.rows) - 1 for group in collection.duplicate_groups())
        assert made.copies == copies > 0
        for group in collection.duplicate_groups():
            assert len(listed & set(group.rows)) == 1
        found = collection.links(limit=5)
        assert found.hubs[0].weight == found.authorities[0].weight == 1.0
        assert [page.weight for page in found.hubs] == sorted(
            (page.weight for page in found.hubs), reverse=True
        )
        top = found.authorities[0]
        assert top.links == len(set(collection.state.in_links(top.row)) & relevant_rows(collection))
        everyone = collection.links(relevant=False)
        assert everyone.links > found.links
    assert [subjects_for(pages) for pages in (1, 7, 8, 10**6)] == [1, 1, 2, 36]


def test_links_to_addresses_dropped_at_once_know_their_host(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        own = made.address("http://a.example/login", host="", status=Outcome.NOFOLLOW)
        first = made.address("http://b.example/x", host="", status=Outcome.NOFOLLOW)
        second = made.address("http://b.example/y", host="", status=Outcome.NOFOLLOW)
        made.page("http://a.example/", host="a.example", title="A", text="a", links=[own, first, second])
    with Collection.open(tmp_path / "c") as collection:
        found = collection.links()
        assert {page.url for page in found.authorities} == {"http://b.example/x", "http://b.example/y"}
        assert (found.links, found.nodes) == (2, 3)
        within = collection.links(within_hosts=True)
        assert (within.links, within.nodes) == (3, 4)


def relevant_rows(collection: Collection) -> set[int]:
    return {page.row for page in collection.pages()}


def test_an_empty_collection_has_no_directory(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        made.page("http://a.example/", title="x", text="y", on_topic=False)
    with Collection.open(tmp_path / "c") as collection:
        with pytest.raises(CollectionError, match="no relevant pages"):
            collection.directory()
        assert collection.links().hubs == ()
        assert collection.duplicate_groups() == []


def test_scripts_without_spaces_and_pages_without_words(tmp_path: Path) -> None:
    with MadeCollection(tmp_path / "c") as made:
        for number in range(12):
            made.page(
                f"http://a.example/{number}",
                title="神经网络",
                text="神经网络 学习 模型" if number % 2 else "",
            )
        made.page("http://a.example/empty", title="", text="")
    with Collection.open(tmp_path / "c") as collection:
        found = collection.directory(subjects=2)
        assert found.listed == 13
        assert found.subjects[-1].label == "Other pages"
        entries = collection.entries(found.subjects[-1].rows)
        assert entries[-1].title == "http://a.example/empty"
