"""Fresh names depend on every part of the private ratings and on the seed, and are what a release shows."""

import numpy as np
import polars as pl
import pytest

from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._releases.pseudonyms import secret_key
from tests.releases.helpers import some_ratings, some_release

USERS, ITEMS, VALUES = [0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [1.0, 2, 3, 4, 5]


@pytest.mark.parametrize(
    "other",
    [
        Ratings.from_arrays(USERS, ITEMS, [1.0, 2, 3, 5, 5]),
        Ratings.from_arrays(USERS, [0, 1, 0, 1, 0], VALUES),
        Ratings.from_arrays([0, 0, 0, 1, 2], [0, 1, 2, 1, 1], VALUES),
        Ratings.from_arrays([0, 0, 1, 1, 9], ITEMS, VALUES),
        Ratings.from_arrays(USERS, [0, 9, 0, 9, 9], VALUES),
    ],
    ids=["a rating", "who rated what", "how many", "a user's id", "an item's id"],
)
def test_whoever_lacks_one_thing_about_the_ratings_lacks_the_key(other):
    assert secret_key(other, Randomness(0)) != secret_key(Ratings.from_arrays(USERS, ITEMS, VALUES), Randomness(0))


def test_ids_that_read_the_same_in_a_row_are_still_other_ids():
    one, other = (Ratings.from_arrays(ids, [0, 1], [1.0, 2.0]) for ids in (["a", "bc"], ["ab", "c"]))
    assert secret_key(one, Randomness(0)) != secret_key(other, Randomness(0))


def test_users_and_groups_are_named_in_the_order_of_the_key():
    ratings = some_ratings(60)
    orders = [some_release(ratings, seed=seed) for seed in (0, 1)]
    plain = [np.arange(60), np.arange(20)]
    for one in orders:
        assert not np.array_equal(one.user_order, plain[0])
        assert not np.array_equal(one.group_order, plain[1])
    assert not np.array_equal(orders[0].user_order, orders[1].user_order)
    assert not np.array_equal(orders[0].group_order, orders[1].group_order)


@pytest.mark.parametrize("ids", [[-(2**40), 3, 7], [0, 3, 2**40], [-(2**31), 0, 2**31 - 1]])
def test_item_ids_of_any_size_come_back_as_they_were(tmp_path, ids):
    ratings = Ratings.from_arrays(np.repeat(np.arange(6), 3), ids * 6, np.arange(18) % 5 + 1.0)
    for layout, table in (("long", "ratings"), ("grouped", "profiles")):
        folder = some_release(ratings).write(tmp_path / layout, layout=layout)
        assert sorted(set(pl.read_parquet(folder / f"{table}.parquet")["item"])) == ids
