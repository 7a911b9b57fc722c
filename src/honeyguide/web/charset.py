"""Which encoding a page is in, as the HTML standard decides it, and its text.

Order: byte order mark, HTTP header, the standard's prescan of the first 1,024 bytes for a `meta`
or an XML declaration, a `meta` further on (where a browser's parser meets it and starts again), then
detection from the bytes themselves. Labels are mapped as the Encoding
standard says (`iso-8859-1` means windows-1252, `gb2312` means gb18030), because pages are written
for browsers.

References:
    HTML standard, "Determining the character encoding". Encoding standard, "Names and labels".
"""

from __future__ import annotations

import codecs
from typing import Final

from resiliparse.parse.encoding import detect_encoding, map_encoding_to_html5

from honeyguide.web.prescan import late_declaration, prescan

PRESCANNED: Final = 1024
"""Bytes the standard looks at for a declaration."""
DETECTED: Final = 65_536
"""Bytes the detector is shown."""
TRUSTED: Final = 12
"""With fewer bytes beyond ASCII a detector guesses; windows-1252 is right more often."""
DEFAULT: Final = "windows-1252"
REPLACEMENT: Final = "replacement"
"""Encodings that are only used for attacks; the standard reads them as one U+FFFD."""
USER_DEFINED: Final = "x-user-defined"

_BYTE_ORDER_MARKS: Final = ((b"\xef\xbb\xbf", "utf-8"), (b"\xfe\xff", "utf-16be"), (b"\xff\xfe", "utf-16le"))
_WHITE: Final = "\t\n\f\r "
_UNMAPPED_LABELS: Final = {
    **dict.fromkeys(
        ("csiso2022kr", "hz-gb-2312", "iso-2022-cn", "iso-2022-cn-ext", "iso-2022-kr"), REPLACEMENT
    ),
    **dict.fromkeys(("x-mac-cyrillic", "x-mac-ukrainian"), "x-mac-cyrillic"),
    REPLACEMENT: REPLACEMENT,
    USER_DEFINED: USER_DEFINED,
}
"""Labels of the standard that the mapping in use leaves out."""
_STANDARD_NAMES: Final = {
    "gbk": "gb18030",  # the standard's gbk decoder is gb18030's
    "euc_jp": "euc-jp",
    "euc_kr": "euc-kr",
    "iso2022_jp": "iso-2022-jp",
    "utf-16-le": "utf-16le",
    "utf-16-be": "utf-16be",
    "mac-roman": "macintosh",
    "cp866": "ibm866",
    "iso8859-11": "windows-874",
}
_CODECS: Final = {
    "shift_jis": "cp932",
    "euc-kr": "cp949",
    "big5": "big5hkscs",
    "windows-874": "cp874",
    "macintosh": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
}
"""Python's codec where the one of the same name knows fewer characters than the standard."""


def _keep_controls(error: UnicodeError) -> tuple[str, int]:
    """Bytes 0x80 to 0x9F that a windows code page leaves open stand for themselves; others are lost."""
    assert isinstance(error, UnicodeDecodeError)
    byte = error.object[error.start]
    return chr(byte) if 0x80 <= byte <= 0x9F else "\ufffd", error.start + 1


codecs.register_error("honeyguide-controls", _keep_controls)


def encoding_of(label: str) -> str | None:
    """The standard's encoding for a label in lower case, or None for a label it does not know.

    Example:
        >>> encoding_of(" Latin1 "), encoding_of("GB2312"), encoding_of("utf-7")
        ('windows-1252', 'gb18030', None)
    """
    label = label.strip(_WHITE).lower()
    if not label.isascii():
        return None
    if label in _UNMAPPED_LABELS:
        return _UNMAPPED_LABELS[label]
    codec: str | None = map_encoding_to_html5(label, False)
    return None if codec is None else _standard_name(codec)


def _standard_name(codec: str) -> str:
    """The standard's name for a Python codec."""
    codec = codec.lower()
    if codec.startswith("cp125"):
        return "windows-" + codec[2:]
    return _STANDARD_NAMES.get(codec, codec.replace("iso8859-", "iso-8859-"))


def header_label(content_type: str) -> str:
    """The charset a Content-Type header names, or an empty string.

    Example:
        >>> header_label('text/html; Charset="utf-8"')
        'utf-8'
    """
    for parameter in content_type.split(";")[1:]:
        name, equals, value = parameter.partition("=")
        if equals and name.strip(_WHITE).lower() == "charset":
            return value.strip(_WHITE).strip("\"'").strip(_WHITE)
    return ""


def _is_utf8(body: bytes) -> bool:
    """Whether the bytes are UTF-8; the last character may be cut when it is not the only one."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        text = decoder.decode(body)
    except UnicodeDecodeError:
        return False
    return not decoder.getstate()[0] or not text.isascii()


def detect(body: bytes) -> str:
    """The most likely encoding of bytes that declare none."""
    if _is_utf8(body):
        return "utf-8"
    sample = body[:DETECTED]
    if len(sample.translate(None, bytes(range(128)))) < TRUSTED:
        return DEFAULT
    codec: str | None = detect_encoding(sample)
    name = _standard_name(codec or DEFAULT)
    # The bytes are known not to be UTF-8; the detector says so when it knows nothing better.
    return DEFAULT if name == "utf-8" else name


def determine(body: bytes, content_type: str = "") -> str:
    """The name of the encoding a browser would use, in lower case."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return encoding
    label = header_label(content_type)
    named = encoding_of(label) if label else None
    if named is not None:
        return named
    return prescan(body[:PRESCANNED], encoding_of) or late_declaration(body, encoding_of) or detect(body)


def decode(body: bytes, encoding: str) -> str:
    """The text of bytes in one of the standard's encodings. Never fails: what is wrong becomes U+FFFD."""
    if encoding == REPLACEMENT:
        return "\ufffd" if body else ""
    if encoding == USER_DEFINED:
        return "".join(chr(byte if byte < 128 else 0xF700 + byte) for byte in body)
    errors = "honeyguide-controls" if encoding.startswith("windows-") else "replace"
    try:
        return body.decode(_CODECS.get(encoding, encoding), errors)
    except LookupError:
        return body.decode("utf-8", "replace")


def decode_html(body: bytes, content_type: str = "") -> tuple[str, str]:
    r"""The text of an HTML document and the encoding it was read in.

    Args:
        body: The document, content coding removed. It may be cut anywhere.
        content_type: The Content-Type header as received, or an empty string.

    Example:
        >>> decode_html(b"caf\xe9", "text/html; charset=ISO-8859-1")
        ('café', 'windows-1252')
        >>> decode_html("<meta charset=gbk>中文".encode("gbk"))[1]
        'gb18030'
    """
    encoding = determine(body, content_type)
    for mark, _ in _BYTE_ORDER_MARKS:
        if body.startswith(mark):
            body = body[len(mark) :]
            break
    return decode(body, encoding), encoding
