"""How much an observer infers at a given accuracy, how sure that figure is, and whether the beliefs are honest."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.intervals import Share, wilson

ACCURACIES = (0.5, 0.3, 0.2, 0.1)
FEWEST_INFERENCES = 30  # fewer right by luck are no attack
_BELIEFS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)  # steps of the table that compares belief and truth
_RESAMPLES = 100
_LONGEST = 12  # inferences for each addition: accuracy is then below a twelfth, and the lowest asked is a tenth


@dataclass(frozen=True, eq=False, slots=True)
class ObservedCells:
    """Every (target, item) cell that may have been added, and what the observer sees of it."""

    signs: NDArray[np.float32]  # (n_cells, n_signs)
    groups: tuple[str, ...]
    added: NDArray[np.bool_]
    people: NDArray[np.int32]
    additions: NDArray[np.int64]  # (n_users,) all that each target added, in these cells or not
    n_targets: int

    def without(self, groups: Collection[str]) -> NDArray[np.float32]:
        """Return the signs that are not of some groups."""
        kept = [place for place, group in enumerate(self.groups) if group not in groups]
        return np.ascontiguousarray(self.signs[:, kept])


@dataclass(frozen=True, slots=True)
class YieldAt:
    """The share of all additions that is inferred while at least ``accuracy`` of the inferences are right."""

    accuracy: float
    yielded: Share  # its interval is from drawing people anew
    n_inferences: int

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {"accuracy": self.accuracy, "yield": self.yielded.to_json(), "inferences": self.n_inferences}


@dataclass(frozen=True, slots=True)
class BeliefCheck:
    """How often inferences were right that the observer believed with about the same probability."""

    belief: float  # the mean
    right: Share

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        return {"belief": round(self.belief, 6), "right": self.right.to_json()}


@dataclass(frozen=True, slots=True)
class Observation:
    """What an observer inferred; ``yields`` is None where there was too little to learn from: not measured."""

    n_targets: int
    n_added: int
    yields: tuple[YieldAt, ...] | None
    beliefs: tuple[BeliefCheck, ...]

    @property
    def is_measured(self) -> bool:
        """Whether there was enough to learn from."""
        return self.yields is not None

    def at(self, accuracy: float) -> float | None:
        """Return the yield at an accuracy; None if it was not measured."""
        return next((one.yielded.rate for one in self.yields or () if one.accuracy == accuracy), None)

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name, ready for JSON."""
        yields = None if self.yields is None else [one.to_json() for one in self.yields]
        head = {"targets": self.n_targets, "additions": self.n_added, "measured": self.is_measured}
        return {**head, "yields": yields, "calibration": [one.to_json() for one in self.beliefs]}


def observation(
    cells: ObservedCells, odds: NDArray[np.float64], beliefs: NDArray[np.float64], stream: np.random.Generator
) -> Observation:
    """Return the yields of an observer who infers the cells with the largest odds first."""
    n_added = int(cells.additions.sum())
    order = np.argsort(-odds, kind="stable")[: max(_LONGEST * n_added, 1000)]
    right, people = cells.added[order], cells.people[order]
    found = [_furthest(np.cumsum(right), np.arange(1, len(right) + 1), level) for level in ACCURACIES]
    everyone = np.union1d(np.flatnonzero(cells.additions), people)
    given = right, np.searchsorted(everyone, people), cells.additions[everyone]
    drawn = np.array([_resampled(*given, stream) for _ in range(_RESAMPLES)])
    yields = []
    for place, (level, (n_right, n)) in enumerate(zip(ACCURACIES, found, strict=True)):
        low, high = np.quantile(drawn[:, place], (0.025, 0.975))
        rate = n_right / n_added
        yields.append(YieldAt(level, Share(rate, min(float(low), rate), max(float(high), rate), n_added), n))
    return Observation(cells.n_targets, n_added, tuple(yields), tuple(_checks(beliefs, cells.added)))


def _furthest(right: NDArray[Any], n: NDArray[Any], accuracy: float) -> tuple[int, int]:
    """Return how many are right, and of how many, at the lowest threshold that keeps the accuracy."""
    good = np.flatnonzero((right >= accuracy * n) & (n >= FEWEST_INFERENCES))
    return (int(right[good[-1]]), int(n[good[-1]])) if len(good) else (0, 0)


def _resampled(
    right: NDArray[np.bool_], people: NDArray[np.intp], additions: NDArray[np.int64], stream: np.random.Generator
) -> list[float]:
    """Return the yields when people are drawn anew, with replacement; ``people`` are places in ``additions``."""
    times = np.bincount(stream.integers(0, len(additions), len(additions)), minlength=len(additions))
    weight, n_added = times[people], int((times * additions).sum())
    n, n_right = np.cumsum(weight), np.cumsum(weight * right)
    return [_furthest(n_right, n, level)[0] / max(n_added, 1) for level in ACCURACIES]


def _checks(beliefs: NDArray[np.float64], added: NDArray[np.bool_]) -> list[BeliefCheck]:
    found, low = [], 0.0
    for high in _BELIEFS:
        some = (beliefs > low) & (beliefs <= high)
        if some.any():
            found.append(BeliefCheck(float(beliefs[some].mean()), wilson(int(added[some].sum()), int(some.sum()))))
        low = high
    return found
