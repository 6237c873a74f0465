"""The presets look like the real data sets (slow): quantiles, histogram, ladder, co-occurrence."""

import numpy as np
import pytest
from benchmarks.synthetic import TARGETS, ladder

from recloak._ratings.model import Ratings
from recloak._ratings.synthetic.options import SynthOptions
from recloak._ratings.synthetic.rating_stream import synthesise

pytestmark = pytest.mark.slow

TARGET = TARGETS["ml-1m"]


@pytest.fixture(scope="module")
def made():
    return synthesise(SynthOptions(preset="ml-1m"), rng=1)


def by_time(ratings: Ratings) -> Ratings:
    """Put each user's ratings into the order of their times, which the ladder holds out the last of."""
    assert ratings.times is not None
    order = np.lexsort((ratings.times, ratings.users()))
    return Ratings(
        ratings.indptr,
        ratings.items[order],
        ratings.values[order],
        ratings.user_ids,
        ratings.item_ids,
        ratings.scale,
    )


def test_the_sizes_are_exact(made):
    assert (*made.shape, made.n_ratings) == TARGET["sizes"]
    assert made.activity.min() == 20


@pytest.mark.parametrize("axis", ["activity", "popularity"])
def test_every_quantile_is_within_a_tenth(made, axis):
    quantiles = np.quantile(getattr(made, axis), np.array(TARGET["at"]) / 100)
    assert quantiles == pytest.approx(TARGET[axis], rel=0.1)


def test_the_histogram_is_within_two_points(made):
    shares = [100 * (made.values == star).mean() for star in range(1, 6)]
    assert shares == pytest.approx(TARGET["histogram"], abs=2)


def test_the_ladder_of_held_out_errors_is_within_two_per_cent(made):
    assert ladder(by_time(made), TARGET["rank"]) == pytest.approx(TARGET["ladder"], rel=0.02)


def test_items_occur_together_as_in_the_real_data(made):
    """The mean cosine of the 800 most popular items with their ten nearest is 0.489 in MovieLens-1M."""
    popular = np.argsort(-made.popularity)[:800]
    rated = (made.matrix[:, popular] > 0).astype(np.float64)
    together = (rated.T @ rated).toarray()
    sizes = np.sqrt(together.diagonal())
    np.fill_diagonal(together, 0)
    nearest = np.sort(together / np.outer(sizes, sizes), axis=1)[:, -10:]
    assert nearest.mean() == pytest.approx(0.489, rel=0.1)
