"""What the homogeneity attack learns of a target, on data whose answer is seen by eye."""

import pytest
from tests.attacks.test_matching import grouped, single_clues

from recloak._attacks.homogeneity import homogeneity
from recloak._attacks.public_view import see_original
from recloak._ratings.model import Ratings


def test_a_profile_is_pinned_down_by_its_items_alone_or_by_its_labels():
    # Three groups of two: only the first shows item 0 (label 3), the others show item 1 (labels 1 and 5), all item 2.
    users, items = [0, 1, 2, 3, 4, 5, *range(6)], [0, 0, 1, 1, 1, 1, *[2] * 6]
    ratings = Ratings.from_arrays(users, items, [1.0, 5.0, 1.0, 1.0, 5.0, 5.0, *[3.0] * 6])
    public = grouped(ratings, 2)

    def is_pinned(*clue):
        return homogeneity(public, single_clues(clue), ratings).user.rate

    assert is_pinned(0, 0, 1.0) == 1.0  # nobody else shows item 0, however far off its label is
    assert is_pinned(2, 1, 1.0) == 1.0  # two groups show item 1, one of them with a label within a step
    assert is_pinned(0, 2, 3.0) == 0.0  # all show item 2 alike
    assert is_pinned(2, 0, 1.0) == 0.0  # the one profile that is left is another's


def test_only_ratings_that_were_not_known_count_as_learned_or_guessed():
    # User 0 is known by item 2, which only user 0 rated; the means of items 0 and 1 are 3, and user 0 gave 3 and 1.
    ratings = Ratings.from_arrays([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [3.0, 1.0, 5.0, 3.0, 5.0])
    details = homogeneity(see_original(ratings), single_clues((0, 2, 5.0)), ratings).details
    assert details["hidden_ratings"] == 2
    assert details["learned_within_half_a_step"] == 1.0
    assert details["guessed_from_item_mean"] == pytest.approx(1 / 2)
