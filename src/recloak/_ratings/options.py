"""What a caller can say about a source of ratings, and about measuring how exposed its users are."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recloak._core.errors import OptionError
from recloak._core.options import Options, option
from recloak._ratings.column_roles import find_columns
from recloak._ratings.reader import ReaderNames
from recloak._ratings.value_kinds import RATINGS, VALUE_KINDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recloak._ratings.model import Scale

READERS = ReaderNames()


@dataclass(frozen=True, kw_only=True)
class ReadOptions(Options):
    """How to read a source; what is left out is recognised by looking at it."""

    reader: str | None = option(None, "layout of the source, where it is not recognised by itself", choices=READERS)
    user: str | None = option(None, "column of the user: its name, or its number from 1 without a header")
    item: str | None = option(None, "column of the item: its name, or its number from 1 without a header")
    rating: str | None = option(None, "column of the rating: its name, or its number from 1 without a header")
    time: str | None = option(None, "column of the time: name or number; 'none' leaves times out")
    values: str | None = option(None, "what the source holds, where its values do not show it", choices=VALUE_KINDS)
    table: str | None = option(None, "table of a database that is given by its URL")
    query: str | None = option(None, "SQL whose rows are read from a database that is given by its URL")
    scale: str | None = option(None, "the ratings that can be right, as LOW,HIGH; others are bad rows")
    skip_bad: bool = option(False, "drop and count rows that cannot be right instead of stopping at the first")
    no_limit: bool = option(False, "read what unpacks to more than 200 times its size, and lines of more than 1 MB")

    def check(self) -> None:
        """Refuse a scale that is not two numbers, and a table beside a query."""
        self.bounds()
        if self.table is not None and self.query is not None:
            raise OptionError("table=... does not go with query=...")

    def bounds(self) -> Scale | None:
        """Return the scale as a value."""
        if self.scale is None:
            return None
        from recloak._ratings.model import Scale  # noqa: PLC0415 (a command's help must stay quick)

        try:
            low, high = (float(part) for part in self.scale.split(","))
        except ValueError:
            raise OptionError(f"scale must be two numbers LOW,HIGH, got {self.scale!r}") from None
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise OptionError(f"scale must be two finite numbers LOW,HIGH with LOW below HIGH, got {self.scale!r}")
        return Scale(low, high, None)

    def columns(self) -> dict[str, str | None]:
        """Return the columns named, by role."""
        return {"user": self.user, "item": self.item, "rating": self.rating, "time": self.time}

    @property
    def kind(self) -> str | None:
        """What the source is said to hold: who says which ratings can be right says that they are ratings."""
        return RATINGS.name if self.values is None and self.scale is not None else self.values

    def find(self, names: Sequence[str]) -> dict[str, str]:
        """Find the column of each role among the names of a table."""
        return find_columns(names, **self.columns(), values=self.kind)


@dataclass(frozen=True, kw_only=True)
class ExposureOptions(Options):
    """How the exposure is measured."""

    targets: int = option(1000, "number of users to look for", at_least=1)
    known: tuple[int, ...] = option((1, 2, 4, 8), "numbers of known items")

    def check(self) -> None:
        """Refuse numbers of known items that are not whole, positive and ascending."""
        ascending = all(a < b for a, b in itertools.pairwise(self.known))
        if not self.known or not all(isinstance(n, int) and n >= 1 for n in self.known) or not ascending:
            raise OptionError(f"known must be ascending whole numbers of at least 1, got {self.known}")
