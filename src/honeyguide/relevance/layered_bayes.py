"""Layered naive Bayes: how many links is this page away from the topic?"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Final, Literal, NamedTuple, Self, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.reduced_tf_idf import Features, ReducedTfIdf
from honeyguide.store.models import Saved
from honeyguide.topic.context import next_layer, seed_layer

Likelihood: TypeAlias = Literal["per feature", "joint"]
OnTopic: TypeAlias = Literal["keep", "drop", "join"]

TOP_TERMS: Final = 10
LEAST_SPREAD: Final = 0.25
NEVER: Final = -1e12
"""Log prior of an empty layer: it can win no page."""
MOST_LINKS: Final = 500
"""Links remembered of one page."""


class LayeredBayesOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What can be set about layered naive Bayes.

    Args:
        depth: Layers above layer 0, N.
        layer_cap: Most places of one graph in a layer, when graphs are built from the crawl's own links.
        features: Components that a page keeps.
        least_features: Pages with fewer of them belong to "other".
        vocabulary: Phrases of the vocabulary.
        first_layer: Whether the vocabulary also takes the phrases of layer 1.
        likelihood: `per feature` or `joint`.
        threshold_quantile: A layer's threshold is this quantile of the likelihoods of its own training
            documents. 0 is their minimum, as in the paper: the least typical page of a layer then sets its
            line, and on sites of one style every page passes it.
        target_quantile: The same for layer 0.
        held_out_threshold: Judge each training document for that as if it had not been one; False is
            the paper's form, under which few other pages reach the likelihood of the examples themselves.
        parents_on_topic: What becomes of pages of the upper layers that layer 0 alone would take for
            targets. `drop` leaves them out, `join` puts them in layer 0, `keep` is the paper's form, under
            which pages on topic are often put in layer 1.
        topic_first: Whether a page that reaches layer 0's threshold belongs there, whatever the other layers
            say. False is the paper's form, the layer with the largest posterior.
        bootstrap_targets: Pages on topic before the first graph is built without backlinks.
        rebuild_every: Pages on topic between two rebuilds; None rebuilds no graph.
        train_targets: Whether new targets also train layer 0, as in the paper. By default they only show
            which pages lead to targets: what the crawl took for a target must not redefine the topic.
        confidence: Quantile of the example pages' likelihoods that a new target must reach.
        most_targets: New targets that graphs are built for, drawn at random beyond that.
        memory: Pages of the crawl that rebuilding looks back on, the newest.
    """

    depth: int = 4
    layer_cap: int = 300
    features: int = 40
    least_features: int = 5
    vocabulary: int = 20_000
    first_layer: bool = False
    likelihood: Likelihood = "per feature"
    threshold_quantile: float = 0.25
    target_quantile: float = 0.25
    held_out_threshold: bool = True
    parents_on_topic: OnTopic = "drop"
    topic_first: bool = False
    bootstrap_targets: int = 20
    rebuild_every: int | None = None
    train_targets: bool = False
    confidence: float = 0.5
    most_targets: int = 100
    memory: int = 20_000

    def __post_init__(self) -> None:
        """Refuse values that cannot be used."""
        if min(self.depth, self.layer_cap, self.features, self.bootstrap_targets, self.most_targets) < 1:
            raise ValueError(
                "depth, layer_cap, features, bootstrap_targets and most_targets must be 1 or more"
            )
        if self.rebuild_every is not None and self.rebuild_every < 1:
            raise ValueError("rebuild_every must be 1 or more; leave it out to rebuild no graph")
        shares = (self.threshold_quantile, self.target_quantile, self.confidence)
        if not all(0.0 <= share <= 1.0 for share in shares):
            raise ValueError(
                "threshold_quantile, target_quantile and confidence are shares: write numbers from 0 to 1"
            )


class LayeredBayes:
    """One naive Bayes classifier for each layer of the context graph; layer 0 is the topic itself.

    A page is described by the `features` strongest components of its reduced TF-IDF (see
    `ReducedTfIdf`). It belongs to the layer with the largest posterior, or to "other" (layer N + 1) when
    its likelihood there is below the layer's threshold or it has fewer than `least_features` phrases of
    the vocabulary. On topic is what belongs to layer 0. The score is the likelihood per feature under
    layer 0, put on 0..1 by a logistic curve through 0.5 at layer 0's threshold.

    `likelihood="per feature"` compares the mean log probability of the features that a page has. The
    literal `"joint"` form sums them, and so falls with their number; thresholds and queues then go by it.

    *Without a context graph* (no backlinks) there is only layer 0 at first. When `bootstrap_targets`
    pages on topic were fetched, graphs are built from the crawl's own links, and again whenever that
    number has doubled. *Rebuild mode*: with `rebuild_every` they are rebuilt every so many pages on
    topic, joined with the context graph of the set-up. Targets are then the pages on topic whose
    likelihood reaches the `confidence` quantile of the example pages. While all layers come from the
    crawl's own links, a page that reaches layer 0's threshold belongs there, whatever the others say.

    Args:
        options: What can be set, see `LayeredBayesOptions`; in a topic file each is a key of its own.
        seed: For samples.

    Example:
        >>> text = "The {} owl hunts mice at night and nests in barns. "
        >>> owls = tuple(Document(text.format(kind) * 9) for kind in ("barn", "tawny", "little"))
        >>> model = LayeredBayes().fit(Examples(positives=owls))
        >>> page = Page(url="https://a.example/", id=1, text="A barn owl hunts mice at night. " * 9)
        >>> verdict = model.judge(page)
        >>> verdict.on_topic, verdict.facts["layer"], model.judge_texts(["income tax"])
        (True, 0.0, [0.0])

    References:
        Michelangelo Diligenti, Frans Coetzee, Steve Lawrence, C. Lee Giles, Marco Gori, "Focused crawling
        using context graphs", VLDB 2000.
    """

    def __init__(
        self,
        options: LayeredBayesOptions = LayeredBayesOptions(),  # noqa: B008  Frozen.
        *,
        seed: int = 0,
    ) -> None:
        self.options = options
        self.depth = options.depth
        self._seed = seed
        self._joint = options.likelihood == "joint"
        self._memory = CrawlMemory(options.memory)
        self._text = ReducedTfIdf(keep=options.features)
        self._context = Layers()
        self._held: list[Features] = []
        self._now: Classifiers | None = None
        self._likely = -math.inf
        self._targets = 0
        self._next_build = 0
        self.generation = 0
        """How often the classifiers were trained again; an order looks at it."""

    @property
    def rebuilds(self) -> bool:
        """Whether the classifiers change while the crawl runs."""
        return self._next_build > 0

    def fit(self, examples: Examples) -> Self:
        """Learn layer 0 from the positive examples and the others from their context graph."""
        if not examples.positives:
            raise TopicError("context graphs grow from example pages; name some as 'examples' in [topic]")
        context = examples.context
        master: list[Document] = list(examples.positives)
        if self.options.first_layer and context is not None and len(context.layers) > 1:
            first = dict.fromkeys(node.document for node in context.layers[1])
            master += [context.documents[index] for index in first]
        self._text = ReducedTfIdf.learn(
            master,
            examples.unlabelled,
            languages=examples.languages,
            keep=self.options.features,
            size=self.options.vocabulary,
        )
        if not len(self._text):
            raise TopicError("the example pages hold no words that count; name others with more text")
        self._context = context_layers(self._text, examples, depth=self.depth)
        self._held = held_out(self._text, examples.positives) if self.options.held_out_threshold else []
        self._now = self._train(self._context)
        if self.options.parents_on_topic != "keep" and self._context.filled > 1:
            alone = self._train(self._context.only_seeds())
            self._context = self._context.parted(
                lambda one: self._is_target(one, alone), join=self.options.parents_on_topic == "join"
            )
            self._now = self._train(self._context)
        lines = self._seed_lines(self._context, self._now)
        self._likely = float(np.quantile(lines, self.options.confidence)) if len(lines) else -math.inf
        if self._context.filled < 2:
            self._next_build = self.options.bootstrap_targets
        else:
            self._next_build = self.options.rebuild_every or 0
        return self

    def judge(self, page: Page) -> Verdict:
        """Layer, likelihood and score of a page; the facts tell each layer's share of the posterior."""
        now = self._fitted()
        found = self._text.features(page.title, page.content)
        layer, likelihood, lines, posterior = self._place(found, now)
        score = self._score(found, now)
        facts = {"layer": float(layer), "log_likelihood": likelihood, "features": float(len(found.columns))}
        if len(found.columns):
            facts["log_likelihood 0"] = float(lines[0])
            facts |= {f"posterior {j}": float(share) for j, share in enumerate(posterior)}
        return Verdict(score, layer == 0, self._terms(found, layer, score, now), facts)

    def judge_texts(self, texts: Sequence[str]) -> list[float]:
        """Scores of texts under layer 0."""
        now = self._fitted()
        scores = []
        for text in texts:
            found = self._text.features("", text)
            scores.append(self._score(found, now))
        return scores

    def observe(self, page: Page, verdict: Verdict) -> bool:
        """Remember the page, and rebuild the graphs when it is time."""
        if not self.rebuilds:
            return False
        found = self._text.features(page.title, page.content)
        target = verdict.on_topic and verdict.facts.get("log_likelihood", -math.inf) >= self._likely
        self._memory.add(page.id, [link.id for link in page.links], found, target=target)
        self._targets += target
        if not target or self._targets < self._next_build:
            return False
        step = self.options.rebuild_every or self._targets
        self._next_build = self._targets + step
        own = self._memory.layers(
            depth=self.depth,
            cap=self.options.layer_cap,
            most=self.options.most_targets,
            seed=self._seed + self.generation,
        )
        if self.options.parents_on_topic != "keep":
            alone = self._train(self._context.only_seeds())
            own = own.parted(lambda one: self._is_target(one, alone), join=False)
        if not self.options.train_targets:
            own = own.without_seeds()
        self._now = self._train(self._context.joined(own))
        self.generation += 1
        return True

    def places(self, ids: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Layers and likelihoods of fetched pages by today's classifiers; NaN for pages not remembered."""
        now = self._fitted()
        layers, lines = np.full(len(ids), np.nan), np.full(len(ids), np.nan)
        for place, number in enumerate(ids.tolist()):
            found = self._memory.features(number)
            if found is not None:
                layers[place], lines[place], _, _ = self._place(found, now)
        return layers, lines

    def typical_terms(self, count: int = 12) -> list[list[str]]:
        """For each layer, the phrases that set it apart most from the others."""
        now = self._fitted()
        share = np.exp(now.log_p)
        rows = []
        for layer in range(len(share)):
            others = (
                np.delete(share, layer, axis=0).mean(axis=0) if len(share) > 1 else np.ones(share.shape[1])
            )
            gain = share[layer] * np.log(share[layer] / others)
            strongest = np.argsort(-gain, kind="stable")[:count]
            rows.append([self._text.terms[i] for i in strongest.tolist() if now.sizes[layer]])
        return rows

    @property
    def sizes(self) -> list[int]:
        """Training documents of each layer, repetitions counted."""
        return [int(size) for size in self._fitted().sizes]

    def save(self) -> Saved:
        """Vocabulary, classifiers, the context graph's features and what is remembered of the crawl."""
        now = self._fitted()
        values: dict[str, object] = {
            "text": self._text.values(),
            "middle": now.middle,
            "spread": now.spread,
            "likely": self._likely if math.isfinite(self._likely) else None,
            "targets": self._targets,
            "next_build": self._next_build,
            "generation": self.generation,
            "sampled": self._context.sampled,
        }
        arrays: dict[str, NDArray[np.generic]] = {
            "idf": self._text.idf,
            "log_p": now.log_p,
            "log_prior": now.log_prior,
            "threshold": now.threshold,
            "sizes": now.sizes,
            **self._context.arrays("context"),
            **feature_arrays(self._held, "held"),
            **self._memory.arrays("memory"),
        }
        return Saved(values=values, arrays=arrays)

    def load(self, saved: Saved) -> Self:
        """Take back what `save` gave."""
        values, arrays = saved.values, saved.arrays
        self._text = ReducedTfIdf.load(values["text"], arrays["idf"], keep=self.options.features)
        numbers = {name: arrays[name].astype(np.float64) for name in ("log_p", "log_prior", "threshold")}
        self._now = Classifiers(
            **numbers,
            sizes=arrays["sizes"].astype(np.int64),
            middle=msgspec.convert(values["middle"], float),
            spread=msgspec.convert(values["spread"], float),
        )
        likely = values["likely"]
        self._likely = -math.inf if likely is None else msgspec.convert(likely, float)
        self._targets = msgspec.convert(values["targets"], int)
        self._next_build = msgspec.convert(values["next_build"], int)
        self.generation = msgspec.convert(values["generation"], int)
        self._context = Layers.load(arrays, "context", sampled=bool(values["sampled"]))
        self._held = features_from(arrays, "held")
        self._memory.load(arrays, "memory")
        return self

    def _fitted(self) -> Classifiers:
        if self._now is None:
            raise TopicError("the page model knows no topic yet; call fit or load first")
        return self._now

    def _train(self, layers: Layers) -> Classifiers:
        return train(
            layers,
            size=len(self._text),
            held=self._held,
            quantiles=(self.options.target_quantile, self.options.threshold_quantile),
            joint=self._joint,
            leave_out=self.options.held_out_threshold,
        )

    def _seed_lines(self, layers: Layers, now: Classifiers) -> NDArray[np.float64]:
        counts = layers.counts(len(self._text))
        return seed_lines(
            layers, counts[0], held=self._held, joint=self._joint, leave_out=self.options.held_out_threshold
        )

    def _is_target(self, found: Features, alone: Classifiers) -> bool:
        if len(found.columns) < self.options.least_features:
            return False
        return bool(likelihoods(found, alone, joint=self._joint)[0] >= alone.threshold[0])

    def _place(
        self, found: Features, now: Classifiers
    ) -> tuple[int, float, NDArray[np.float64], NDArray[np.float64]]:
        """Layer, likelihood there, likelihoods under all layers, posterior."""
        other = len(now.sizes)
        if not len(found.columns):
            nothing = np.zeros(other)
            return (
                other,
                float(now.log_p.min()) * (self.options.features if self._joint else 1),
                nothing,
                nothing,
            )
        lines = likelihoods(found, now, joint=self._joint)
        joint = now.log_prior + now.log_p[:, found.columns].sum(axis=1)
        posterior = np.exp(joint - joint.max())
        posterior /= posterior.sum()
        layer = int(joint.argmax())
        first = self.options.topic_first or self._context.filled < 2
        if first and lines[0] >= now.threshold[0]:
            layer = 0
        likelihood = float(lines[layer])
        if len(found.columns) < self.options.least_features or likelihood < now.threshold[layer]:
            layer = other
        return layer, likelihood, lines, posterior

    def _score(self, found: Features, now: Classifiers) -> float:
        features = len(found.columns)
        if not features:
            return 0.0
        distance = (float(likelihoods(found, now, joint=False)[0]) - now.middle) / now.spread
        # A page of few phrases says little, however likely they are.
        return min(1.0, features / max(1, self.options.least_features)) / (
            1.0 + math.exp(-max(-500.0, min(500.0, distance)))
        )

    def _terms(
        self, found: Features, layer: int, score: float, now: Classifiers
    ) -> tuple[tuple[str, float], ...]:
        """The phrases that speak most for the layer, by their gain over the other layers."""
        if not len(found.columns) or not score:
            return ()
        layer = min(layer, len(now.sizes) - 1)
        own = now.log_p[layer, found.columns]
        rest = np.delete(now.log_p, layer, axis=0)[:, found.columns]
        gain = np.maximum(0.0, own - rest.mean(axis=0)) if len(rest) else np.ones(len(own))
        weight = gain * self._text.idf[found.columns]
        total = float(weight.sum())
        if not total:
            return ()
        order = np.argsort(-weight, kind="stable")[:TOP_TERMS]
        shares = [(int(found.columns[i]), score * float(weight[i]) / total) for i in order.tolist()]
        # Rounding down keeps the sum of the shares at or below the score.
        return tuple((self._text.terms[i], math.floor(s * 1e9) / 1e9) for i, s in shares if s > 0.0)


class Classifiers(msgspec.Struct, frozen=True):
    """What training gives; row j of every array belongs to layer j."""

    log_p: NDArray[np.float64]
    """log P(w | layer), layers x vocabulary."""
    log_prior: NDArray[np.float64]
    threshold: NDArray[np.float64]
    sizes: NDArray[np.int64]
    """Training documents of each layer, repetitions counted."""
    middle: float
    """Where the score is 0.5: layer 0's threshold, per feature."""
    spread: float
    """Standard deviation of layer 0's likelihoods per feature: the unit of the score."""


def likelihoods(found: Features, now: Classifiers, *, joint: bool) -> NDArray[np.float64]:
    """Log likelihood of a page under each layer: of all its features, or their mean."""
    total: NDArray[np.float64] = now.log_p[:, found.columns].sum(axis=1)
    return total if joint else total / max(1, len(found.columns))


def train(
    layers: Layers,
    *,
    size: int,
    held: Sequence[Features],
    quantiles: tuple[float, float],
    joint: bool,
    leave_out: bool,
) -> Classifiers:
    """Multinomial naive Bayes with Laplace smoothing: `P(w|c) = (1 + n(w,c)) / (|V| + n(c))`.

    Priors are the layers' sizes, or uniform when a layer was sampled.

    Args:
        layers: Training documents.
        size: Phrases of the vocabulary, |V|.
        held: The example pages as they look to a vocabulary made without them (`held_out`).
        quantiles: Of the documents' likelihoods, for the threshold of layer 0 and of the others.
        joint: Whether likelihoods are joint or per feature.
        leave_out: Judge documents, for the threshold, by classifiers trained without them.
    """
    counts = layers.counts(size)
    log_p = np.log((1.0 + counts) / (size + counts.sum(axis=1, keepdims=True)))
    sizes = np.array([len(layers.documents(layer)) for layer in range(layers.depth + 1)], dtype=np.int64)
    there = sizes > 0
    share = sizes / max(1, sizes.sum())
    if layers.sampled:
        share = np.full(len(sizes), 1.0 / max(1, there.sum()))
    log_prior = np.where(there, np.log(np.where(there, share, 1.0)), NEVER)
    lines = [
        seed_lines(layers, counts[0], held=held, joint=joint, leave_out=leave_out),
        *(_own_lines(layers, layer, counts[layer], joint, leave_out) for layer in range(1, len(sizes))),
    ]
    shares = (quantiles[0], *(quantiles[1] for _ in lines[1:]))
    threshold = np.array(
        [np.quantile(own, share) if len(own) else 0.0 for own, share in zip(lines, shares, strict=True)]
    )
    means = seed_lines(layers, counts[0], held=held, joint=False, leave_out=leave_out)
    middle, spread = 0.0, 1.0
    if len(means):
        middle, spread = float(np.quantile(means, quantiles[0])), max(LEAST_SPREAD, float(means.std()))
    return Classifiers(log_p, log_prior, threshold, sizes, middle, spread)


def held_out(text: ReducedTfIdf, documents: Sequence[Document]) -> list[Features]:
    """Each document as it looks to a vocabulary that was made from the others only.

    One document alone is left as it is.
    """
    every = [text.counts(one.title, one.text) for one in documents]
    total: Counter[int] = Counter()
    for counts in every:
        total.update(counts)
    if len(every) < 2:
        return [text.strongest(counts) for counts in every]
    return [
        text.strongest({place: count for place, count in counts.items() if total[place] > count})
        for counts in every
    ]


def seed_lines(
    layers: Layers, counts: NDArray[np.float64], *, held: Sequence[Features], joint: bool, leave_out: bool
) -> NDArray[np.float64]:
    """Likelihoods of the example pages (the first documents of layer 0) under layer 0.

    Held out, a page counts with no more than its likelihood as it is: no example is to fall below itself.
    """
    if not leave_out or len(held) < 2:
        return _own_lines(layers, 0, counts, joint, False)
    own = layers.unique(0)[: len(held)]
    found = [
        min(
            _line(seen, counts, without=one, times=1, joint=joint),
            _line(one, counts, without=one, times=0, joint=joint),
        )
        for seen, one in zip(held, own, strict=True)
        if len(seen.columns)
    ]
    return np.array(found)


def _own_lines(
    layers: Layers, layer: int, counts: NDArray[np.float64], joint: bool, leave_out: bool
) -> NDArray[np.float64]:
    """Likelihoods of a layer's own documents, each once, under its classifier."""
    times = Counter(layers.documents(layer))
    found = [
        _line(one, counts, without=one, times=times[index] if leave_out else 0, joint=joint)
        for index, one in zip(dict.fromkeys(layers.documents(layer)), layers.unique(layer), strict=True)
        if len(one.columns)
    ]
    return np.array(found)


def _line(
    seen: Features, counts: NDArray[np.float64], *, without: Features, times: int, joint: bool
) -> float:
    """Likelihood of a document in a layer from which another was taken out as often as it stood there."""
    left = counts[seen.columns]
    total = counts.sum()
    if times:
        taken = dict(zip(without.columns.tolist(), without.counts.tolist(), strict=True))
        left = left - times * np.array([taken.get(place, 0) for place in seen.columns.tolist()])
        total = total - times * without.counts.sum()
    lines = np.log((1.0 + left) / (len(counts) + total))
    return float(lines.sum() if joint else lines.mean())


class Layers:
    """Documents by layer. A document may stand in several layers, and several times in one.

    Args:
        documents: Each once.
        members: For each layer, indices of its documents with repetitions.
        sampled: Whether a layer holds only a part of what was found.
    """

    def __init__(
        self,
        documents: Sequence[Features] = (),
        members: Sequence[Sequence[int]] = ((),),
        *,
        sampled: bool = False,
    ) -> None:
        self._documents = list(documents)
        self._members = [list(layer) for layer in members]
        self.sampled = sampled

    @property
    def depth(self) -> int:
        """Layers above layer 0, empty ones included."""
        return len(self._members) - 1

    @property
    def filled(self) -> int:
        """Layers that hold anything."""
        return sum(1 for layer in self._members if layer)

    def documents(self, layer: int) -> list[int]:
        """Indices of a layer's documents, with repetitions."""
        return self._members[layer]

    def unique(self, layer: int) -> list[Features]:
        """A layer's documents, each once."""
        return [self._documents[index] for index in dict.fromkeys(self._members[layer])]

    def counts(self, size: int) -> NDArray[np.float64]:
        """How often each of `size` terms occurs in each layer, repeated documents counted as often."""
        total = np.zeros((len(self._members), size))
        for layer, members in enumerate(self._members):
            for index, times in Counter(members).items():
                one = self._documents[index]
                total[layer, one.columns] += one.counts * times
        return total

    def joined(self, other: Layers) -> Layers:
        """Both, layer by layer."""
        shift = len(self._documents)
        layers = max(len(self._members), len(other._members))
        members = [
            [*_at(self._members, layer), *(index + shift for index in _at(other._members, layer))]
            for layer in range(layers)
        ]
        sampled = self.sampled or other.sampled
        return Layers([*self._documents, *other._documents], members, sampled=sampled)

    def without_seeds(self) -> Layers:
        """The upper layers alone; layer 0 is empty."""
        return Layers(self._documents, [[], *self._members[1:]], sampled=self.sampled)

    def only_seeds(self) -> Layers:
        """Layer 0 alone; the others are empty."""
        return Layers(self._documents, [self._members[0], *([] for _ in self._members[1:])])

    def parted(self, is_target: Callable[[Features], bool], *, join: bool) -> Layers:
        """Without the documents of upper layers that are targets themselves; `join` puts them in layer 0."""
        upper = dict.fromkeys(index for layer in self._members[1:] for index in layer)
        targets = [index for index in upper if is_target(self._documents[index])]
        out = set(targets)
        members = [[index for index in layer if index not in out] for layer in self._members[1:]]
        seeds = [*self._members[0], *targets] if join else self._members[0]
        return Layers(self._documents, [seeds, *members], sampled=self.sampled)

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """Everything but `sampled`, as arrays whose names begin with `name`."""
        return {
            **feature_arrays(self._documents, name),
            f"{name}_members": np.array([i for layer in self._members for i in layer], dtype=np.int32),
            f"{name}_layers": np.array([len(layer) for layer in self._members], dtype=np.int64),
        }

    @classmethod
    def load(cls, arrays: Mapping[str, NDArray[np.generic]], name: str, *, sampled: bool) -> Self:
        """Take back what `arrays` gave."""
        flat: list[int] = arrays[f"{name}_members"].tolist()
        ends = np.cumsum(arrays[f"{name}_layers"].astype(np.int64)).tolist()
        members = [flat[start:end] for start, end in pairwise([0, *ends])]
        return cls(features_from(arrays, name), members, sampled=sampled)


def feature_arrays(documents: Sequence[Features], name: str) -> dict[str, NDArray[np.generic]]:
    """Documents as flat arrays."""
    none = [np.zeros(0, dtype=np.int32)]
    return {
        f"{name}_columns": np.concatenate([one.columns for one in documents] or none),
        f"{name}_counts": np.concatenate([one.counts for one in documents] or none),
        f"{name}_ends": np.cumsum([len(one.columns) for one in documents], dtype=np.int64),
    }


def features_from(arrays: Mapping[str, NDArray[np.generic]], name: str) -> list[Features]:
    """Take back what `feature_arrays` gave."""
    columns = arrays[f"{name}_columns"].astype(np.int32)
    counts = arrays[f"{name}_counts"].astype(np.int32)
    ends: list[int] = arrays[f"{name}_ends"].tolist()
    return [Features(columns[start:end], counts[start:end]) for start, end in pairwise([0, *ends])]


def context_layers(text: ReducedTfIdf, examples: Examples, *, depth: int) -> Layers:
    """The examples as layer 0, and the layers of their context graph above it."""

    def features(document: Document) -> Features:
        return text.features(document.title, document.text)

    documents = [features(document) for document in examples.positives]
    members: list[list[int]] = [list(range(len(documents))), *([] for _ in range(depth))]
    graph = examples.context
    if graph is None:
        return Layers(documents, members)
    place: dict[int, int] = {}
    for layer, nodes in enumerate(graph.layers[1 : depth + 1], 1):
        for node in nodes:
            if node.document not in place:
                place[node.document] = len(documents)
                documents.append(features(graph.documents[node.document]))
            members[layer].append(place[node.document])
    return Layers(documents, members, sampled=graph.sampled)


def _at(members: Sequence[Sequence[int]], layer: int) -> Sequence[int]:
    return members[layer] if layer < len(members) else ()


class _Seen(NamedTuple):
    features: Features
    links: NDArray[np.int64]
    target: bool


class CrawlMemory:
    """The crawl's own link graph, as far as it is remembered: the backlink source of last resort.

    Args:
        limit: Pages remembered; the oldest are forgotten.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._pages: dict[int, _Seen] = {}

    def __len__(self) -> int:
        """Pages remembered."""
        return len(self._pages)

    def add(self, page: int, links: Sequence[int], features: Features, *, target: bool) -> None:
        """Remember a page."""
        self._pages.pop(page, None)
        self._pages[page] = _Seen(features, np.array(links[:MOST_LINKS], dtype=np.int64), target)
        if len(self._pages) > self._limit:
            del self._pages[next(iter(self._pages))]

    def features(self, page: int) -> Features | None:
        """What is remembered of a page's text."""
        seen = self._pages.get(page)
        return seen.features if seen is not None else None

    def layers(self, *, depth: int, cap: int, most: int, seed: int) -> Layers:
        """Context graphs of the targets among the pages, over the links among the pages.

        Targets stand in layer 0 only: in the merged graph they are zero steps away from a target.

        Args:
            depth: Layers above layer 0.
            cap: Most places of one graph in a layer.
            most: Targets that graphs are built for, drawn at random beyond that.
            seed: For samples.
        """
        generator = Random(seed)  # noqa: S311  Not a secret.
        everything = [page for page, seen in self._pages.items() if seen.target]
        targets = everything
        if len(targets) > most:
            targets = [targets[i] for i in sorted(generator.sample(range(len(targets)), most))]
        parents = self._parents()
        known = set(everything)
        graphs = [set(known) for _ in targets]
        layer = seed_layer(targets)
        members = [list(everything)]
        sampled = False
        for _ in range(depth):
            grown = next_layer(layer, parents, graphs, cap=cap, generator=generator)
            layer, sampled = grown.places, sampled or grown.sampled
            members.append([place.page for place in layer])
        number = {page: index for index, page in enumerate(dict.fromkeys(p for row in members for p in row))}
        documents = [self._pages[page].features for page in number]
        return Layers(documents, [[number[page] for page in row] for row in members], sampled=sampled)

    def arrays(self, name: str) -> dict[str, NDArray[np.generic]]:
        """Everything remembered, as arrays whose names begin with `name`."""
        seen = self._pages.values()
        none = [np.zeros(0, dtype=np.int64)]
        return {
            **feature_arrays([one.features for one in seen], name),
            f"{name}_ids": np.array(list(self._pages), dtype=np.int64),
            f"{name}_targets": np.array([one.target for one in seen], dtype=np.bool_),
            f"{name}_links": np.concatenate([one.links for one in seen] or none),
            f"{name}_link_ends": np.cumsum([len(one.links) for one in seen], dtype=np.int64),
        }

    def load(self, arrays: Mapping[str, NDArray[np.generic]], name: str) -> None:
        """Take back what `arrays` gave."""
        links = arrays[f"{name}_links"].astype(np.int64)
        ends: list[int] = arrays[f"{name}_link_ends"].tolist()
        rows = [links[start:end] for start, end in pairwise([0, *ends])]
        pages = zip(
            arrays[f"{name}_ids"].tolist(),
            features_from(arrays, name),
            rows,
            arrays[f"{name}_targets"].tolist(),
            strict=True,
        )
        self._pages = {page: _Seen(features, own, target) for page, features, own, target in pages}

    def _parents(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for page, seen in self._pages.items():
            for link in seen.links.tolist():
                if link in self._pages and link != page:
                    found.setdefault(link, []).append(page)
        return found
