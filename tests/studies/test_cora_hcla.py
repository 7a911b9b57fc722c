from __future__ import annotations

import io
import json
import random
import tarfile
from pathlib import Path

import pytest

from cora import halves, read_abstracts, read_titles, telling_words
from cora_hcla import INFORMATION_RETRIEVAL, CoraHclaOptions, Task, crawl_task, run
from honeyguide.errors import HoneyguideError
from honeyguide.lab.runner.load import load_experiment
from honeyguide.lab.runner.study import DataFinder

SUBJECTS = (
    ("retrieval", "index", "query", "ranking", "corpus", "library"),
    ("gate", "voltage", "chip", "circuit", "layout", "timing"),
)
PAPERS = 200


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An archive with both subsets in miniature: two subjects, papers cite mostly their own."""
    chance = random.Random(3)
    texts = [" ".join(chance.choices(SUBJECTS[number % 2], k=12)) for number in range(PAPERS)]
    pairs = []
    for number in range(PAPERS):
        for _ in range(4):
            other = chance.randrange(PAPERS // 2) * 2 + (
                number % 2 if chance.random() < 0.9 else 1 - number % 2
            )
            pairs.append((number, other))
    words = sorted({word for subject in SUBJECTS for word in subject})
    terms = {
        str(i): {f"T{words.index(word)}": 0.5 for word in set(text.split())} for i, text in enumerate(texts)
    }
    dictionary: dict[str, object] = {f"T{place}": word for place, word in enumerate(words)} | {
        "TX": float("nan")
    }
    evens = list(range(0, PAPERS, 2))
    classes = {
        "Information_Retrieval": evens,
        "Information_Retrieval/Retrieval": evens[:40],
        "Hardware": [1, 3],
    }
    files = {
        "cora/apex_cora11804/term_dictionary.json": json.dumps(dictionary),
        "cora/apex_cora11804/paper_terms.json": json.dumps(terms),
        "cora/apex_cora11804/classification_papers.json": json.dumps(classes),
        "cora/apex_cora11804/paper_references.json": json.dumps(pairs),
        "cora/cane_cora2277/data.txt": "".join(f"{text}\n" for text in texts),
        "cora/cane_cora2277/group.txt": "".join(f"{'' if n == 5 else n % 2}\n" for n in range(PAPERS)),
        "cora/cane_cora2277/graph.txt": "".join(f"{a}\t{b}\n" for a, b in pairs),
    }
    path = tmp_path_factory.mktemp("data") / "text" / "cora.tar.gz"
    path.parent.mkdir()
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    return path


def test_both_subsets_are_read(made_up: Path) -> None:
    titles, abstracts = read_titles(made_up), read_abstracts(made_up)
    assert len(titles.texts) == len(abstracts.texts) == PAPERS
    assert titles.labels["2"] == {"Information_Retrieval", "Information_Retrieval/Retrieval"}
    assert abstracts.labels["5"] == frozenset()
    assert abstracts.labels["6"] == {"class 0"}
    assert abstracts.titles["0"] == " ".join(abstracts.texts["0"].split()[:8])


def test_links_go_both_ways_and_stay_inside_a_part(made_up: Path) -> None:
    papers = read_abstracts(made_up)
    first, second = halves(papers, 0)
    assert not set(first) & set(second)
    assert len(first) + len(second) == PAPERS
    part = papers.part(first)
    links = part.neighbours()
    assert all(name in links[other] for name, others in links.items() for other in others)
    assert set().union(*links.values()) <= set(first)


def test_telling_words_are_those_of_the_class(made_up: Path) -> None:
    assert set(telling_words(read_titles(made_up), "Information_Retrieval", 6)) == set(SUBJECTS[0])


def test_the_study_in_miniature(made_up: Path) -> None:
    said: list[str] = []
    options: dict[str, object] = {"reorder_every": 10, "k": 4, "query_words": 3, "subsets": ["abstracts"]}
    result = run(options, data=DataFinder((made_up.parent.parent,)), progress=said.append, jobs=1)
    abstracts, paired, published = result.tables
    assert len(said) == 4  # two classes by two halves
    assert "Subset of Cora" in abstracts.title
    assert [row[0] for row in paired.rows] == [
        "abstracts, with titles as anchor text",
        "abstracts, links only",
    ]
    assert all(row[-1] == 4 for row in paired.rows)
    assert published.rows[0][1:4] == (0.88, 0.72, 0.54)
    by_name = {row[0]: row for row in abstracts.rows}
    for order in ("best-first, LSI", "HCLA", "PLSI+PHITS"):
        assert by_name[order][2] > by_name["BRFS"][2]  # type: ignore[operator]
    assert [figure.name for figure in result.figures] == ["cora-abstracts"]
    assert all("targets among" in note for note in result.notes)


def test_topics_with_too_few_papers_are_left_out(made_up: Path) -> None:
    for label in INFORMATION_RETRIEVAL[1:4]:
        assert not crawl_task(Task(made_up, "titles", label, 0, CoraHclaOptions())).records


def test_a_wrong_archive_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cora.tar.gz"
    with tarfile.open(path, "w:gz"):
        pass
    with pytest.raises(HoneyguideError, match="get the Cora archive anew"):
        read_titles(path)
    path.write_bytes(b"no archive")
    with pytest.raises(HoneyguideError, match="get the Cora archive anew"):
        read_abstracts(path)


@pytest.mark.parametrize("name", ["studies/cora-hcla.toml", "studies/webkb-hcla.toml"])
def test_the_experiments_load(name: str) -> None:
    assert load_experiment(name).experiment.title


def test_the_real_subsets(shared_data: Path) -> None:
    path = shared_data / "text" / "cora.tar.gz"
    titles, abstracts = read_titles(path), read_abstracts(path)
    assert len(titles.texts) == 11_881
    assert len(abstracts.texts) == 2_277
    assert sum("Information_Retrieval" in found for found in titles.labels.values()) == 242
    assert len({label for found in abstracts.labels.values() for label in found}) == 7
