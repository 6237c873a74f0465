"""Open a released folder for reading: any cell, block or row of any layout, and tables out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.results import Tabular, counted, plural
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import as_path

if TYPE_CHECKING:
    import polars as pl

    from recloak._library.sources import PathLike
    from recloak._ratings.ids import IdMap
    from recloak._releases.released_rows import ReleasedRows

MOST_CELLS = 200_000_000  # of a table in memory
_BLOCK_CELLS = 4_000_000


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class LoadedRelease(Tabular):
    """A released folder that was opened for reading; see `load`.

    Attributes
    ----------
    folder : Path
        Where it lies.
    manifest : Mapping
        What it says of itself.

    Examples
    --------
    >>> import recloak
    >>> folder = recloak.publish(recloak.synth(users=30, items=20, ratings=200, seed=1), "opened", k=3, seed=1).folder
    >>> release = recloak.load(folder)
    >>> release.block(groups=[1, 2], items=release.items[:3]).shape
    (2, 3)
    """

    folder: Path
    manifest: Mapping[str, Any]
    item_ids: IdMap
    groups: NDArray[np.int32] | None  # (n_users,) the group of each user from 0 on; None in the layout long
    rows: ReleasedRows

    def __repr__(self) -> str:
        told = self.manifest
        users = f"{plural(told['n_users'], 'user')} in {plural(told['n_groups'], 'group')} of at least {told['k']}"
        return counted(self, users, plural(told["n_items"], "item"), told["mode"], f"layout {told['layout']}")

    @property
    def items(self) -> list[Any]:
        """The items' ids, in order."""
        return self.item_ids.ids.to_list()

    @property
    def n_rows(self) -> int:
        """How many rows there are: one for each group, or for each user in the layout long."""
        return int(self.manifest["n_users" if self.groups is None else "n_groups"])

    def group_of(self, user: int) -> int:
        """Return the group of a published user."""
        if self.groups is None:
            raise InputError("the layout long names no groups; ask by user=...")
        return int(self.groups[_numbers([user], len(self.groups), "user")[0]]) + 1

    def cell(self, *, item: Any, group: int | None = None, user: int | None = None) -> float | None:
        """Return one rating, of a group or of a user; None where the row does not have the item."""
        found = float(self.block(items=[item], **_whose(group, user))[0, 0])
        return None if np.isnan(found) else found

    def cells(
        self, *, items: Sequence[Any], groups: Sequence[int] | None = None, users: Sequence[int] | None = None
    ) -> NDArray[np.float32]:
        """Return one rating for each pair of a group (or user) and an item, nan where a row does not have it."""
        rows, numbers = self._rows(groups, users), self._items(items)
        if len(rows) != len(numbers):
            raise InputError(f"pairs need as many items as groups or users, got {len(numbers)} and {len(rows)}")
        return self.rows.cells(rows, numbers)

    def block(
        self, *, groups: Sequence[int] | None = None, users: Sequence[int] | None = None,
        items: Sequence[Any] | None = None,
    ) -> NDArray[np.float32]:  # fmt: skip
        """Return the ratings of some groups (or users) for some items, by default all: (rows, items), nan for none."""
        rows, numbers = self._rows(groups, users), self._items(items)
        _require_room(len(rows) * len(numbers))
        return self.rows.block(rows, numbers)

    def row(self, *, group: int | None = None, user: int | None = None) -> pl.DataFrame:
        """Return the row of a group or of a user: ``item``, ``rating``."""
        import polars as pl

        ratings = self.block(**_whose(group, user))[0]
        return pl.DataFrame({"item": self.item_ids.ids, "rating": ratings}).filter(pl.col("rating").is_not_nan())

    def to_polars(
        self, *, groups: Sequence[int] | None = None, users: Sequence[int] | None = None,
        items: Sequence[Any] | None = None,
    ) -> pl.DataFrame:  # fmt: skip
        """Return a table ``group`` (or ``user``), ``item``, ``rating`` of some groups or users and items, else of all.

        Raises InputError where it would have more than 200 million rows; `expand` writes such a table to a file.
        """
        import polars as pl

        _require_room(self.n_cells(groups=groups, users=users, items=items))
        return pl.concat(self.tables(groups=groups, users=users, items=items))

    def n_cells(
        self, *, groups: Sequence[int] | None = None, users: Sequence[int] | None = None,
        items: Sequence[Any] | None = None,
    ) -> int:  # fmt: skip
        """Return how many cells such a table has at most."""
        return len(self._rows(groups, users)) * len(self._items(items))

    def tables(
        self, *, groups: Sequence[int] | None = None, users: Sequence[int] | None = None,
        items: Sequence[Any] | None = None,
    ) -> Iterator[pl.DataFrame]:  # fmt: skip
        """Yield the table of `to_polars` some rows at a time, in bounded memory."""
        import polars as pl

        rows, numbers, by_user = self._rows(groups, users), self._items(items), self._by_user(groups, users)
        names = np.asarray(rows if users is None and groups is None else users or groups, np.int64)
        names = names + (users is None and groups is None)
        step = max(_BLOCK_CELLS // max(len(numbers), 1), 1)
        for first in range(0, len(rows), step):
            part = rows[first : first + step]
            ratings = self.rows.block(part, numbers).reshape(-1)
            table = pl.DataFrame({
                "user" if by_user else "group": np.repeat(names[first : first + step], len(numbers)).astype(np.int32),
                "item": self.item_ids.decode(np.tile(numbers, len(part))),
                "rating": ratings,
            })  # fmt: skip
            yield table.filter(pl.col("rating").is_not_nan())

    def _by_user(self, groups: Sequence[int] | None, users: Sequence[int] | None) -> bool:
        return users is not None or (groups is None and self.groups is None)

    def _rows(self, groups: Sequence[int] | None, users: Sequence[int] | None) -> NDArray[np.integer]:
        """Return the numbers of the rows asked for."""
        if groups is not None and users is not None:
            raise InputError("ask by groups or by users, not by both")
        if groups is not None:
            if self.groups is None:
                raise InputError("the layout long names no groups; ask by users")
            return _numbers(groups, self.n_rows, "group")
        if users is None:
            return np.arange(self.n_rows)
        numbers = _numbers(users, self.manifest["n_users"], "user")
        return numbers if self.groups is None else self.groups[numbers]

    def _items(self, items: Sequence[Any] | None) -> NDArray[np.int32]:
        if items is None:
            return np.arange(len(self.item_ids), dtype=np.int32)
        numbers = self.item_ids.encode(list(items))
        if (numbers < 0).any():
            raise InputError(f"there is no item {items[int(np.argmax(numbers < 0))]!r} in the release")
        return numbers


def _whose(group: int | None, user: int | None) -> dict[str, list[int]]:
    if (group is None) == (user is None):
        raise InputError("ask by group=... or by user=..., one of them")
    return {"users": [user]} if group is None else {"groups": [group]}  # type: ignore[list-item]


def _numbers(names: Sequence[int], most: int, word: str) -> NDArray[np.int64]:
    """Return published names as numbers from 0 on."""
    numbers = np.asarray(names)
    if numbers.dtype.kind not in "iu" or numbers.min(initial=1) < 1 or numbers.max(initial=1) > most:
        raise InputError(f"a {word} must be a whole number from 1 to {most}")
    return numbers.astype(np.int64) - 1


def _require_room(n_cells: int) -> None:
    if n_cells > MOST_CELLS:
        raise InputError(
            f"a table of {n_cells:,} cells does not fit into memory: ask for some groups=... or items=..., or write it "
            "with recloak.expand"
        )


@suggests_keywords
def load(folder: PathLike) -> LoadedRelease:
    """Open a released folder for reading, in whatever layout it was written.

    Parameters
    ----------
    folder
        The public folder of a release.

    Returns
    -------
    LoadedRelease
        With any ``cell``, ``cells``, ``block`` and ``row``, and ``to_polars``. Nothing as large as the release is
        read: cells of the layout factors are computed when they are asked for, rows of tables read from their files.

    Raises
    ------
    SourceError
        If it is no release, or a file is missing or has another size; `verify` proves the rest.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=30, items=20, ratings=200, seed=1)
    >>> folder = recloak.publish(ratings, "as-factors", k=3, layout="factors", seed=1).folder
    >>> release = recloak.load(folder)
    >>> release
    <LoadedRelease: 30 users in 10 groups of at least 3, 20 items, padded, layout factors>
    >>> 1 <= release.cell(group=1, item=release.items[0]) <= 5
    True
    >>> release.to_polars(groups=[1, 2]).shape
    (40, 3)
    """
    from recloak._core.frozen import FrozenDict
    from recloak._releases.released_rows import claims_of, groups_of, open_rows

    path = as_path("folder", folder)
    claims = claims_of(path)
    rows, items = open_rows(claims)
    return LoadedRelease(path, FrozenDict(claims.manifest), items, groups_of(claims), rows)
