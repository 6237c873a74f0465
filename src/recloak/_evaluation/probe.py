"""Probe ratings: what was left out of the source, numbered as the source is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._core.errors import InputError, OptionError
from recloak._core.randomness import Rng, randomness
from recloak._core.results import sizes_only
from recloak._ratings.ids import UNKNOWN
from recloak._ratings.model import Ratings


@dataclass(frozen=True, eq=False, slots=True)
class Probe:
    """Held-out ratings of known users for known items, sorted by user."""

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    n_left_out: int = 0  # pairs of users or items that the source does not have

    __repr__ = sizes_only

    def __len__(self) -> int:
        return len(self.users)

    def to_polars(self, ratings: Ratings) -> pl.DataFrame:
        """Give a table with the ids of the source: ``user``, ``item``, ``rating``."""
        users, items = ratings.user_ids.decode(self.users), ratings.item_ids.decode(self.items)
        return pl.DataFrame({"user": users, "item": items, "rating": self.values})


def probe_from(ratings: Ratings, held_out: Ratings) -> Probe:
    """Give another set of ratings the source's numbers; a pair that the source has too would leak and is refused."""
    users = ratings.user_ids.encode(held_out.user_ids.ids)[held_out.users()]
    items = ratings.item_ids.encode(held_out.item_ids.ids)[held_out.items]
    known = (users != UNKNOWN) & (items != UNKNOWN)
    if not known.any():
        raise InputError("no rating of the probe is of a user and an item of the source")
    order = np.lexsort((items[known], users[known]))
    probe = Probe(users[known][order], items[known][order], held_out.values[known][order], int((~known).sum()))
    leaked = _stands_in(ratings, probe)
    if leaked.any():
        raise InputError(
            f"{int(leaked.sum())} ratings of the probe stand in the source too: leave them out of it first"
        )
    return probe


def _stands_in(ratings: Ratings, probe: Probe) -> NDArray[np.bool_]:
    keys = ratings.users().astype(np.int64) * ratings.n_items + ratings.items
    wanted = probe.users.astype(np.int64) * ratings.n_items + probe.items
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return keys[place] == wanted


def hold_out(ratings: Ratings, share: float, *, rng: Rng = None) -> tuple[Ratings, Probe]:
    """Split a share of the ratings off at random; every user and every item keeps at least one.

    The rest keeps all users and items, so that inside numbers stay the same on both sides.
    """
    if not 0 < share < 1:
        raise OptionError(f"the share to hold out must lie between 0 and 1, got {share}")
    stream = randomness(rng).stream("hold-out")
    chosen = np.zeros(ratings.n_ratings, bool)
    n_wanted = round(share * ratings.n_ratings)
    chosen[stream.permutation(ratings.n_ratings)[:n_wanted]] = True
    chosen &= ~_last_of(ratings.users(), chosen, ratings.n_users)
    chosen &= ~_last_of(ratings.items, chosen, ratings.n_items)
    if not chosen.any():
        raise InputError("nothing can be held out: every rating is the only one of its user or item")
    probe = Probe(ratings.users()[chosen], ratings.items[chosen].copy(), ratings.values[chosen].copy())
    return ratings.where(~chosen), probe


def _last_of(owner: NDArray[np.int32], chosen: NDArray[np.bool_], n_owners: int) -> NDArray[np.bool_]:
    """Mark one rating of each owner who would be left with none."""
    left = np.bincount(owner[~chosen], minlength=n_owners)
    bare = left[owner] == 0
    first = np.zeros(len(owner), bool)
    _, places = np.unique(owner, return_index=True)
    first[places] = True
    return bare & first
