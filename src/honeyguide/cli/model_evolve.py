"""`honeyguide model evolve`."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import Parameter

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.labelled_examples import read_labelled
from honeyguide.cli.output import note, print_facts
from honeyguide.errors import TopicError
from honeyguide.relevance.evolved.evolution import Evolution, Generation, Settings
from honeyguide.relevance.evolved.formula import EVIDENCE, as_json, show
from honeyguide.relevance.evolved.model_file import Similarity, write_similarity
from honeyguide.relevance.evolved.picture import tree_svg
from honeyguide.relevance.evolved.samples import ScoredFormula, Split, Training, require_examples, split
from honeyguide.relevance.evolved.scores import macro_f1
from honeyguide.store.atomic import replacing


def evolve(
    examples: Path,
    /,
    *,
    out: Annotated[Path, OUT] = Path("similarity.json"),
    population: int = 400,
    generations: int = 30,
    k: int = 10,
    crossover: float = 0.65,
    mutation: float = 0.05,
    training: float = 0.5,
    validation: float = 0.25,
    seed: int = 0,
    threads: Annotated[int | None, Parameter(show=False)] = None,
    languages: Annotated[tuple[str, ...], Parameter(show=False)] = ("en",),
    json: bool = False,
    quiet: bool = False,
) -> None:
    """Evolve a similarity for the page model `evolved-knn` on labelled examples.

    Stopped with Ctrl-C, it goes on where it was when run again with the same options.

    Args:
        examples: A folder with `on` and `off`, JSONL (title, text, label), or a topic file.
        out: The formula as JSON; beside it a picture.
        population: Trees of a generation.
        generations: How many.
        k: Neighbours that vote.
        crossover: Share of trees made by crossover.
        mutation: Share made by mutation; the rest is reproduced.
        training: Share of the examples that fitness is measured on.
        validation: Share that the best tree is chosen on; the rest tests it.
        seed: The same seed gives the same results.
        threads: Threads to use; by default one a core.
        languages: Of the examples, two-letter codes.
        json: Print the result as JSON.
        quiet: Show no progress.
    """
    if not (0 < training < 1 and 0 < validation < 1 and training + validation <= 1):
        raise TopicError(
            "training and validation are shares of the examples; choose two that add up to 1 at most"
        )
    settings = Settings(
        population=population, generations=generations, k=k, crossover=crossover, mutation=mutation, seed=seed
    )
    settings.check()
    collection = read_labelled(examples, languages=languages)
    on_topic = int(collection.classes.sum())
    require_examples(on_topic, len(collection.documents) - on_topic)
    samples = split(collection, training=training, validation=validation, seed=seed)
    work = Training(samples, settings, threads=threads)
    state = out.with_name(out.name + ".evolution")
    started = time.monotonic()

    def tell(generation: Generation) -> None:
        if not quiet:
            note(progress_line(generation, settings.generations, time.monotonic() - started))

    with interrupts() as stop:
        outcome = work.run(
            resumed(state), progress=tell, checkpoint=lambda evolution: keep(state, evolution), stop=stop
        )
    if outcome is None:
        note(f"stopped; run the same command again to go on from {state}")
        print_facts({"stopped": "interrupted", "state": str(state)}, json=json)
        return
    finish(outcome, work, samples, out=out, json=json)
    state.unlink(missing_ok=True)


def finish(outcome: ScoredFormula, work: Training, samples: Split, *, out: Path, json: bool) -> None:
    """Write the formula and its picture, and print what they are worth."""
    text = show(outcome.formula)
    counts = {name: len(getattr(samples, name).documents) for name in ("training", "validation", "test")}
    write_similarity(
        out,
        Similarity(
            formula=as_json(outcome.formula),
            text=text,
            k=outcome.k,
            scores=outcome.scores,
            examples=counts,
            settings=work.settings,
            history=outcome.evolution.history,
        ),
    )
    picture = out.with_suffix(".svg")
    judged = outcome.scores.get("test_macro_f1", outcome.scores["validation_macro_f1"])
    with replacing(picture) as temporary:
        temporary.write_text(
            tree_svg(outcome.formula, caption=f"macro-F1 {100 * judged:.2f}"), encoding="utf-8"
        )
    facts: dict[str, object] = {
        "formula": text,
        "k": outcome.k,
        "generations": len(outcome.evolution.history),
    }
    facts |= {name: round(value, 4) for name, value in outcome.scores.items()}
    if samples.test.documents:
        queries = work.queries(samples.test)
        single = {name: macro_f1(queries.labels, work.predict(name, queries)) for name in EVIDENCE}
        best = max(single, key=lambda name: single[name])
        facts["best_single_evidence"] = f"{best} ({single[best]:.4f})"
    facts |= {"model": str(out), "picture": str(picture)}
    print_facts(facts, json=json)
    note(f'next: model = "evolved-knn" and formula = "{out}" under [relevance] in a topic file')


def progress_line(generation: Generation, of: int, seconds: float) -> str:
    """One generation for people."""
    shown = generation.formula if len(generation.formula) < 90 else generation.formula[:87] + "..."
    return (
        f"generation {generation.number}/{of}: best {100 * generation.best:.2f}, mean"
        f" {100 * generation.mean:.2f}, {generation.evaluated} new trees, {seconds:.0f} s: {shown}"
    )


def keep(path: Path, evolution: Evolution) -> None:
    """Write the state of an evolution in one step."""
    with replacing(path) as temporary:
        temporary.write_bytes(msgspec.json.encode(evolution))


def resumed(path: Path) -> Evolution | None:
    """The evolution that was stopped, if there is one."""
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(path.read_bytes(), type=Evolution)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise TopicError(f"{path} is not a saved evolution ({error}); delete it to start afresh") from None


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Ctrl-C asks for a stop after this generation; a second one ends the program."""
    asked: list[int] = []

    def ask(number: int, _: object) -> None:
        asked.append(number)
        signal.signal(number, before[signal.Signals(number)])

    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number in before:
        signal.signal(number, ask)
    try:
        yield lambda: bool(asked)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
