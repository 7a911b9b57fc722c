"""What pyproject.toml declares is what the code imports, and heavy parts stay out of the base install."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from honeyguide.cli.failure import explain
from honeyguide.errors import EXTRAS

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def plain(name: str) -> str:
    return re.split(r"[^A-Za-z0-9._-]", name, maxsplit=1)[0].lower().replace("_", "-").replace(".", "-")


def imported() -> dict[str, str]:
    """Third-party modules of the package, with a file that imports each."""
    found: dict[str, str] = {}
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                found.setdefault(name.partition(".")[0], str(path.relative_to(ROOT)))
    return {
        name: file for name, file in found.items() if name not in sys.stdlib_module_names | {"honeyguide"}
    }


def test_what_is_imported_is_declared_and_the_reverse() -> None:
    extras = PROJECT["optional-dependencies"]
    lines = [
        *PROJECT["dependencies"],
        *(one for name, some in extras.items() if name != "dev" for one in some),
    ]
    # setuptools is asked for by the build itself, and compiles the C part.
    declared = {plain(line) for line in [*lines, "setuptools"]} - {"honeyguide"}
    owners = packages_distributions()
    used: set[str] = set()
    for module, file in imported().items():
        distributions = {plain(name) for name in owners.get(module, [module])}
        assert distributions & declared, f"{file} imports {module}, which pyproject.toml does not declare"
        used |= distributions
    # Needed by what is declared, or loaded by their names where they are used.
    indirect = {"lxml-html-clean", "ipython", "setuptools", "rjieba", "pypinyin", "scrapy"}
    assert declared - used <= indirect, f"declared and never imported: {sorted(declared - used - indirect)}"


def test_heavy_parts_are_extras_and_a_missing_one_is_named() -> None:
    base = {plain(line) for line in PROJECT["dependencies"]}
    for module, extra in EXTRAS.items():
        assert module not in base
        assert extra in PROJECT["optional-dependencies"]
        message, status = explain(ModuleNotFoundError(f"No module named {module!r}", name=f"{module}.inner"))
        assert f"pip install 'honeyguide[{extra}]'" in message
        assert status == 2


def test_no_extra_is_needed_to_import_what_a_crawl_imports() -> None:
    """A module of an extra is imported where it is used, or in a file that only its users load."""
    users = (
        "ui/",
        "plots/",
        "lab/",
        "collection/report_figure.py",
        "collection/figure.py",
        "relevance/evolved/",
    )
    for path in (ROOT / "src" / "honeyguide").rglob("*.py"):
        name = str(path.relative_to(ROOT / "src" / "honeyguide"))
        if name.startswith(users):
            continue
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            assert not {module.partition(".")[0] for module in modules} & EXTRAS.keys(), name


def test_the_changelog_begins_with_this_version() -> None:
    first = re.search(r"^## (\S+) \(", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first is not None
    assert first[1] == PROJECT["version"]


@pytest.mark.parametrize("name", ["ci.yml", "release.yml"])
def test_workflows_are_yaml_and_call_make(name: str) -> None:
    import yaml  # type: ignore[import-untyped]

    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / name).read_text())
    assert workflow["jobs"]
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 40
        for step in job["steps"]:
            for target in re.findall(r"^make (\w+)$", step.get("run", ""), re.MULTILINE):
                assert target in targets
