"""What the text part costs, in milliseconds of CPU for a page of 2,000 words: `python benchmarks/text.py`."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from honeyguide.model import Examples, Page
from honeyguide.relevance.okapi import Okapi
from honeyguide.relevance.tf_cosine import TfCosine
from honeyguide.text.simhash import simhash
from honeyguide.text.tokens import Analyser
from honeyguide.text.vectors import HashedTerms


def made_up_text(count: int, *, seed: int = 1) -> str:
    """Words with a Zipf-like distribution, as pages have."""
    generator = random.Random(seed)
    letters = "etaoinshrdlucmfw"
    words = ["".join(generator.choices(letters, k=generator.randint(2, 10))) for _ in range(8000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return " ".join(generator.choices(words, weights, k=count))


def cost(action: Callable[[], object], *, rounds: int = 7, repeat: int = 40) -> float:
    """Milliseconds of CPU a call, the best of several rounds."""
    action()
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(repeat):
            action()
        best = min(best, (time.process_time() - start) / repeat)
    return best * 1000


def main() -> None:
    text = made_up_text(2000)
    chinese = "神经网络是一种模仿生物神经网络的结构和功能的数学模型。" * 74
    anchors = [made_up_text(6, seed=seed) for seed in range(80)]
    contexts = [made_up_text(40, seed=seed) for seed in range(80)]
    analyser, hashed = Analyser(), HashedTerms()
    zh_words, zh_pairs = Analyser(("zh", "en")), Analyser(("zh", "en"), segmenter="bigrams")
    keywords = Examples(keywords=("neural network", *text.split()[:4]))
    models = {
        "TF evidence": TfCosine().fit(keywords),
        "TF cosine": TfCosine(scoring="cosine").fit(keywords),
        "Okapi": Okapi().fit(keywords),
    }
    page = Page(url="https://a.example/", id=1, title="A title", text=text)
    rows: list[tuple[str, Callable[[], object]]] = [
        ("terms, 2,000 English words", lambda: analyser.terms(text)),
        ("terms, same with a cold cache", lambda: Analyser().terms(text)),
        (f"terms, 2,000 Chinese characters, {zh_words.segmenter}", lambda: zh_words.terms(chinese)),
        ("terms, 2,000 Chinese characters, bigrams", lambda: zh_pairs.terms(chinese)),
        ("hashed counts, 2,000 words", lambda: hashed.counts([analyser.terms(text)])),
        ("simhash, 2,000 English words", lambda: simhash(text)),
        ("simhash, 2,000 Chinese characters", lambda: simhash(chinese)),
    ]
    for name, model in models.items():
        rows.append((f"{name}: judge a page", lambda model=model: model.judge(page)))  # type: ignore[misc]
        rows.append((f"{name}: judge 80 anchors", lambda model=model: model.judge_texts(anchors)))  # type: ignore[misc]
        rows.append((f"{name}: judge 80 contexts", lambda model=model: model.judge_texts(contexts)))  # type: ignore[misc]
    for name, action in rows:
        print(f"{name:55} {cost(action):8.3f} ms")


if __name__ == "__main__":
    main()
