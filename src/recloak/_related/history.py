"""The history store as it is read: every published release in order.

The store is for the operator: besides the published lists it holds why each entry was changed and who holds what since
when (`history_writing`), which `recloak.related.export` never shows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import polars as pl
import sqlalchemy as sa

from recloak._core.errors import InputError, OptionError
from recloak._core.results import Tabular, counted, plural
from recloak._ratings.ids import IdMap
from recloak._related.history_database import ENTRIES, REASONS, RELEASES, STORE, open_database
from recloak._related.model import EMPTY, ListRelease, Lists
from recloak._related.options import ALL_RELEASES, BoundOptions


@dataclass(frozen=True, slots=True, repr=False)
class ReleaseRecord:
    """A release of the history without its lists."""

    number: int
    time: int
    top: int
    settings: dict[str, Any]

    @property
    def policy(self) -> BoundOptions:
        """The promise that held when this was published; before there was a horizon, a window without a static rule."""
        bound = self.settings.get("bound", {})
        if "horizon" in bound:
            return BoundOptions.from_mapping(bound)
        window = ALL_RELEASES if bound.get("window") is None else bound["window"]
        return BoundOptions.from_mapping({**bound, "window": window, "min_support": 1})

    def to_json(self) -> dict[str, Any]:
        """Return the promise and the cost, ready for JSON."""
        return {
            "number": self.number,
            "time": self.time,
            **self.policy.to_json(),
            "loosened": self.settings.get("loosened", []),
            "accepted_source": self.settings.get("accepted_source", False),
            "method": self.settings["method"]["method"],
            "recall": self.settings["cost"]["recall"],
            "max_breach": self.settings["max_breach"],
        }

    def __repr__(self) -> str:
        return counted(self, f"number {self.number}", f"top {self.top}")


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class ListChanges(Tabular):
    """The entries that appeared, vanished, rose or sank between two releases, each with the operator's reason."""

    earlier: int
    later: int
    table: pl.DataFrame

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return counted(self, plural(len(self), "change"), f"release {self.earlier} to {self.later}")

    def to_polars(self) -> pl.DataFrame:
        """Return ``item``, ``related``, ``change``, ``position``, ``position_after`` and ``reason``."""
        return self.table

    def to_json(self) -> dict[str, Any]:
        """Return the two release numbers and every change, ready for JSON."""
        return {"earlier": self.earlier, "later": self.later, "changes": self.table.to_dicts()}


class History(Tabular):
    """Every published release of related-item lists in order: an open file or PostgreSQL database.

    Parameters
    ----------
    where
        A file, or a ``postgresql://user@host:port/database`` address.
    create
        Whether to make an empty history where there is none.

    Raises
    ------
    InputError
        If there is no history and ``create`` is off, or the file or database is something else.

    Examples
    --------
    >>> import recloak.related
    >>> with recloak.related.History("lists.db") as history:
    ...     history
    <History: 0 releases, 0 items>
    """

    __slots__ = ("_database", "_is_text")

    def __init__(self, where: str | os.PathLike[str], *, create: bool = True) -> None:
        self._database = open_database(where, create=create)
        self._is_text: bool | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        return int(self._database.rows(sa.select(sa.func.count()).select_from(RELEASES))[0][0])

    def __bool__(self) -> bool:
        return True  # an empty history is a history

    def __repr__(self) -> str:
        newest = sa.select(sa.func.max(RELEASES.c.number)).scalar_subquery()
        items = sa.select(sa.func.count(ENTRIES.c.item.distinct())).where(ENTRIES.c.release == newest)
        try:
            return counted(self, plural(len(self), "release"), plural(self._database.rows(items)[0][0], "item"))
        except InputError:  # a repr must not fail
            return counted(self, "not readable")

    @property
    def name(self) -> str:
        """The file or address, without a password."""
        return self._database.name

    @property
    def is_text(self) -> bool | None:
        """Whether item ids are texts; None while nothing is published."""
        if self._is_text is None:
            found = self._database.rows(sa.select(STORE.c.value).where(STORE.c.key == "ids"))
            self._is_text = found[0].value == "text" if found else None
        return self._is_text

    @property
    def releases(self) -> tuple[ReleaseRecord, ...]:
        """What was published, oldest first."""
        return tuple(_record(row) for row in self._database.rows(sa.select(RELEASES).order_by(RELEASES.c.number)))

    def changes(self, earlier: int, later: int) -> ListChanges:
        """Return what changed between two releases, and why; this says more than was published.

        Raises
        ------
        OptionError
            If there is no such release.
        """
        numbers = [record_of(self, number).number for number in (earlier, later)]
        before, after = (without_gaps(table_of(self, number)).drop("release") for number in numbers)
        both = before.join(after, on=["item", "related"], how="full", coalesce=True, suffix="_after")
        moved = both.filter(~pl.col("position").eq_missing(pl.col("position_after"))).with_columns(change=_change())
        table = moved.join(reasons_of(self, later), on=["item", "related"], how="left")
        columns = ("item", "related", "change", "position", "position_after", "reason")
        return ListChanges(earlier, later, table.sort("item", "position_after", "position").select(columns))

    def to_polars(self) -> pl.DataFrame:
        """Return all published entries: ``release``, ``item``, ``position`` (from 1), ``related``."""
        return without_gaps(table_of(self))

    def to_json(self) -> dict[str, Any]:
        """Return every release with its bound and cost, ready for JSON."""
        return {"releases": [one.to_json() for one in self.releases]}

    def close(self) -> None:
        """Close the database."""
        self._database.engine.dispose()


def limit_wait(history: History, seconds: float) -> None:
    """From now on, raise InputError after so many seconds if another process has locked the history."""
    history._database.limit_wait(seconds)


def newest(history: History) -> ReleaseRecord | None:
    """Return the latest release, or None if there is none."""
    found = history._database.rows(sa.select(RELEASES).order_by(RELEASES.c.number.desc()).limit(1))
    return _record(found[0]) if found else None


def _record(row: sa.Row[Any]) -> ReleaseRecord:
    return ReleaseRecord(row.number, row.time, row.top, json.loads(row.settings))


def lists_of(history: History, item: int | str, numbers: Iterable[int]) -> dict[int, list[tuple[int, str]]]:
    """Return one item's list by release as (position, related id as text); releases without the item are left out."""
    query = sa.select(ENTRIES.c.release, ENTRIES.c.position, ENTRIES.c.related).where(
        ENTRIES.c.release.in_(list(numbers)), ENTRIES.c.item == str(item)
    )
    found: dict[int, list[tuple[int, str]]] = {}
    for row in history._database.rows(query.order_by(ENTRIES.c.release, ENTRIES.c.position)):
        entries = found.setdefault(row.release, [])
        entries.append((len(entries) + 1, row.related))  # as shown, without gaps
    return found


def published(history: History, item_ids: IdMap, *, last: int | None = None) -> tuple[ListRelease, ...]:
    """Return the published releases, or the last few, with items numbered by some ids.

    The ids are those of the ledger, which knows every item that was ever published; others are left out.
    """
    require_kind(history, item_ids)
    known = history.releases
    chosen = known if last is None else known[max(len(known) - last, 0) :]
    return tuple(ListRelease(one.number, one.time, _lists(history, one, item_ids)) for one in chosen)


def _lists(history: History, one: ReleaseRecord, item_ids: IdMap) -> Lists:
    table = table_of(history, one.number)
    owners, entries = item_ids.encode(table["item"]), item_ids.encode(table["related"])
    known = (owners >= 0) & (entries >= 0)
    items = np.full((len(item_ids), one.top), EMPTY, np.int32)
    items[owners[known], table["position"].to_numpy()[known] - 1] = entries[known]
    return Lists(items)


def table_of(history: History, *numbers: int) -> pl.DataFrame:
    """Return releases (without numbers: all) as a table: ``release``, ``item``, ``position`` (from 1), ``related``."""
    query = sa.select(ENTRIES).order_by(ENTRIES.c.release, ENTRIES.c.item, ENTRIES.c.position)
    if numbers:
        query = query.where(ENTRIES.c.release.in_(numbers))
    rows = history._database.rows(query)
    schema = {"release": pl.Int64, "item": pl.String, "position": pl.Int64, "related": pl.String}
    table = pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
    if history.is_text is False:
        table = table.with_columns(pl.col("item", "related").cast(pl.Int64)).sort("release", "item", "position")
    return table


def without_gaps(table: pl.DataFrame) -> pl.DataFrame:
    """Return a table of releases with the positions that a page shows: stores of older versions can have gaps."""
    order = pl.col("position").rank("ordinal").over("release", "item").cast(pl.Int64)
    return table.with_columns(position=order)


def item_names(history: History) -> pl.Series:
    """Return the ids of all items that were ever published."""
    either = sa.union(sa.select(ENTRIES.c.item), sa.select(ENTRIES.c.related))
    names = pl.Series([row[0] for row in history._database.rows(either)], dtype=pl.String)
    return names.cast(pl.Int64) if history.is_text is False else names


def reasons_of(history: History, number: int) -> pl.DataFrame:
    """Return why entries of a release differ from the true lists: ``item``, ``related``, ``reason``."""
    query = sa.select(REASONS.c.item, REASONS.c.related, REASONS.c.reason).where(REASONS.c.release == number)
    rows = history._database.rows(query.order_by(REASONS.c.item, REASONS.c.related))
    schema = {"item": pl.String, "related": pl.String, "reason": pl.String}
    table = pl.DataFrame([tuple(row) for row in rows], schema=schema, orient="row")
    return table.with_columns(pl.col("item", "related").cast(pl.Int64)) if history.is_text is False else table


def _change() -> pl.Expr:
    before, after = pl.col("position"), pl.col("position_after")
    stayed = pl.when(after < before).then(pl.lit("rose")).otherwise(pl.lit("sank"))
    left = pl.when(after.is_null()).then(pl.lit("vanished")).otherwise(stayed)
    return pl.when(before.is_null()).then(pl.lit("appeared")).otherwise(left)


def record_of(history: History, number: int | str) -> ReleaseRecord:
    """Return the release of a number; raise OptionError if there is none."""
    by_number = {str(one.number): one for one in history.releases}
    if str(number) not in by_number:
        raise OptionError(f"{history.name}: there is no release {number}; there are {len(by_number)}")
    return by_number[str(number)]


def require_kind(history: History, item_ids: IdMap) -> None:
    """Raise InputError if the item ids of ratings are not of the kind that was published."""
    if history.is_text is not None and history.is_text != item_ids.is_text:
        kinds = {True: "texts", False: "whole numbers"}
        raise InputError(
            f"{history.name}: its item ids are {kinds[history.is_text]}, those of the ratings {kinds[item_ids.is_text]}"
        )
