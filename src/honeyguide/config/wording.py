"""What is wrong with a value, in the words of a topic file rather than of Python."""

from __future__ import annotations

from typing import Final

_PLAIN: Final = {
    "valid integer": "a whole number",
    "valid number": "a number",
    "valid string": "a text in quotes",
    "valid tuple": "a list in brackets",
    "valid list": "a list in brackets",
    "valid boolean": "true or false (without quotes)",
    "valid dictionary": "a table",
}


def plainly(message: str) -> str:
    """A message of the schema library as users read it.

    Example:
        >>> plainly("Input should be a valid number, unable to parse string as a number")
        'must be a number'
    """
    message = (
        message.replace("Input should be", "must be")
        .replace("String should", "must")
        .replace("Tuple should", "must")
    )
    for technical, plain in _PLAIN.items():
        if message.startswith(f"must be a {technical}"):
            return f"must be {plain}"
    return message
