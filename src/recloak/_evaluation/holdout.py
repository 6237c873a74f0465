"""Ratings held out of a source (the probe), and trial releases of the rest.

The probe is split off before anything is learned, so it can leak neither into the padding nor into the groups.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._attacks.event_views import values_seen
from recloak._attacks.public_view import ReleaseView, see_release
from recloak._core.errors import InputError, OptionError
from recloak._core.files import scratch_folder
from recloak._core.randomness import Rng, randomness
from recloak._core.results import sizes_only
from recloak._ratings.ids import UNKNOWN
from recloak._ratings.model import Ratings
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.publishing import publish
from recloak._releases.release import Release


@dataclass(frozen=True, eq=False, slots=True)
class Probe:
    """Held-out ratings of known users for known items, numbered as in the source and sorted by user."""

    users: NDArray[np.int32]
    items: NDArray[np.int32]
    values: NDArray[np.float32]
    n_left_out: int = 0  # pairs of users or items that the source does not have

    __repr__ = sizes_only

    def __len__(self) -> int:
        return len(self.users)

    @classmethod
    def empty(cls) -> Probe:
        """Return a probe without a rating, where none was held out."""
        return cls(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))

    def to_polars(self, ratings: Ratings) -> pl.DataFrame:
        """Return a table with the ids of the source: ``user``, ``item``, ``rating``."""
        users, items = ratings.user_ids.decode(self.users), ratings.item_ids.decode(self.items)
        return pl.DataFrame({"user": users, "item": items, "rating": self.values})


def probe_from(ratings: Ratings, held_out: Ratings) -> Probe:
    """Return held-out ratings with the source's numbers; raise InputError if the source has one of them too."""
    users = ratings.user_ids.encode(held_out.user_ids.ids)[held_out.users()]
    items = ratings.item_ids.encode(held_out.item_ids.ids)[held_out.items]
    known = (users != UNKNOWN) & (items != UNKNOWN)
    if not known.any():
        raise InputError("no rating of the probe is of a user and an item of the source")
    order = np.lexsort((items[known], users[known]))
    probe = Probe(users[known][order], items[known][order], held_out.values[known][order], int((~known).sum()))
    if n_leaked := int(_in_source(ratings, probe).sum()):
        raise InputError(f"{n_leaked} ratings of the probe stand in the source too: leave them out of it first")
    return probe


def _in_source(ratings: Ratings, probe: Probe) -> NDArray[np.bool_]:
    keys = ratings.users().astype(np.int64) * ratings.n_items + ratings.items
    wanted = probe.users.astype(np.int64) * ratings.n_items + probe.items
    place = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return keys[place] == wanted


def sample_users(probe: Probe, most: int, stream: np.random.Generator) -> NDArray[np.int32]:
    """Return the users of a probe, or a random sample if there are more than ``most``."""
    users = np.unique(probe.users)
    return users if len(users) <= most else np.sort(stream.choice(users, most, replace=False))


def hold_out(ratings: Ratings, share: float, *, rng: Rng = None) -> tuple[Ratings, Probe]:
    """Split off a random share of the ratings; every user and every item keeps at least one.

    The rest keeps all users and items, so that inside numbers stay the same on both sides.
    """
    if not 0 < share < 1:
        raise OptionError(f"the share to hold out must lie between 0 and 1, got {share}")
    stream = randomness(rng).stream("hold-out")
    chosen = np.zeros(ratings.n_ratings, bool)
    chosen[stream.permutation(ratings.n_ratings)[: round(share * ratings.n_ratings)]] = True
    chosen &= ~_must_stay(ratings.users(), chosen, ratings.n_users)
    chosen &= ~_must_stay(ratings.items, chosen, ratings.n_items)
    if not chosen.any():
        raise InputError("nothing can be held out: every rating is the only one of its user or item")
    probe = Probe(ratings.users()[chosen], ratings.items[chosen].copy(), ratings.values[chosen].copy())
    return ratings.where(~chosen), probe


def _must_stay(owner: NDArray[np.int32], chosen: NDArray[np.bool_], n_owners: int) -> NDArray[np.bool_]:
    """Mark the first rating of each owner (a user, or an item) who would be left with none."""
    n_left = np.bincount(owner[~chosen], minlength=n_owners)
    first = np.zeros(len(owner), bool)
    first[np.unique(owner, return_index=True)[1]] = True
    return (n_left[owner] == 0) & first


@dataclass(frozen=True, eq=False, slots=True)
class TrialRelease:
    """A published release, the ratings it was made from, and the ratings held out."""

    ratings: Ratings
    probe: Probe
    release: ReleaseView


def make_trial_release(ratings: Ratings, share: float, options: PublishOptions, *, rng: Rng = None) -> TrialRelease:
    """Hold out a share of the ratings and publish the rest into a temporary folder."""
    source = randomness(rng)
    rest, probe = hold_out(ratings, share, rng=source.child("trial"))
    release = publish_temporarily(rest, options, rng=source)
    return TrialRelease(values_seen(rest, release.manifest), probe, release)


def publish_temporarily(
    ratings: Ratings, options: PublishOptions, *, pad_options: PadOptions | None = None, rng: Rng = None
) -> ReleaseView:
    """Publish, verify and read back a release that is not kept."""
    release = publish(ratings, options=options, pad_options=pad_options, rng=rng)
    return read_back(release, values_shown(ratings, release))


def values_shown(ratings: Ratings, release: Release) -> Ratings:
    """Return the source in the values that its release shows."""
    facts = release.facts
    said = {"values": facts.values, "mode": facts.mode, "scale": {"high": facts.scale.high}}
    return values_seen(ratings, said)


def read_back(release: Release, ratings: Ratings) -> ReleaseView:
    """Write a release into a temporary folder, and read it as an outsider would.

    The folder says who is who, so if a run is killed the next one removes what it left.
    """
    with scratch_folder(Path(tempfile.gettempdir()) / "recloak-trial") as folder:
        release.write(folder / "public", private=folder / "private")
        return see_release(folder / "public", folder / "private", ratings)
