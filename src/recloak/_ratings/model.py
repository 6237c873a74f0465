"""`Ratings`: who rated what, as a sparse matrix with two id maps.

Frozen: its arrays are read-only, and makers copy what they are given. A row is a user, its items ascend, each
(user, item) pair stands once. A rating of 0 is a rating like any other where the scale has a 0; a cell that is not
stored is not rated. Purchases and plays are ratings in this wider sense: ``kind`` says what the numbers mean
(docs/decisions/kinds-of-values.md).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from recloak._core.errors import InputError
from recloak._core.results import Tabular, counted, plural, sizes_only
from recloak._ratings.assemble import assemble_rows, distinct_values, transpose_rows
from recloak._ratings.ids import IdMap
from recloak._ratings.value_kinds import COUNTS, RATINGS, ValueKind

if TYPE_CHECKING:
    from collections.abc import Sequence

_BLOCK = 4_000_000
_STEPS = (1.0, 0.5, 0.25, 0.2, 0.1, 0.05, 0.01)


@dataclass(frozen=True, slots=True)
class Scale:
    """The ratings that can be given: from ``low`` to ``high``, in steps of ``step`` (None: any value between)."""

    low: float
    high: float
    step: float | None = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.low) and np.isfinite(self.high)):
            raise InputError(f"a scale's ends must be finite numbers, got {self.low} to {self.high}")
        if self.low > self.high:
            raise InputError(f"a scale's lower end must not be above its upper end, got {self.low} to {self.high}")
        if self.step is not None and not self.step > 0:
            raise InputError(f"a scale's step must be more than 0, got {self.step}")

    @property
    def span(self) -> float:
        """The largest possible difference of two ratings (the paper's MaxDiff)."""
        return self.high - self.low

    def clip(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Bring values inside the scale."""
        clipped: NDArray[np.floating] = np.clip(values, self.low, self.high)
        return clipped

    @classmethod
    def seen_in(cls, values: NDArray[np.floating]) -> Scale:
        """Infer the scale from ratings: their ends, and the widest step that all of them lie on."""
        distinct = distinct_values(values).astype(np.float64)
        low, high = float(distinct[0]), float(distinct[-1])
        for step in _STEPS:
            if np.allclose(distinct / step, np.round(distinct / step), atol=1e-4):
                return cls(low, high, step)
        return cls(low, high, None)


@dataclass(frozen=True, slots=True)
class Intake:
    """What was taken in and what was left out on the way to a `Ratings`."""

    n_rows: int
    n_repeated: int = 0
    n_skipped: int = 0
    notes: tuple[str, ...] = ()  # what a reader took for granted, one sentence each


@dataclass(frozen=True, eq=False, slots=True)
class Ratings(Tabular):
    """Ratings of ``n_users`` users for ``n_items`` items, by rows (CSR).

    Row u is ``items[indptr[u]:indptr[u + 1]]`` with its ``values`` and, where known, ``times`` (whole seconds since
    1970-01-01 UTC).

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.Ratings.from_arrays(["ann", "ben"], ["Up", "Up"], [5, 3])
    >>> ratings, len(ratings), ratings.matrix.shape
    (<Ratings: 2 users, 1 item, 2 ratings>, 2, (2, 1))
    """

    indptr: NDArray[np.int64]  # (n_users + 1,)
    items: NDArray[np.int32]  # (n_ratings,) ascending inside a row
    values: NDArray[np.float32]  # (n_ratings,)
    user_ids: IdMap
    item_ids: IdMap
    scale: Scale
    times: NDArray[np.int64] | None = None  # (n_ratings,)
    intake: Intake = field(default=Intake(0))
    kind: ValueKind = RATINGS
    first_times: NDArray[np.int64] | None = None  # (n_ratings,) of counts: the first event, where times has the last

    def __post_init__(self) -> None:
        for array in (self.indptr, self.items, self.values, self.times, self.first_times):
            if array is not None:
                array.flags.writeable = False

    def __repr__(self) -> str:
        return counted(
            self, plural(self.n_users, "user"), plural(self.n_items, "item"), plural(self.n_ratings, self.kind.noun)
        )

    def __len__(self) -> int:
        return self.n_ratings

    def __bool__(self) -> bool:
        return True  # ratings without a row are still ratings

    @property
    def n_users(self) -> int:
        """Number of users (rows)."""
        return len(self.user_ids)

    @property
    def n_items(self) -> int:
        """Number of items (columns)."""
        return len(self.item_ids)

    @property
    def n_ratings(self) -> int:
        """Number of rated cells."""
        return len(self.items)

    @property
    def shape(self) -> tuple[int, int]:
        """``(n_users, n_items)``."""
        return self.n_users, self.n_items

    @property
    def density(self) -> float:
        """Share of the cells that are rated."""
        cells = self.n_users * self.n_items
        return self.n_ratings / cells if cells else 0.0

    @property
    def activity(self) -> NDArray[np.int64]:
        """Number of ratings of each user."""
        return np.diff(self.indptr)

    @property
    def popularity(self) -> NDArray[np.int64]:
        """Number of ratings of each item."""
        counts = np.zeros(self.n_items, np.int64)
        for start in range(0, self.n_ratings, _BLOCK):  # bincount widens its input to 8 bytes, so not all at once
            counts += np.bincount(self.items[start : start + _BLOCK], minlength=self.n_items)
        return counts

    @property
    def matrix(self) -> scipy.sparse.csr_array:
        """The ratings as a scipy CSR array that shares their memory; stored zeros are ratings."""
        return scipy.sparse.csr_array((self.values, self.items, self.indptr), shape=self.shape)

    def users(self) -> NDArray[np.int32]:
        """Return the user of each rating, in the order of ``items``."""
        return np.repeat(np.arange(self.n_users, dtype=np.int32), self.activity)

    def row(self, user: int) -> slice:
        """Return the place of a user's ratings in ``items``, ``values`` and ``times``."""
        return slice(int(self.indptr[user]), int(self.indptr[user + 1]))

    def by_item(self) -> ItemColumns:
        """Return the same ratings by columns (CSC)."""
        indptr, users, order = transpose_rows(self.indptr, self.items, self.n_items)
        times = None if self.times is None else self.times[order]
        return ItemColumns(indptr, users, self.values[order], times)

    def to_polars(self) -> pl.DataFrame:
        """Return a table with columns ``user``, ``item``, the value and, where known, ``time``.

        The value is called ``rating``, for counts ``count``; presence has none.
        """
        columns: dict[str, Any] = {
            "user": self.user_ids.decode(self.users()),
            "item": self.item_ids.decode(self.items),
        }
        if self.kind.column is not None:
            columns[self.kind.column] = self.values
        if self.times is not None:
            columns["time"] = self.times
        return pl.DataFrame(columns)

    def where(self, keep: NDArray[np.bool_]) -> Ratings:
        """Return the ratings whose mask is set, with the same users and items, even those left with none."""
        ends = np.concatenate(([0], np.cumsum(keep, dtype=np.int64)))
        times, first_times = (None if known is None else known[keep] for known in (self.times, self.first_times))
        return Ratings(
            ends[self.indptr],
            self.items[keep],
            self.values[keep],
            self.user_ids,
            self.item_ids,
            self.scale,
            times,
            Intake(int(ends[-1])),
            self.kind,
            first_times,
        )

    def until(self, time: int) -> Ratings:
        """Return the ratings made up to and including a time, with the same users and items."""
        if self.times is None:
            raise InputError("these ratings carry no times")
        return self.where(self.times <= time)

    def compact(self) -> Ratings:
        """Drop users and items without a single rating."""
        active, popular = self.activity > 0, self.popularity > 0
        if active.all() and popular.all():
            return self
        renumbered = (np.cumsum(popular) - 1).astype(np.int32)
        indptr = np.concatenate(([0], np.cumsum(self.activity[active])))
        return Ratings(
            indptr,
            renumbered[self.items],
            self.values.copy(),
            self.user_ids.take(active),
            self.item_ids.take(popular),
            self.scale,
            None if self.times is None else self.times.copy(),
            self.intake,
            self.kind,
            None if self.first_times is None else self.first_times.copy(),
        )

    def without_zeros(self) -> Ratings:
        """Return counts without the cells that count nothing, and anything else as it is."""
        if self.kind is not COUNTS or self.values.all():
            return self
        kept = self.where(self.values > 0)
        note = f"{self.n_ratings - len(kept):,} pairs with a count of 0 were left out"
        return replace(kept, intake=replace(self.intake, notes=(*self.intake.notes, note))).compact()

    @classmethod
    def from_arrays(
        cls,
        users: ArrayLike | Sequence[str] | pl.Series,
        items: ArrayLike | Sequence[str] | pl.Series,
        values: ArrayLike | None = None,
        times: ArrayLike | None = None,
        *,
        scale: Scale | None = None,
        kind: str | None = None,
    ) -> Ratings:
        """Make ratings from equally long columns of ids, ratings and, where known, times in seconds.

        A repeated (user, item) pair keeps its latest rating, or the last given where there is no time; how many were
        dropped stands in ``intake``. ``kind`` says what the values are: ``ratings``, ``presence`` or ``counts``, whose
        pairs are added up. Without values it is presence, or counts where pairs repeat; with values it is ratings.
        """
        from recloak._ratings.table_input import ratings_from_columns  # noqa: PLC0415 (tables imports this module)

        return ratings_from_columns(users, items, values, times, scale=scale, kind=kind)

    @classmethod
    def from_table(
        cls,
        table: Any,
        *,
        user: str | None = None,
        item: str | None = None,
        rating: str | None = None,
        time: str | None = None,
        scale: Scale | None = None,
        kind: str | None = None,
    ) -> Ratings:
        """Make ratings from a polars, pandas or Arrow table; columns are recognised by name or named here.

        What the values are (``ratings``, ``presence``, ``counts``) is seen from them, or said by ``kind``.
        """
        from recloak._ratings.table_input import ratings_from_table  # noqa: PLC0415 (tables imports this module)

        return ratings_from_table(table, user=user, item=item, rating=rating, time=time, scale=scale, kind=kind)


@dataclass(frozen=True, eq=False, slots=True)
class ItemColumns:
    """Ratings by columns: item i is ``users[indptr[i]:indptr[i + 1]]``, users ascending."""

    indptr: NDArray[np.int64]  # (n_items + 1,)
    users: NDArray[np.int32]  # (n_ratings,)
    values: NDArray[np.float32]  # (n_ratings,)
    times: NDArray[np.int64] | None

    __repr__ = sizes_only


def assemble(
    users: NDArray[np.int32],
    items: NDArray[np.int32],
    values: NDArray[np.float32],
    times: NDArray[np.int64] | None,
    *,
    user_ids: IdMap,
    item_ids: IdMap,
    scale: Scale | None = None,
    n_skipped: int = 0,
) -> Ratings:
    """Put numbered rows, in file order, into a `Ratings`; the latest of a repeated pair wins."""
    n_rows = len(users)
    indptr, items, values, times = assemble_rows(users, items, values, times, len(user_ids), len(item_ids))
    intake = Intake(n_rows + n_skipped, n_rows - len(items), n_skipped)
    if scale is None:
        scale = Scale.seen_in(values) if len(values) else Scale(0.0, 0.0)
    return Ratings(indptr, items, values, user_ids, item_ids, scale, times, intake)
