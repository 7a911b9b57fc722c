from __future__ import annotations

import http.server
import threading

import pytest

from honeyguide.errors import TopicError
from honeyguide.job.topic_builder import Looked, checked_topic, inspect_topic, parted, topic_text
from honeyguide.model import Document


def test_words_and_addresses_are_told_apart() -> None:
    words, addresses = parted("owl; barn  owl,\nsee https://a.example/x?y=1,2 and owl\n\nhttps://b.example/")
    assert words == ("owl", "barn owl", "see and owl")
    assert addresses == ("https://a.example/x?y=1,2", "https://b.example/")


def test_the_text_is_a_topic_file_that_begins_at_the_examples() -> None:
    config = checked_topic(topic_text('the "owls"', "barn owl\nhttps://a.example/", max_pages=70))
    assert config.topic.name == 'the "owls"'
    assert config.topic.keywords == ("barn owl",)
    assert config.crawl.seeds == config.topic.examples == ("https://a.example/",)
    assert config.crawl.max_pages == 70


@pytest.mark.parametrize(
    ("name", "pasted", "recipe", "message"),
    [
        ("", "owl", "", "no name"),
        ("owls", " \n", "", "no words and no addresses"),
        ("owls", "owl", "", "seeds"),
        ("owls", "owl https://a.example/", "no-such", "no-such"),
    ],
)
def test_what_makes_no_topic_is_refused(name: str, pasted: str, recipe: str, message: str) -> None:
    with pytest.raises(TopicError, match=message):
        topic_text(name, pasted, recipe=recipe)


async def test_it_shows_what_the_model_learned_and_judges_any_text() -> None:
    text = topic_text("owls", "barn owl, owl pellets, tawny owl", seeds="https://a.example/")
    seen = await inspect_topic(text, test="A tawny owl and a barn owl sat in the barn.")
    assert {term for term, _ in seen.terms} == {"barn owl", "owl pellet", "tawni owl"}
    assert sum(share for _, share in seen.terms) == pytest.approx(1.0)
    assert seen.tested is not None
    assert seen.tested.on_topic
    other = await inspect_topic(text, test="Forms of the tax office.")
    assert other.tested is not None
    assert not other.tested.on_topic
    assert other.tested.score < 0.1 < seen.tested.score


PAGES = {
    "https://a.example/owl": Document("the owl sleeps by day, the owl", "Owls", "https://a.example/owl"),
    "https://a.example/tax": Document("income tax and tax forms", "Tax", "https://a.example/tax"),
}


async def test_pages_around_the_given_ones_are_judged() -> None:
    """The page to begin with, and what it links to: from pages held, since the hosts do not exist."""
    text = topic_text("owls", "owl", seeds="https://a.example/")
    start = {"https://a.example/": Document("animals and offices", "Start", "https://a.example/")}
    links = (("https://a.example/tax", "tax forms"), ("https://a.example/owl", "about the owl"))
    kept = Looked(start | PAGES, {"https://a.example/": links})
    seen = await inspect_topic(text, kept=kept, around=2)
    assert seen.missed == ()
    assert [(one.title, one.on_topic) for one in seen.around] == [
        ("Start", False),
        ("Tax", False),
        ("Owls", True),
    ]
    assert not (await inspect_topic(text, kept=kept)).around


async def test_examples_fetched_before_are_not_fetched_again() -> None:
    """The hosts do not exist: only pages that are held can be judged."""
    text = topic_text("owls", "owl\nhttps://a.example/owl", negatives="https://a.example/tax")
    kept = Looked(dict(PAGES))
    seen = await inspect_topic(text, kept=kept)
    assert seen.missed == ()
    assert [(one.title, one.wanted, one.on_topic) for one in seen.examples] == [
        ("Owls", True, True),
        ("Tax", False, False),
    ]


@pytest.mark.realtime
async def test_who_asks_and_how_is_taken_from_the_environment() -> None:
    asked = []

    class Site(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["User-Agent"]))
            body = b"<title>Owls</title><p>The owl sleeps by day, the owl hunts at night.</p>"
            self.send_response(404 if self.path == "/robots.txt" else 200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        environment = {
            "HONEYGUIDE_NETWORK_CONNECT_TO": f'{{"*" = "127.0.0.1:{server.server_port}"}}',
            "HONEYGUIDE_IDENTITY_USER_AGENT": "owls/1.0 (+https://example.org/bot)",
            "HONEYGUIDE_POLITENESS_DELAY": "0",
            "HONEYGUIDE_TOPIC_NAME": "not for the builder",
        }
        text = topic_text("owls", "owl\nhttp://a.example/owl")
        seen = await inspect_topic(text, environment=environment)
        server.shutdown()
    assert [one.title for one in seen.examples] == ["Owls"]
    assert seen.name == "owls"
    assert ("/owl", "owls/1.0 (+https://example.org/bot)") in asked


async def test_files_of_the_machine_are_not_read() -> None:
    text = topic_text("owls", "owl", seeds="https://a.example/")
    with pytest.raises(TopicError, match="not a valid URL"):
        await inspect_topic(text.replace("# examples = [", 'examples = ["/etc/passwd", '))


@pytest.mark.parametrize("path", ["体育/篮球", "Sports/Basketball", "体育/Basketball"])
def test_a_path_of_subjects_in_either_language_is_a_topic(path: str) -> None:
    config = checked_topic(topic_text("hoops", "", seeds="https://a.example/", taxonomy=path))
    assert config.topic.taxonomy == "Sports|体育/Basketball|篮球"
    assert config.topic.languages == ("en", "zh")
    assert config.crawl.recipe == "fcmrps"


def test_a_path_beside_words_leaves_the_recipe_alone() -> None:
    text = topic_text("hoops", "dunk", seeds="https://a.example/", taxonomy="Hoops", recipe="best-first")
    config = checked_topic(text)
    assert (config.topic.taxonomy, config.crawl.recipe) == ("Hoops", "best-first")
