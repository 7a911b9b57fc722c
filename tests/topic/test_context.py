from __future__ import annotations

from random import Random

from honeyguide.topic.context import Layer, Place, next_layer, seed_layer


def grow(parents: dict[str, list[str]], seeds: list[str], depth: int, *, cap: int = 300) -> list[Layer[str]]:
    seen = [{seed} for seed in seeds]
    generator = Random(3)
    layers: list[Layer[str]] = [Layer(seed_layer(seeds), False)]
    for _ in range(depth):
        layers.append(next_layer(layers[-1].places, parents, seen, cap=cap, generator=generator))
    return layers


def test_a_shared_parent_stands_once_for_each_child() -> None:
    layers = grow({"s": ["a", "b"], "a": ["p"], "b": ["p"]}, ["s"], 2)
    assert layers[1].places == [Place("a", 0, 0), Place("b", 0, 0)]
    assert layers[2].places == [Place("p", 0, 0), Place("p", 1, 0)]


def test_a_page_stands_in_the_layer_of_its_shortest_way() -> None:
    layers = grow({"s": ["a"], "a": ["b", "s"], "b": ["a", "c"]}, ["s"], 3)
    assert [[place.page for place in layer.places] for layer in layers] == [["s"], ["a"], ["b"], ["c"]]


def test_graphs_of_two_seeds_do_not_mix() -> None:
    layers = grow({"s": ["t", "a"], "t": ["a"]}, ["s", "t"], 1)
    assert layers[1].places == [Place("t", 0, 0), Place("a", 0, 0), Place("a", 1, 1)]


def test_the_cap_holds_for_each_graph_and_says_so() -> None:
    parents = {seed: [f"{seed}{i}" for i in range(50)] for seed in ("s", "t")}
    layer = grow(parents, ["s", "t"], 1, cap=7)[1]
    assert layer.sampled
    assert [sum(place.seed == seed for place in layer.places) for seed in (0, 1)] == [7, 7]
    assert layer == grow(parents, ["s", "t"], 1, cap=7)[1]
    assert not grow(parents, ["s", "t"], 1, cap=50)[1].sampled
