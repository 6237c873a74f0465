"""What differs when purchases or plays are published: the values shown, how cells are predicted, who goes together.

People are put together by what they use: correspondence analysis of who used what (`drawn_rows.presence_axes`) made
better groups than confidence-weighted factors, at a tenth of the work (docs/decisions/events.md).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import OptionError
from recloak._core.logger import log
from recloak._core.randomness import Randomness
from recloak._ratings.event_values import highest_level, levels_of, shown_values, shows_propensities
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import COUNTS, PRESENCE, RATINGS, ValueKind
from recloak._releases.drawn_rows.presence_axes import find_axes
from recloak._releases.grid import Grid, make_grid
from recloak._releases.group import group_points
from recloak._releases.model.modes import MODES
from recloak._releases.model.steps import Grouping
from recloak._releases.options import PadOptions, PublishOptions
from recloak._releases.predictors import PREDICTORS
from recloak._releases.profiles import FullProfiles, Profiles

HOLDERS = 5  # people who must reach the highest level of counts that is shown; at least k
_PROPENSITY_STEP = 0.005  # 200 steps from 0 to 1, so that a cell still fits into a byte
_FEW_USES = 40  # mean number of items a person, below which people are grouped by more axes
_FINE = {"n_axes": 128, "sample": 60_000}
_SHORTEST = 1e-6
_MOSTLY = 0.5  # share of items without factors from which the owner is warned
_FOR_RATINGS = ("grid", "labels", "min_raters", "paper")  # options that say something about ratings only


def require_options(kind: ValueKind, options: PublishOptions) -> None:
    """Raise OptionError for an option that has no meaning for purchases or plays."""
    if kind is RATINGS:
        return
    usual = PublishOptions().to_mapping()
    for name in _FOR_RATINGS:
        if getattr(options, name) != usual[name]:
            raise OptionError(f"{name} is for ratings, and this source holds {kind.name}")
    if kind is PRESENCE and options.grouping_by not in (None, "items"):
        raise OptionError(f"grouping_by must be items for presence, which shows no taste, got {options.grouping_by!r}")


def values_to_show(ratings: Ratings, options: PublishOptions) -> Ratings:
    """Return the source in the values that a release shows; ratings are left as they are."""
    if ratings.kind is RATINGS:
        return ratings
    highest = highest_level(ratings, max(HOLDERS, options.k)) if ratings.kind is COUNTS else 1
    return shown_values(ratings, is_complete=MODES[options.mode].is_complete, highest=highest)


def grid_for(ratings: Ratings, options: PublishOptions) -> Grid:
    """Return the grid of what is shown: of ratings as the options say, of levels 1, of propensities 0.005."""
    if ratings.kind is RATINGS:
        return make_grid(ratings.scale, options.mode, options.homogenising.grid)
    return make_grid(ratings.scale, options.mode, _PROPENSITY_STEP if shows_propensities(ratings) else 1.0)


def values_to_learn(ratings: Ratings, shown: Ratings) -> Ratings:
    """Return what predictions are learned from: what is shown, but propensities of counts from their levels."""
    if shows_propensities(shown) and ratings.kind is COUNTS:
        return replace(shown, values=levels_of(ratings.values))
    return shown


def predictor_for(kind: ValueKind, options: PublishOptions, chosen: PadOptions) -> PadOptions:
    """Return how cells are predicted; where ``svd`` has nothing to predict, by something cheaper.

    A row that shows only that items were used needs no prediction, and a row with every item needs propensities.
    Levels of counts are predicted as ratings are.
    """
    if kind is RATINGS:
        if PREDICTORS[chosen.predictor].predicts_uses:
            raise OptionError(f"predictor {chosen.predictor} is for presence and counts, and this source holds ratings")
        return chosen
    if MODES[options.mode].is_complete:
        return chosen.replace(predictor="propensity")
    return chosen.replace(predictor="mean") if kind is PRESENCE else chosen


def group_by_items(ratings: Ratings, k: int, rng: Randomness) -> Grouping:
    """Return groups of people who use the same items."""
    grouping = Grouping(group_points(item_points(ratings, rng), k, rng=rng), k)
    grouping.require_bounds()
    return grouping


def item_points(ratings: Ratings, rng: Randomness) -> NDArray[np.float32]:
    """Return where people lie by what they use: the directions of their coordinates, whatever their lengths.

    Where people use few items each, what they share are series and other small sets of items, which takes more axes
    and all people to find.
    """
    is_sparse = ratings.n_ratings < _FEW_USES * ratings.n_users
    axes = find_axes(ratings, rng.child("axes"), **(_FINE if is_sparse else {}))
    points = axes.users if is_sparse else axes.shrunk()
    lengths = np.sqrt(np.square(points, dtype=np.float64).sum(axis=1, keepdims=True))
    return np.ascontiguousarray(points / np.maximum(lengths, _SHORTEST), dtype=np.float32)


def popular_alone(profiles: Profiles, ratings: Ratings) -> float | None:
    """Return the share of items that propensities show by popularity alone, in hundredths; None of other values.

    Warn where these are most items: recommenders learn next to nothing from such a release.
    """
    if not (isinstance(profiles, FullProfiles) and shows_propensities(ratings)):
        return None
    share = float(1 - profiles.means.item_factors.any(axis=0).mean())
    if share > _MOSTLY:
        log.warning(
            "%.0f %% of the items are used by fewer people than two groups have, or by people who sit together, and "
            "show nothing but their popularity in padded rows: recommenders will learn little from them. Publish mode "
            "pure, or leave rare items out; recloak evaluate --holdout measures what each mode keeps.", 100 * share,
        )  # fmt: skip
    return round(share, 2)
