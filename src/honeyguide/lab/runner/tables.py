"""Results as tables for people: on a terminal, in Markdown, in HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from honeyguide.lab.runner.cells import ORACLE
from honeyguide.lab.runner.results import HEADLINE, MEASURES, Mean, Results, Summary, values_of
from honeyguide.lab.runner.schema import Experiment

MAIN = (*HEADLINE, "recall", "harvest_rate", "area_by_requests", "requests", "sum_of_information")
UPPER_BOUND = "oracle (upper bound)"


class ReportTable(msgspec.Struct, frozen=True):
    """A table as it is shown."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def report_tables(results: Results, experiment: Experiment) -> list[ReportTable]:
    """All tables of an experiment of crawls, in the order of the report."""
    tables = [main_table(results)]
    groups = dict.fromkeys(one.group for one in results.summaries)
    if len(groups) > 1:
        tables.append(_group_table(results, [group for group in groups if group != "all"]))
    if experiment.report.by_topic:
        tables.append(_topic_table(results, experiment.report.by_topic))
    for entry in experiment.tables:
        names = entry.recipes or tuple(dict.fromkeys(one.recipe for one in results.summaries))
        summaries = [
            one for one in results.summaries if one.group == (entry.group or "all") and one.recipe in names
        ]
        tables.append(_measure_table(entry.title, summaries, entry.columns))
    for reference in experiment.reference:
        rows = tuple(tuple(_plain(value) for value in row) for row in reference.rows)
        tables.append(ReportTable(reference.title, tuple(reference.columns), rows, reference.note))
    if results.tests:
        tables.append(_test_table(results))
    extras = _extra_names(results)
    if extras:
        summaries = [one for one in results.summaries if one.group == "all" and one.recipe != ORACLE]
        tables.append(_measure_table("Further measures", summaries, extras))
    return tables


def main_table(results: Results) -> ReportTable:
    """All recipes over all topics, the best first, the oracle on top."""
    everything = [one for one in results.summaries if one.group == "all"]
    everything.sort(key=lambda one: (one.recipe != ORACLE, -_value(one, "area_of_oracle")))
    topics = len({row.pair[:3] for row in results.rows})
    note = (
        f"Means over {topics} topics with 0.95 bootstrap intervals. A figure in parentheses says how many "
        "topics got that far, where not all did: means over different topics do not compare."
    )
    columns = ("recipe", "given", *(MEASURES[name] for name in MAIN))
    rows = tuple((_name(one), one.given, *(_main_cell(one, name) for name in MAIN)) for one in everything)
    return ReportTable("All topics", columns, rows, note)


def _main_cell(one: Summary, name: str) -> str:
    # The oracle fetches nothing, so it has no grades: that is not "never reached".
    return "" if one.recipe == ORACLE and name not in one.measures else _shown(one.measures.get(name))


def _group_table(results: Results, groups: Sequence[str]) -> ReportTable:
    found = {(one.recipe, one.group): one for one in results.summaries}
    recipes = dict.fromkeys(one.recipe for one in results.summaries if one.recipe != ORACLE)
    rows = tuple(
        (recipe, *(_mean(found.get((recipe, group)), "area_of_oracle") for group in groups))
        for recipe in sorted(recipes, key=lambda name: -_value(found[name, "all"], "area_of_oracle"))
    )
    return ReportTable("Area under recall, divided by the oracle's, by group", ("recipe", *groups), rows)


def _topic_table(results: Results, requested: Sequence[str]) -> ReportTable:
    """Targets found of each topic by some rows, with the gain over the baseline where there is one."""
    baseline = results.tests[0].baseline if results.tests else ""
    there = {one.recipe for one in results.summaries}
    recipes = [name for name in dict.fromkeys((baseline, *requested)) if name in there]
    recall = {name: values_of(results.rows, name, "recall") for name in recipes}
    first = {row.pair[:3]: row for row in results.rows}
    rows, gains = [], dict[tuple[str, str], list[float]]()
    for topic, row in first.items():
        base = recall.get(baseline, {}).get(topic)
        shown = [f"{row.topic} @ {row.site}" if row.site else row.topic]
        shown += [str(row.nearest_target), str(row.reachable)]
        for name in recipes:
            found = recall[name].get(topic)
            shown.append("" if found is None else f"{found * row.reachable:.4g}")
            if found is not None and base and name != baseline:
                gains.setdefault((row.group, name), []).append(found / base - 1.0)
                shown[-1] += f" ({found / base - 1.0:+.0%})"
        rows.append(tuple(shown))
    for group in dict.fromkeys(group for group, _ in gains):
        for said, of in (("mean", lambda own: math.fsum(own) / len(own)), ("least", min)):
            own = [gains.get((group, name)) for name in recipes]
            rows.append((f"{said} gain, {group}", "", "", *(f"{of(one):+.0%}" if one else "" for one in own)))
    note = f"In parentheses the gain over {baseline}." if baseline else ""
    columns = ("topic", "links to the nearest", "targets", *recipes)
    return ReportTable("Targets found, by topic", columns, tuple(rows), note)


def _measure_table(title: str, summaries: Sequence[Summary], columns: Sequence[str]) -> ReportTable:
    headings = tuple(MEASURES.get(name, name.replace("_", " ")) for name in columns)
    rows = tuple(
        (_name(one), *(_shown(one.measures.get(name), interval=False) for name in columns))
        for one in summaries
    )
    return ReportTable(title, ("recipe", *headings), rows)


def _test_table(results: Results) -> ReportTable:
    baseline = results.tests[0].baseline
    rows = tuple(
        (
            one.recipe,
            f"{one.difference:+.3f} [{one.low:+.3f}, {one.high:+.3f}]",
            "" if one.t_test is None else f"{one.t_test:.4f}",
            "" if one.wilcoxon is None else f"{one.wilcoxon:.4f}",
            str(one.topics),
        )
        for one in sorted(results.tests, key=lambda one: -one.difference)
    )
    note = f"No correction for the number of comparisons: there are {len(results.tests)}."
    columns = ("recipe", f"area minus {baseline}'s", "p (paired t)", "p (Wilcoxon)", "topics")
    return ReportTable(f"Paired with {baseline}, by topic", columns, rows, note)


def markdown(title: str, paragraphs: Sequence[str], tables: Sequence[ReportTable]) -> str:
    """One Markdown document."""
    parts = [f"# {title}", *(text.strip() for text in paragraphs if text.strip())]
    for table in tables:
        parts.append(f"## {table.title}")
        lines = ["| " + " | ".join(map(_cell, table.columns)) + " |", "|" + " --- |" * len(table.columns)]
        lines += ["| " + " | ".join(map(_cell, row)) + " |" for row in table.rows]
        parts.append("\n".join(lines))
        if table.note:
            parts.append(table.note.strip())
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _name(one: Summary) -> str:
    return UPPER_BOUND if one.recipe == ORACLE else one.recipe


def _value(one: Summary, name: str) -> float:
    mean = one.measures.get(name)
    return mean.mean if mean else 0.0


def _mean(one: Summary | None, name: str) -> str:
    return _shown(one.measures.get(name), interval=False) if one else ""


def _shown(mean: Mean | None, *, interval: bool = True) -> str:
    """A mean as people read it: `0.42 [0.31, 0.55]`, `3.1 (12 of 16)`."""
    if mean is None:
        return "never"
    text = _figure(mean.mean)
    if mean.count < mean.of:
        return f"{text} ({mean.count} of {mean.of})"
    return f"{text} [{_figure(mean.low)}, {_figure(mean.high)}]" if interval and mean.count > 1 else text


def _figure(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.3f}" if abs(value) < 2 else f"{value:.2f}"


def _plain(value: object) -> str:
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def study_tables(results: Results) -> list[ReportTable]:
    """The tables of a study."""
    return [
        ReportTable(
            str(table["title"]),
            tuple(map(str, table["columns"])),
            tuple(tuple(_plain(value) for value in row) for row in table["rows"]),
            str(table.get("note", "")),
        )
        for table in results.tables
    ]


def _extra_names(results: Results) -> list[str]:
    names = dict.fromkeys(name for one in results.summaries for name in one.measures)
    return [name for name in names if name not in MEASURES]
