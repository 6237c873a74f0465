"""Sentences about the rarest items of one released row, for singling people out: "I rated these two".

A row that lacks items, be it drawn for a group or the union of its members, suggests such sentences. The attacker takes
the rarest items of the row, as the release counts them, and is right when the sentence is true of exactly one person of
the source. Adding ratings, or more items, or choosing among the rarest, was tried and told fewer people apart.

Such a sentence is true of exactly one person now and then anyway. Were it not made from these very people, the numbers
of people that sentences fit would scatter like a mixed Poisson distribution: the baseline is the chance of exactly one
in a negative binomial distribution of the same mean and variance. Where the owner gives as many people who are not in
the release, the share of sentences that are true of exactly one of them is the baseline instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial, reduce

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from recloak._attacks.attack_input import OutsideRatings
from recloak._core.errors import InputError
from recloak._core.intervals import Share, wilson
from recloak._ratings.model import Ratings

_MOST_FITTING = 50  # people; beyond, a sentence is far from true of one

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Crowd:
    """Who rated each item: item i has the people ``users[indptr[i]:indptr[i + 1]]``, ascending."""

    indptr: NDArray[np.int64]
    users: NDArray[np.integer]

    @classmethod
    def of(cls, ratings: Ratings) -> Crowd:
        """Return the people of a source."""
        columns = ratings.by_item()
        return cls(columns.indptr, columns.users)

    @classmethod
    def outside(cls, others: OutsideRatings, n_items: int, chosen: NDArray[np.int64]) -> Crowd:
        """Return some people who are not in the source."""
        rows = [others.row(int(user)) for user in chosen]
        items = np.concatenate([others.items[row] for row in rows])
        users = np.repeat(np.arange(len(chosen)), [row.stop - row.start for row in rows])
        order = np.lexsort((users, items))
        return cls(np.searchsorted(items[order], np.arange(n_items + 1)), users[order])

    def fitting(self, items: NDArray[np.integer]) -> int:
        """Count the people who rated all of some items."""
        each = (self.users[self.indptr[item] : self.indptr[item + 1]] for item in items)
        return len(reduce(partial(np.intersect1d, assume_unique=True), each))


@dataclass(frozen=True, eq=False, slots=True)
class ItemRows:
    """Released rows that lack items, and how often each item stands in any."""

    items: tuple[NDArray[np.integer], ...]
    counts: Counts  # (n_items,)

    def rarest(self, n: int, stream: np.random.Generator) -> list[NDArray[np.integer]]:
        """Return the rarest items of each row that has so many, equally rare ones by lot."""
        long = (items for items in self.items if len(items) >= n)
        return [items[np.lexsort((stream.random(len(items)), self.counts[items]))[:n]] for items in long]


@dataclass(frozen=True, eq=False, slots=True)
class Told:
    """How many people each sentence fits, of the source, and of people who are not in the release."""

    fits: Counts
    outside: Counts | None

    @property
    def share(self) -> Share:
        """The share of sentences that are true of one person only."""
        return wilson(int((self.fits == 1).sum()), len(self.fits))

    @property
    def control(self) -> Share | None:
        """The share that is true of one of the people who are not in the release."""
        return None if self.outside is None else wilson(int((self.outside == 1).sum()), len(self.outside))

    @property
    def baseline(self) -> float:
        """The share that is true of one person where sentences know nothing about these very people."""
        return exactly_one(self.fits) if self.control is None else self.control.rate


def exactly_one(fits: Counts) -> float:
    """Return the chance of exactly one in a negative binomial distribution of the same mean and variance.

    With mean m, variance v > m, p = m / v and r = m p / (1 - p) it is r p^r (1 - p); for v <= m it is Poisson's.
    """
    if not len(fits):
        return 0.0
    seen = np.minimum(fits, _MOST_FITTING)
    mean, variance = float(seen.mean()), float(seen.var())
    if variance <= mean * (1 + 1e-6):
        return float(mean * np.exp(-mean))
    p = mean / variance
    r = mean * p / (1 - p)
    return float(np.exp(gammaln(r + 1) - gammaln(r) + r * np.log(p) + np.log1p(-p)))


def tell(rows: ItemRows, n: int, people: Crowd, others: Crowd | None, stream: np.random.Generator) -> Told:
    """Try sentences about so many items on the people of the source, and on others where there are some."""
    sentences = rows.rarest(n, stream)
    if not sentences:
        raise InputError(f"no row has {n} items")
    return Told(_fits(people, sentences), None if others is None else _fits(others, sentences))


def _fits(people: Crowd, sentences: list[NDArray[np.integer]]) -> Counts:
    return np.array([people.fitting(one) for one in sentences], np.int64)
