"""What a caller can say about a source of ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass

from recloak.errors import OptionError
from recloak.options import Options, option
from recloak.ratings.model import Scale

READERS = ("csv", "tsv", "movielens", "recbole", "netflix", "parquet")


@dataclass(frozen=True, kw_only=True)
class ReadOptions(Options):
    """How to read a source; what is left out is recognised by looking at it."""

    reader: str | None = option(None, "layout of the source, where it is not recognised by itself", choices=READERS)
    user: str | None = option(None, "column of the user: its name, or its number from 1 without a header")
    item: str | None = option(None, "column of the item: its name, or its number from 1 without a header")
    rating: str | None = option(None, "column of the rating: its name, or its number from 1 without a header")
    time: str | None = option(None, "column of the time: name or number; 'none' leaves times out")
    scale: str | None = option(None, "the ratings that can be right, as LOW,HIGH; others are bad rows")
    skip_bad: bool = option(False, "drop and count rows that cannot be right instead of stopping at the first")

    def check(self) -> None:
        """Refuse a scale that is not two numbers."""
        self.bounds()

    def bounds(self) -> Scale | None:
        """Give the scale as a value."""
        if self.scale is None:
            return None
        try:
            low, high = (float(part) for part in self.scale.split(","))
        except ValueError:
            raise OptionError(f"scale must be two numbers LOW,HIGH, got {self.scale!r}") from None
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            raise OptionError(f"scale must be two finite numbers LOW,HIGH with LOW below HIGH, got {self.scale!r}")
        return Scale(low, high, None)

    def columns(self) -> dict[str, str | None]:
        """Give the columns named, by role."""
        return {"user": self.user, "item": self.item, "rating": self.rating, "time": self.time}
