from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest

from honeyguide.errors import TopicError
from honeyguide.topic.taxonomy import Item, TreeTopic, children, find
from honeyguide.topic.taxonomy_file import open_taxonomy
from honeyguide.topic.tokens import built_in_table

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<RDF xmlns:r="http://www.w3.org/TR/RDF/" '
    'xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">\n'
)
TWIN = "Chinese_Simplified_CN:Top/World/Chinese_Simplified_CN"
STRUCTURE = f"""{HEAD}<Topic r:id="Top"><catid>1</catid></Topic>
<Topic r:id="Top/Sports"><catid>2</catid><d:Title>Sports</d:Title>
  <d:Description>All &lt;b&gt;games</d:Description>
  <narrow r:resource="Top/Sports/Water_Polo"/><altlang r:resource="{TWIN}/体育"/></Topic>
<Topic r:id="Top/Sports/Water_Polo"><d:Title>Water_Polo</d:Title><d:Description>Balls in pools</d:Description>
  <altlang r:resource="German:Top/World/Deutsch/Sport/Wasserball"/>
  <altlang1 r:resource="{TWIN}/体育/水球"/></Topic>
<Topic r:id="Top/Sports/Basketball"><d:Title>Basketball</d:Title></Topic>
<Topic r:id="Top/Sports/Basketball/Leagues"><d:Title>Leagues</d:Title>
  <d:Description>Who plays</d:Description></Topic>
</RDF>
"""
CONTENT = f"""{HEAD}<Topic r:id="Top/Sports/Basketball"><catid>4</catid><link r:resource="http://a.example/"/></Topic>
<ExternalPage about="http://a.example/"><d:Title>Hoops</d:Title><d:Description>Court news</d:Description>
<topic>Top/Sports/Basketball</topic></ExternalPage>
<ExternalPage about="http://b.example/"><d:Title>The league</d:Title>
<topic>Top/Sports/Basketball/Leagues</topic>
</ExternalPage>
</RDF>
"""


@pytest.fixture
def odp(tmp_path: Path) -> list[Path]:
    structure, content = tmp_path / "structure.rdf.u8", tmp_path / "content.rdf.u8.gz"
    structure.write_text(STRUCTURE, encoding="utf-8")
    content.write_bytes(gzip.compress(CONTENT.encode()))
    return [structure, content]


def test_browse_a_directory(odp: list[Path]) -> None:
    read = open_taxonomy(odp)
    assert [(one.label, one.chinese, one.topics, one.pages) for one in children(read, "")] == [
        ("Sports", "体育", 3, 2)
    ]
    assert [(one.label, one.chinese, one.topics, one.pages) for one in children(read, "sports")] == [
        ("Water Polo", "水球", 0, 0),
        ("Basketball", "", 1, 2),
    ]
    assert children(read, "Sports/Basketball/Leagues") == []


def test_a_node_has_labels_links_and_descriptions(odp: list[Path]) -> None:
    node = find(open_taxonomy(odp), "top/sports/BASKETBALL", table=built_in_table())
    assert node.path == ("Sports", "Basketball")
    assert node.chinese == ("体育", "篮球")  # the second from the token table
    assert node.urls == ("http://a.example/",)
    assert node.subtree.split("\n") == [
        "Basketball",
        "Leagues",
        "Who plays",
        "Hoops",
        "Court news",
        "The league",
    ]
    assert node.taxonomy() == "Sports|体育/Basketball|篮球"
    assert node.taxonomy(["en"]) == "Sports/Basketball"
    assert node.taxonomy(["zh"]) == "体育/篮球"
    polo = find(open_taxonomy(odp), "Sports/Water_Polo", table=built_in_table())
    assert (polo.taxonomy(), polo.description, polo.urls) == (
        "Sports|体育/Water Polo|水球",
        "Balls in pools",
        (),
    )


def test_an_unknown_path_gets_the_nearest(odp: list[Path]) -> None:
    read = open_taxonomy(odp)
    with pytest.raises(
        TopicError, match=r"no topic 'Sports/Basketbal'; the nearest are 'Sports/Basketball', "
    ):
        find(read, "Sports/Basketbal", table=built_in_table())
    with pytest.raises(TopicError, match="'Sports/Water Polo'"):
        children(read, "Waterpolo")
    with pytest.raises(TopicError, match="name a path"):
        find(read, "//", table=built_in_table())


def test_a_tree_as_a_table(tmp_path: Path) -> None:
    path = tmp_path / "tree.tsv"
    path.write_text(
        "path\tchinese\tdescription\turl\ttitle\n"
        "Arts\t艺术\tFine things\n# nothing\n"
        "Arts/Music\t音乐\tSounds\n"
        "Arts/Music\t\tAll about tunes\thttp://m.example/\tTunes\n",
        encoding="utf-8",
    )
    node = find(open_taxonomy([path]), "arts/music", table=built_in_table())
    assert (node.chinese, node.description, node.urls) == (("艺术", "音乐"), "Sounds", ("http://m.example/",))
    assert node.subtree == "Sounds\nTunes\nAll about tunes"


def test_labels_of_a_recorded_web(tmp_path: Path) -> None:
    path = tmp_path / "web.labels.tsv"
    path.write_text("url\tsite\tlabel\nhttp://s.example/owl\ts\tScience/Biology/Birds\n", encoding="utf-8")
    read = open_taxonomy([path])
    assert [(one.label, one.topics, one.pages) for one in children(read, "Science")] == [("Biology", 1, 1)]
    node = find(read, "Science/Biology/Birds", table=built_in_table())
    assert node.taxonomy() == "Science|科学/Biology|生物/Birds|鸟类"
    assert find(read, "Science/Biology", table=built_in_table()).urls == ()


BOMB = (
    '<?xml version="1.0"?>\n<!DOCTYPE x [\n<!ENTITY a "aaaaaaaaaa">\n<!ENTITY b "&a;&a;">]>\n<RDF>&b;</RDF>'
)
OUTSIDE = '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<RDF>&a;</RDF>'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (STRUCTURE[: STRUCTURE.index("Balls")], "t:7: not valid XML (no element found)"),
        (
            STRUCTURE.replace("</d:Title><d:Description>Balls", "<d:Description>Balls"),
            "t:9: not valid XML (mismatched tag)",
        ),
        (HEAD + "<Topic r:id='Top/\x01'/>\n</RDF>", "t:3: not valid XML (not well-formed"),
        (BOMB, "t:3: refused: it declares entities"),
        (OUTSIDE, "t:1: refused: it declares entities"),
        (HEAD + "<a>" * 100, "t:3: refused: elements nested more than 50 deep"),
        ("<html><body>404</body></html>", "t is XML but no ODP dump; give structure.rdf.u8"),
        ("name,age\n", "t is not a taxonomy; give an ODP RDF file, or a tab-separated file"),
        ("path\turl\na\tb\tc\n", "t:2: 3 columns instead of 2; correct the line"),
        ("path\turl\n/\tb\n", "t:2: no path; write one"),
        ("", "t is not a taxonomy"),
    ],
)
def test_bad_files_get_one_line(tmp_path: Path, content: str, expected: str) -> None:
    path = tmp_path / "t"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(TopicError) as problem:
        children(open_taxonomy([path]), "")
    assert f"{tmp_path}/{expected}" in str(problem.value)
    assert "\n" not in str(problem.value)


def test_damaged_or_missing_files(tmp_path: Path) -> None:
    cut = tmp_path / "cut.rdf.gz"
    body = b"".join(b"<Topic r:id='Top/%d'/>" % n for n in range(100_000))
    cut.write_bytes(gzip.compress(HEAD.encode() + body)[:20_000])
    with pytest.raises(TopicError, match="damaged or cut short"):
        children(open_taxonomy([cut]), "")
    with pytest.raises(TopicError, match="cannot read the taxonomy"):
        open_taxonomy([tmp_path / "none"])
    with pytest.raises(TopicError, match="is a folder"):
        open_taxonomy([tmp_path])
    (tmp_path / "latin.tsv").write_bytes(b"path\nCaf\xe9\n")
    with pytest.raises(TopicError, match=r"latin.tsv:2: not UTF-8"):
        children(open_taxonomy([tmp_path / "latin.tsv"]), "")


def test_large_dumps_are_streamed(tmp_path: Path) -> None:
    path = tmp_path / "structure.rdf.gz"
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as stream:
        stream.write(HEAD)
        for number in range(40_000):
            stream.write(f"<Topic r:id='Top/T{number % 20}/N{number}'><d:Description>{'word ' * 40}")
            stream.write("</d:Description></Topic>\n")
        stream.write("</RDF>")
    read = open_taxonomy([path])
    tracemalloc.start()
    count = _count(read())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 40_000
    assert peak < 3_000_000  # the text alone is 9 MB


def _count(items: Iterable[Item]) -> int:
    return sum(1 for _ in items)


def test_a_path_in_chinese_or_mixed_finds_the_node() -> None:
    tree = (
        TreeTopic("Sports", chinese="体育"),
        TreeTopic("Sports/Basketball", description="hoops", chinese="体育/篮球"),
        TreeTopic("Sports/Basketball/NBA"),
        TreeTopic("Arts/Basketball", chinese="篮球"),
    )
    table = built_in_table()
    for path in ("体育/篮球", "Sports/篮球", "体育/basketball"):
        node = find(lambda: tree, path, table=table)
        assert (node.path, node.description) == (("Sports", "Basketball"), "hoops")
    assert [child.label for child in children(lambda: tree, "体育", table=table)] == ["Basketball"]
    with pytest.raises(TopicError, match="no topic '体育/象棋'"):
        find(lambda: tree, "体育/象棋", table=table)
