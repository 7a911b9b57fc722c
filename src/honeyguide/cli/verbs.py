"""The list of verbs. A new verb is one line here and one file beside it."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import cyclopts
import msgspec


class Verb(msgspec.Struct, frozen=True):
    """How a verb appears on the command line."""

    name: str
    """One word, or two for a verb of a group (`topic new`)."""
    target: str
    """`module:function`; imported when the verb is used."""
    summary: str
    example: str
    """A command to copy, without `honeyguide`."""


VERBS = (
    Verb(
        "topic new",
        "honeyguide.cli.topic_new:new",
        "Write a commented topic file to fill in.",
        'topic new "owls of Europe" --keywords owl "barn owl" --seeds https://example.org/',
    ),
    Verb(
        "topic check",
        "honeyguide.cli.topic_check:check",
        "Check a topic file and show what a crawl of it would use.",
        "topic check topic.toml",
    ),
    Verb(
        "topic context",
        "honeyguide.cli.topic_context:context",
        "Show the context graph of a collection: layers, typical terms and hosts.",
        "topic context collections/owls --out context.svg",
    ),
    Verb(
        "topic browse",
        "honeyguide.cli.topic_browse:browse",
        "List the topics below a node of a taxonomy.",
        "topic browse structure.rdf.u8.gz Sports",
    ),
    Verb(
        "topic from-taxonomy",
        "honeyguide.cli.topic_from_taxonomy:from_taxonomy",
        "Write a topic file for a node of a taxonomy.",
        'topic from-taxonomy structure.rdf.u8.gz "Sports/Basketball" --also content.rdf.u8.gz',
    ),
    Verb(
        "topic tokens",
        "honeyguide.cli.topic_tokens:tokens",
        "List frequent words in a crawl's URLs that are not mapped to a topic yet.",
        "topic tokens collections/basketball",
    ),
    Verb(
        "topic map-token",
        "honeyguide.cli.topic_map_token:map_token",
        "Map a token that occurs in URLs to a topic.",
        "topic map-token lanqiu Basketball --kind pinyin",
    ),
    Verb(
        "topic find-seeds",
        "honeyguide.cli.topic_find_seeds:find_seeds",
        "Propose URLs to start from, by asking search engines for the topic's words.",
        "topic find-seeds topic.toml --searxng https://searx.example.org --write",
    ),
    Verb(
        "model evolve",
        "honeyguide.cli.model_evolve:evolve",
        "Evolve a similarity for nearest neighbours on labelled examples.",
        "model evolve examples --out similarity.json",
    ),
    Verb(
        "crawl",
        "honeyguide.cli.crawl:crawl",
        "Crawl the web for a topic; run it again to continue where it stopped.",
        "crawl topic.toml --out collections/owls",
    ),
    Verb(
        "resume",
        "honeyguide.cli.crawl:resume",
        "Continue a crawl from its folder.",
        "resume collections/owls --max-pages 5000",
    ),
    Verb(
        "recrawl",
        "honeyguide.cli.recrawl:recrawl",
        "Visit the pages of a collection again: keep what changed, mark what is gone.",
        "recrawl collections/owls --older-than 7d --budget 500",
    ),
    Verb(
        "schedule",
        "honeyguide.cli.schedule:schedule",
        "Print a systemd timer or cron line that visits a collection again by itself.",
        "schedule collections/owls --every week --budget 500",
    ),
    Verb(
        "trust",
        "honeyguide.cli.trust:trust",
        "Trust a topic file or a collection that somebody else made.",
        "trust collections/owls",
    ),
    Verb(
        "serve",
        "honeyguide.cli.serve:serve",
        "Open the portal on a collection: watch, review, search, export.",
        "serve collections/owls",
    ),
    Verb(
        "mcp",
        "honeyguide.cli.mcp:mcp",
        "Let agents search and read collections (Model Context Protocol).",
        "mcp collections/owls",
    ),
    Verb(
        "status",
        "honeyguide.cli.status:status",
        "Show where a crawl stands; works while it runs.",
        "status collections/owls",
    ),
    Verb(
        "report",
        "honeyguide.cli.report:report",
        "Print the figures of a crawl and draw its harvest.",
        "report collections/owls --out harvest.svg",
    ),
    Verb(
        "compare",
        "honeyguide.cli.compare:compare",
        "Compare two crawls: curves, and what each found that the other did not.",
        "compare collections/owls collections/owls-again --out compare.png",
    ),
    Verb(
        "merge",
        "honeyguide.cli.merge:merge",
        "Make one ordinary collection of one that consists of shards.",
        "merge collections/owls collections/owls-one",
    ),
    Verb(
        "changes",
        "honeyguide.cli.changes:changes",
        "Show what has become of a collection: new, changed, newly on topic, gone.",
        "changes collections/owls --since 2026-11-01",
    ),
    Verb(
        "why",
        "honeyguide.cli.why:why",
        "Tell the story of one URL: how it was found, what it scored, what became of it.",
        "why collections/owls https://example.org/page",
    ),
    Verb(
        "review list",
        "honeyguide.cli.review_list:list_reviews",
        "List the pages whose review teaches the crawl most, or the decisions so far.",
        "review list collections/owls --limit 5",
    ),
    Verb(
        "review accept",
        "honeyguide.cli.review_accept:accept",
        "Mark pages as on topic.",
        "review accept collections/owls https://example.org/page",
    ),
    Verb(
        "review reject",
        "honeyguide.cli.review_reject:reject",
        "Mark pages, or all pages of a host, as off topic.",
        "review reject collections/owls --host shop.example",
    ),
    Verb(
        "review undo",
        "honeyguide.cli.review_undo:undo",
        "Undo the last decision, or another one.",
        "review undo collections/owls",
    ),
    Verb(
        "review apply",
        "honeyguide.cli.review_apply:apply",
        "Retrain the page model of a stopped crawl and re-score waiting URLs.",
        "review apply collections/owls",
    ),
    Verb(
        "page blocks",
        "honeyguide.cli.page_blocks:blocks",
        "Show the content blocks of a page, their scores, and a picture of them.",
        "page blocks https://example.org/page --collection collections/owls --out blocks.png",
    ),
    Verb(
        "search",
        "honeyguide.cli.search:search",
        "Search the text of the relevant pages.",
        'search collections/owls "barn owl"',
    ),
    Verb(
        "export",
        "honeyguide.cli.export:export",
        "Write the collection as a table, Markdown, an archive, a graph or a datasheet.",
        "export collections/owls --format markdown --out owls-text",
    ),
    Verb(
        "links",
        "honeyguide.cli.links:links",
        "Show hubs and authorities, or groups of near-duplicate pages.",
        "links collections/owls --limit 20",
    ),
    Verb(
        "directory",
        "honeyguide.cli.directory:directory",
        "Sort the pages by subject and host; write them as static HTML.",
        "directory collections/owls --out owls-directory",
    ),
    Verb(
        "demo",
        "honeyguide.cli.demo:demo",
        "Crawl a small generated web on this machine with three recipes.",
        "demo",
    ),
    Verb(
        "lab webs",
        "honeyguide.cli.lab_webs:webs",
        "List recorded webs and where to get them.",
        "lab webs",
    ),
    Verb(
        "lab import",
        "honeyguide.cli.lab_import:import_web",
        "Import a recorded web from its original files, a WARC or a WACZ.",
        "lab import warc crawl.warc.gz --labels crawl.labels.tsv --name mine",
    ),
    Verb(
        "lab record",
        "honeyguide.cli.lab_record:record",
        "Turn a collection, or a breadth-first crawl, into a recorded web.",
        "lab record collections/owls --name owls",
    ),
    Verb(
        "lab info",
        "honeyguide.cli.lab_info:info",
        "Show what a recorded web holds, what can be reached, how topical its links are.",
        "lab info webkb --site cornell",
    ),
    Verb(
        "lab serve",
        "honeyguide.cli.lab_serve:serve",
        "Serve a recorded web over HTTP on this machine.",
        "lab serve webkb --port 8099",
    ),
    Verb(
        "lab damage",
        "honeyguide.cli.lab_damage:damage",
        "Spoil copies of a collection at random, and try every way to use what is left.",
        "lab damage --cases 50 --seed 2",
    ),
    Verb(
        "lab hostile",
        "honeyguide.cli.lab_hostile:hostile",
        "Serve every misbehaviour a crawler has to survive, to test this one or yours.",
        "lab hostile --port 8099",
    ),
    Verb(
        "lab run",
        "honeyguide.cli.lab_run:run",
        "Run an experiment: recipes on recorded webs, with tables, figures and a report.",
        "lab run quick --only breadth-first best-first",
    ),
    Verb(
        "lab compare",
        "honeyguide.cli.lab_compare:compare",
        "Compare two results: differences with intervals and paired tests.",
        "lab compare before.json after.json --measure area_of_oracle",
    ),
    Verb(
        "lab gate",
        "honeyguide.cli.lab_gate:gate",
        "Run the quick set and fail when a recipe is worse than its floor.",
        "lab gate",
    ),
    Verb(
        "recipes",
        "honeyguide.cli.recipes:recipes",
        "List the recipes: what each does, needs and cites; or show one with its options.",
        "recipes scout",
    ),
    Verb(
        "parts",
        "honeyguide.cli.parts:parts",
        "List page models, link orders and sources with their options.",
        "parts --kind ordering",
    ),
    Verb(
        "completion",
        "honeyguide.cli.completion:completion",
        "Print a completion script for bash, zsh or fish.",
        "completion bash",
    ),
    Verb(
        "doctor",
        "honeyguide.cli.doctor:doctor",
        "Check this installation and machine, and say what to repair.",
        "doctor topic.toml",
    ),
    Verb(
        "version",
        "honeyguide.cli.version:show_version",
        "Print the version of Honeyguide and of what it runs on.",
        "version --json",
    ),
)

_EXAMPLE = "Example: honeyguide {}"

SECTIONS = {
    "Crawl": ("topic", "crawl", "resume", "recrawl", "schedule", "merge", "trust", "demo"),
    "Read a collection": (
        "status",
        "report",
        "compare",
        "changes",
        "why",
        "page",
        "search",
        "export",
        "links",
        "directory",
    ),
    "Teach": ("review", "model"),
    "Serve": ("serve", "mcp"),
    "Experiment": ("lab", "recipes", "parts"),
    "This installation": ("doctor", "completion", "version"),
}
"""Sections of `honeyguide --help`, and the first words of their verbs."""

GROUPS = {
    "review": "Mark pages as on or off topic; the crawl learns from it.",
    "page": "Look at one page.",
    "topic": "Write and check topic files.",
    "model": "Train page models.",
    "lab": "Recorded webs and experiments: the same engine, replayed.",
}
"""First words of two-word verbs."""


def _worth_showing(default: object) -> str | None:
    """Defaults that say something; `False` and empty lists do not."""
    if default in (None, False, "", ()):
        return None
    return ", ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def build_app(words: Sequence[str] = ()) -> cyclopts.App:
    """The command line application; verbs are not imported by this.

    Args:
        words: What was typed; the help of the verb it names is that verb's whole docstring.
    """
    app = cyclopts.App(
        name="honeyguide",
        help="A focused web crawler: give it a topic, get a collection.",
        help_epilogue=(
            'Example: honeyguide topic new "my topic" --keywords word "two words" --seeds https://example.org/\n\n'
            "Every command takes --help, --debug, --log-format text|json and --log-level LEVEL."
        ),
        version=lambda: version("honeyguide"),
        version_flags=("--version", "-V"),
        suppress_keyboard_interrupt=False,
        config=cyclopts.config.Env("HONEYGUIDE_", show=False),
        default_parameter=cyclopts.Parameter(negative=(), show_default=_worth_showing),
    )
    for flag in ("--help", "--version"):  # the last line names the one, `version` does the other
        app[flag].show = False
    sections: dict[str, cyclopts.Group] = {}
    for place, (title, firsts) in enumerate(SECTIONS.items()):
        sections |= dict.fromkeys(firsts, cyclopts.Group(title, sort_key=place))
    groups: dict[str, cyclopts.App] = {}
    for order, verb in enumerate(VERBS):
        first, _, second = verb.name.partition(" ")
        if second and first not in groups:
            example = _EXAMPLE.format(verb.example)
            groups[first] = cyclopts.App(
                first, help=GROUPS[first], help_epilogue=example, group=sections[first], sort_key=order
            )
            app.command(groups[first])
        parent = groups[first] if second else app
        parent.command(
            verb.target,
            name=second or first,
            help=None if list(words[: len(verb.name.split())]) == verb.name.split() else verb.summary,
            help_epilogue=_EXAMPLE.format(verb.example),
            group=None if second else sections[first],
            sort_key=order,
        )
    return app
