from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from honeyguide.errors import TopicError
from honeyguide.model import ContextGraph, ContextNode, Document, Examples, Link, Page, Verdict
from honeyguide.relevance.layered_bayes import LayeredBayes, LayeredBayesOptions, Layers, held_out, train
from honeyguide.relevance.reduced_tf_idf import Features, ReducedTfIdf
from honeyguide.testing.page_models import Check, all_checks, made_up_examples


@pytest.mark.parametrize("likelihood", ["per feature", "joint"])
@pytest.mark.parametrize("check", all_checks(), ids=lambda check: check.__name__)
def test_contract(check: Check, likelihood: str) -> None:
    check(lambda: LayeredBayes(LayeredBayesOptions(likelihood=likelihood)), made_up_examples())  # type: ignore[arg-type]


def page(text: str, number: int = 1, links: Sequence[int] = ()) -> Page:
    made = tuple(Link(f"https://a.example/{i}", i) for i in links)
    return Page(url=f"https://a.example/{number}", id=number, text=text, links=made)


OWLS = ("barn owl nest feather prey", "owl nest egg feather hoot", "owl prey feather barn hoot")
STAFF = ("staff list department barn owl office", "department staff office phone owl nest")
PORTAL = ("university portal campus map department", "campus map university news owl")


def context(*upper: Sequence[str], sampled: bool = False) -> Examples:
    """Owls with a context graph: each text of a layer links to the first page of the layer below."""
    texts = list(OWLS)
    layers = [tuple(ContextNode(i, -1, i) for i in range(len(OWLS)))]
    for layer in upper:
        layers.append(tuple(ContextNode(len(texts) + i, 0, 0) for i in range(len(layer))))
        texts += layer
    documents = tuple(Document(text, url=f"https://x.example/{i}") for i, text in enumerate(texts))
    graph = ContextGraph(documents, tuple(layers), sampled=sampled)
    return Examples(positives=documents[: len(OWLS)], context=graph)


def features(*counts: tuple[int, int]) -> Features:
    columns, numbers = zip(*counts, strict=True) if counts else ((), ())
    return Features(np.array(columns, dtype=np.int32), np.array(numbers, dtype=np.int32))


def test_probabilities_by_hand() -> None:
    layers = Layers([features((0, 2), (1, 1)), features((0, 1)), features((2, 4))], [[0, 1], [2, 2, 1]])
    now = train(layers, size=3, held=(), quantiles=(0.0, 0.0), joint=False, leave_out=False)
    # Layer 0 holds counts 3, 1, 0 of 4; layer 1 holds document 2 twice and document 1: 1, 0, 8 of 9.
    assert np.exp(now.log_p) == pytest.approx(np.array([[4 / 7, 2 / 7, 1 / 7], [2 / 12, 1 / 12, 9 / 12]]))
    assert np.exp(now.log_prior) == pytest.approx([2 / 5, 3 / 5])
    # The minimum over a layer's own documents, as the mean over their features.
    assert now.threshold == pytest.approx([(math.log(4 / 7) + math.log(2 / 7)) / 2, math.log(2 / 12)])


def test_priors_are_uniform_over_filled_layers_when_a_layer_was_sampled() -> None:
    layers = Layers([features((0, 1))], [[0], [0, 0, 0], []], sampled=True)
    now = train(layers, size=2, held=(), quantiles=(0.0, 0.0), joint=False, leave_out=False)
    assert np.exp(now.log_prior[:2]) == pytest.approx([0.5, 0.5])
    assert now.log_prior[2] < -1e9


def test_threshold_of_a_document_that_is_left_out() -> None:
    layers = Layers([features((0, 2)), features((0, 1), (1, 1))], [[0], [0, 1]])
    now = train(layers, size=2, held=(), quantiles=(0.0, 0.0), joint=True, leave_out=True)
    # Layer 1 without its first document: counts 1, 1; without its second: 2, 0.
    assert now.threshold[1] == pytest.approx(min(math.log(2 / 4), math.log(3 / 4) + math.log(1 / 4)))


def test_reduced_tf_idf_keeps_the_strongest_phrases() -> None:
    reference = [Document("owl common"), *[Document("common word") for _ in range(99)]]
    text = ReducedTfIdf.learn([Document("common owl barn owl")], reference, keep=3)
    assert "common" not in text.terms  # in every reference document: log(N/N) is nothing
    assert text.terms == ("barn", "barn owl", "common owl", "owl", "owl barn")
    # owl: 3 log(100/1); barn, barn owl, owl barn: once, unseen, so also log(100).
    found = text.features("", "owl barn owl owl")
    assert [text.terms[i] for i in found.columns] == ["owl", "barn", "barn owl"]
    assert found.counts.tolist() == [3, 1, 1]


def test_held_out_documents_lose_the_phrases_that_only_they_have() -> None:
    text = ReducedTfIdf.learn([Document("owl nest"), Document("owl mouse")], [])
    first, second = held_out(text, [Document("owl nest"), Document("owl mouse")])
    assert [text.terms[i] for i in first.columns] == ["owl"] == [text.terms[i] for i in second.columns]


def test_pages_go_to_their_layer() -> None:
    model = LayeredBayes(LayeredBayesOptions(depth=2, least_features=1, parents_on_topic="keep")).fit(
        context(STAFF, PORTAL)
    )
    placed = [model.judge(page(text)).facts["layer"] for text in (OWLS[0], STAFF[0], "tax invoice")]
    assert placed[0] == 0.0
    assert placed[2] == 3.0, "no phrase of the vocabulary: other"
    assert model.judge(page(OWLS[0])).on_topic
    assert model.sizes == [3, 2, 2]


def test_layer_zero_alone_decides_what_is_on_topic() -> None:
    model = LayeredBayes(
        LayeredBayesOptions(depth=1, least_features=1, first_layer=True, parents_on_topic="keep")
    ).fit(context(STAFF))
    staff = model.judge(page(STAFF[0]))
    assert staff.facts["layer"] == 1.0
    assert not staff.on_topic
    assert staff.facts["posterior 1"] > staff.facts["posterior 0"]


def test_targets_among_the_parents_are_dropped_joined_or_kept() -> None:
    examples = context((*OWLS[:2], "staff nest"))
    sizes = {
        how: LayeredBayes(
            LayeredBayesOptions(depth=1, least_features=2, target_quantile=0.0, parents_on_topic=how)
        )
        .fit(examples)
        .sizes
        for how in ("keep", "drop", "join")
    }
    assert sizes == {"keep": [3, 3], "drop": [3, 1], "join": [5, 1]}


def test_a_page_below_the_threshold_is_other() -> None:
    literal = LayeredBayes(
        LayeredBayesOptions(depth=1, least_features=1, held_out_threshold=False, parents_on_topic="keep")
    )
    model = literal.fit(Examples(positives=tuple(Document(text) for text in OWLS)))
    rare = model.judge(page("egg"))
    assert rare.facts["layer"] == 2.0
    assert not rare.on_topic


def crawl_memory_model(**options: Any) -> LayeredBayes:
    model = LayeredBayes(
        LayeredBayesOptions(
            depth=2, least_features=1, confidence=0.0, target_quantile=0.0, parents_on_topic="keep", **options
        )
    )
    return model.fit(Examples(positives=tuple(Document(text) for text in OWLS)))


def told(number: int) -> Verdict:
    """Numbers below 100 are targets."""
    return Verdict(0.5, number < 100, facts={"log_likelihood": 0.0})


def test_bootstrap_learns_layers_from_the_crawls_own_links() -> None:
    model = crawl_memory_model(bootstrap_targets=4)
    assert model.rebuilds
    assert model.sizes == [3, 0, 0]
    pages = [page("egg hoot", 100, [200]), page("barn barn owl prey", 200, [1, 2, 3, 4, 100])]
    pages += [page(OWLS[i % 3], i, ()) for i in range(1, 5)]
    changed = [model.observe(one, told(one.id)) for one in pages]
    assert changed == [False] * 5 + [True]
    assert model.generation == 1
    # Page 200 stands once for each of its four children, and 100 above each.
    assert model.sizes == [3, 4, 4]
    layers, likelihoods = model.places(np.array([200, 100, 1, 999]))
    assert layers[1:3].tolist() == [2.0, 0.0]
    assert np.isnan(layers[3])
    assert np.isnan(likelihoods[3])


def test_new_targets_may_train_layer_zero() -> None:
    model = crawl_memory_model(bootstrap_targets=4, train_targets=True)
    for number in range(1, 5):
        model.observe(page(OWLS[number % 3], number), told(number))
    assert model.sizes == [7, 0, 0]


def test_without_backlinks_layer_zero_keeps_what_reaches_its_threshold() -> None:
    model = crawl_memory_model(bootstrap_targets=4)
    before = model.judge(page(OWLS[0]))
    for number in range(1, 5):
        model.observe(page(OWLS[0], 100 + number, [number]), told(100 + number))
        model.observe(page(OWLS[number % 3], number), told(number))
    assert model.sizes == [3, 4, 0]
    after = model.judge(page(OWLS[0]))
    assert before.facts["layer"] == after.facts["layer"] == 0.0
    assert after.facts["posterior 1"] > after.facts["posterior 0"], "layer 1 was taught the same page"


def test_rebuild_mode_counts_targets() -> None:
    model = LayeredBayes(
        LayeredBayesOptions(
            depth=1, least_features=1, confidence=0.0, rebuild_every=2, parents_on_topic="keep"
        )
    )
    model.fit(context(STAFF))
    changed = [model.observe(one, model.judge(one)) for one in (page(OWLS[0], i) for i in range(1, 6))]
    assert changed == [False, True, False, True, False]
    assert model.generation == 2


def test_without_rebuilding_nothing_is_remembered() -> None:
    model = LayeredBayes(LayeredBayesOptions(depth=1, least_features=1, parents_on_topic="keep")).fit(
        context(STAFF)
    )
    assert not model.rebuilds
    assert not model.observe(page(OWLS[0]), Verdict(1.0, True))
    assert len(model.save().arrays["memory_ids"]) == 0


def test_memory_survives_saving() -> None:
    model = crawl_memory_model(bootstrap_targets=4)
    pages = [page(STAFF[0], 200, [1, 2, 3, 4]), *(page(OWLS[i % 3], i) for i in range(1, 5))]
    for one in pages[:3]:
        model.observe(one, model.judge(one))
    loaded = crawl_memory_model(bootstrap_targets=4).load(model.save())
    for one in pages[3:]:
        assert model.observe(one, model.judge(one)) == loaded.observe(one, loaded.judge(one))
    assert model.sizes == loaded.sizes
    assert model.judge(pages[0]) == loaded.judge(pages[0])


def test_the_oldest_pages_are_forgotten() -> None:
    model = crawl_memory_model(bootstrap_targets=99, memory=2)
    for number in range(1, 5):
        one = page(STAFF[0], number)
        model.observe(one, model.judge(one))
    assert model.save().arrays["memory_ids"].tolist() == [3, 4]


def test_typical_terms_of_a_layer() -> None:
    model = LayeredBayes(
        LayeredBayesOptions(depth=1, least_features=1, first_layer=True, parents_on_topic="keep")
    ).fit(context(STAFF))
    first, second = model.typical_terms(8)
    assert "feather" in first
    assert "staff" in second


def test_terms_name_what_speaks_for_the_layer() -> None:
    model = LayeredBayes(
        LayeredBayesOptions(depth=1, least_features=1, first_layer=True, parents_on_topic="keep")
    ).fit(context(STAFF))
    assert "feather" in dict(model.judge(page(OWLS[0])).terms)


def test_bad_options_and_examples() -> None:
    with pytest.raises(ValueError, match="1 or more"):
        LayeredBayes(LayeredBayesOptions(depth=0))
    with pytest.raises(ValueError, match="rebuild_every"):
        LayeredBayes(LayeredBayesOptions(rebuild_every=0))
    with pytest.raises(ValueError, match="from 0 to 1"):
        LayeredBayes(LayeredBayesOptions(confidence=2.0))
    with pytest.raises(TopicError, match="examples"):
        LayeredBayes().fit(Examples(keywords=("owl",)))
    with pytest.raises(TopicError, match="name others"):
        LayeredBayes().fit(Examples(positives=(Document("the of and"),)))
