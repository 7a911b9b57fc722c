"""What an experiment file may say: every table, key, bound and default. `docs/lab.md` explains it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, StrictStr, model_validator

from honeyguide.config.schema import (
    UNLIMITED,
    Addresses,
    DiscoveryTable,
    Languages,
    MaxCount,
    OrderingTable,
    RelevanceTable,
    Table,
    Text,
    Texts,
)

ALL = "all"
Name = Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9_.-]*$", max_length=80)]
Paragraph = Annotated[StrictStr, Field(max_length=100_000)]
Count = Annotated[int, Field(ge=0, le=100_000)]
TEXT_SOURCES = ("none", "other sites", "same site")


def _text_source(value: str) -> str:
    if value not in TEXT_SOURCES and not value.startswith("web:"):
        choices = ", ".join(repr(one) for one in TEXT_SOURCES)
        raise ValueError(f"{value!r} is not a source of text; write one of {choices} or 'web:NAME'")
    return value


class GivenTable(Table):
    """`[given]`, or `given = {...}` of one recipe: what a recipe may know before it starts."""

    keywords: bool = True
    """The topic's words."""
    examples: Count = 0
    """Pages on topic; those drawn from the targets are not counted as found by anyone."""
    examples_from: Literal["targets", "other sites"] = "targets"
    negatives: Count = 0
    """Labelled pages off topic, drawn from where the examples come from."""
    unlabelled: Annotated[StrictStr, AfterValidator(_text_source)] = "none"
    """Text without labels: `other sites`, `same site`, or all pages of another web, `web:NAME`."""
    unlabelled_limit: Annotated[int, Field(ge=1, le=1_000_000)] = 5_000
    """Documents of it at most, drawn by chance."""
    unlabelled_without: Texts = ()
    """Sites whose text is left out of it."""
    backlinks: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Share of the web's links that a backlink source knows; 0: there is none."""
    search: bool = False
    """A search engine over the whole web."""
    taxonomy: bool = False
    """The topic's path in its subject tree."""


class FarSeeds(Table):
    """`seeds = {distance = 3, count = 2}`: start pages chosen by their distance from the topic."""

    distance: Annotated[int, Field(ge=0, le=20)]
    """Links to the nearest target, at least; the farthest there are when none is that far."""
    count: Annotated[int, Field(ge=1, le=100)] = 1
    inside: Texts = ()
    """Only addresses that contain one of these texts; empty: any page."""


class TopicEntry(Table):
    """`[[topics]]`: one topic, on every site it names."""

    name: Text
    labels: Annotated[tuple[Text, ...], Field(strict=False, min_length=1)]
    """Targets: pages with one of these labels, or with one below it (`Science` has `Science/Physics`)."""
    keywords: Texts = ()
    """Empty: the words of the labels (generated webs know better ones)."""
    web: Text | None = None
    """Only on this one of the experiment's webs."""
    sites: Texts = ()
    """One crawl for each of these sites, kept inside it; empty: one crawl of the whole web."""
    seeds: Addresses | FarSeeds | None = None
    """Where to begin; by default what `[[sites]]` says, or two links away."""
    group: StrictStr = ""
    """Rows are also averaged by group; by default the topic's name."""
    budget: Annotated[int, Field(ge=1)] | None = None
    """Pages of this topic's crawls, where they are fewer than the experiment's."""
    languages: Languages = ("en",)
    taxonomy: StrictStr = ""
    """With `taxonomy = true` in `[given]`: the path that recipes get; by default the first of `labels`."""


class GenerateEntry(Table):
    """`[[generate]]`: topics taken from the labels, the largest first."""

    levels: Annotated[int, Field(ge=1, le=20)]
    """Parts of the label path: 2 for `Science/Biology`."""
    count: Annotated[int, Field(ge=1, le=1000)]
    minimum: Annotated[int, Field(ge=1)] = 20
    """Least number of target pages."""
    under: Texts = ()
    """Only labels below these."""
    web: Text | None = None
    seeds: FarSeeds | None = None
    group: StrictStr = ""


class SiteEntry(Table):
    """`[[sites]]`: a part of a web that crawls are kept in."""

    name: Text
    seeds: Addresses
    """Where crawls of this site begin, unless the topic says otherwise."""


class RecipeEntry(Table):
    """`[[recipes]]`: a recipe, or parts of your own, with options as in a topic file."""

    name: Text
    """A recipe of `honeyguide recipes`."""
    label: Text | None = None
    """What the row is called; must differ from row to row."""
    relevance: RelevanceTable = RelevanceTable()
    """As `[relevance]` of a topic file: `model`, and options of the page model."""
    ordering: OrderingTable = OrderingTable()
    """As `[ordering]` of a topic file: `order`, and options of the link order."""
    discovery: Annotated[tuple[DiscoveryTable, ...], Field(strict=False)] = ()
    given: dict[str, object] = Field(default_factory=dict)
    """Keys of `[given]` that differ for this recipe."""
    max_pages: Annotated[int, Field(ge=1)] | None = None
    """Pages this recipe may fetch, where they are fewer than the budget."""

    @property
    def row(self) -> str:
        """What the row is called."""
        return self.label or self.name


class EvaluationTable(Table):
    """`[evaluation]`: how the relevance of a page is judged, the same for all recipes.

    Recall and harvest go by the labels. Sum of information and sliding relevance need a grade for
    every page: that of this page model, fitted on the keywords and on targets.
    """

    model: Text = "tf-cosine"
    options: dict[str, object] = Field(default_factory=dict)
    targets: Count = 50
    """Target pages it is fitted on, drawn by chance; no recipe sees them."""


class ReferenceTable(Table):
    """`[[reference]]`: figures as published, shown beside ours."""

    title: Text
    columns: Annotated[tuple[StrictStr, ...], Field(strict=False, min_length=1)]
    rows: Annotated[
        tuple[Annotated[tuple[StrictStr | int | float, ...], Field(strict=False)], ...], Field(strict=False)
    ]
    note: Paragraph = ""


class TableEntry(Table):
    """`[[tables]]`: a further table of the report."""

    title: Text
    columns: Texts
    """Measures, such as `precision_at_0.5`."""
    group: StrictStr = ""
    """Only topics of this group."""
    recipes: Texts = ()
    """Rows to show; empty: all."""


class ReportTable(Table):
    """`[report]`: what people read."""

    paragraph: Paragraph = ""
    """Written by hand after looking at the results."""
    baseline: Text | None = None
    """The row that others are tested against; by default `best-first` where it is there."""
    plot: Texts = ()
    """Rows to draw; empty: the eight best."""
    window: Annotated[int, Field(ge=1)] = 200
    """Pages of the sliding measures."""
    harvest: Literal["window", "so far"] = "window"
    """Harvest is drawn over the window, or over all pages so far."""
    by_topic: Texts = ()
    """Rows whose targets are told topic by topic, with the gain over the baseline."""
    by_group: bool = False
    """Draw the curves of each group of topics, too."""


class Experiment(Table):
    """A whole experiment file."""

    title: Text
    kind: Literal["crawl", "study"] = "crawl"
    description: Paragraph = ""
    webs: Texts = ()
    """Names or paths of recorded webs, or `generated:SEED:PAGES`."""
    budget: Annotated[int, Field(ge=1)] | Literal["all"] = "all"
    """Pages of a crawl; `all`: as many as can be reached."""
    max_pages_per_domain: MaxCount = None
    max_depth: Annotated[int, Field(ge=0)] | None = None
    repetitions: Annotated[int, Field(ge=1, le=1000)] = 1
    """Crawls of each kind, with other random seeds and other example pages."""
    random_seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    extra_measures: Texts = ()
    """Names in `honeyguide.lab.measures.extras`, or `module:function`."""
    given: GivenTable = GivenTable()
    sites: Annotated[tuple[SiteEntry, ...], Field(strict=False)] = ()
    topics: Annotated[tuple[TopicEntry, ...], Field(strict=False)] = ()
    generate: Annotated[tuple[GenerateEntry, ...], Field(strict=False)] = ()
    recipes: Annotated[tuple[RecipeEntry, ...], Field(strict=False)] = ()
    evaluation: EvaluationTable = EvaluationTable()
    reference: Annotated[tuple[ReferenceTable, ...], Field(strict=False)] = ()
    tables: Annotated[tuple[TableEntry, ...], Field(strict=False)] = ()
    report: ReportTable = ReportTable()
    study: Name | None = None
    """With kind = "study": the module beside the experiment file that runs it."""
    options: dict[str, object] = Field(default_factory=dict)
    """What the study is given."""

    @model_validator(mode="after")
    def _whole(self) -> Experiment:
        if self.kind == "study":
            if self.study is None:
                raise ValueError("an experiment of kind \"study\" names its study; add: study = '...'")
            return self
        for what, there in (
            ("webs = [...]", self.webs),
            ("[[recipes]]", self.recipes),
            ("[[topics]] or [[generate]]", self.topics or self.generate),
        ):
            if not there:
                raise ValueError(f"an experiment of crawls needs {what}; add it")
        rows = [recipe.row for recipe in self.recipes]
        twice = next((row for row in rows if rows.count(row) > 1), None)
        if twice:
            raise ValueError(f"two [[recipes]] are called {twice!r}; give one of them another label")
        return self


__all__ = ["ALL", "UNLIMITED", "Experiment", "FarSeeds", "GivenTable", "RecipeEntry", "TopicEntry"]
