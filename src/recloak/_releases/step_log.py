"""What is kept of a run: its numbered steps, with the time each took, its options, and the facts of its release."""

import hashlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._ratings.source_hash import fingerprint_of
from recloak._releases.grid import Grid
from recloak._releases.model.manifest import Facts
from recloak._releases.model.steps import Padding
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.predictors import CheckedPadder


@dataclass
class StepLog:
    """The numbered steps that were done, with the seconds each took."""

    steps: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[dict[str, Any]]:
        """Time a step; what is put into the mapping is kept with it."""
        notes: dict[str, Any] = {}
        start, cpu = time.perf_counter(), time.process_time()
        yield notes
        took = {"seconds": time.perf_counter() - start, "cpu_seconds": time.process_time() - cpu}
        rounded = {unit: round(value, 3) for unit, value in took.items()}
        self.steps.append({"step": len(self.steps) + 1, "name": name, **notes, **rounded})


def account_of(
    ratings: Ratings, options: PublishOptions, rng: Randomness, log: StepLog, made_by: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the private account of a run; the steps go on being added to it."""
    return {
        "seed": rng.seed,
        "options": options.to_mapping(),
        "source_sha256": fingerprint_of(ratings),
        "counts": {"n_users": ratings.n_users, "n_items": ratings.n_items, "n_ratings": ratings.n_ratings},
        "steps": log.steps,
        **made_by,
    }


def padding_account(padding: Padding, options: PadOptions, padder: CheckedPadder | None) -> dict[str, Any]:
    """Return how cells were predicted: the options, or a digest of what the caller's own predictor gave."""
    return options.to_mapping() if padder is None else {"padder": "own", "sha256": _digest(padding)}


def _digest(padding: Padding) -> str:
    digest = hashlib.sha256(repr(padding.mu).encode())
    for array in (padding.user_bias, padding.item_bias, padding.user_factors, padding.item_factors):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def facts_of(options: PublishOptions, grid: Grid, **counts: Any) -> Facts:
    """Return what is true of a release; ``counts`` are the numbers of users, items, ratings and groups."""
    labels = options.homogenising.labels_of
    return Facts(
        k=options.k,
        mode=options.mode,
        grid=grid.step,
        labels=labels,
        min_raters=None if labels == "model" else options.homogenising.min_raters,
        diversity=options.wanted_diversity,
        paper=options.paper,
        scale=replace(grid.scale, low=grid.scale.low + 0.0, high=grid.scale.high + 0.0),  # zero has no sign
        max_link=options.max_link,
        min_shown=options.min_shown,
        decoys=options.decoys,
        **counts,
    )
