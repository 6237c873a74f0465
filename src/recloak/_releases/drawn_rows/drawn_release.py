"""Publish drawn rows: everything is done on users in an order that is free of their ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import PRESENCE, RATINGS
from recloak._releases.drawn_rows.canonical_users import canonical_order, in_order
from recloak._releases.drawn_rows.presence_axes import PresenceAxes, find_axes
from recloak._releases.drawn_rows.sampler import HOLDERS, draw_rows
from recloak._releases.embed import embed
from recloak._releases.grid import make_grid
from recloak._releases.group import group_points, user_weights
from recloak._releases.model.manifest import Facts
from recloak._releases.model.steps import Grouping, Padding
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.pad import pad
from recloak._releases.predictors import CheckedPadder
from recloak._releases.profiles import SparseProfiles
from recloak._releases.release import Release, release
from recloak._releases.step_log import StepLog, account_of, facts_of, padding_account

BOOST = 0.5
GROUPING_BY = "both"


class OrderedUsers(NamedTuple):
    """The users of a source in an order free of their ids: ``order[u]`` is the number in the source of user u."""

    source: Ratings
    order: NDArray[np.int64]
    ratings: Ratings

    @classmethod
    def of(cls, source: Ratings) -> OrderedUsers:
        """Put the users in order."""
        order = canonical_order(source)
        return cls(source, order, in_order(source, order))


def publish_drawn(
    ratings: Ratings, options: PublishOptions, predicting: PadOptions, padder: CheckedPadder | None, rng: Randomness,
    log: StepLog,
) -> Release:  # fmt: skip
    """Return a release of rows drawn for groups; two users who exchange their ids leave its public side as it was."""
    people, by = OrderedUsers.of(ratings), options.grouping_by or ("items" if ratings.kind is PRESENCE else GROUPING_BY)
    with log.step("pad") as notes:
        padding = pad(people.ratings, predicting, padder=padder, rng=rng.child("pad"))
        notes["rank"] = padding.rank
    with log.step("group") as notes:
        axes = find_axes(people.ratings, rng.child("axes"))
        points = taste_and_items(people.ratings, padding, axes, by)
        labels = group_points(points, options.k, weights=user_weights(people.ratings), rng=rng.child("group"))
        grouping = Grouping(labels, options.k)
        grouping.require_bounds()
        notes["n_groups"] = grouping.n_groups
    made_by = {"padding": padding_account(padding, predicting, padder), "grouping": {"by": by}}
    return _drawn(people, padding, grouping, (axes, points), options, rng, log, made_by)


def make_drawn(
    ratings: Ratings, padding: Padding, grouping: Grouping, options: PublishOptions, rng: Randomness, log: StepLog,
    made_by: Mapping[str, Any],
) -> Release:  # fmt: skip
    """Return a release of rows drawn for given groups."""
    people = OrderedUsers.of(ratings)
    padding = replace(
        padding, user_bias=padding.user_bias[people.order], user_factors=padding.user_factors[people.order]
    )
    axes = find_axes(people.ratings, rng.child("axes"))
    points = taste_and_items(people.ratings, padding, axes, options.grouping_by or GROUPING_BY)
    grouping = Grouping(grouping.labels[people.order], grouping.k)
    return _drawn(people, padding, grouping, (axes, points), options, rng, log, made_by)


def _drawn(
    people: OrderedUsers, padding: Padding, grouping: Grouping, places: tuple[PresenceAxes, NDArray[np.float32]],
    options: PublishOptions, rng: Randomness, log: StepLog, made_by: Mapping[str, Any],
) -> Release:  # fmt: skip
    """Draw the rows and give them names."""
    ratings, boost = people.ratings, BOOST if options.boost is None else options.boost
    # The levels of counts are whole numbers; ratings have the grid that is asked for.
    grid = make_grid(ratings.scale, options.mode, options.grid if ratings.kind is RATINGS else 1.0)
    with log.step("draw rows") as notes:
        drawn = draw_rows(ratings, padding, grouping, *places, grid, boost=boost, rng=rng.child("draw"))
        notes["links_between_items"] = drawn.n_links
    n_items = int(np.count_nonzero(np.bincount(drawn.profiles.items)))
    facts = facts_of(
        options, grid, values=ratings.kind.name, n_users=ratings.n_users, n_items=n_items,
        n_ratings=len(drawn.profiles.items), n_groups=grouping.n_groups,
    )  # fmt: skip
    facts = replace(facts, boost=boost, holders=max(HOLDERS, options.k))
    account = account_of(people.source, options, rng, log, made_by)
    with log.step("name afresh"):
        recipe = {"options": options.recipe, **made_by}
        made = _named(people, grouping, drawn.profiles, facts, recipe, rng)
    return replace(made, account=account)


def _named(
    people: OrderedUsers, grouping: Grouping, profiles: SparseProfiles, facts: Facts, recipe: Any, rng: Randomness
) -> Release:
    """Assign fresh names to rows and groups; a draw decides which of a group's rows gets which member's name."""
    labels = np.empty_like(grouping.labels)
    labels[people.order] = grouping.labels
    canonical = people.order[grouping.members()[1]]
    back = Grouping(labels, grouping.k)
    streams = rng.child("release")
    return release(profiles, people.source, back, facts, rng=streams, recipe=recipe, canonical=canonical)


def taste_and_items(ratings: Ratings, padding: Padding, axes: PresenceAxes, by: str) -> NDArray[np.float32]:
    """Return the points that users are grouped by: how they rate, what they rate, or both with the same weight."""
    parts = {"taste": lambda: embed(padding, ratings.popularity), "items": axes.shrunk}
    chosen = [_scaled(parts[part]()) for part in parts if by in (part, GROUPING_BY)]
    return np.ascontiguousarray(np.hstack(chosen))


def _scaled(points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return points whose variances add up to 1."""
    spread = float(points.var(0, dtype=np.float64).sum())
    return points / np.float32(np.sqrt(spread)) if spread > 0 else points
