"""Evolution, candidates and the kNN page model against the targets of the GP hybrid.

    python benchmarks/gp.py [--documents 8000] [--population 400] [--generations 30] [--threads 2]

Prints JSON. Targets: evolution of 8,000 documents, population 400, 30 generations, on 2 cores in at most
15 minutes and under 3 GB; fitness within 0.5 points of exhaustive kNN on 1,000 documents; at most 2 ms a
page with 8,000 examples. Needs 20 Newsgroups in HONEYGUIDE_DATA. Wall time says little on a shared
machine: CPU time is printed beside it.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import time

import numpy as np

from computing_documents import newsgroups
from honeyguide.lab.runner.study import DataFinder
from honeyguide.model import Document, Examples, Page
from honeyguide.relevance.evolved.evolution import Settings
from honeyguide.relevance.evolved.fitness import Fitness
from honeyguide.relevance.evolved.formula import EVIDENCE, as_json, show
from honeyguide.relevance.evolved.index import Terms
from honeyguide.relevance.evolved.knn import EvolvedKnn
from honeyguide.relevance.evolved.model_file import Similarity, write_similarity
from honeyguide.relevance.evolved.neighbourhoods import Neighbourhoods
from honeyguide.relevance.evolved.samples import Labelled, ScoredFormula, Split, Training, split
from honeyguide.text.tokens import Analyser


def documents() -> list[tuple[Document, bool]]:
    found = list(newsgroups(DataFinder().file("text/20newsgroups.tar.gz")))
    source = random.Random(1)
    computing = [one for one in found if one[1]]
    rest = source.sample([one for one in found if not one[1]], len(computing))
    both = [*computing, *rest]
    source.shuffle(both)
    return both


def as_labelled(some: list[tuple[Document, bool]]) -> Labelled:
    analyser = Analyser()
    terms = tuple(Terms(tuple(analyser.terms(one.title)), tuple(analyser.terms(one.text))) for one, _ in some)
    return Labelled(terms, np.array([int(kind) for _, kind in some], dtype=np.int32))


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def evolution(
    collection: Labelled, count: int, settings: Settings, threads: int
) -> tuple[dict, ScoredFormula]:
    places = range(len(collection.documents))
    samples = Split(
        collection.part(places[:count]),
        collection.part(places[count : count + 1000]),
        collection.part(places[:0]),
    )
    wall, cpu = time.perf_counter(), time.process_time()
    work = Training(samples, settings, threads=threads)
    ready = time.perf_counter() - wall
    outcome = work.run()
    assert outcome is not None
    return {
        "documents": count,
        "candidates_per_document": round(len(work.training.examples) / count),
        "preparation_wall_s": round(ready, 1),
        "wall_s": round(time.perf_counter() - wall, 1),
        "cpu_s": round(time.process_time() - cpu, 1),
        "trees_judged": work.fitness.evaluated,
        "peak_mb": round(memory()),
        "formula": show(outcome.formula),
        "scores": {name: round(value, 4) for name, value in outcome.scores.items()},
    }, outcome


def exactness(collection: Labelled, outcome: ScoredFormula, settings: Settings) -> dict[str, object]:
    """Fitness from candidates against fitness from all examples, for every tree that evolution kept."""
    from honeyguide.relevance.evolved.evolution import from_prefix

    samples = split(collection.part(range(1100)), training=1000 / 1100, validation=0.05, seed=1)
    work = Training(samples, settings, threads=2)
    every = Neighbourhoods.of(
        work.index,
        samples.training.classes,
        queries=samples.training.documents,
        labels=samples.training.classes,
        themselves=True,
        nearest=None,
    )
    formulas = [*EVIDENCE, *(from_prefix(kept.formula) for kept in outcome.evolution.kept)]
    few = Fitness(work.training, work.k, race=False).of_all(formulas)
    exact = Fitness(every, work.k, race=False).of_all(formulas)
    gaps = [100 * abs(one - other) for one, other in zip(few, exact, strict=True)]
    return {"formulas": len(set(formulas)), "largest_gap_points": round(max(gaps), 3),
            "mean_gap_points": round(float(np.mean(gaps)), 4)}  # fmt: skip


def judging(
    some: list[tuple[Document, bool]], outcome: ScoredFormula, count: int, path: str
) -> dict[str, object]:
    from pathlib import Path

    file = Path(path)
    write_similarity(file, Similarity(formula=as_json(outcome.formula), k=outcome.k))
    examples = Examples(
        positives=tuple(one for one, kind in some[:count] if kind),
        negatives=tuple(one for one, kind in some[:count] if not kind),
    )
    model = EvolvedKnn(formula=str(file)).fit(examples)
    pages = [
        Page(url=f"https://x.example/{number}", id=number, title=one.title, text=one.text)
        for number, (one, _) in enumerate(some[count : count + 1500])
    ]
    for page in pages[:50]:
        model.judge(page)
    costs = []
    for page in pages[50:]:
        started = time.process_time()
        model.judge(page)
        costs.append(1000 * (time.process_time() - started))
    return {
        "examples": count,
        "mean_ms": round(float(np.mean(costs)), 3),
        "p95_ms": round(float(np.quantile(costs, 0.95)), 3),
        "mean_characters": round(float(np.mean([len(page.text) for page in pages]))),
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=8000)
    parser.add_argument("--population", type=int, default=400)
    parser.add_argument("--generations", type=int, default=30)
    parser.add_argument("--threads", type=int, default=2)
    chosen = parser.parse_args()
    settings = Settings(population=chosen.population, generations=chosen.generations)
    some = documents()
    collection = as_labelled(some)
    evolved, outcome = evolution(collection, chosen.documents, settings, chosen.threads)
    result = {
        "evolution": evolved,
        "exactness": exactness(collection, outcome, settings),
        "judging": judging(some, outcome, chosen.documents, "/tmp/honeyguide-gp-benchmark.json"),
    }
    print(json.dumps(result, indent=2))


if __name__ == "__main__":
    main()
