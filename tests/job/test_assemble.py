from __future__ import annotations

import pytest
from crawls import WEB, small_topic

from honeyguide.collection.report import report_of
from honeyguide.config.load import check_values
from honeyguide.engine.budget import Budget
from honeyguide.engine.clock import VirtualClock
from honeyguide.engine.traffic import affordable
from honeyguide.errors import TopicError
from honeyguide.fetch.politeness import PolitenessPolicy
from honeyguide.fetch.robots import RobotsOptions
from honeyguide.job.assemble import budget, fetch_options, politeness_policy, robots_options
from honeyguide.job.crawl import Crawl, crawl
from honeyguide.lab.webs.generated import GeneratedFetcher


def test_the_defaults_of_the_file_are_those_of_the_parts() -> None:
    config = check_values({"topic": {"name": "n"}})
    assert politeness_policy(config) == PolitenessPolicy()
    assert budget(config) == Budget()
    assert robots_options(config) == RobotsOptions()
    assert fetch_options(config).user_agent == config.identity.user_agent
    assert fetch_options(config).deadline == 30.0


def test_what_the_file_says_arrives() -> None:
    config = check_values(
        {
            "topic": {"name": "n"},
            "crawl": {"max_pages": "unlimited", "max_relevant": 7, "concurrency": 3},
            "politeness": {"delay": 100, "max_retries": 0, "robots_max_age": "5 m"},
            "limits": {"deadline": 2, "max_body": "1 MiB"},
            "network": {"connect_to": {"*": "127.0.0.1:80"}},
        }
    )
    assert budget(config) == Budget(max_pages=None, max_relevant=7)
    policy = politeness_policy(config)
    assert (policy.min_delay, policy.max_delay, policy.retries) == (100.0, 100.0, 0)
    assert (robots_options(config).ttl, robots_options(config).min_ttl) == (300.0, 300.0)
    options = fetch_options(config)
    assert (options.connect_timeout, options.max_bytes, options.idle_connections) == (2.0, 2**20, 12)
    assert options.max_connections == 3 + affordable(3)
    assert options.connect_to == {"*": "127.0.0.1:80"}


def test_an_address_is_not_taken_for_a_topic_file() -> None:
    with pytest.raises(TopicError, match=r"is an address, not a topic file; write Topic\(name="):
        Crawl("https://example.org/", max_pages=3)


def test_a_collection_in_memory_has_the_name_of_its_topic() -> None:
    clock = VirtualClock()
    fetcher = GeneratedFetcher(WEB, clock)
    found = crawl(
        small_topic(), recipe="best-first", clock=clock, fetcher=fetcher, max_pages=3, progress=False
    )
    assert found.name == small_topic().name
    assert report_of(found).topic == small_topic().name
