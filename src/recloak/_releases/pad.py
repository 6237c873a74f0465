"""Pad: a prediction for every cell, kept as factors and biases (Predictive Anonymization, section 4).

The paper allows any predictor and uses a regularised SVD. Here too: `_releases.predictors` holds the named ones, the
default is a regularised factorisation, and a caller may pass a function of their own. Rated cells keep their rating:
whoever builds a released cell puts the rating in place of the prediction.
"""

from recloak._core.errors import InputError
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings
from recloak._releases.model.steps import Padding
from recloak._releases.options import PadOptions
from recloak._releases.predictors import PREDICTORS, CheckedPadder


def pad(
    ratings: Ratings, options: PadOptions | None = None, *, padder: CheckedPadder | None = None, rng: Rng = None
) -> Padding:
    """Return a prediction for every cell, by the predictor that the options name or by ``padder``.

    Raise InputError if there are no ratings, or if ``padder`` predicts other users or items.
    """
    if not ratings.n_ratings:
        raise InputError("there are no ratings to learn from")
    options, rng = options or PadOptions(), randomness(rng).child("pad")
    padding = PREDICTORS[options.predictor].fit(ratings, options, rng) if padder is None else padder(ratings, rng)
    if padding.shape != ratings.shape:
        raise InputError(f"a predictor must predict {ratings.shape} users and items, got {padding.shape}")
    return padding
