"""`honeyguide parts`."""

from __future__ import annotations

import json

import pytest

from honeyguide import discovery, ordering, relevance
from honeyguide.cli.parts import parts
from honeyguide.errors import HoneyguideError


def test_every_part_is_listed_with_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    parts(json=True)
    listed = json.loads(capsys.readouterr().out)
    for kind, built_in in (
        ("relevance", relevance.BUILT_IN), ("ordering", ordering.BUILT_IN), ("discovery", discovery.BUILT_IN),
    ):  # fmt: skip
        assert {one["name"] for one in listed if one["kind"] == kind} >= set(built_in)
    by_name = {one["name"]: one for one in listed}
    options = {one["name"]: one for one in by_name["pagerank"]["options"]}
    assert (options["damping"]["type"], options["damping"]["default"]) == ("float", "0.8")
    assert next(one for one in by_name["hcla"]["options"] if one["name"] == "warm_up")["meaning"]
    assert "judge" in by_name["anchor-only"]["needs"]
    assert all(one["title"] for one in listed)


def test_one_kind_or_one_part(capsys: pytest.CaptureFixture[str]) -> None:
    parts(kind="discovery")
    text = capsys.readouterr().out
    assert "backlinks" in text
    assert "pagerank" not in text
    parts("hcla")
    text = capsys.readouterr().out
    assert "reorder_every" in text
    assert "Let k grow" in text
    with pytest.raises(HoneyguideError, match="no part is called 'hcl'; did you mean 'hcla'"):
        parts("hcl")


@pytest.mark.usefixtures("plugin")
def test_plug_ins_are_listed_also_broken_ones(capsys: pytest.CaptureFixture[str]) -> None:
    parts(json=True)
    by_name = {one["name"]: one for one in json.loads(capsys.readouterr().out)}
    assert by_name["plug-anchors"]["needs"] == ["judge", "seed"]
    assert by_name["plug-anchors"]["options"][0]["default"] == "1.0"
    assert by_name["plug-anchors"]["made_by"] == "honeyguide_test_plugin:Anchors"
    assert "cannot import" in by_name["plug-broken"]["title"]
