"""An evolved similarity on disk: JSON that says what it is, what it scored and how it was made."""

from __future__ import annotations

from pathlib import Path

import msgspec

from honeyguide.errors import TopicError
from honeyguide.relevance.evolved.evolution import Generation, Settings
from honeyguide.relevance.evolved.formula import Formula, parse
from honeyguide.store.atomic import replacing

FORMAT = 1
MAX_BYTES = 1 << 20


class Similarity(msgspec.Struct, frozen=True, kw_only=True):
    """A formula with the number of neighbours it was chosen for, and its scores."""

    format: int = FORMAT
    formula: list[object] | str
    """Nested lists; see `formula.parse`."""
    text: str = ""
    """The same for people; ignored when read."""
    k: int
    scores: dict[str, float] = {}
    """Such as `validation_macro_f1`."""
    examples: dict[str, int] = {}
    settings: Settings = Settings()
    history: tuple[Generation, ...] = ()
    """Best and mean fitness, and the best tree, of each generation."""

    def tree(self) -> Formula:
        """The formula, checked."""
        return parse(self.formula)


def write_similarity(path: Path, similarity: Similarity) -> None:
    """Write the file in one step."""
    data = msgspec.json.format(msgspec.json.encode(similarity), indent=2)
    with replacing(path) as temporary:
        temporary.write_bytes(data + b"\n")


def read_similarity(path: Path) -> Similarity:
    """Read and check the file.

    Raises:
        TopicError: It is missing, or no evolved similarity.
    """
    try:
        if path.stat().st_size > MAX_BYTES:
            raise TopicError(
                f"{path} is too large for an evolved similarity; name the file of `model evolve`"
            )
        similarity = msgspec.json.decode(path.read_bytes(), type=Similarity)
    except OSError as error:
        raise TopicError(
            f"{path}: {error.strerror}; name the file that `honeyguide model evolve` wrote"
        ) from None
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise TopicError(f"{path} is not an evolved similarity ({error}); evolve it again") from None
    if similarity.format != FORMAT or similarity.k < 1:
        raise TopicError(f"{path} has an unknown format or no neighbours; evolve it again")
    similarity.tree()
    return similarity
