"""What the stored number of a cell means: a rating, that the item was used, or how often it was used.

A source may hold ratings, purchases or plays. Which of them is seen from its values, told in a note, and can be said by
the caller. The kind is one value that every step reads: a step names the kinds it takes, and refuses the others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recloak._core.errors import InputError

if TYPE_CHECKING:
    from recloak._ratings.model import Ratings

OVERRIDE = "values=... overrides this"


@dataclass(frozen=True, slots=True)
class ValueKind:
    """What the number of a cell means.

    Parameters
    ----------
    name
        What ``values=`` and ``--values`` call it.
    noun
        One stored cell, in sentences: a ``rating``, a ``use``, a ``count``.
    text
        One sentence for the documentation.
    column
        The value's column in a table; None where there is no value.
    repeated
        What happens to further rows of a pair, in sentences.
    """

    name: str
    noun: str
    text: str
    column: str | None
    repeated: str

    @property
    def nouns(self) -> str:
        """Several stored cells, in sentences."""
        return f"{self.noun}s"

    @property
    def varies(self) -> bool:
        """Whether cells hold different numbers, so that a scale and a histogram say something."""
        return self.column is not None


RATINGS = ValueKind(
    "ratings",
    "rating",
    "the number says how much the user liked the item",
    column="rating",
    repeated="dropped, the latest counts",
)
PRESENCE = ValueKind(
    "presence",
    "use",
    "the user bought, played or opened the item; there is no number",
    column=None,
    repeated="dropped",
)
COUNTS = ValueKind(
    "counts",
    "count",
    "the number says how often the user bought, played or opened it",
    column="count",
    repeated="added up",
)
VALUE_KINDS = {kind.name: kind for kind in (RATINGS, PRESENCE, COUNTS)}


def require_kind(ratings: Ratings, kinds: Iterable[ValueKind], step: str) -> None:
    """Raise InputError if a step does not take values of this kind."""
    taken = [kind.name for kind in kinds]
    if ratings.kind.name not in taken:
        held = f"this source holds {ratings.kind.name}; pass values='ratings' if these are ratings"
        raise InputError(f"{step} takes {' or '.join(taken)}, but {held}")
