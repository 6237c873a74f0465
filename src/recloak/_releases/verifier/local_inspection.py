"""All parts of a release, looked at on this machine one after the other and added up in memory."""

import secrets
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core import progress
from recloak._ratings.model import Ratings
from recloak._releases.model.release_format import Diversity
from recloak._releases.verifier.claims import Claims
from recloak._releases.verifier.diversity_check import Starved, every_row, item_bits, starved_users
from recloak._releases.verifier.drawn_check import DrawnFindings, check_drawn, rows_shown
from recloak._releases.verifier.item_numbers import ItemNumbers, words_of
from recloak._releases.verifier.judgement import Totals
from recloak._releases.verifier.link_check import Exceeded, exceeded_links, groups_of_users, published_users
from recloak._releases.verifier.part_findings import PartSummary, inspect_part, shown_cells


class _WholeTable(NamedTuple):
    """What the parts say together of every user or group."""

    counts: NDArray[np.int64]  # (n,) cells
    sizes: NDArray[np.int64]  # (n,) users behind the row
    distinct: NDArray[np.int64]  # (n,) the number of the row among those that differ
    models: NDArray[np.int64]  # by distinct row, the first user or group (from 1 on) that has it


class LocalInspection:
    """What the parts of a release hold; the secret behind the marks is drawn anew every time."""

    def __init__(self, claims: Claims) -> None:
        self.claims = claims
        self._items = ItemNumbers(secrets.token_bytes(32))
        with progress.task("verifying", sum(part.n_rows for part in claims.cell_parts) or 1) as advance:
            self._findings = [inspect_part(part, claims, self._items, advance) for part in claims.parts]

    @property
    def summaries(self) -> list[PartSummary]:
        """The parts, in the order of the manifest."""
        return [found.summary for found in self._findings]

    @cached_property
    def _whole(self) -> _WholeTable:
        """Put the parts together: users whose rows have the same mark share their items and labels."""
        n = self.claims.n_names
        counts, marks = np.zeros(n, np.int64), np.zeros((n, 2), np.uint64)
        sizes = np.full(n, self.claims.row_name == "user", np.int64)
        for (table, *_), (names, numbers, found) in self._findings:
            if table == "members" and not self.claims.is_drawn:
                sizes[names - 1] += numbers
            elif table == "members":
                continue  # of groups; the rows here are those of users
            else:
                counts[names - 1], marks[names - 1] = numbers, found
        words = marks.view([("one", np.uint64), ("two", np.uint64)]).reshape(-1)
        _, first_rows, distinct = np.unique(words, return_index=True, return_inverse=True)
        return _WholeTable(counts, sizes, distinct, first_rows + 1)

    def totals(self) -> Totals:
        """Add the parts up."""
        counts, sizes, distinct, models = self._whole
        return Totals(
            k=int(np.bincount(distinct, weights=sizes).min() if self._groups is None else self._groups.min()),
            n_users=int(sizes.sum()),
            n_items=len(self._items),
            n_ratings=int((counts * sizes).sum()),
            n_distinct=len(models),
            fewest=int(counts.min()),
            most=int(counts.max()),
            bare=_first_zero(counts),
            empty=_first_zero(sizes if self._groups is None else self._groups),
        )

    @property
    def _groups(self) -> NDArray[np.int64] | None:
        """The number of rows drawn for each group, where rows are drawn."""
        if not self.claims.is_drawn:
            return None
        sizes = np.zeros(self.claims.n_groups, np.int64)
        for (table, *_), (names, numbers, _) in self._findings:
            if table == "members":
                sizes[names - 1] += numbers
        return sizes

    def unknown_items(self, original: Ratings) -> int:
        """Count the items that the original does not have."""
        words = words_of(original.item_ids.ids.to_list(), self._items.secret)
        return len(np.setdiff1d(self._items.words()[0], words[0]))

    def named_once(self, original: Ratings, mapping: pl.DataFrame) -> bool:
        """Return whether the mapping names every user of the original, and every published one, once."""
        return published_users(mapping, original, self.claims.n_users) is not None

    def starved(self, original: Ratings, diversity: Diversity) -> Starved:
        """Count the users whose items stand together in too few rows."""
        return starved_users(self.item_bits(original), original, diversity)

    def exceeded(self, original: Ratings, mapping: pl.DataFrame) -> Exceeded | None:
        """Count the cells above the cap on links."""
        claims, users = self.claims, published_users(mapping, original, self.claims.n_users)
        if users is None:
            return None
        whole = self._whole
        rows = whole.models[whole.distinct] if claims.layout == "long" else groups_of_users(claims)
        return exceeded_links(claims, claims.cell_parts, rows[users - 1], original)

    def drawn_against(self, original: Ratings, mapping: pl.DataFrame) -> DrawnFindings | None:
        """Compare drawn rows with the people behind their groups; None where the mapping is not one of these users."""
        claims, users = self.claims, published_users(mapping, original, self.claims.n_users)
        groups = groups_of_users(claims)
        if users is None or not _are_groups(mapping, groups):
            return None
        read = list(shown_cells(claims, claims.cell_parts, original.item_ids))
        names, items = (np.concatenate(column) for column in zip(*read, strict=True))
        known = items >= 0
        rows = rows_shown(names[known], items[known], claims.n_users, original.item_ids)
        draw = np.random.default_rng(secrets.randbits(64))
        return check_drawn(rows, groups - 1, original, users - 1, claims.manifest["holders"], draw)

    def item_bits(self, original: Ratings) -> NDArray[np.uint64]:
        """Return which distinct rows hold each item of the original."""
        if self.claims.has_factors:  # every distinct row holds every item of the release
            known = original.item_ids.encode(self._items.ids())
            return every_row(known[known >= 0], len(original.item_ids), len(self._whole.models))
        return item_bits(self.claims, self._whole.models, original.item_ids)


def _are_groups(mapping: pl.DataFrame, groups: NDArray[np.int64]) -> bool:
    """Return whether the mapping puts every published user into the group of the release."""
    if "group" not in mapping.columns:
        return False
    said = groups[mapping["user"].to_numpy().astype(np.int64) - 1]
    return bool((said == mapping["group"].to_numpy()).all())


def _first_zero(numbers: NDArray[np.int64]) -> int | None:
    """Return the place of the first zero, from 1 on."""
    return None if numbers.all() else int(np.argmin(numbers)) + 1
