"""`honeyguide recipes`."""

from __future__ import annotations

from honeyguide.cli.output import note, print_table
from honeyguide.config.recipes import Recipe, find_recipe, recipe_names


def recipes(*, json: bool = False) -> None:
    """List the recipes: what each does, needs and cites.

    Args:
        json: Print JSON, with the parts and options of each recipe.
    """
    rows = [_row(find_recipe(name), full=json) for name in recipe_names()]
    columns = {"name": "recipe", "title": "what it does", "needs": "needs", "reference": "reference"}
    print_table(rows, columns, json=json)
    if not json:
        note('Use one with recipe = "NAME" under [crawl] in the topic file.')
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
