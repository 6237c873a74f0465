"""A predictor of the caller's own: any function from `Ratings` to factors and biases."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Padding
from recloak._releases.options import MOST_FACTORS
from recloak._releases.predictors import CheckedPadder

Padder: TypeAlias = Callable[[Ratings], Any]  # returns a Padding or an object with its arrays


def checked_padder(padder: Padder) -> CheckedPadder:
    """Return a caller's function as a padder whose every number was checked."""
    if not callable(padder):
        raise InputError(f"a padder must be a function of ratings, got {type(padder).__name__}")

    def predict(ratings: Ratings, _: Randomness, /) -> Padding:
        return _padding(padder(ratings), ratings)

    return predict


def _padding(found: Any, ratings: Ratings) -> Padding:
    n_users, n_items = ratings.shape
    user_factors = _checked(found, "user_factors", (n_users, -1))
    item_factors = _checked(found, "item_factors", (n_items, user_factors.shape[1]))
    if user_factors.shape[1] > MOST_FACTORS:
        raise InputError(f"a padder may use at most {MOST_FACTORS} factors, got {user_factors.shape[1]}")
    biases = _checked(found, "user_bias", (n_users,)), _checked(found, "item_bias", (n_items,))
    mu = float(getattr(found, "mu", 0.0))
    if not np.isfinite(mu):
        raise InputError("a padder's mu must be a finite number")
    return Padding(mu, *biases, user_factors, item_factors, ratings.scale)


def _checked(found: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return an array of a caller's model as ours; a bias that is not there is 0."""
    given = getattr(found, name, np.zeros(shape) if len(shape) == 1 else None)
    if given is None:
        raise InputError(f"a padder must return a Padding or an object with {name}, got {type(found).__name__}")
    try:
        array = np.array(given, np.float32, order="C")
    except (TypeError, ValueError):
        raise InputError(f"a padder's {name} must be an array of numbers, got {type(given).__name__}") from None
    if len(array.shape) != len(shape) or any(n not in (-1, m) for n, m in zip(shape, array.shape, strict=True)):
        wanted = str(shape).replace("-1", "number of factors")
        raise InputError(f"a padder's {name} must have the shape {wanted}, got {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"a padder's {name} must be finite numbers")
    return array
