"""Publish: pad, group, homogenise, diversify and name afresh in one call; each step can be called on its own."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.model import Ratings
from recloak._releases.diversity import diversify
from recloak._releases.grid import Grid, make_grid
from recloak._releases.group import GroupOptions, group
from recloak._releases.homogenise import group_means, profiles_of
from recloak._releases.manifest import Facts
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.pad import pad
from recloak._releases.predictors import Padder
from recloak._releases.profiles import Profiles, SparseProfiles
from recloak._releases.rating_tally import Tally, count_raters, tally
from recloak._releases.release import Release, release


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


def publish(
    ratings: Ratings,
    *,
    rng: Rng = None,
    options: PublishOptions | None = None,
    pad_options: PadOptions | None = None,
    group_options: GroupOptions | None = None,
    padder: Padder | None = None,
    **changes: Any,
) -> Release:
    """Return an anonymised release of ratings: ``publish(ratings, k=5, mode="padded", rng=0)``.

    ``changes`` are fields of `PublishOptions`; ``padder`` is a predictor of the caller's own. Nothing is written; see
    `Release.write`.
    """
    options = (options or PublishOptions()).replace(**changes)
    rng, log = randomness(rng), StepLog()
    ratings = require_publishable(ratings, options)
    predicting = (pad_options or PadOptions()).for_groups(options.k)
    with log.step("pad") as notes:
        padding = pad(ratings, predicting, padder=padder, rng=rng.child("pad"))
        notes["rank"] = padding.rank
    with log.step("group") as notes:
        choice = (group_options or GroupOptions()).replace(k=options.k)
        grouping = group(padding, choice, ratings=ratings, rng=rng.child("group"))
        grouping.require_bounds()
        notes["n_groups"] = grouping.n_groups
    made = make_release(ratings, padding, grouping, options, rng, log)
    about = predicting.to_mapping() if padder is None else {"padder": getattr(padder, "__qualname__", "unnamed")}
    return replace(made, account={**made.account, "padding": about})


def make_release(
    ratings: Ratings, padding: Padding, grouping: Grouping, options: PublishOptions, rng: Randomness,
    log: StepLog | None = None,
) -> Release:  # fmt: skip
    """Return the release of given groups: homogenise, diversify, name afresh."""
    log = log or StepLog()
    grid = make_grid(ratings.scale, options.mode, options.labels.grid)
    with log.step("homogenise") as notes:
        cells = tally(ratings, padding, grouping)
        profiles = profiles_of(cells, padding, grouping, options.labels, grid)
        notes.update(link_confidence(cells, grouping))
        if options.max_link is not None:
            notes.update(max_link=options.max_link, left_out=len(cells.items) - int(profiles.counts.sum()))
    if options.wanted_diversity is not None:
        with log.step("diversify") as notes:
            profiles, n_fake = diversify(
                profiles, ratings, grouping, group_means(padding, grouping), grid, options.wanted_diversity, rng=rng
            )
            notes.update(diversity=options.diversity, fake_cells=n_fake)
    n_ratings = int((profiles.counts * grouping.sizes).sum())
    facts = facts_of(
        options, grid, n_users=ratings.n_users, n_items=_n_shown(profiles), n_ratings=n_ratings,
        n_groups=grouping.n_groups,
    )  # fmt: skip
    account = {
        "seed": rng.seed,
        "options": options.to_mapping(),
        "counts": {"n_users": ratings.n_users, "n_items": ratings.n_items, "n_ratings": ratings.n_ratings},
        "steps": log.steps,
    }
    with log.step("name afresh"):
        return release(profiles, ratings, grouping, facts, rng=rng.child("release"), account=account)


def require_publishable(ratings: Ratings, options: PublishOptions) -> Ratings:
    """Return ratings without times and empty users and items; raise InputError if they cannot be published."""
    ratings = replace(ratings.compact(), times=None)
    require_enough(ratings.n_users, ratings.n_items, options)
    return ratings


def require_enough(n_users: int, n_items: int, options: PublishOptions) -> None:
    """Raise InputError if there are too few users or items for what is asked for."""
    if n_users < options.k:
        raise InputError(f"there must be at least k = {options.k} users with ratings, got {n_users}")
    if n_items < 2:
        raise InputError(f"there must be at least 2 items with ratings, got {n_items}")
    wanted, most = options.wanted_diversity, n_users // options.k
    if wanted is not None and most < wanted.l:
        raise InputError(
            f"diversity {wanted} needs at least {wanted.l} groups, but {n_users} users make at most {most} groups of "
            f"{options.k}"
        )


def link_confidence(cells: Tally, grouping: Grouping) -> dict[str, Any]:
    """Return how sure an adversary can be that a member rated an item: raters / members, per rated cell."""
    return confidence_of(link_counts(cells, grouping, int(grouping.sizes.max()) + 1))


def link_counts(cells: Tally, grouping: Grouping, n: int) -> NDArray[np.int64]:
    """Count the rated cells by raters and members: (n, n), n above the largest group."""
    n_cells = np.zeros((n, n), np.int64)
    count_raters(cells, grouping.sizes, n_cells)
    return n_cells


def confidence_of(n_cells: NDArray[np.int64]) -> dict[str, Any]:
    """Return the quantiles of raters / members over cells counted by raters and members."""
    raters, members = np.nonzero(n_cells)
    shares, weights = raters / members, n_cells[raters, members]
    order = np.argsort(shares, kind="stable")
    below = np.cumsum(weights[order]) / weights.sum()
    quantiles = {f"q{q}": round(float(shares[order][np.searchsorted(below, q / 100)]), 4) for q in (50, 90, 99)}
    return {
        "rated_cells": int(weights.sum()),
        "single_rater_share": round(float(n_cells[1].sum() / weights.sum()), 4),
        "link_confidence": {**quantiles, "max": round(float(shares.max()), 4)},
    }


def facts_of(options: PublishOptions, grid: Grid, **counts: int) -> Facts:
    """Return what is true of a release; ``counts`` are the numbers of users, items, ratings and groups."""
    return Facts(
        k=options.k,
        mode=options.mode,
        grid=grid.step,
        min_raters=options.labels.min_raters,
        diversity=options.wanted_diversity,
        paper=options.paper,
        scale=grid.scale,
        max_link=options.max_link,
        **counts,
    )


def _n_shown(profiles: Profiles) -> int:
    """Count the items that stand in some profile; only a cap on links can leave one out altogether."""
    if not isinstance(profiles, SparseProfiles):
        return profiles.n_items
    shown = np.zeros(profiles.n_items, np.bool_)
    shown[profiles.items] = True
    return int(np.count_nonzero(shown))
