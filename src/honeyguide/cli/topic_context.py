"""`honeyguide topic context`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from honeyguide.cli.everywhere import OUT
from honeyguide.cli.output import note, print_facts, print_json, print_table
from honeyguide.config.load import load
from honeyguide.errors import CollectionError
from honeyguide.model import ContextGraph, Examples
from honeyguide.relevance.layered_bayes import LayeredBayes
from honeyguide.relevance.reduced_tf_idf import ReducedTfIdf
from honeyguide.store.layout import Layout
from honeyguide.store.models import read_saved
from honeyguide.store.state import State
from honeyguide.web import host_key

TERMS = 10
HOSTS = 4


def context(
    folder: Path,
    /,
    *,
    out: Annotated[Path | None, OUT] = None,
    json: bool = False,
) -> None:
    """Show the context graph of a collection: its layers, their typical terms and hosts.

    Args:
        folder: The collection of a crawl with a recipe such as cfc.
        out: Draw the graph to this file (.svg or .png).
        json: Print JSON.
    """
    layout = Layout.open(folder)
    name = load(layout.topic_file).topic.name
    own = _own_layers(layout)
    if own and not layout.prepared_file.is_file():
        if out is not None:
            raise CollectionError(
                f"{folder} has no graph to draw: nobody was asked for backlinks, and of the layers that the"
                " crawl taught itself only words are kept; leave --out out to see them"
            )
        _show({"topic": name}, (), own, json=json)
        return
    graph, languages = _read(layout)
    terms = typical_terms(graph, languages)
    rows = [
        {
            "layer": number,
            "places": len(layer),
            "pages": len({node.document for node in layer}),
            "terms": terms[number],
            "hosts": [host for host, _ in _hosts(graph, number)[:HOSTS]],
        }
        for number, layer in enumerate(graph.layers)
    ]
    facts: dict[str, object] = {
        "topic": name,
        "depth": graph.depth,
        "sampled": graph.sampled,
        "questions": graph.requests,
        "pages read": graph.fetched,
        "seconds": round(graph.seconds, 1),
    }
    if out is not None:
        from honeyguide.plots.context import draw_context

        draw_context(graph, out, title=f"Context graph of {name}")
    _show({**facts, "notes": graph.notes, "layers": rows}, rows, own, json=json)
    if graph.depth == 0 and not own:
        note("note: no backlinks were found; the crawl learns the layers from its own links")


def _show(
    facts: dict[str, object],
    rows: Sequence[dict[str, object]],
    own: Sequence[dict[str, object]],
    *,
    json: bool,
) -> None:
    if json:
        print_json({**facts, "own layers": own} if own else facts)
        return
    notes = facts.pop("notes", ())
    print_facts({key: value for key, value in facts.items() if key != "layers"})
    if rows:
        print_table(rows, ["layer", "places", "pages", "terms", "hosts"], title="Layers")
    if own:
        print_table(own, ["layer", "places", "terms"], title="Layers that the crawl taught itself")
    if isinstance(notes, tuple):
        for said in notes[:10]:
            note(f"note: {said}")


def typical_terms(graph: ContextGraph, languages: Sequence[str]) -> list[list[str]]:
    """For each layer, phrases that occur in more of its pages than in those of the other layers."""
    pages = [dict.fromkeys(node.document for node in layer) for layer in graph.layers]
    text = ReducedTfIdf.learn(graph.documents, (), languages=languages, size=20_000)
    found = {
        number: set(text.counts(document.title, document.text))
        for number, document in enumerate(graph.documents)
    }
    shares: list[dict[int, float]] = []
    for layer in pages:
        counts: Counter[int] = Counter()
        for number in layer:
            counts.update(found[number])
        shares.append({term: count / len(layer) for term, count in counts.items()})
    rows = []
    for number, share in enumerate(shares):
        others = [one for place, one in enumerate(shares) if place != number]
        rest = max(1, len(others))
        gain = {term: own - sum(one.get(term, 0.0) for one in others) / rest for term, own in share.items()}
        best = sorted(gain, key=lambda term: (-gain[term], text.terms[term]))[:TERMS]
        rows.append([text.terms[term] for term in best if gain[term] > 0.0])
    return rows


def _hosts(graph: ContextGraph, layer: int) -> list[tuple[str, int]]:
    documents = dict.fromkeys(node.document for node in graph.layers[layer])
    urls = [graph.documents[number].url for number in documents]
    return Counter(host_key(url) for url in urls if url).most_common()


def _read(layout: Layout) -> tuple[ContextGraph, tuple[str, ...]]:
    path = layout.prepared_file
    if not path.is_file():
        if load(layout.topic_file).crawl.recipe.startswith("cfc"):
            raise CollectionError(
                f"{layout.root} has no context graph yet: nobody was asked for backlinks, and the crawl has"
                " not met enough pages on topic to learn layers from its own links; let it go on"
            )
        raise CollectionError(
            f"{layout.root} has no context graph; crawl with a recipe such as cfc, and name example pages"
        )
    try:
        examples = msgspec.json.decode(path.read_bytes(), type=Examples)
    except (OSError, msgspec.MsgspecError) as error:
        raise CollectionError(f"{path}: {error}; restore it from a copy") from error
    if examples.context is None:
        raise CollectionError(f"{layout.root} has no context graph; crawl with a recipe such as cfc")
    return examples.context, examples.languages


def _own_layers(layout: Layout) -> list[dict[str, object]]:
    """Layers of a crawl that rebuilt its graphs from its own links; nothing where it did not."""
    if not layout.state_file.is_file():
        return []
    with State.open(layout.state_file, read_only=True) as state:
        pages = state.setting("checkpoint")
    if not isinstance(pages, int):
        return []
    saved = read_saved(layout.models_folder, f"model-{pages}")
    if "context_layers" not in saved.arrays or not saved.values.get("generation"):
        return []
    model = LayeredBayes().load(saved)
    terms = model.typical_terms(TERMS)
    return [
        {"layer": number, "places": size, "terms": terms[number]} for number, size in enumerate(model.sizes)
    ]
