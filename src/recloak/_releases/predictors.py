"""The predictors that fill missing ratings: one value each, in `PREDICTORS`.

To add one, write its function here and add its value. A caller's own function needs no file: ``publish(padder=...)``
takes any callable that makes a `Padding` from ratings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from recloak._core.randomness import Randomness
    from recloak._ratings.model import Ratings
    from recloak._releases.model.steps import Padding
    from recloak._releases.options import PadOptions


class CheckedPadder(Protocol):
    """Anything that makes a prediction for every cell."""

    def __call__(self, ratings: Ratings, rng: Randomness, /) -> Padding:
        """Learn from ratings; every random draw comes from ``rng``."""
        ...


@dataclass(frozen=True, slots=True)
class Predictor:
    """One way to predict missing ratings.

    Parameters
    ----------
    name
        The value of ``predictor=``.
    text
        What it predicts by, as ``--help`` says it.
    fit
        Returns the `Padding` of ratings, given the options and the randomness of the step.
    on_spark
        Whether the Spark engine has it too.
    predicts_uses
        Whether it predicts that an item is used, from purchases or plays, and takes no ratings.

    Examples
    --------
    >>> import recloak
    >>> list(recloak.PREDICTORS)
    ['svd', 'bias', 'mean', 'propensity']
    """

    name: str
    text: str
    fit: Callable[[Ratings, PadOptions, Randomness], Padding]
    on_spark: bool = True
    predicts_uses: bool = False


def factors(ratings: Ratings, options: PadOptions, rng: Randomness) -> Padding:
    """Predict by biases and factors: ``r_ui = mu + b_u + b_i + p_u . q_i``."""
    from recloak._releases.factorise import factorise  # noqa: PLC0415 (--help must not load compiled code)

    found = factorise(
        ratings, rank=options.n_factors, iterations=options.iterations, tolerance=options.tolerance, rng=rng
    )
    return found.padding(ratings)


def biases(ratings: Ratings, options: PadOptions, rng: Randomness) -> Padding:
    """Predict by biases alone, which are factors of rank 0: ``r_ui = mu + b_u + b_i``."""
    return factors(ratings, options.replace(rank=0), rng)


def item_means(ratings: Ratings, _options: PadOptions, _rng: Randomness) -> Padding:
    """Predict a cell by its item's mean: ``r_ui = mu + b_i``, b_i = 0 for an item without ratings."""
    import numpy as np  # noqa: PLC0415 (--help must stay quick)

    from recloak._releases.model.steps import Padding  # noqa: PLC0415 (likewise)

    n_users, n_items = ratings.shape
    mu = float(ratings.values.mean(dtype=np.float64))
    sums = np.bincount(ratings.items, ratings.values - np.float64(mu), minlength=n_items)
    item_bias = (sums / np.maximum(ratings.popularity, 1)).astype(np.float32)
    no_factors = np.zeros((n_users, 0), np.float32), np.zeros((n_items, 0), np.float32)
    return Padding(mu, np.zeros(n_users, np.float32), item_bias, *no_factors, ratings.scale)


def propensity(ratings: Ratings, options: PadOptions, rng: Randomness) -> Padding:
    """Predict how likely somebody uses an item, from purchases or plays: ``p_u . q_i``, from 0 to 1."""
    from recloak._releases.propensities import propensities  # noqa: PLC0415 (--help must not load compiled code)

    return propensities(ratings, rank=options.n_factors, rng=rng)


_ALL = (
    Predictor("svd", "by biases and factors", factors),
    Predictor("bias", "by biases of users and items", biases),
    Predictor("mean", "by the item's mean", item_means),
    Predictor("propensity", "how likely an item is used, for presence and counts", propensity, False, True),
)

PREDICTORS: dict[str, Predictor] = {predictor.name: predictor for predictor in _ALL}
