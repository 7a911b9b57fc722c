"""Recipes: named choices of a page model, a link order and sources.

Each published system and each baseline is one entry. A further one is added to `RECIPES` (or by a
package, as an entry point of the group `honeyguide.recipes` that gives a `Recipe`); nothing else
has to change.
"""

from __future__ import annotations

from importlib.metadata import entry_points

import msgspec

from honeyguide.config.entries import advice, load_entry
from honeyguide.errors import TopicError
from honeyguide.model import Examples, Topic

KNOWLEDGE = ("keywords", "examples", "negatives", "background", "taxonomy")
"""What a topic file can give; each is a key of its `[topic]` table."""
TOPIC_WORDS = "keywords or examples or taxonomy"


class Part(msgspec.Struct, frozen=True):
    """A part by its name, with the options it is built with."""

    name: str
    """A registered name; `module:Class` for a part that was handed in."""
    options: dict[str, object] = {}
    own: object = None
    """The class, or the part itself, where it was handed in (`job.parts`)."""


class Recipe(msgspec.Struct, frozen=True, kw_only=True):
    """How one crawler answers the three questions."""

    name: str
    title: str
    """One line for people."""
    reference: str
    """Where it was published."""
    ordering: Part
    relevance: Part = Part("calibrated")
    discovery: tuple[Part, ...] = ()
    needs: tuple[str, ...] = (TOPIC_WORDS,)
    """What the topic must give: `keywords`, `examples`, `negatives`, `background`, `taxonomy`, or
    alternatives such as `keywords or examples`; also `backlinks` and `search`, which are services."""


def given_by(source: Examples | Topic) -> frozenset[str]:
    """Which kinds of knowledge about the topic there are."""
    examples = source.positives if isinstance(source, Examples) else source.examples
    background = source.unlabelled if isinstance(source, Examples) else source.background
    given = {
        "keywords": source.keywords,
        "examples": examples,
        "negatives": source.negatives,
        "background": background,
        "taxonomy": source.taxonomy,
    }
    return frozenset(name for name, value in given.items() if value)


def missing_needs(recipe: Recipe, given: frozenset[str]) -> list[str]:
    """What a recipe needs of the topic and the topic does not give.

    Example:
        >>> missing_needs(RECIPES["ss2"], frozenset({"keywords"}))
        ['background']
    """
    lacking = frozenset(KNOWLEDGE) - given
    return [need for need in recipe.needs if lacking.issuperset(need.split(" or "))]


_SERVICES = {
    "backlinks": (
        "service",
        "no backlink service: it learns the way in from the pages of its own crawl;"
        " name one as 'service' of [[discovery]]",
    ),
    "meta-search": (
        "engines",
        "no search engine: it follows links only; name some as 'engines' of [[discovery]]",
    ),
}
"""By source, the option that names who is asked, and what happens without."""


def uses(recipe: Recipe) -> str:
    """The parts of a recipe in one line, for people.

    Example:
        >>> uses(RECIPES["cfc"])
        'page model layered-bayes, link order context-graph, source backlinks'
    """
    named = [f"page model {recipe.relevance.name}", f"link order {recipe.ordering.name}"]
    return ", ".join([*named, *(f"source {part.name}" for part in recipe.discovery)])


def lacks(recipe: Recipe) -> list[str]:
    """Services that a recipe can use and nobody named, with what it does instead.

    Example:
        >>> lacks(RECIPES["cfc"])[0].partition(":")[0], lacks(RECIPES["best-first"])
        ('no backlink service', [])
    """
    found = ((part, _SERVICES[part.name]) for part in recipe.discovery if part.name in _SERVICES)
    return [lack for part, (option, lack) in found if not part.options.get(option)]


_BY_LINKS = Part("calibrated", {"by_links": True})
"""Scout's priorities are chances, so a verdict can go by them, too."""

_OWN = (
    Recipe(
        name="scout",
        title="joins all evidence, learns from its own crawl, explores hosts and folders",
        reference="Honeyguide's own; see docs/systems/scout.md",
        relevance=_BY_LINKS,
        ordering=Part("scout"),
    ),
    Recipe(
        name="scout-backlinks",
        title="scout, and asks who links to each hit: weighed like all other evidence",
        reference="Honeyguide's own; see docs/systems/scout.md",
        relevance=_BY_LINKS,
        ordering=Part("scout"),
        discovery=(Part("backlinks", {"depth": 0, "on_pages": True}),),
    ),
    Recipe(
        name="scout-blocks",
        title="scout, and judges each link's content block: for pages full of navigation",
        reference="Honeyguide's own; see docs/systems/scout.md",
        relevance=_BY_LINKS,
        ordering=Part("scout-blocks"),
    ),
)

_BASELINES = (
    Recipe(
        name="breadth-first",
        title="first found, first fetched",
        reference="Najork, Wiener, Breadth-First Crawling Yields High-Quality Pages, WWW 2001",
        ordering=Part("breadth-first"),
    ),
    Recipe(
        name="best-first",
        title="links of relevant pages first",
        reference="Cho, Garcia-Molina, Page, Efficient Crawling Through URL Ordering, WWW 1998",
        ordering=Part("best-first"),
    ),
    Recipe(
        name="depth-first",
        title="last found, first fetched",
        reference="De Bra, Post, Information Retrieval in the World-Wide Web, WWW 1994",
        ordering=Part("depth-first"),
    ),
    Recipe(
        name="iterative-deepening",
        title="depth-first in growing bands, for little memory",
        reference="offered by the GP hybrid study; Korf, Depth-First Iterative-Deepening, 1985",
        ordering=Part("iterative-deepening"),
    ),
    Recipe(
        name="random",
        title="any known link, by chance",
        reference="Cho, Garcia-Molina, Page, WWW 1998",
        ordering=Part("random"),
    ),
    Recipe(
        name="backlink-count",
        title="links found on many fetched pages first",
        reference="Cho, Garcia-Molina, Page, WWW 1998",
        ordering=Part("backlink-count"),
    ),
    Recipe(
        name="pagerank",
        title="links with high PageRank in the known graph first",
        reference="Cho, Garcia-Molina, Page, WWW 1998",
        ordering=Part("pagerank"),
    ),
    Recipe(
        name="opic",
        title="links that collected most cash first",
        reference="Abiteboul, Preda, Cobena, Adaptive On-Line Page Importance Computation, WWW 2003",
        ordering=Part("opic"),
    ),
    Recipe(
        name="fish-search",
        title="follow relevant directions, let others die out",
        reference="De Bra, Post, WWW 1994",
        relevance=Part("tf-cosine"),
        ordering=Part("fish-search"),
    ),
    Recipe(
        name="shark-search",
        title="inherited score, anchor and surrounding text",
        reference="Hersovici et al., The Shark-Search Algorithm, WWW 1998",
        relevance=Part("tf-cosine"),
        ordering=Part("shark-search"),
    ),
    Recipe(
        name="ss1",
        title="decaying scores of all ancestors, cosine with the topic's words",
        reference="Shark-Search as compared in the HCLA study (WebKB)",
        relevance=Part("tf-cosine", {"scoring": "cosine"}),
        ordering=Part("shark-webkb"),
    ),
    Recipe(
        name="ss2",
        title="decaying scores of all ancestors, Okapi weights from background text",
        reference="Shark-Search as compared in the HCLA study (WebKB)",
        relevance=Part("okapi"),
        ordering=Part("shark-webkb"),
        needs=("keywords", "background"),
    ),
    Recipe(
        name="shark-fcmrps",
        title="0.2 page content + 0.8 anchor text",
        reference="Shark-Search as compared in the FCMRPS study",
        relevance=Part("tf-cosine"),
        ordering=Part("shark-fcmrps"),
    ),
    Recipe(
        name="anchor-only",
        title="relevance of the anchor text",
        reference="baseline of the CBP-SLC study",
        ordering=Part("anchor-only"),
    ),
    Recipe(
        name="link-context",
        title="relevance of the text around the link",
        reference="baseline of the CBP-SLC study",
        ordering=Part("link-context"),
    ),
    Recipe(
        name="url-keywords",
        title="topic words in the address",
        reference="Cho, Garcia-Molina, Page, WWW 1998 (URL and anchor words)",
        ordering=Part("url-keywords"),
        needs=("keywords",),
    ),
    Recipe(
        name="ache-like",
        title="a link classifier trained while crawling, in the manner of ACHE",
        reference="Barbosa, Freire, An Adaptive Crawler for Locating Hidden-Web Entry Points, WWW 2007",
        ordering=Part("ache"),
    ),
)

_LATENT = (
    Recipe(
        name="hcla",
        title="text and links in one latent space, learned from unlabelled text",
        reference="Almpanidis, Kotropoulos, Pitas, Combining Text and Link Analysis, Inf. Systems 2007",
        relevance=Part("lsi"),
        ordering=Part("hcla"),
        needs=(TOPIC_WORDS, "background or examples"),
    ),
    Recipe(
        name="plsi-phits",
        title="a probabilistic model of words and links, learned from unlabelled text",
        reference="Cohn, Hofmann, The Missing Link, NIPS 2000, as compared in the HCLA study",
        relevance=Part("lsi"),
        ordering=Part("plsi-phits"),
        needs=(TOPIC_WORDS, "background or examples"),
    ),
)


# The published depth rule drops links, and a start off topic then ends most directions: kept for last here.
def _fcmrps(name: str, title: str, weights: tuple[float, float, float, float]) -> Recipe:
    """FCMRPS with other weights of page content, anchor text, URL and link type."""
    return Recipe(
        name=name,
        title=title,
        reference="Chen et al., A cross-language focused crawling algorithm, CAMWA 2009",
        relevance=Part("taxonomy-cosine"),
        ordering=Part("fcmrps", {"weights": list(weights), "used_up": "last"}),
        needs=("taxonomy or keywords",),
    )


_CROSS_LANGUAGE = (
    _fcmrps("fcmrps", "page content, anchor text, URL tokens and link type, a quarter each", (0.25,) * 4),
    _fcmrps("fcmrps13", "page content and URL tokens, half each", (0.5, 0.0, 0.5, 0.0)),
    _fcmrps("fcmrps124", "page content, anchor text and link type, a third each", (1 / 3, 1 / 3, 0.0, 1 / 3)),
    _fcmrps("fcmrps1", "page content only, with FCMRPS' depth rule", (1.0, 0.0, 0.0, 0.0)),
    _fcmrps("fcmrps2", "anchor text only, with FCMRPS' depth rule", (0.0, 1.0, 0.0, 0.0)),
    _fcmrps("fcmrps3", "URL tokens only, with FCMRPS' depth rule", (0.0, 0.0, 1.0, 0.0)),
    _fcmrps("fcmrps4", "link type only, with FCMRPS' depth rule", (0.0, 0.0, 0.0, 1.0)),
)

_CONTEXT_GRAPHS = "Diligenti et al., Focused Crawling Using Context Graphs, VLDB 2000"
_CONTEXT = (
    Recipe(
        name="cfc",
        title="pages near the topic first, as pages that link to the examples taught",
        reference=_CONTEXT_GRAPHS,
        relevance=Part("layered-bayes"),
        ordering=Part("context-graph"),
        discovery=(Part("backlinks"),),
        needs=("examples",),
    ),
    Recipe(
        name="cfc-backlinks",
        title="cfc, and fetches the pages that link to each hit",
        reference=_CONTEXT_GRAPHS,
        relevance=Part("layered-bayes"),
        ordering=Part("context-graph"),
        discovery=(Part("backlinks", {"on_pages": True}),),
        needs=("examples",),
    ),
    Recipe(
        name="cfc-rebuild",
        title="cfc-backlinks, with layers rebuilt from the hits and the pages that link to them",
        reference=_CONTEXT_GRAPHS,
        relevance=Part("layered-bayes", {"rebuild_every": 50}),
        ordering=Part("context-graph"),
        discovery=(Part("backlinks", {"on_pages": True}),),
        needs=("examples",),
    ),
    Recipe(
        name="cfc-search",
        title="cfc without backlinks: search engines bring the first hits, then it learns from its own crawl",
        reference=_CONTEXT_GRAPHS,
        relevance=Part("layered-bayes"),
        ordering=Part("context-graph"),
        discovery=(Part("meta-search"),),
        needs=("examples",),
    ),
    Recipe(
        name="cfc-bootstrap",
        title="cfc without any service: learns the way in from its own crawl",
        reference=_CONTEXT_GRAPHS,
        relevance=Part("layered-bayes"),
        ordering=Part("context-graph"),
        needs=("examples",),
    ),
)

_GP_STUDY = "Chen, A Novel Hybrid Focused Crawling Algorithm to Build Domain-Specific Collections, 2007"


def _gp(name: str, title: str, ordering: Part, *, model: str = "evolved-knn", search: bool = True) -> Recipe:
    return Recipe(
        name=name,
        title=title,
        reference=_GP_STUDY,
        relevance=Part(model),
        ordering=ordering,
        discovery=(Part("meta-search"),) if search else (),
        needs=("examples", "negatives or background"),
    )


_ACCEPTED = Part("breadth-first", {"only_accepted": True})
_HYBRID = (
    _gp(
        "gp-hybrid",
        "breadth-first over pages that an evolved similarity accepts, with meta-search",
        _ACCEPTED,
    ),
    _gp("gp", "gp-hybrid without meta-search", _ACCEPTED, search=False),
    _gp(
        "gp-deepening",
        "gp-hybrid by iterative deepening, for little memory",
        Part("iterative-deepening", {"only_accepted": True}),
    ),
    _gp(
        "gp-best-first",
        "gp-hybrid, links of the likeliest pages first: for pages with hundreds of links",
        Part("best-first", {"only_accepted": True}),
    ),
    _gp(
        "svm-content",
        "breadth-first over pages that an RBF SVM accepts",
        _ACCEPTED,
        model="content-svm",
        search=False,
    ),
    _gp(
        "svm-combined",
        "breadth-first over pages that an SVM over six kinds of evidence accepts",
        _ACCEPTED,
        model="combined-svm",
        search=False,
    ),
)


_BLOCK_STUDY = 'Peng, Liu, "Focused crawling enhanced by CBP-SLC", Knowledge-Based Systems 51, 2013'


def _blocks(name: str, title: str, **options: object) -> Recipe:
    return Recipe(
        name=name,
        title=title,
        reference=_BLOCK_STUDY,
        relevance=Part("pu-voting"),
        ordering=Part(name, options),
        needs=("examples",),
    )


# The published strategy drops links, so a crawl may end where it begins: `cbp-slc` keeps them for last.
_BLOCKS = (
    _blocks(
        "cbp-slc",
        "learns from examples alone; relevant blocks, else anchors, else link contexts",
        keep_rejected=True,
    ),
    _blocks("cbp", "learns from examples alone; links of relevant content blocks"),
    _blocks("slc", "learns from examples alone; relevant anchors, else link contexts"),
)

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for recipe in (*_OWN, *_BASELINES, *_CONTEXT, *_LATENT, *_CROSS_LANGUAGE, *_HYBRID, *_BLOCKS)
}
"""All built-in recipes by name."""


def recipe_names() -> tuple[str, ...]:
    """The names of all recipes: the built-in ones first, in their order."""
    added = entry_points(group="honeyguide.recipes").names - RECIPES.keys()
    return (*RECIPES, *sorted(added))


def find_recipe(name: str) -> Recipe:
    """The recipe of a name. Raises `TopicError` when there is none."""
    if name in RECIPES:
        return RECIPES[name]
    for entry in entry_points(group="honeyguide.recipes", name=name):
        recipe = load_entry(entry)
        if not isinstance(recipe, Recipe):
            raise TopicError(f"recipe {name!r} ({entry.value}) is not a Recipe; correct its entry point")
        return recipe
    raise TopicError(f"unknown recipe {name!r}; {advice(name, recipe_names())}")
