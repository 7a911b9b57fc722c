"""robots.txt as RFC 9309 has it: parsed once, asked often.

A body is cut into groups when it is parsed; the rules that concern one product token are compiled
the first time that token asks and kept. A question then costs a few dictionary look-ups: rules are
filed under the literal text before their first `*`, and only those whose text begins the path are
tried, longest first. Wildcards are matched by searching their literal pieces from left to right,
which is linear in the path: no pattern can make it slow.

Where the standard leaves room the behaviour is that of Google's parser (typos such as `disalow`,
a missing colon, `*` followed by junk, `/index.html` standing for `/`), because site owners test
against it. We are stricter in one thing: `Disallow: /%7Ejoe` also covers `/~joe`, which is how
`canonical` writes that address, and which RFC 9309 asks for.

References:
    RFC 9309, Robots Exclusion Protocol, 2022.
"""

from __future__ import annotations

import codecs
import math
import re
from typing import Final, NamedTuple

import msgspec

KEPT_BYTES: Final = 500 * 1024
"""RFC 9309 asks for at least this much; the rest of a longer file is ignored."""
KEPT_LINE: Final = 2083 * 8 - 1
"""Characters kept of one line."""
MAX_CRAWL_DELAY: Final = 3600.0
"""A longer Crawl-delay is cut to this many seconds: the file is at most a day old anyway."""
MAX_SITEMAPS: Final = 1000
ANY_AGENT: Final = "*"

_WHITE: Final = " \t\n\v\f\r"
_AGENT_KEYS: Final = ("user-agent", "useragent", "user agent")
_DISALLOW_KEYS: Final = ("disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw")
_RULE_KEYS: Final = ("allow", *_DISALLOW_KEYS)
_SITEMAP_KEYS: Final = ("sitemap", "site-map")
_PRODUCT_TOKEN = re.compile("[a-zA-Z_-]*")
_ESCAPES = re.compile("%[0-9a-fA-F]{2}|[\x80-\xff]")
_UNRESERVED_TRIPLET = re.compile("%(2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)")
_DELAY = re.compile(r"([0-9]+(?:[.,][0-9]+)?)\s*(?:s|secs?|seconds?)?", re.IGNORECASE)
_PATH_START = re.compile("[/?;]")


class Rule(NamedTuple):
    """One Allow or Disallow line."""

    allow: bool
    pattern: str
    """Percent-encoded: ASCII only, hexadecimal digits in upper case."""
    line: int

    def __str__(self) -> str:
        """The rule as `honeyguide why` shows it."""
        return f"{'Allow' if self.allow else 'Disallow'}: {self.pattern} (line {self.line})"


class _Group:
    """Agents that share rules, in file order."""

    __slots__ = ("agents", "closed", "rules")

    def __init__(self) -> None:
        self.agents: set[str] = set()
        self.rules: list[Rule] = []
        self.closed = False
        """Whether a rule has been seen: a further user-agent line opens another group."""


class _Pattern(NamedTuple):
    """A compiled rule: literal text first, then pieces to be found in order."""

    priority: int
    """Length of the pattern: the longest match decides."""
    pieces: tuple[str, ...]
    """Literal pieces after the first `*`; empty when there is no `*`."""
    anchored: bool
    """Whether the pattern ends with `$`."""
    rule: Rule

    def matches(self, path: str, start: int) -> bool:
        """Whether the rest of `path` from `start` on fits."""
        if not self.pieces:
            return not self.anchored or start == len(path)
        searched = self.pieces[:-1] if self.anchored else self.pieces
        for piece in searched:
            start = path.find(piece, start)
            if start < 0:
                return False
            start += len(piece)
        if not self.anchored:
            return True
        last = self.pieces[-1]
        return len(path) - len(last) >= start and path.endswith(last)


class PackedRules(msgspec.Struct, frozen=True, array_like=True):
    """What one agent has to know of a robots.txt, as plain data: quick to read, and a tenth of the memory."""

    literal: dict[str, Rule]
    by_prefix: dict[str, list[_Pattern]]
    delay: float | None
    sitemaps: tuple[str, ...]


_PACKED = msgspec.msgpack.Decoder(PackedRules)


class Ruleset:
    """The rules for one product token, filed by their literal beginnings."""

    __slots__ = ("_by_prefix", "_lengths", "_literal", "_literal_lengths")

    def __init__(self, rules: list[Rule]) -> None:
        self._by_prefix: dict[str, list[_Pattern]] = {}
        self._literal: dict[str, Rule] = {}
        """Rules without wildcards, nearly all of them: kept apart, they take half the memory."""
        for rule in rules:
            for pattern in _spellings(rule):
                self._file(pattern, rule)
        for patterns in self._by_prefix.values():
            patterns.sort(key=lambda pattern: (-pattern.priority, not pattern.rule.allow))
        self._measure()

    @classmethod
    def of(cls, packed: PackedRules) -> Ruleset:
        """The rules as they were packed."""
        made = cls([])
        made._literal, made._by_prefix = packed.literal, packed.by_prefix
        made._measure()
        return made

    def packed(self, delay: float | None, sitemaps: tuple[str, ...]) -> PackedRules:
        """The rules as plain data."""
        return PackedRules(self._literal, self._by_prefix, delay, sitemaps)

    def _measure(self) -> None:
        self._lengths = tuple(sorted({len(prefix) for prefix in self._by_prefix}, reverse=True))
        self._literal_lengths = tuple(sorted({len(text) for text in self._literal}, reverse=True))

    def _file(self, text: str, rule: Rule) -> None:
        """Compile one spelling of a rule. Empty patterns match nothing, as the standard says."""
        if not text:
            return
        anchored = text.endswith("$")
        if not anchored and "*" not in text:
            before = self._literal.get(text)
            if before is None or (rule.allow and not before.allow):
                self._literal[text] = rule
            return
        prefix, *pieces = (text[:-1] if anchored else text).split("*")
        pattern = _Pattern(len(text), tuple(pieces), anchored, rule)
        self._by_prefix.setdefault(prefix, []).append(pattern)

    def decide(self, path: str) -> Rule | None:
        """The rule that decides: the longest that matches, Allow before Disallow; None: no rule does."""
        best = self._best_literal(path)
        for length in self._lengths:
            for pattern in self._by_prefix.get(path[:length], ()) if length <= len(path) else ():
                if best is not None and pattern.priority < best.priority:
                    break
                if best is not None and pattern.priority == best.priority and best.rule.allow:
                    break
                if pattern.matches(path, length):
                    if best is None or pattern.priority > best.priority or pattern.rule.allow:
                        best = pattern
                    break
        return None if best is None else best.rule

    def _best_literal(self, path: str) -> _Pattern | None:
        for length in self._literal_lengths:
            rule = self._literal.get(path[:length]) if length <= len(path) else None
            if rule is not None:
                return _Pattern(length, (), False, rule)
        return None


def _spellings(rule: Rule) -> list[str]:
    """The patterns one rule stands for."""
    found = [rule.pattern]
    if rule.allow:
        slash = rule.pattern.rfind("/")
        if slash >= 0 and rule.pattern.startswith("/index.htm", slash):
            found.append(rule.pattern[: slash + 1] + "$")
    elif "%" in rule.pattern:
        plain = _UNRESERVED_TRIPLET.sub(lambda match: chr(int(match[1], 16)), rule.pattern)
        if plain != rule.pattern:
            found.append(plain)
    return found


def _escape(match: re.Match[str]) -> str:
    """A percent triplet in upper case, or an octet beyond ASCII percent-encoded."""
    text = match[0]
    return text.upper() if len(text) == 3 else f"%{ord(text):02X}"


def _key_and_value(line: str) -> tuple[str, str]:
    """Directive name in lower case and value of one line; an empty name when it is none."""
    line = line[:KEPT_LINE].partition("#")[0].strip(_WHITE)
    key, colon, value = line.partition(":")
    if not colon:
        # Owners forget the colon; two words, and no more, are still a directive.
        words = line.replace("\t", " ").split(" ", 1)
        if len(words) != 2 or " " in words[1].lstrip(" "):
            return "", ""
        key, value = words
    return key.strip(_WHITE).lower(), value.strip(_WHITE)


def _seconds(text: str) -> float | None:
    """A delay within limits, or None when the text is not such a number. `3,5` and `10 s` are clear."""
    number = _DELAY.fullmatch(text)
    try:
        value = float(number[1].replace(",", ".") if number else text)
    except ValueError:
        return None
    return min(value, MAX_CRAWL_DELAY) if math.isfinite(value) and value >= 0 else None


def path_of(url: str) -> str:
    """Path, parameters and query of a URL, as rules see them: always with a leading slash."""
    start = 2 if url.startswith("//") else 0
    early = _PATH_START.search(url, start)
    protocol = url.find("://", start)
    if protocol >= 0 and (early is None or early.start() > protocol):
        start = protocol + 3
    found = _PATH_START.search(url, start)
    if found is None:
        return "/"
    fragment = url.find("#")
    if 0 <= fragment < found.start():
        return "/"
    path = url[found.start() : fragment if fragment >= 0 else len(url)]
    return path if path.startswith("/") else "/" + path


class Robots:
    r"""A parsed robots.txt.

    Product tokens are compared as RFC 9309 has it: the whole token (`honeyguide`, not
    `honeyguide/0.1`), in any letter case.

    Example:
        >>> robots = Robots.parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/open$")
        >>> robots.allowed("honeyguide", "https://example.org/private/x")
        False
        >>> robots.rule("honeyguide", "https://example.org/private/open")
        'Allow: /private/open$ (line 3)'
    """

    __slots__ = ("_delays", "_groups", "_packed", "_rulesets", "sitemaps")

    def __init__(
        self, groups: list[_Group], *, delays: dict[str, float] | None = None, sitemaps: tuple[str, ...] = ()
    ) -> None:
        self._groups = groups
        self._delays = delays or {}
        self._rulesets: dict[str, Ruleset] = {}
        self._packed: bytes | None = None
        self.sitemaps = sitemaps

    @classmethod
    def parse(cls, body: bytes, token: str | None = None) -> Robots:
        """Read a robots.txt. Anything is accepted; what is not understood is skipped.

        Args:
            body: The file.
            token: Keep only what concerns this agent; the result answers for no other one.
        """
        reader = _Reader(token)
        for number, line in enumerate(_lines(body), start=1):
            if line:
                reader.read(number, line)
        return cls(reader.groups, delays=reader.delays, sitemaps=tuple(reader.sitemaps))

    def pack(self, token: str) -> bytes:
        r"""What one agent has to know, as bytes for `unpack`.

        Example:
            >>> packed = Robots.parse(b"User-agent: *\nDisallow: /private/").pack("bee")
            >>> Robots.unpack(packed).allowed("bee", "https://example.org/private/x")
            False
        """
        if self._packed is not None:
            return self._packed
        return msgspec.msgpack.encode(self._ruleset(token).packed(self.crawl_delay(token), self.sitemaps))

    @classmethod
    def unpack(cls, packed: bytes) -> Robots:
        """What was packed; it answers for the agent it was packed for, whatever name it is asked by."""
        found = _PACKED.decode(packed)
        made = cls(
            [], delays={} if found.delay is None else {ANY_AGENT: found.delay}, sitemaps=found.sitemaps
        )
        made._packed = packed
        made._rulesets[ANY_AGENT] = Ruleset.of(found)
        return made

    @staticmethod
    def trimmed(body: bytes, token: str) -> bytes:
        r"""The file without what does not concern an agent; lines keep their numbers.

        Example:
            >>> Robots.trimmed(b"User-agent: owl\nAllow: /\nUser-agent: *\nAllow: /a\nAllow: /a", "bee")
            b'User-agent: owl\n\nUser-agent: *\nAllow: /a\n'
        """
        reader = _Reader(token)
        numbered = enumerate(_lines(body), start=1)
        kept = [line if line and reader.read(number, line) else "" for number, line in numbered]
        return "\n".join(kept).encode("latin-1")

    @classmethod
    def allow_all(cls) -> Robots:
        """No rules: for sites without a robots.txt."""
        return cls([])

    @classmethod
    def deny_all(cls) -> Robots:
        """Everything is closed: for sites whose robots.txt cannot be had (RFC 9309, 2.3.1.4)."""
        return cls.parse(b"User-agent: *\nDisallow: /")

    def _ruleset(self, token: str) -> Ruleset:
        """The compiled rules for a token: its own groups joined, else those of `*`."""
        token = token.lower() if self._packed is None else ANY_AGENT
        found = self._rulesets.get(token)
        if found is None:
            name = token if any(token in group.agents for group in self._groups) else ANY_AGENT
            rules = [rule for group in self._groups if name in group.agents for rule in group.rules]
            found = self._rulesets[token] = Ruleset(rules)
        return found

    def allowed(self, user_agent_token: str, url: str) -> bool:
        """Whether the agent may fetch the URL."""
        rule = self._ruleset(user_agent_token).decide(path_of(url))
        return rule is None or rule.allow

    def rule(self, user_agent_token: str, url: str) -> str:
        """The rule that decides about the URL with its line number, or an empty string when none does."""
        rule = self._ruleset(user_agent_token).decide(path_of(url))
        return "" if rule is None else str(rule)

    def crawl_delay(self, token: str) -> float | None:
        """Seconds asked for between requests, at most `MAX_CRAWL_DELAY`; None when none are asked for.

        An agent that is named anywhere in the file does not inherit the delay of `*`. Of several
        values the largest counts.
        """
        token = token.lower()
        named = any(token in group.agents for group in self._groups)
        return self._delays.get(token if named else ANY_AGENT)


def _lines(body: bytes) -> list[str]:
    """The lines that count, each up to its first NUL."""
    cut = len(body) > KEPT_BYTES
    body = body[:KEPT_BYTES]
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        # Some editors write such files; the standard has UTF-8 only, but the owner's will is plain.
        body = body.decode("utf-16", "replace").encode("utf-8", "replace")
    if cut:
        # Half a line could mean something else: `Allow: /a` for `Allow: /about`.
        body = body[: max(body.rfind(b"\n"), body.rfind(b"\r")) + 1]
    for octet in b"\xef\xbb\xbf":
        if body[:1] != bytes((octet,)):
            break
        body = body[1:]
    text = body.decode("latin-1").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    return [line.partition("\0")[0] for line in lines] if "\0" in text else lines


class _Reader:
    """The state of a parse. With a token, rules for others and rules that repeat are left out."""

    def __init__(self, token: str | None = None) -> None:
        self._wanted = None if token is None else frozenset((token.lower(), ANY_AGENT))
        self._seen: set[tuple[bool, str]] = set()
        self.groups: list[_Group] = []
        self.delays: dict[str, float] = {}
        self.sitemaps: list[str] = []
        self._group: _Group | None = None

    def read(self, number: int, line: str) -> bool:
        """Take one line; whether it says anything. Names are known by their beginnings, as in Google's."""
        key, value = _key_and_value(line)
        if key.startswith(_RULE_KEYS):
            return self._group is not None and self._rule(self._group, key, value, number)
        if key.startswith(_AGENT_KEYS):
            self._agent(value)
            return True
        if key.startswith(_SITEMAP_KEYS):
            if value and len(self.sitemaps) < MAX_SITEMAPS:
                self.sitemaps.append(value.encode("latin-1").decode("utf-8", "replace"))
                return True
        elif key == "crawl-delay" and self._group is not None:
            seconds = _seconds(value)
            for agent in self._group.agents if seconds is not None else ():
                self.delays[agent] = max(seconds or 0.0, self.delays.get(agent, 0.0))
            return seconds is not None
        return False

    def _rule(self, group: _Group, key: str, value: str, number: int) -> bool:
        group.closed = True
        rule = Rule(key.startswith("allow"), _ESCAPES.sub(_escape, value), number)
        if self._wanted is not None:
            if self._wanted.isdisjoint(group.agents) or rule[:2] in self._seen:
                return False
            self._seen.add(rule[:2])
        group.rules.append(rule)
        return True

    def _agent(self, value: str) -> None:
        """A user-agent line: joins the open group, or opens one when rules have been seen."""
        if self._group is None or self._group.closed:
            self._group = _Group()
            self._seen.clear()
            self.groups.append(self._group)
        if value[:1] == ANY_AGENT and (len(value) == 1 or value[1] in _WHITE):
            self._group.agents.add(ANY_AGENT)
            return
        token = _PRODUCT_TOKEN.match(value)
        assert token is not None  # the pattern matches the empty text
        self._group.agents.add(token[0].lower())
