"""Layered naive Bayes: how many links is this page away from the topic?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, Self, TypeAlias

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Page, Verdict
from honeyguide.relevance.layered_bayes_graph import Layers, context_layers, feature_arrays, features_from
from honeyguide.relevance.layered_bayes_memory import CrawlMemory
from honeyguide.relevance.layered_bayes_training import (
    Classifiers,
    held_out,
    likelihoods,
    seed_lines,
    train,
)
from honeyguide.relevance.reduced_tf_idf import Features, ReducedTfIdf
from honeyguide.store.models import Saved

Likelihood: TypeAlias = Literal["per feature", "joint"]
OnTopic: TypeAlias = Literal["keep", "drop", "join"]

TOP_TERMS: Final = 10


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
    number has doubled. *Rebuild mode*: with `rebuild_every` they are built anew every so many pages on
    topic, joined with the context graph of the set-up. Targets are then the pages on topic whose
    likelihood reaches the `confidence` quantile of the example pages. While all layers come from the
    crawl's own links, a page that reaches layer 0's threshold belongs there, whatever the others say.

    Parameters:
        depth: Layers above layer 0, N.
        layer_cap: Most places of one graph in a layer, when graphs are built from the crawl's own links.
        features: Components that a page keeps.
        least_features: Pages with fewer of them belong to "other".
        vocabulary: Phrases of the vocabulary.
        first_layer: Whether the vocabulary also takes the phrases of layer 1.
        likelihood: `per feature` or `joint`.
        threshold_quantile: A layer's threshold is this quantile of the likelihoods of its own training
            documents; 0 is their minimum, as in the paper.
        target_quantile: The same for layer 0, whose ten or so example pages make a fragile minimum.
        held_out_threshold: Judge each training document for that as if it had not been one; False is
            the paper's form, under which few other pages reach the likelihood of the examples themselves.
        parents_on_topic: What becomes of pages of the upper layers that layer 0 alone would take for
            targets. `drop` leaves them out, `join` puts them in layer 0, `keep` is the paper's form, under
            which pages on topic are often put in layer 1.
        bootstrap_targets: Pages on topic before the first graph is built without backlinks.
        rebuild_every: Pages on topic between two rebuilds; None builds no graph anew.
        train_targets: Whether new targets also train layer 0, as in the paper. By default they only show
            which pages lead to targets: what the crawl took for a target must not redefine the topic.
        confidence: Quantile of the example pages' likelihoods that a new target must reach.
        most_targets: New targets that graphs are built for, drawn at random beyond that.
        memory: Pages of the crawl that rebuilding looks back on, the newest.
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
        *,
        depth: int = 4,
        layer_cap: int = 300,
        features: int = 40,
        least_features: int = 5,
        vocabulary: int = 20_000,
        first_layer: bool = False,
        likelihood: Likelihood = "per feature",
        threshold_quantile: float = 0.0,
        target_quantile: float = 0.25,
        held_out_threshold: bool = True,
        parents_on_topic: OnTopic = "drop",
        bootstrap_targets: int = 20,
        rebuild_every: int | None = None,
        train_targets: bool = False,
        confidence: float = 0.5,
        most_targets: int = 100,
        memory: int = 20_000,
        seed: int = 0,
    ) -> None:
        if depth < 1 or layer_cap < 1 or features < 1 or bootstrap_targets < 1 or most_targets < 1:
            raise ValueError(
                "depth, layer_cap, features, bootstrap_targets and most_targets must be 1 or more"
            )
        if rebuild_every is not None and rebuild_every < 1:
            raise ValueError("rebuild_every must be 1 or more; leave it out to build no graph anew")
        if not all(0.0 <= share <= 1.0 for share in (threshold_quantile, target_quantile, confidence)):
            raise ValueError(
                "threshold_quantile, target_quantile and confidence are shares: write numbers from 0 to 1"
            )
        self.depth = depth
        self._cap = layer_cap
        self._keep = features
        self._least = least_features
        self._size = vocabulary
        self._first_layer = first_layer
        self._joint = likelihood == "joint"
        self._quantiles = (target_quantile, threshold_quantile)
        self._bootstrap_targets = bootstrap_targets
        self._rebuild_every = rebuild_every
        self._train_targets = train_targets
        self._confidence = confidence
        self._most_targets = most_targets
        self._memory = CrawlMemory(memory)
        self._seed = seed
        self._text = ReducedTfIdf(keep=features)
        self._context = Layers()
        self._held_out = held_out_threshold
        self._absorb = parents_on_topic
        self._held: list[Features] = []
        self._now: Classifiers | None = None
        self._likely = -math.inf
        self._targets = 0
        self._next_build = 0
        self.generation = 0
        """How often the classifiers were trained anew; an order looks at it."""

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
        if self._first_layer and context is not None and len(context.layers) > 1:
            first = dict.fromkeys(node.document for node in context.layers[1])
            master += [context.documents[index] for index in first]
        self._text = ReducedTfIdf.learn(
            master,
            examples.unlabelled,
            languages=examples.languages,
            keep=self._keep,
            size=self._size,
        )
        if not len(self._text):
            raise TopicError("the example pages hold no words that count; name others with more text")
        self._context = context_layers(self._text, examples, depth=self.depth)
        self._held = held_out(self._text, examples.positives) if self._held_out else []
        self._now = self._train(self._context)
        if self._absorb != "keep" and self._context.filled > 1:
            alone = self._train(self._context.only_seeds())
            self._context = self._context.parted(
                lambda one: self._is_target(one, alone), join=self._absorb == "join"
            )
            self._now = self._train(self._context)
        lines = self._seed_lines(self._context, self._now)
        self._likely = float(np.quantile(lines, self._confidence)) if len(lines) else -math.inf
        if self._context.filled < 2:
            self._next_build = self._bootstrap_targets
        else:
            self._next_build = self._rebuild_every or 0
        return self

    def judge(self, page: Page) -> Verdict:
        """Layer, likelihood and score of a page; the facts tell each layer's share of the posterior."""
        now = self._fitted()
        found = self._text.features(page.title, page.main_text or page.text)
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
        """Remember the page, and build the graphs anew when it is time."""
        if not self.rebuilds:
            return False
        found = self._text.features(page.title, page.main_text or page.text)
        target = verdict.on_topic and verdict.facts.get("log_likelihood", -math.inf) >= self._likely
        self._memory.add(page.id, [link.id for link in page.links], found, target=target)
        self._targets += target
        if not target or self._targets < self._next_build:
            return False
        step = self._rebuild_every or self._targets
        self._next_build = self._targets + step
        own = self._memory.layers(
            depth=self.depth, cap=self._cap, most=self._most_targets, seed=self._seed + self.generation
        )
        if self._absorb != "keep":
            alone = self._train(self._context.only_seeds())
            own = own.parted(lambda one: self._is_target(one, alone), join=False)
        if not self._train_targets:
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
        self._text = ReducedTfIdf.load(values["text"], arrays["idf"], keep=self._keep)
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
            quantiles=self._quantiles,
            joint=self._joint,
            leave_out=self._held_out,
        )

    def _seed_lines(self, layers: Layers, now: Classifiers) -> NDArray[np.float64]:
        counts = layers.counts(len(self._text))
        return seed_lines(layers, counts[0], held=self._held, joint=self._joint, leave_out=self._held_out)

    def _is_target(self, found: Features, alone: Classifiers) -> bool:
        if len(found.columns) < self._least:
            return False
        return bool(likelihoods(found, alone, joint=self._joint)[0] >= alone.threshold[0])

    def _place(
        self, found: Features, now: Classifiers
    ) -> tuple[int, float, NDArray[np.float64], NDArray[np.float64]]:
        """Layer, likelihood there, likelihoods under all layers, posterior."""
        other = len(now.sizes)
        if not len(found.columns):
            nothing = np.zeros(other)
            return other, float(now.log_p.min()) * (self._keep if self._joint else 1), nothing, nothing
        lines = likelihoods(found, now, joint=self._joint)
        joint = now.log_prior + now.log_p[:, found.columns].sum(axis=1)
        posterior = np.exp(joint - joint.max())
        posterior /= posterior.sum()
        layer = int(joint.argmax())
        if self._context.filled < 2 and lines[0] >= now.threshold[0]:
            layer = 0
        likelihood = float(lines[layer])
        if len(found.columns) < self._least or likelihood < now.threshold[layer]:
            layer = other
        return layer, likelihood, lines, posterior

    def _score(self, found: Features, now: Classifiers) -> float:
        features = len(found.columns)
        if not features:
            return 0.0
        distance = (float(likelihoods(found, now, joint=False)[0]) - now.middle) / now.spread
        # A page of few phrases says little, however likely they are.
        return min(1.0, features / max(1, self._least)) / (1.0 + math.exp(-max(-500.0, min(500.0, distance))))

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
