"""Insiders who know how a group's row is fitted: what is left of its equations when their own ratings are taken out.

Where labels come from the model, the row of a group is a ridge regression with the items held still: with z the numbers
of an item, F what the row says of it and x the row's own numbers,

    sum over members and their ratings of  z (rating - F)  =  weight P (x - centre),

one equation for each factor. Members who put their ratings together know their part of the sum, so they know the sum
``G = sum z (rating - F)`` over the ratings of the others. If one target is left, G tells which way the target departs
from the row, ``(n C + noise P)^-1 G``, and how much likelier each rating makes G: the log likelihood ratio of "rated it
with s stars" is ``(s - F) z^T S^-1 G - (s - F)^2 z^T S^-1 z / 2``, where S is how sums over so many ratings spread.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.group_likelihood import GroupModel, group_model_of
from recloak._attacks.member_signs import ItemMemory, item_memory, person_of
from recloak._attacks.model import Hits, Line, PersonRisks, step_of
from recloak._attacks.public_columns import item_means, labels_for
from recloak._attacks.released_cells import Members, members_of
from recloak._attacks.two_samples import auc
from recloak._core.errors import InputError
from recloak._core.intervals import wilson
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS

_MOST_TARGETS = 200
_NOISE_SHARE = 0.7  # of the k-fold noise: how rows are fitted is public, as all of the code is
_WIDER = 1.2  # ratings spread wider around a group's row than around the person's own prediction
_FADED = 1e-6
_TRUST = (0.0, 0.03, 0.1, 0.25, 0.5, 1.0)  # degrees to which the equations are believed; at 0 it is the row alone

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, slots=True)
class _Insiders:
    """What all insiders of a release know."""

    model: GroupModel
    memory: ItemMemory
    ratings: Ratings
    stars: Numbers  # (n_stars,) the values of the scale
    odds: Numbers  # (n_items,) log odds that anybody rated, by popularity
    typical: float  # number of ratings of a person
    members: Members
    means: NDArray[np.floating]  # (n_items,) mean labels
    sizes: dict[int, Numbers] = field(default_factory=dict)  # z^T S^-1 z of each item by people, worked out once

    @property
    def basis(self) -> Numbers:
        """The numbers z of every item: (n_items, rank)."""
        return np.asarray(self.memory.fit.basis.T, np.float64)

    def spread_of_sums(self, n_others: int) -> Numbers:
        """Return how the sum of z (rating - F) over so many people spreads: (rank, rank)."""
        spread = n_others * _WIDER * self.memory.noise * self.typical * self.memory.typical
        return np.asarray(spread + _FADED * np.eye(len(spread)))

    def size(self, n_others: int) -> Numbers:
        """Return z^T S^-1 z of each item: (n_items,)."""
        if n_others not in self.sizes:
            basis = self.basis
            self.sizes[n_others] = np.einsum("if,fi->i", basis, np.linalg.solve(self.spread_of_sums(n_others), basis.T))
        return self.sizes[n_others]


@dataclass(frozen=True, eq=False, slots=True)
class _Reading:
    """What insiders read of every item of the target: what the row says, how far the target departs, and evidence."""

    row: Numbers
    departs: Numbers
    evidence: Numbers  # how much likelier the sum is if the target rated the item

    def expected(self, weight: float, who: _Insiders) -> Numbers:
        """Return the rating that the target would give, believing in the departure to some degree."""
        return np.clip(self.row + weight * self.departs, who.stars[0], who.stars[-1])


def left_over(who: _Insiders, place: Numbers, colluders: NDArray[np.integer], k: int) -> Numbers:
    """Return G, the sum of z (rating - F) over the ratings of the members who do not collude: (rank,)."""
    memory, ratings = who.memory, who.ratings
    known = np.zeros(len(place))
    for one in colluders:
        row = ratings.row(int(one))
        person = person_of(memory, ratings.items[row], ratings.values[row])
        known += person.basis.T @ (person.left - person.basis @ place)
    return np.asarray(_NOISE_SHARE * k * memory.noise * memory.precision @ (place - memory.centre) - known)


def read_target(who: _Insiders, place: Numbers, found: Numbers, n_others: int) -> _Reading:
    """Return what the sum over the others' ratings tells of a target who is one of so many."""
    memory, basis = who.memory, who.basis
    own = np.linalg.solve(who.typical * memory.typical + memory.noise * memory.precision, found / n_others)
    row, departs = memory.fit.means + basis @ place, basis @ own
    pull = basis @ np.linalg.solve(who.spread_of_sums(n_others), found)
    expected = np.clip(row + departs, who.stars[0], who.stars[-1])
    return _Reading(row, departs, _evidence(who, expected, row, pull, who.size(n_others)))


def _evidence(who: _Insiders, expected: Numbers, row: Numbers, pull: Numbers, size: Numbers) -> Numbers:
    """Return how much likelier the sum is if the target rated each item, over the stars that may have been given."""
    prior = -np.square(who.stars[None, :] - expected[:, None]) / (2 * who.memory.noise)  # (n_items, n_stars)
    prior -= np.logaddexp.reduce(prior, axis=1, keepdims=True)
    off = who.stars[None, :] - row[:, None]
    return np.asarray(np.logaddexp.reduce(prior + off * pull[:, None] - np.square(off) * size[:, None] / 2, axis=1))


def insiders_of(model: GroupModel, ratings: Ratings) -> _Insiders:
    """Return what all insiders of a release know."""
    step = step_of(ratings.scale)
    stars = np.linspace(ratings.scale.low, ratings.scale.high, min(round(ratings.scale.span / step) + 1, 41))
    odds = np.log(model.popularity) - np.log1p(-model.popularity)
    memory, typical = item_memory(model, ratings), ratings.n_ratings / ratings.n_users
    shown = members_of(model.public), item_means(model.public)
    return _Insiders(model, memory, ratings, stars, odds, typical, *shown)


def insider_fit(
    who: _Insiders, targets: NDArray[np.integer], *, k: int, colluders: int, stream: np.random.Generator
) -> tuple[Hits, float, Line]:
    """Read the ratings of each target; return the share read exactly, the same by the label, and whether it rated.

    How far to trust the equations is learned from every other target: insiders can try it on each other.
    """
    read = [one for user in targets if (one := _attacked(who, int(user), k, colluders, stream)) is not None]
    if len(read) < 2:
        raise InputError(f"no two targets have {colluders} other members in their groups")
    users, counts = np.array([one.user for one in read]), np.array([one.n_ratings for one in read])
    stars, links = np.array([one.stars for one in read]), np.array([one.links for one in read])
    right, told = _by_the_others(stars, counts), _by_the_others(links, np.ones(len(read)))
    outsider = float(np.array([one.by_outsiders for one in read]).sum(axis=0).max() / counts.sum())
    popular, n = float(links[:, 0].mean()), int(counts.sum())
    details = {
        "told_by_label": outsider,
        "cells": n,
        "link_auc": float(told.mean()),
        "link_auc_by_popularity": popular,
    }
    line = Line("link_auc", wilson(float(told.sum()), len(told)), popular)
    return Hits(wilson(int(right.sum()), n), details=details, people=PersonRisks(users, right / counts)), outsider, line


@dataclass(frozen=True, eq=False, slots=True)
class _Read:
    """What came of one target, for each degree of trust."""

    user: int
    n_ratings: int
    stars: list[int]  # ratings read exactly; last come the ways of outsiders, which are open to insiders too
    links: list[float]  # AUC of what was rated
    by_outsiders: list[int]  # read exactly by the label, and by the item's mean


def _attacked(who: _Insiders, user: int, k: int, colluders: int, stream: np.random.Generator) -> _Read | None:
    """Attack one target; None where the group is too small, or everything was rated."""
    public, ratings, members = who.model.public, who.ratings, who.members
    group, row = int(public.owner[user]), ratings.row(user)
    others = members.users[members.starts[group] : members.starts[group + 1]]
    others = stream.permutation(others[others != user])
    items, truth = ratings.items[row], ratings.values[row]
    if len(others) < colluders or len(items) == ratings.n_items:
        return None
    place = who.model.places[group].astype(np.float64)
    reading = read_target(who, place, left_over(who, place, others[:colluders], k), len(others) - colluders + 1)
    rated = np.zeros(ratings.n_items, bool)
    rated[items] = True
    beliefs = [who.odds + trust * reading.evidence for trust in _TRUST]
    guesses = labels_for(public, np.full(len(items), group), items), who.means[items]
    outsiders = [int(_exact(guess, truth, ratings).sum()) for guess in guesses]
    stars = [int(_exact(reading.expected(trust, who)[items], truth, ratings).sum()) for trust in _TRUST]
    links = [auc(belief[rated], belief[~rated]) for belief in beliefs]
    return _Read(user, len(items), [*stars, *outsiders], links, outsiders)


def _by_the_others(scores: NDArray[Any], counts: NDArray[Any]) -> Numbers:
    """Return the score of each target with the degree of trust that is best for every other target."""
    found, even = np.empty(len(scores)), np.arange(len(scores)) % 2 == 0
    for half in (even, ~even):
        found[half] = scores[half, int((scores[~half].sum(axis=0) / counts[~half].sum()).argmax())]
    return found


def _exact(estimate: NDArray[np.floating], truth: NDArray[np.float32], ratings: Ratings) -> NDArray[np.bool_]:
    step = step_of(ratings.scale)
    rounded = np.clip(np.round(estimate / step) * step, ratings.scale.low, ratings.scale.high)
    return np.asarray(np.abs(rounded - truth) < step / 2)


def _run(given: AttackInput) -> Findings:
    model = group_model_of(given.public_release(), given.ratings)
    if not model.public.is_complete:
        raise InputError("rows of a release that is not complete are not fitted")
    stream = given.randomness.stream("insider-fit", given.colluders or 1)
    targets = np.sort(stream.permutation(given.targets())[: given.most(_MOST_TARGETS)])
    who, colluders = insiders_of(model, given.ratings), given.colluders or 1
    hits, baseline, line = insider_fit(who, targets, k=given.k, colluders=colluders, stream=stream)
    return Findings(hits, baseline=baseline, lines=(line,))


ATTACK = Attack(
    name="insider-fit",
    remedy="raise k: each member then knows a smaller part of the group.",
    kind=Kind.TELLS_CELLS,
    values=(RATINGS.name,),
    title="Members who take their own ratings out of the group's fit",
    short="insiders, fit",
    attacker="has members of the target's group, who know how its row was fitted, take their part out of its equations",
    unit="ratings of the target read off exactly",
    baseline="the group's label or the item's mean, rounded",
    criterion="inference",
    actor="insider",
    run=_run,
    varied=Varied.COLLUDERS,
    details={
        "cells": "Ratings looked at",
        "told_by_label": "Read off the label or the item's mean as it is",
        "link_auc": "Did the target rate it? AUC, mean of people",
        "link_auc_by_popularity": "The same by popularity, AUC",
    },
    order=112,
)
