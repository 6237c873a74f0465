"""Padding: what each predictor gives, and what none of them may do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak.errors import OptionError
from recloak.publish.pad import PadOptions, pad
from recloak.ratings import Ratings
from tests.strategies import small_ratings

PREDICTORS = ["svd", "bias", "mean"]


@settings(max_examples=40)
@given(small_ratings(low=0), st.sampled_from(PREDICTORS), st.integers(0, 12))
def test_every_cell_gets_a_finite_prediction(ratings, predictor, rank):
    padding = pad(ratings, PadOptions(predictor=predictor, rank=rank, iterations=3), rng=0)
    assert padding.shape == ratings.shape
    assert np.isfinite(padding.rows(slice(None))).all()


@pytest.mark.parametrize("predictor", PREDICTORS)
def test_equal_ratings_are_predicted_by_themselves(predictor):
    ratings = Ratings.from_arrays([1, 1, 2, 3], [1, 2, 1, 3], [4.0, 4.0, 4.0, 4.0])
    np.testing.assert_allclose(pad(ratings, PadOptions(predictor=predictor), rng=0).rows(slice(None)), 4, atol=1e-5)


def test_item_means_are_the_means_of_the_items():
    ratings = Ratings.from_arrays([1, 1, 2], [1, 2, 1], [5.0, 1.0, 4.0])
    padding = pad(ratings, PadOptions(predictor="mean"))
    assert padding.rank == 0
    np.testing.assert_allclose(padding.rows(slice(None)), [[4.5, 1], [4.5, 1]], atol=1e-6)


@pytest.mark.parametrize(
    ("name", "value"), [("rank", -1), ("iterations", 0), ("regularisation", 0.0), ("predictor", "x")]
)
def test_an_option_outside_its_rule_is_refused(name, value):
    with pytest.raises(OptionError, match=name):
        PadOptions(**{name: value})
