"""Example pages: from the patterns in a topic to texts a page model can be fitted on."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from honeyguide.errors import TopicError
from honeyguide.model import Document, Examples, Topic

MAX_FILES = 100_000
"""Files one pattern may name; more is a mistake such as `/**`."""


class Deferred(msgspec.Struct, frozen=True):
    """Addresses among the examples: the engine fetches them, politely, before the crawl."""

    positives: tuple[str, ...] = ()
    negatives: tuple[str, ...] = ()
    unlabelled: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is to be fetched."""
        return bool(self.positives or self.negatives or self.unlabelled)


class Gathered(msgspec.Struct, frozen=True):
    """What could be read from files, and what is still to be fetched."""

    examples: Examples
    deferred: Deferred = Deferred()

    def complete(self, fetched: Callable[[str], Document | None]) -> Examples:
        """The examples with the fetched pages joined in; a page that gave nothing is left out.

        Args:
            fetched: Gives the document of an address, or None when it could not be had.
        """

        def joined(read: tuple[Document, ...], urls: tuple[str, ...]) -> tuple[Document, ...]:
            return read + tuple(document for url in urls if (document := fetched(url)) is not None)

        return msgspec.structs.replace(
            self.examples,
            positives=joined(self.examples.positives, self.deferred.positives),
            negatives=joined(self.examples.negatives, self.deferred.negatives),
            unlabelled=joined(self.examples.unlabelled, self.deferred.unlabelled),
        )


def is_url(pattern: str) -> bool:
    """Whether an example is an address rather than a file pattern."""
    return pattern.lower().startswith(("http://", "https://"))


def find_files(pattern: str, *, base: Path, key: str) -> list[Path]:
    """The files a pattern names, sorted, so that equal topics give equal models.

    Args:
        pattern: A file name or a shell pattern; `**` goes through folders.
        base: Folder that relative patterns start from: that of the topic file.
        key: Where the pattern stands, for the message.
    """
    path = base / Path(pattern).expanduser()
    if path.is_file():
        return [path]
    if path.is_dir():
        raise TopicError(
            f"{key}: {pattern!r} is a folder; name its files, such as '{pattern.rstrip('/')}/*.html'"
        )
    if not glob.has_magic(pattern):
        raise TopicError(f"{key}: no file {path}; check the path (it starts from the topic file's folder)")
    files: list[Path] = []
    for name in glob.iglob(str(path), recursive=True):  # noqa: PTH207 - Path.glob takes no absolute pattern
        if Path(name).is_file():
            files.append(Path(name))
        if len(files) > MAX_FILES:
            raise TopicError(
                f"{key}: {pattern!r} names more than {MAX_FILES} files; choose a narrower pattern"
            )
    if not files:
        raise TopicError(f"{key}: no file matches {pattern!r} in {base}; check the pattern or remove it")
    return sorted(files)


def _documents(
    patterns: Sequence[str], *, base: Path, key: str, to_document: Callable[[Path], Document]
) -> tuple[Document, ...]:
    paths: Iterable[Path] = dict.fromkeys(
        path
        for pattern in patterns
        if not is_url(pattern)
        for path in find_files(pattern, base=base, key=key)
    )
    documents = tuple(to_document(path) for path in paths)
    if documents and not any(document.text.strip() for document in documents):
        raise TopicError(f"{key}: none of its {len(documents)} files holds any text; name pages with text")
    return documents


def gather(
    topic: Topic,
    *,
    to_document: Callable[[Path], Document],
    base: Path,
    to_corpus: Callable[[Path], Iterable[Document]] | None = None,
) -> Gathered:
    """Read the example files of a topic; addresses are left for the engine to fetch.

    Args:
        topic: Whose examples, negatives and background to read.
        to_document: Reduces one file to text (parsing lives further up and is handed in).
        base: Folder that relative patterns start from.
        to_corpus: Reads a folder, a collection or a WARC file named in `background`; without it, those
            are refused.

    Raises:
        TopicError: A pattern names no file, a folder, too many files, or only files without text.
    """

    def urls(patterns: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(filter(is_url, patterns)))

    def read(patterns: Sequence[str], key: str) -> tuple[Document, ...]:
        return _documents(patterns, base=base, key=f"'{key}' in [topic]", to_document=to_document)

    def whole(path: Path) -> Iterable[Document]:
        return to_corpus(path) if to_corpus is not None else ()

    corpora = {
        one: base / Path(one).expanduser() for one in topic.background if to_corpus and not is_url(one)
    }
    corpora = {one: path for one, path in corpora.items() if path.is_dir() or _is_archive(path)}
    plain = tuple(one for one in topic.background if one not in corpora)
    return Gathered(
        examples=Examples(
            keywords=topic.keywords,
            positives=read(topic.examples, "examples"),
            negatives=read(topic.negatives, "negatives"),
            unlabelled=(
                *read(plain, "background"),
                *(one for path in corpora.values() for one in whole(path)),
            ),
            taxonomy=labels(topic.taxonomy),
            languages=topic.languages,
        ),
        deferred=Deferred(
            positives=urls(topic.examples), negatives=urls(topic.negatives), unlabelled=urls(topic.background)
        ),
    )


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith((".warc", ".warc.gz")) and path.is_file()


def labels(taxonomy: str) -> tuple[str, ...]:
    """The labels of a taxonomy path, from the root down.

    Example:
        >>> labels("Computers/Artificial_Intelligence")
        ('Computers', 'Artificial Intelligence')
    """
    return tuple(part.replace("_", " ").strip() for part in taxonomy.split("/") if part.strip("_ "))
