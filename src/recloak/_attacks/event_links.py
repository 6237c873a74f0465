"""What the rows of purchases and plays tell about one member: to other members of the group, and about rare items.

Rows without ratings cannot be solved for a rating, but members who know their own items can take them out of the row.
With p the chance of an item before looking and m members that nobody knows, an item that none of the colluders used is

    pure     in the row: some unknown member used it, the target with p / (1 - (1 - p)^m); it is certain for m = 1
    sampled  drawn so often beyond what the colluders explain (`drawn_evidence`)
    padded   the group's propensity times its size, less those of the colluders, which follow from the same model

The colluders of a padded release fit their own rows in the directions of the released table, a use weighing six times
as the data card says. Released rows are scaled to one sum; the colluders scale the row of their group back, as if the
unknown members used as much as they do themselves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.drawn_evidence import activity, counts_of, evidence
from recloak._attacks.link import N_BETS
from recloak._attacks.model import Hits, PersonRisks, Public
from recloak._attacks.released_cells import members_of, rows_of
from recloak._core.errors import InputError
from recloak._core.intervals import wilson
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import COUNTS, PRESENCE

_MOST_TARGETS = 300
_LEARNED_ROWS = 600  # of a padded release, in which its directions are found
_RANK = 24
_CONFIDENCE = 5.0
_EVENTS = (PRESENCE.name, COUNTS.name)

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class _World:
    """What every insider knows."""

    public: Public
    ratings: Ratings
    popularity: Numbers  # (n_items,) share of all people
    directions: Numbers | None  # (n_items, rank) of a padded table, scaled as groups vary

    @classmethod
    def of(cls, public: Public, ratings: Ratings) -> _World:
        popular = np.clip(ratings.popularity / ratings.n_users, 1e-6, 0.95)
        return cls(public, ratings, popular, _directions(public) if public.is_complete else None)

    def used(self, users: NDArray[np.integer]) -> Numbers:
        """Return how many of some users used each item."""
        cells = [self.ratings.items[self.ratings.row(int(user))] for user in users]
        return np.bincount(np.concatenate(cells), minlength=self.ratings.n_items).astype(np.float64)


def _directions(public: Public) -> Numbers:
    """Return the main directions of a padded table."""
    some = np.unique(np.linspace(0, public.n_profiles - 1, _LEARNED_ROWS).astype(np.int64))
    rows = rows_of(public, some).astype(np.float64)
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept = sizes[:_RANK] > 1e-6 * sizes[0]
    found: Numbers = directions[:_RANK][kept].T * (sizes[:_RANK][kept] / np.sqrt(len(some)))
    return found


def beliefs(world: _World, group: int, colluders: NDArray[np.integer]) -> Numbers:
    """Return how far insiders believe that one unknown member of a group used each item; only the order counts."""
    public, told = world.public, world.used(colluders) if len(colluders) else np.zeros(world.ratings.n_items)
    n_unknown = max(int(public.weights[group]) - len(colluders), 1)
    if public.drawn is not None:
        probability = np.clip(world.popularity * activity(public)[group], 1e-6, 0.95)
        odds = np.log(probability) - np.log1p(-probability)
        counts = counts_of(public, np.array([group]))[0]
        return odds + evidence(public, counts, public.weights[group] * probability, told)
    row = rows_of(public, np.array([group]))[0].astype(np.float64)
    if world.directions is not None:
        known = sum((_propensities(world, int(one)) for one in colluders), np.zeros_like(row))
        scale = known.sum() / (len(colluders) * row.sum()) if len(colluders) and row.sum() > 0 else 1.0
        return (public.weights[group] * max(scale, 0.0) * row - known) / n_unknown
    p = world.popularity
    alone = p / (1 - (1 - p) ** n_unknown)
    return np.where(np.isnan(row), 0.0, np.where(told > 0, p, alone))


def _propensities(world: _World, user: int) -> Numbers:
    """Return the row that the model makes of one colluder's items, in the directions of the table."""
    assert world.directions is not None
    items, z = world.ratings.items[world.ratings.row(user)], world.directions
    own = z[items]
    table = z.T @ z + _CONFIDENCE * own.T @ own + np.eye(z.shape[1])
    return z @ np.linalg.solve(table, (1 + _CONFIDENCE) * own.sum(axis=0))


def bet(
    world: _World, targets: NDArray[np.integer], n_colluders: int, allowed: NDArray[np.bool_], given: AttackInput
) -> Hits:
    """Bet on the ten allowed items that are believed in most, for each target with enough other members."""
    members, stream = members_of(world.public), given.randomness.stream("event insiders", n_colluders)
    right, people = [], []
    for user in targets:
        group = int(world.public.owner[user])
        others = members.users[members.starts[group] : members.starts[group + 1]]
        others = others[others != user]
        if len(others) < n_colluders:
            continue
        colluders = stream.permutation(others)[:n_colluders]
        believed = np.where(allowed, beliefs(world, group, colluders), -np.inf)
        bets = np.argsort(-believed, kind="stable")[:N_BETS]
        right.append(int(np.isin(bets, world.ratings.items[world.ratings.row(int(user))]).sum()))
        people.append(int(user))
    if not people:
        raise InputError(f"no target has {n_colluders} other members in its group")
    n_bets = min(N_BETS, int(allowed.sum()))
    risks = PersonRisks(np.array(people), np.array(right) / n_bets)
    return Hits(wilson(sum(right), n_bets * len(people)), people=risks)


def _blind(world: _World, targets: NDArray[np.integer], allowed: NDArray[np.bool_]) -> float:
    """Return the success of betting on the ten most popular of the allowed items."""
    order = np.argsort(np.where(allowed, -world.popularity, np.inf), kind="stable")
    bets = order[: min(N_BETS, int(allowed.sum()))]
    rows = (world.ratings.items[world.ratings.row(int(user))] for user in targets)
    return float(np.mean([np.isin(bets, row).mean() for row in rows]))


def _targets(given: AttackInput) -> NDArray[np.int64]:
    return np.sort(given.randomness.stream("event insiders").permutation(given.targets())[: given.most(_MOST_TARGETS)])


def _run_insiders(given: AttackInput) -> Findings:
    world, targets = _World.of(given.public_release(), given.ratings), _targets(given)
    everything = np.ones(given.ratings.n_items, bool)
    hits = bet(world, targets, given.colluders or 1, everything, given)
    return Findings(hits, baseline=_blind(world, targets, everything))


def _run_rare(given: AttackInput) -> Findings:
    """Bet on items that fewer people use than two groups have."""
    world = _World.of(given.public_release(), given.ratings)
    rare = given.ratings.popularity < 2 * given.k
    holders = np.unique(given.ratings.users()[rare[given.ratings.items]])
    if not len(holders):
        raise InputError("nobody uses an item that fewer people use than two groups have")
    targets = np.sort(given.randomness.stream("rare items").permutation(holders)[: given.options.targets])
    hits = bet(world, targets, 0, rare, given)
    return Findings(hits, baseline=_blind(world, targets, rare))


INSIDERS = Attack(
    name="insider-items",
    kind=Kind.TELLS_CELLS,
    values=_EVENTS,
    drawn_rows=True,
    title="Members who take their own items out of the row (insiders)",
    short="insiders, items",
    attacker="has members of the target's group take out of its row what they used, and bets on ten items of "
    "what is left",
    unit="bets won",
    baseline="betting on the most popular items",
    criterion="inference",
    actor="insider",
    run=_run_insiders,
    varied=Varied.COLLUDERS,
    order=115,
)
RARE = Attack(
    name="rare-items",
    kind=Kind.TELLS_CELLS,
    values=_EVENTS,
    drawn_rows=True,
    title="Rare items of one member",
    short="rare items",
    attacker="knows the group of somebody with a rare item, and bets on ten items that fewer people use than "
    "two groups have",
    unit="bets won",
    baseline="betting on the most used of these items",
    criterion="inference",
    run=_run_rare,
    order=95,
)
ATTACKS = (INSIDERS, RARE)
