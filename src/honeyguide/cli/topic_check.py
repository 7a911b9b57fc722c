"""`honeyguide topic check`."""

from __future__ import annotations

import tomllib
from pathlib import Path

from honeyguide.cli.environment import by_environment
from honeyguide.cli.output import note, print_json
from honeyguide.cli.topic_warnings import warn_of_topic
from honeyguide.config.load import freeze, load, refuse
from honeyguide.config.schema import Config
from honeyguide.errors import TopicError
from honeyguide.topic.patterns import find_files, is_url


def check(file: Path, /, *, json: bool = False, quiet: bool = False) -> None:
    """Check a topic file and show what a crawl of it would use.

    Args:
        file: The topic file.
        json: Print the configuration as JSON instead of TOML.
        quiet: Print nothing when all is well.
    """
    config = by_environment(load(file))
    files = _count_files(config)
    # Only now, since the algorithms take a second to import and most mistakes are found without them.
    from honeyguide.job.parts import check_config, spelled_out

    recipe = check_config(config)
    text = freeze(spelled_out(config, recipe))
    if json and not quiet:
        print_json(tomllib.loads(text))
    elif not quiet:
        print(text, end="")
    warn_of_topic(config)
    note(f"{file} is valid (recipe: {recipe.name}, seeds: {len(config.crawl.seeds)}, example files: {files})")


def _count_files(config: Config) -> int:
    """Number of files that the examples name; a pattern without any is refused."""
    topic = config.topic
    groups = {"examples": topic.examples, "negatives": topic.negatives, "background": topic.background}
    count = 0
    for key, patterns in groups.items():
        for index, pattern in enumerate(patterns):
            if is_url(pattern):
                continue
            try:
                folder = config.base / Path(pattern).expanduser()
                if key == "background" and folder.is_dir():  # a folder of texts, or a collection
                    count += _inside(folder, pattern)
                    continue
                count += len(find_files(pattern, base=config.base, key=f"'{key}' in [topic]"))
            except TopicError as error:
                raise refuse(config, ("topic", key, index), str(error)) from None
    return count


def _inside(folder: Path, pattern: str) -> int:
    """Number of files in a folder and below it; one without any is refused."""
    count = sum(file.is_file() for file in folder.rglob("*"))
    if not count:
        raise TopicError(f"'background' in [topic]: no file in {pattern!r}; put texts there or remove it")
    return count
