"""Publish: pad, group, homogenise, diversify and name afresh in one call; each step can be called on its own."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import RATINGS
from recloak._releases.decoys import add_decoys
from recloak._releases.diversity import diversify
from recloak._releases.drawn_rows.drawn_release import make_drawn, publish_drawn
from recloak._releases.event_release import (
    grid_for,
    group_by_items,
    popular_alone,
    predictor_for,
    require_options,
    values_to_learn,
    values_to_show,
)
from recloak._releases.group import GroupOptions, group
from recloak._releases.homogenise import group_rows, profiles_of, tally_for
from recloak._releases.model.modes import MODES
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.pad import pad
from recloak._releases.predictors import CheckedPadder
from recloak._releases.profiles import Profiles, SparseProfiles
from recloak._releases.rare_items import surest_claim
from recloak._releases.rating_tally import Tally, count_raters
from recloak._releases.release import Release, release
from recloak._releases.row_exposure import measure_rows
from recloak._releases.statistics.making import make_statistics
from recloak._releases.statistics.privacy_budget import require_library
from recloak._releases.step_log import StepLog, account_of, facts_of, padding_account


def publish(
    ratings: Ratings,
    *,
    rng: Rng = None,
    options: PublishOptions | None = None,
    pad_options: PadOptions | None = None,
    group_options: GroupOptions | None = None,
    padder: CheckedPadder | None = None,
    statistics: float | None = None,
    **changes: Any,
) -> Release:
    """Return an anonymised release of ratings: ``publish(ratings, k=5, mode="padded", rng=0)``.

    ``changes`` are fields of `PublishOptions`; ``padder`` is a predictor of the caller's own, and
    ``statistics`` the epsilon of the counts that are published beside the rows. Nothing is written; see
    `Release.write`.
    """
    options = (options or PublishOptions()).replace(**changes)
    rng, log = randomness(rng), StepLog()
    source = require_publishable(ratings, options)
    predicting = predictor_for(source.kind, options, padding_for(options, pad_options))
    ratings = values_to_show(source, options)
    if statistics is not None:
        require_library()
    if MODES[options.mode].is_drawn:
        return with_statistics(publish_drawn(ratings, options, predicting, padder, rng, log), statistics)
    with log.step("pad") as notes:
        learned = values_to_learn(source, ratings)
        padding = pad(learned, predicting, padder=padder, rng=rng.child("pad"))
        notes["rank"] = padding.rank
    with log.step("group") as notes:
        choice = grouping_for(options, group_options)
        if ratings.kind is RATINGS:
            grouping = group(padding, choice, ratings=ratings, rng=rng.child("group"))
        else:
            grouping = group_by_items(ratings, options.k, rng.child("group"))
        grouping.require_bounds()
        notes["n_groups"] = grouping.n_groups
    grouped_by = choice.to_mapping() if ratings.kind is RATINGS else {"by": "items"}
    made_by = {"padding": padding_account(padding, predicting, padder), "grouping": grouped_by}
    return with_statistics(make_release(ratings, padding, grouping, options, rng, log, made_by), statistics)


def with_statistics(made: Release, epsilon: float | None) -> Release:
    """Return a release with statistics beside it, where they were asked for.

    Their noise has no seed: it is drawn afresh in every run, so that publishing again spends epsilon again.
    """
    if epsilon is None:
        return made
    statistics = make_statistics(made.source, items_shown(made.profiles), epsilon)
    return replace(made, facts=replace(made.facts, statistics=statistics.facts), statistics=statistics)


def padding_for(options: PublishOptions, chosen: PadOptions | None) -> PadOptions:
    """Return how cells are predicted for such a release: with a rank that suits it, unless one was chosen."""
    chosen = chosen or PadOptions()
    if options.homogenising.labels_of == "model":
        return chosen.for_fits()
    return chosen.for_groups(options.k)


def grouping_for(options: PublishOptions, chosen: GroupOptions | None) -> GroupOptions:
    """Return how users are grouped for such a release."""
    rows = "fit" if options.homogenising.labels_of == "model" else "mean"
    return (chosen or GroupOptions()).replace(k=options.k, rows=rows)


def make_release(
    ratings: Ratings, padding: Padding, grouping: Grouping, options: PublishOptions, rng: Randomness,
    log: StepLog | None = None, made_by: Mapping[str, Any] | None = None,
) -> Release:  # fmt: skip
    """Return the release of given groups: homogenise, diversify, name afresh.

    ``made_by`` says how padding and groups were made; it goes into the account and decides the names.
    """
    log, made_by = log or StepLog(), dict(made_by or {})
    if MODES[options.mode].is_drawn:
        return make_drawn(ratings, padding, grouping, options, rng, log, made_by)
    grid = grid_for(ratings, options)
    with log.step("homogenise") as notes:
        homogenising = options.homogenising
        cells = tally_for(ratings, padding, grouping, homogenising)
        means = group_rows(ratings, padding, grouping, homogenising)
        profiles = profiles_of(cells, means, grouping, homogenising, grid)
        notes.update(link_confidence(cells, grouping))
        if options.leaves_out:
            caps = {"max_link": options.max_link, "min_shown": options.min_shown}
            notes.update(caps, left_out=len(cells.items) - int(profiles.counts.sum()))
        del cells  # a gigabyte of 100 M ratings
    if options.decoys is not None:
        with log.step("add decoys") as notes:
            assert isinstance(profiles, SparseProfiles)
            profiles, notes["decoys"] = add_decoys(
                profiles, means, ratings.popularity, grid, options.decoys, rng=rng.child("release")
            )
    if options.wanted_diversity is not None:
        with log.step("diversify") as notes:
            profiles, n_fake = diversify(profiles, ratings, grouping, means, grid, options.wanted_diversity, rng=rng)
            notes.update(diversity=options.diversity, fake_cells=n_fake)
    facts = facts_of(
        options,
        grid,
        values=ratings.kind.name,
        n_users=ratings.n_users,
        n_items=int(np.count_nonzero(items_shown(profiles))),
        n_ratings=int((profiles.counts * grouping.sizes).sum()),
        n_groups=grouping.n_groups,
    )
    facts = replace(facts, popular_alone=popular_alone(profiles, ratings))
    if ratings.kind is not RATINGS and not options.leaves_out and options.wanted_diversity is None:
        with log.step("measure rare items") as notes:
            notes["surest"] = surest_claim(profiles, ratings, grouping, rng.child("release"))
        facts = replace(facts, surest=notes["surest"])
    if isinstance(profiles, SparseProfiles):
        with log.step("measure rows") as notes:
            exposure = measure_rows(profiles, ratings, grouping, rng.child("release"))
            notes.update(exposure._asdict())
        facts = replace(facts, exposure=exposure)
    account = account_of(ratings, options, rng, log, made_by)
    recipe = {"options": options.recipe, **made_by}
    with log.step("name afresh"):
        made = release(profiles, ratings, grouping, facts, rng=rng.child("release"), recipe=recipe)
    return replace(made, account=account)  # only now, for a release keeps a copy and this step belongs to it


def require_publishable(ratings: Ratings, options: PublishOptions) -> Ratings:
    """Return ratings without times and empty users and items; raise InputError if they cannot be published."""
    require_options(ratings.kind, options)
    ratings = replace(ratings.compact(), times=None, first_times=None)
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
    count_raters(cells.indptr, cells.raters, grouping.sizes, n_cells)
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


def items_shown(profiles: Profiles) -> NDArray[np.bool_]:
    """Return which items stand in some profile; only a cap on links can leave one out altogether."""
    shown = np.full(profiles.n_items, not isinstance(profiles, SparseProfiles))
    if isinstance(profiles, SparseProfiles):
        shown[profiles.items] = True
    return shown
