"""`Release`: profiles under fresh names, ready to be written, and the private knowledge of who is who.

Inside, a release numbers its users and groups from 0 in the order of their fresh names, which files show from 1 on.
That order is random and computable only with the private ratings (see `_releases.pseudonyms`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.frozen import FrozenDict, make_read_only
from recloak._core.randomness import Rng, randomness
from recloak._core.results import Tabular, counted, plural, sizes_only
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._releases.drawn_rows.canonical_users import in_order
from recloak._releases.factor_layout import FactorProfiles, as_factors
from recloak._releases.model.manifest import Facts
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import BLOCK_CELLS
from recloak._releases.model.steps import Grouping
from recloak._releases.options import FACTORS, WriteOptions
from recloak._releases.profiles import FullProfiles, ProfileCells, Profiles
from recloak._releases.pseudonyms import key_of_copy, keyed_order, secret_key
from recloak._releases.statistics.making import Statistics

_MOST_CELLS_IN_MEMORY = 200_000_000
_MOST_CELLS_WRITTEN = 2_500_000_000  # 2 GB or so


@dataclass(frozen=True, eq=False, slots=True)
class ProfileBlock:
    """Some rows of a release: row r belongs to the user or group ``names[r]`` and holds ``cells`` row r."""

    names: NDArray[np.int64]  # (n_rows,) as published, from 1 on
    cells: ProfileCells

    __repr__ = sizes_only


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Release(Tabular):
    """An anonymised release; `write` puts it into a folder, the private part into another.

    Attributes
    ----------
    facts : Facts
        What is true of it: k, mode, grid, counts, scale.
    folder, private : Path or None
        Where `publish` wrote it.

    Examples
    --------
    >>> import recloak
    >>> release = recloak.publish(recloak.synth(users=30, items=20, ratings=200, seed=1), k=3, mode="pure", seed=1)
    >>> release.to_polars().columns
    ['user', 'item', 'rating']
    >>> release.write("pure-release")
    PosixPath('pure-release')
    """

    facts: Facts
    profiles: Profiles  # numbered as in the grouping it came from
    group_order: NDArray[np.int64]  # (n_groups,) published group -> group of the profiles
    user_order: NDArray[np.int64]  # (n_users,) published user -> user of the source ratings
    groups: NDArray[np.int64]  # (n_users,) published user -> published group
    source: Ratings  # private
    key: bytes  # private: the names come from it
    account: dict[str, Any] = field(default_factory=dict)  # private
    folder: Path | None = None
    private: Path | None = None
    statistics: Statistics | None = None  # published beside the rows
    canonical: NDArray[np.int64] | None = None  # private: the users of drawn rows in an order free of their ids

    def __post_init__(self) -> None:
        make_read_only(self.group_order, self.user_order, self.groups)
        object.__setattr__(self, "account", FrozenDict(self.account))

    def __repr__(self) -> str:
        facts = self.facts
        groups = f"{plural(facts.n_users, 'user')} in {plural(facts.n_groups, 'group')} of at least {facts.k}"
        return counted(self, groups, plural(facts.n_items, "item"), facts.mode)

    @property
    def item_ids(self) -> IdMap:
        """The items' own ids, which are public."""
        return self.source.item_ids

    @property
    def usual_layout(self) -> str:
        """The layout that it is written in where none is asked for: factors where a table of cells is too large."""
        profiles = self.profiles
        cells = self.facts.n_groups * self.facts.n_items
        if isinstance(profiles, FactorProfiles):
            return FACTORS
        if self.canonical is not None:
            return MODES[self.facts.mode].layouts[0]
        large = cells > _MOST_CELLS_WRITTEN and isinstance(profiles, FullProfiles) and not len(profiles.items)
        return FACTORS if large else WriteOptions().chosen_layout

    def named(self, layout: str | None = None, format: str = "parquet") -> Self:  # noqa: A002 (the command line's name)
        """Return the same release under the names that it carries when it is written so."""
        layout = WriteOptions(layout=layout).for_mode(self.facts.mode).chosen_layout
        key = key_of_copy(self.key, layout, format)
        user_order = keyed_order(key, "users", len(self.user_order))
        user_order = user_order if self.canonical is None else self.canonical[user_order]
        group_order = keyed_order(key, "groups", len(self.group_order))
        inside = self.group_order[self.groups[np.argsort(self.user_order)]]  # user of the source -> group of profiles
        groups = np.argsort(group_order)[inside[user_order]]
        profiles = _shown(self.profiles, layout)
        facts = replace(self.facts, **_about_factors(profiles, self.facts))
        return replace(
            self, facts=facts, profiles=profiles, group_order=group_order, user_order=user_order, groups=groups
        )

    def blocks(self, layout: str = "grouped") -> Iterator[ProfileBlock]:
        """Return the profiles group by group (grouped) or user by user (long), in bounded memory."""
        rows = self._rows_of_users() if layout in ("long", "drawn") else self.group_order
        for start, stop in _cuts(self.profiles.counts[rows]):
            yield ProfileBlock(np.arange(start + 1, stop + 1), self.profiles.rows(rows[start:stop]))

    def _rows_of_users(self) -> NDArray[np.int64]:
        """Return the profile of each published user: that of the group, or the one drawn."""
        if self.canonical is None:
            return self.group_order[self.groups]
        return np.argsort(self.canonical)[self.user_order]

    def code_blocks(self, profiles: FullProfiles) -> Iterator[tuple[NDArray[np.int32], NDArray[np.uint8]]]:
        """Return full profiles group by group: the groups' names, and their labels as numbers of the grid's values."""
        for start, stop in _cuts(profiles.counts[self.group_order]):
            yield np.arange(start + 1, stop + 1, dtype=np.int32), profiles.codes(self.group_order[start:stop])

    def to_polars(self) -> pl.DataFrame:
        """Return the public rows as a table ``user``, ``item``, ``rating``; for small releases."""
        if self.facts.n_ratings > _MOST_CELLS_IN_MEMORY:
            raise InputError(f"a table of {self.facts.n_ratings:,} ratings does not fit; write the release and read it")
        return pl.concat([self._table(block) for block in self.blocks("long")])

    def mapping(self) -> pl.DataFrame:
        """Return who is who (private): ``user_id`` as in the source, ``user`` and ``group`` as published."""
        users = np.argsort(self.user_order)
        table = {"user_id": self.source.user_ids.ids, "user": users + 1, "group": self.groups[users] + 1}
        return pl.DataFrame(table).with_columns(pl.col("user", "group").cast(pl.Int32))

    def write(
        self,
        folder: str | Path,
        *,
        private: str | Path | None = None,
        layout: str | None = None,
        format: str = "parquet",  # noqa: A002 (the command line's name)
    ) -> Path:
        """Write, verify and put into place the public folder and the private one; return the public one.

        Parameters
        ----------
        folder
            The public folder; it must not be there, or be empty.
        private
            Where who-is-who goes; by default beside ``folder``, with ``-private`` behind its name.
        layout
            ``"grouped"`` (a row per group, the default), ``"long"`` (per user) or ``"factors"`` (a few numbers for each
            group and item, from which `recloak.load` computes cells; padded with labels of the model). Users and groups
            carry other names in each layout and format; `named` gives this release under them.
        format
            ``"parquet"`` or ``"csv"``.

        Raises
        ------
        RefusedError
            If what was written does not keep its promise; then nothing is published.
        """
        from recloak._releases.release_folders import write_release  # noqa: PLC0415 (folders imports this module)

        return write_release(self, folder, private=private, layout=layout, file_format=format)

    def _table(self, block: ProfileBlock) -> pl.DataFrame:
        names = np.repeat(block.names, np.diff(block.cells.indptr)).astype(np.int32)
        return pl.DataFrame(
            {"user": names, "item": self.item_ids.decode(block.cells.items), "rating": block.cells.labels}
        )


class FolderRelease(Release):
    """A release whose rows lie in its folder only, as Spark leaves it."""

    def __init__(self, facts: Facts, folder: Path, private: Path) -> None:
        for name, value in (("facts", facts), ("folder", folder), ("private", private)):
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise InputError(f"the rows of this release lie in {self.folder}: read them there")


def release(
    profiles: Profiles,
    ratings: Ratings,
    grouping: Grouping,
    facts: Facts,
    *,
    rng: Rng = None,
    recipe: Any = None,
    account: dict[str, Any] | None = None,
    canonical: NDArray[np.int64] | None = None,
) -> Release:
    """Assign fresh names to users and groups in a random order; ``recipe`` is all that was chosen to make the release.

    Of drawn rows, ``canonical`` is an order of the users that is free of their ids; so then are the names.
    """
    named_by = (ratings, grouping.labels) if canonical is None else _without_ids(ratings, grouping, canonical)
    key = secret_key(*named_by, [recipe, facts.recipe], randomness(rng))
    plain = np.arange(grouping.n_groups), np.arange(ratings.n_users)
    made = Release(
        facts, profiles, *plain, grouping.labels.astype(np.int64), ratings, key, account or {}, canonical=canonical
    )
    return made.named()


def _without_ids(
    ratings: Ratings, grouping: Grouping, canonical: NDArray[np.int64]
) -> tuple[Ratings, NDArray[np.int32]]:
    return in_order(ratings, canonical), grouping.labels[canonical]


def _shown(profiles: Profiles, layout: str) -> Profiles:
    """Return profiles as a layout shows them; raise InputError where it cannot."""
    profiles = profiles.made_of if isinstance(profiles, FactorProfiles) else profiles
    if layout != FACTORS:
        return profiles
    if not isinstance(profiles, FullProfiles):
        raise InputError("the layout factors takes rows that have every item, as mode='padded' makes them")
    return as_factors(profiles)


def _about_factors(profiles: Profiles, facts: Facts) -> dict[str, Any]:
    """Return the facts that depend on whether labels are listed on a grid or follow from factors."""
    if isinstance(profiles, FactorProfiles):
        basis = profiles.basis
        return {"grid": None, "mean": basis.published_mean, "precision": basis.step, "rank": basis.rank}
    grid = profiles.grid.step if isinstance(profiles, FullProfiles) else facts.grid
    return {"grid": grid, "mean": None, "precision": None, "rank": None}


def _cuts(counts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Cut rows into runs of about `BLOCK_CELLS` cells, at least one row each."""
    ends = np.cumsum(counts)
    start = 0
    while start < len(counts):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + BLOCK_CELLS, side="right")))
        yield start, stop
        start = stop
