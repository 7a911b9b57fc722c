"""The files of deploy/ name what exists: metrics, options, verbs."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from honeyguide.cli.verbs import VERBS
from honeyguide.ui.metrics import NAMES

DEPLOY = Path(__file__).parents[2] / "deploy"


def test_the_dashboard_asks_for_metrics_that_exist() -> None:
    board = json.loads((DEPLOY / "grafana-dashboard.json").read_text())
    asked = {name for panel in board["panels"] for target in panel["targets"]
             for name in re.findall(r"honeyguide_\w+", target["expr"])}  # fmt: skip
    assert asked <= NAMES.keys()
    assert len(asked) > 10


def test_units_and_images_use_verbs_that_exist() -> None:
    verbs = {verb.name for verb in VERBS}
    unit = (DEPLOY / "honeyguide.service").read_text()
    compose = (DEPLOY / "compose.yaml").read_text()
    assert {re.search(r"bin/honeyguide (\w+)", unit)[1], re.search(r"command: \[(\w+)", compose)[1]} <= verbs  # type: ignore[index]
    image = (DEPLOY / "Dockerfile").read_text()
    assert "USER 10001" in image
    assert "read_only: true" in compose


def test_the_image_copies_what_the_package_is_built_from() -> None:
    image = (DEPLOY / "Dockerfile").read_text()
    copied = {
        word for line in re.findall(r"^COPY (?!--)(.*) \S+$", image, re.MULTILINE) for word in line.split()
    }
    project = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text())
    needed = {"pyproject.toml", "constraints.txt", "src", project["project"]["readme"], "LICENSE"}
    if "custom" in project["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]:
        needed.add("hatch_build.py")
    assert needed <= copied
    assert all((DEPLOY.parent / name).exists() for name in copied)
