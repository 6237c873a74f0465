"""Measure the fidelity of a release: the same contests on both sides, and the statistics.

**Protocol A**: whoever downloads the release splits its cells into training and test. The same is done with the
original, on the same people and items, and the two leaderboards are compared; splits of the original compared with each
other say how much of a difference is noise. **Protocol B**: a probe was held out before publishing, and the owner
scores predictions for its people; a person is served by the rows of the own group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.progress import Advance, task
from recloak._core.randomness import Randomness
from recloak._evaluation.fidelity.compared_statistics import compare_statistics
from recloak._evaluation.fidelity.entry_scores import HeldOutCells
from recloak._evaluation.fidelity.leaderboards import (
    Boards,
    Competition,
    Scores,
    agreement,
    compete,
    contests_for,
    n_entrants,
)
from recloak._evaluation.fidelity.model import Fidelity, Protocol
from recloak._evaluation.fidelity.training_rows import TrainingRows
from recloak._evaluation.fidelity.uses import in_uses, used, uses_of
from recloak._evaluation.holdout import Probe, hold_out
from recloak._evaluation.options import FidelityOptions
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS

_TEST_SHARE = 0.1


# Boards of the original by what they depend on besides the source: several releases of one source share them.
OriginalBoards = dict[tuple[float, float], tuple[list[Boards], list[Boards]]]


def measure_fidelity(
    ratings: Ratings, released: TrainingRows, probe: Probe | None, *, options: FidelityOptions, rng: Randomness,
    earlier: OriginalBoards | None = None,
) -> Fidelity:  # fmt: skip
    """Measure a release of ``ratings``; without a probe protocol B is left out.

    ``earlier`` holds the boards of the original that an earlier release of the same source and probe was compared
    with, and gets new ones; they serve only where everybody takes part.
    """
    if ratings.kind is not RATINGS:
        ratings, released, probe = uses_of(ratings), in_uses(released), None if probe is None else used(probe)
    contests = contests_for(ratings.kind)
    part = _take_part(ratings, released, probe, options, rng)
    n_boards = 2 * options.splits + (0 if part.probe is None else 2)
    with task("comparing leaderboards", n_boards * n_entrants(contests, options.quick)) as advance:
        runs = _Runs(part, contests, options.quick, rng, advance)
        everybody = part.ratings.n_users == ratings.n_users
        originals, on_probe = _originals(runs, options.splits, earlier if everybody else None)
        releases = [runs.split(part.released.rows, n) for n in range(options.splits)]
        outsider = _protocol(contests, originals, releases, on_probe if options.splits == 1 else [], options.quick)
        owner = None
        if part.probe is not None:
            owner = _protocol(contests, on_probe, [runs.on_release(part.probe)], originals, options.quick)
    statistics = compare_statistics(part.ratings, part.released)
    n_people, n_items = part.ratings.shape
    return Fidelity(outsider, owner, statistics, n_people, n_items, options.splits, rng.seed)


def _originals(runs: _Runs, splits: int, earlier: OriginalBoards | None) -> tuple[list[Boards], list[Boards]]:
    """Return the boards of the original, on its splits and on the probe where there is one."""
    ratings, probe = runs.part.ratings, runs.part.probe
    key = (ratings.scale.low, ratings.scale.high)
    if earlier is not None and key in earlier:
        return earlier[key]
    found = (
        [runs.split(ratings, n) for n in range(splits)],
        [] if probe is None else [runs.on_original(probe)],
    )
    if earlier is not None:
        earlier[key] = found
    return found


@dataclass(frozen=True, eq=False, slots=True)
class _Part:
    """The people and items that take part, on both sides."""

    ratings: Ratings
    released: TrainingRows
    probe: Probe | None


def _take_part(
    ratings: Ratings, released: TrainingRows, probe: Probe | None, options: FidelityOptions, rng: Randomness
) -> _Part:
    """Draw whole groups up to the most people, and take the most rated items."""
    people = _draw_people(released, options.most_people, rng)
    items = np.sort(np.argsort(-ratings.popularity, kind="stable")[: options.most_items])
    original = TrainingRows.of_original(ratings).of_people(people, items).rows
    part = released.of_people(people, items)
    if original.n_ratings < 2 or part.rows.n_ratings < 2:
        raise InputError("too few ratings are left to compare leaderboards")
    return _Part(original, part, None if probe is None else _renumbered(probe, people, items, ratings.shape))


def _draw_people(released: TrainingRows, most: int, rng: Randomness) -> NDArray[np.int64]:
    if len(released.owner) <= most:
        return np.arange(len(released.owner))
    place = rng.stream("people").permutation(released.n_groups)[released.owner]
    order = np.argsort(place, kind="stable")
    return np.sort(order[:most])


def _renumbered(probe: Probe, people: NDArray[np.integer], items: NDArray[np.integer], shape: tuple[int, int]) -> Probe:
    """Return the part of a probe that is about some people and items, with their numbers."""
    user, item = np.full(shape[0], -1, np.int32), np.full(shape[1], -1, np.int32)
    user[people], item[items] = np.arange(len(people)), np.arange(len(items))
    users, wanted = user[probe.users], item[probe.items]
    known = (users >= 0) & (wanted >= 0)
    if not known.any():
        raise InputError("no rating of the probe is about the people and items that take part")
    return Probe(users[known], wanted[known], probe.values[known])


@dataclass(frozen=True, eq=False, slots=True)
class _Runs:
    """What all boards share, and how one is made."""

    part: _Part
    contests: tuple[Competition, ...]
    quick: bool
    rng: Randomness
    advance: Advance

    def split(self, rows: Ratings, n: int) -> Boards:
        """Split a table, train on the one part and test on the other."""
        rest, test = hold_out(rows, _TEST_SHARE, rng=self.rng.child("split", n))
        return self._compete(rest, HeldOutCells.of_rows(test, rest))

    def on_original(self, probe: Probe) -> Boards:
        """Train on the original and score the probe."""
        return self._compete(self.part.ratings, HeldOutCells.of_rows(probe, self.part.ratings))

    def on_release(self, probe: Probe) -> Boards:
        """Train on the release and score the probe."""
        return self._compete(
            self.part.released.rows, HeldOutCells.of_people(probe, self.part.ratings, self.part.released)
        )

    def _compete(self, rows: Ratings, questions: HeldOutCells) -> Boards:
        return compete(
            self.contests, rows, questions, quick=self.quick, rng=self.rng.child("train"), advance=self.advance
        )


def _protocol(
    contests: tuple[Competition, ...],
    originals: list[Boards],
    releases: list[Boards],
    others: list[Boards],
    quick: bool,
) -> Protocol:
    def of(contest: Competition, boards: list[Boards]) -> list[Scores]:
        return [board[contest.name] for board in boards]

    return {
        one.name: agreement(one, of(one, originals), of(one, releases), of(one, others), quick=quick)
        for one in contests
    }
