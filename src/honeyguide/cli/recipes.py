"""`honeyguide recipes`."""

from __future__ import annotations

from honeyguide.cli.output import note, print_facts, print_table
from honeyguide.config.recipes import Part, Recipe, find_recipe, lacks, recipe_names
from honeyguide.config.registry import WORDS, Kind


def recipes(name: str | None = None, /, *, json: bool = False) -> None:
    """List the recipes: what each does, needs and cites; or show one, with its parts and options.

    Args:
        name: Show this recipe, with every option of its parts.
        json: Print JSON, with the parts of each recipe and the options that it sets.
    """
    chosen = [find_recipe(one) for one in ([name] if name is not None else recipe_names())]
    if json:
        print_table([_row(recipe, full=True) for recipe in chosen], {}, json=True)
        return
    if name is not None:
        _show(chosen[0])
        return
    columns = {"name": "recipe", "title": "what it does", "needs": "needs", "reference": "reference"}
    print_table([_row(recipe, full=False) for recipe in chosen], columns)
    note('Use one with recipe = "NAME" under [crawl] in the topic file.')
    note("One recipe with its parts and options: honeyguide recipes NAME")
    note("Parts to mix, with their options: honeyguide parts")


def _row(recipe: Recipe, *, full: bool) -> dict[str, object]:
    row: dict[str, object] = {
        "name": recipe.name,
        "title": recipe.title,
        "needs": list(recipe.needs),
        "reference": recipe.reference,
    }
    if full:
        row["relevance"] = {"model": recipe.relevance.name, **recipe.relevance.options}
        row["ordering"] = {"order": recipe.ordering.name, **recipe.ordering.options}
        row["discovery"] = [{"source": part.name, **part.options} for part in recipe.discovery]
    return row


_TABLES: dict[Kind, str] = {
    "relevance": "[relevance]",
    "ordering": "[ordering]",
    "discovery": "[[discovery]]",
}
"""Where a topic file sets the options of a part."""


def _show(recipe: Recipe) -> None:
    """What one recipe is made of, and what of it a topic file can change."""
    from honeyguide.config.describe import describe
    from honeyguide.job.parts import FILLED_IN

    used: list[tuple[Kind, Part]] = [("relevance", recipe.relevance), ("ordering", recipe.ordering)]
    used += [("discovery", part) for part in recipe.discovery]
    facts: dict[str, object] = {
        "recipe": recipe.name,
        "what it does": recipe.title,
        "needs": list(recipe.needs),
        "reference": recipe.reference,
    }
    rows: list[dict[str, object]] = []
    for kind, part in used:
        about = describe(kind, part.name, FILLED_IN)
        facts[WORDS[kind] if WORDS[kind] not in facts else f"{WORDS[kind]} {part.name}"] = (
            f"{part.name}: {about.title}"
        )
        for option in about.options:
            default = option.default or "must be given"
            own = part.options.get(option.name)
            value = default if own is None else f"{_written(own)} (the part's default: {default})"
            rows.append(
                {"table": _TABLES[kind], "name": option.name, "value": value, "meaning": option.meaning}
            )
    for lack in lacks(recipe):
        facts["without a service"] = lack
    print_facts(facts)
    if rows:
        print()
        columns = {"table": "in the topic file", "name": "option", "value": "value", "meaning": "meaning"}
        print_table(rows, columns)
    note(f'Use it with recipe = "{recipe.name}" under [crawl] in the topic file.')


def _written(value: object) -> str:
    """An option as a topic file would say it."""
    if isinstance(value, bool):
        return str(value).lower()
    return repr(list(value)) if isinstance(value, tuple) else repr(value)
