"""Outside ids and inside numbers.

An id is a whole number or a text and comes back exactly as it was: ``0054890`` keeps its zeros. Inside, users and items
are numbered 0, 1, 2, ... in the order of their ids (numbers by value, texts by code point), so that the order of the
rows in a file changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.results import counted, plural

UNKNOWN = -1


@dataclass(frozen=True, eq=False, slots=True)
class IdMap:
    """The ids of one axis, sorted and distinct; the inside number of an id is its position.

    Examples
    --------
    >>> import recloak
    >>> ids = recloak.IdMap.of(["dee", "ann"])
    >>> ids, ids.number("dee")
    (<IdMap: 2 text ids>, 1)
    """

    ids: pl.Series  # (n,) Int64 or String, strictly ascending

    @classmethod
    def of(cls, ids: Sequence[int] | Sequence[str] | pl.Series | NDArray[np.generic]) -> Self:
        """Make a map of the distinct ids given, in any order."""
        series = _as_series(ids)
        return cls(series.unique().sort())

    def __repr__(self) -> str:
        return counted(self, plural(len(self), f"{'text' if self.is_text else 'number'} id"))

    def __len__(self) -> int:
        return len(self.ids)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IdMap):
            return NotImplemented
        return self.ids.dtype == other.ids.dtype and self.ids.equals(other.ids)

    __hash__ = None  # type: ignore[assignment]

    @property
    def is_text(self) -> bool:
        """Whether the ids are texts (else whole numbers)."""
        return self.ids.dtype == pl.String

    def encode(self, ids: Sequence[int] | Sequence[str] | pl.Series | NDArray[np.generic]) -> NDArray[np.int32]:
        """Return the inside number of each id, `UNKNOWN` (-1) for ids that are not here."""
        series = _as_series(ids)
        if series.dtype != self.ids.dtype:
            return np.full(len(series), UNKNOWN, dtype=np.int32)
        if not len(self.ids):
            return np.full(len(series), UNKNOWN, dtype=np.int32)
        if self.is_text:
            return _encode_text(self.ids, series)
        known = self.ids.to_numpy()
        wanted = series.to_numpy()
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where(known[place] == wanted, place, UNKNOWN).astype(np.int32)

    def decode(self, numbers: NDArray[np.integer]) -> pl.Series:
        """Return the ids of inside numbers."""
        return self.ids.gather(pl.Series(np.ascontiguousarray(numbers)))

    def number(self, one: int | str) -> int:
        """Return the inside number of one id, or refuse an unknown one."""
        code = int(self.encode(pl.Series([one]))[0])
        if code == UNKNOWN:
            raise InputError(f"there is no id {one!r} in the ratings")
        return code

    def take(self, keep: NDArray[np.bool_]) -> IdMap:
        """Return the map of those ids whose mask is set."""
        return IdMap(self.ids.filter(pl.Series(keep)))


def _as_series(ids: Sequence[int] | Sequence[str] | pl.Series | NDArray[np.generic]) -> pl.Series:
    """Bring ids of any origin to Int64 or String, refusing what cannot be an id."""
    series = ids if isinstance(ids, pl.Series) else pl.Series(ids)
    if series.null_count():
        raise InputError("an id must not be empty")
    if series.dtype.is_integer():
        if series.dtype == pl.UInt64 and len(series) and int(series.max()) > np.iinfo(np.int64).max:  # type: ignore[arg-type]
            return series.cast(pl.String)
        return series.cast(pl.Int64)
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        return series.cast(pl.String)
    if series.dtype == pl.String:
        return series
    if series.dtype == pl.Null and not len(series):
        return series.cast(pl.Int64)
    raise InputError(f"ids must be whole numbers or texts, got {series.dtype}")


def _encode_text(known: pl.Series, wanted: pl.Series) -> NDArray[np.int32]:
    """Look texts up by a hash join that keeps the order of the wanted ones."""
    table = pl.DataFrame({"id": known, "code": np.arange(len(known), dtype=np.int32)})
    joined = pl.DataFrame({"id": wanted}).join(table, on="id", how="left", maintain_order="left")
    return joined["code"].fill_null(UNKNOWN).to_numpy().astype(np.int32, copy=False)
