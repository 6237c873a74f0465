"""The passive attack: seen by eye, honest about guessing, and blind where nothing moves."""

import numpy as np
import pytest

from recloak._attacks.options import PassiveOptions
from recloak._attacks.passive import VARIANTS, attack
from recloak._core.errors import InputError
from recloak._ratings.model import Ratings
from recloak._related.model import ListRelease, Lists

# User 0 holds items 0, 1, 2 and adds item 3 at time 5; the others hold items 4 and 5 and add nothing.
RATINGS = Ratings.from_arrays([0, 0, 0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 5, 4, 5], [5.0] * 8, [0, 0, 0, 5, 0, 0, 0, 0])
STILL = Lists(np.array([[1], [0], [0], [0], [5], [4]], np.int32))
TELLING = Lists(np.array([[3], [3], [3], [0], [5], [4]], np.int32))


def curves(first, second):
    releases = [ListRelease(1, 0, first), ListRelease(2, 5, second)]
    return {curve.variant: curve for curve in attack(releases, RATINGS, PassiveOptions(known=2), rng=1)}


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_appears_in_all_known_lists_is_inferred_rightly(variant):
    strictest = curves(STILL, TELLING)[variant].points[0]
    assert (strictest.accuracy.rate, strictest.accuracy.n, strictest.yielded.rate) == (1.0, 1, 1.0)


def test_lists_that_stand_still_tell_nothing():
    assert all(curve.points == () for curve in curves(STILL, STILL).values())


def test_guessing_blindly_is_the_share_of_items_that_were_added():
    added_by_target = [1 / 4, 0, 0]  # of the 6 items, 2 are known
    assert curves(STILL, TELLING)["count"].baseline == pytest.approx(np.mean(added_by_target))


def test_what_vanishes_counts_against_an_inference():
    sinking = Lists(np.array([[3], [-1], [3], [0], [5], [4]], np.int32))
    seen = curves(Lists(np.array([[1], [3], [0], [0], [5], [4]], np.int32)), sinking)
    scores = {variant: [point.threshold for point in seen[variant].points] for variant in ("count", "vanish")}
    assert max(scores["vanish"], default=0) <= max(scores["count"])


def test_the_same_seed_gives_the_same_curves():
    assert curves(STILL, TELLING) == curves(STILL, TELLING)


def test_one_release_cannot_be_compared():
    with pytest.raises(InputError, match="compares two releases"):
        attack([ListRelease(1, 0, STILL)], RATINGS)
