"""Membership by statistics: whether a person is among those who were counted.

The attacker is the strongest there can be: he knows all ratings of everybody else and of the target, and the size of
the noise. What is left of the published counts once everybody else is taken away is noise, or the target and noise;
he compares the two by their likelihood. The same noise serves for both worlds: without the target every published
count would be smaller by what the target adds. No one's part is taken as cut, which flatters the attacker.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.model import Hits, PersonRisks
from recloak._attacks.two_samples import auc_share, found_at
from recloak._core.errors import InputError
from recloak._ratings.model import Ratings

Floats = NDArray[np.float64]


class Leftover(NamedTuple):
    """What is published beyond the true counts, by item and by pair of items, and the size of the noise."""

    items: Floats  # (n_items,)
    noise: float
    pairs: dict[tuple[int, int], float]
    pair_noise: float


def leftover(tables: dict[str, pl.DataFrame], noise: dict[str, list[float]], ratings: Ratings) -> Leftover:
    """Take the true counts away from the published ones; the smallest noise of a table is taken for all of it."""
    counted, pairs = tables["statistics_items"], tables.get("statistics_pairs")
    beyond = np.zeros(ratings.n_items)
    numbers = ratings.item_ids.encode(counted["item"])
    if (numbers < 0).any():
        raise InputError("the statistics name items that the source does not have")
    beyond[numbers] = counted["raters"].to_numpy() - ratings.popularity[numbers]
    of_pairs = {} if pairs is None else _pairs_beyond(pairs, ratings)
    return Leftover(beyond, noise["statistics_items"][0], of_pairs, noise.get("statistics_pairs", [1.0])[0])


def _pairs_beyond(pairs: pl.DataFrame, ratings: Ratings) -> dict[tuple[int, int], float]:
    """Return the published count of each pair less the true one."""
    first, second = (ratings.item_ids.encode(pairs[name]) for name in ("item", "other"))
    top = np.unique(np.concatenate((first, second)))
    held = np.zeros((ratings.n_users, len(top)), np.int64)
    users = np.repeat(np.arange(ratings.n_users), np.diff(ratings.indptr))
    asked = np.isin(ratings.items, top)
    held[users[asked], np.searchsorted(top, ratings.items[asked])] = 1
    together = held.T @ held
    true = together[np.searchsorted(top, first), np.searchsorted(top, second)]
    beyond = pairs["raters"].to_numpy() - true
    return dict(zip(zip(first.tolist(), second.tolist(), strict=True), beyond.tolist(), strict=True))


def evidence(left: Leftover, items: NDArray[np.integer]) -> tuple[float, float]:
    """Return the evidence for a person in the world where the person was counted, and in the one without.

    It is the log likelihood ratio of normal noise, divided by its own standard deviation.
    """
    own = set(items.tolist())
    pairs = [left.pairs[pair] for pair in itertools.combinations(sorted(own & _paired(left)), 2) if pair in left.pairs]
    length = np.sqrt(len(items) / left.noise**2 + len(pairs) / left.pair_noise**2)
    noise = left.items[items].sum() / left.noise**2 + sum(pairs) / left.pair_noise**2
    return float(noise / length + length / 2), float(noise / length - length / 2)


def _paired(left: Leftover) -> set[int]:
    return {item for pair in left.pairs for item in pair}


def _run(given: AttackInput) -> Findings:
    assert given.release is not None
    assert given.release.statistics is not None
    left = leftover(given.release.statistics, given.release.manifest["statistics"]["noise"], given.ratings)
    targets = [int(user) for user in given.targets() if len(given.ratings.items[given.ratings.row(int(user))])]
    scores = np.array([evidence(left, given.ratings.items[given.ratings.row(user)]) for user in targets])
    counted, absent = scores.T
    epsilon = given.release.manifest["statistics"]["epsilon"]
    details = {"found_at_1_%": found_at(counted, absent, 0.01), "epsilon": epsilon}
    people = PersonRisks(np.array(targets), 1 / (1 + np.exp(-np.clip(counted, -30, 30))))
    return Findings(Hits(auc_share(counted, absent), details=details, people=people), baseline=0.5)


ATTACK = Attack(
    name="statistics-membership",
    drawn_rows=True,
    kind=Kind.TELLS_CELLS,
    title="Was this person counted? (statistics)",
    short="statistics",
    attacker="knows all ratings of the target and of everybody else, takes the others away from the published "
    "statistics, and says whether what is left is the target or noise",
    unit="chance that a person who was counted looks more like it than one who was not (AUC)",
    baseline="a coin",
    criterion="inference",
    run=_run,
    needs=("release", "statistics"),
    details={"found_at_1_%": "People found at 1 % false alarms", "epsilon": "Epsilon of the statistics"},
    order=73,
)
