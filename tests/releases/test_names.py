"""Fresh names depend on every part of the private ratings and on the seed, and are what a release shows."""

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._core.randomness import Randomness
from recloak._ratings.model import Ratings
from recloak._releases.pseudonyms import secret_key
from tests.releases.helpers import some_ratings, some_release

PEOPLE = recloak.synth(users=400, items=30, ratings=6000, seed=1)
VARIANTS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "k": {"k": 6},
    "mode": {"mode": "pure"},
    "drawn rows": {"mode": "sampled"},
    "other drawn rows": {"mode": "sampled", "k": 6},
    "labels": {"labels": "raters"},
    "raters": {"labels": "raters", "min_raters": 3},
    "grid": {"grid": 0.5},
    "paper": {"paper": True},
    "rank": {"rank": 3},
    "predictor": {"predictor": "bias"},
    "iterations": {"iterations": 2},
    "padder": {"padder": lambda ratings: flat(ratings, 3.0)},
    "another padder": {"padder": lambda ratings: flat(ratings, 2.5)},
}
OTHER_FILES = (("long", "parquet"), ("grouped", "csv"), ("factors", "parquet"), ("factors", "csv"))
USERS, ITEMS, VALUES = [0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [1.0, 2, 3, 4, 5]


def key_of(ratings: Ratings, recipe: object = None) -> bytes:
    return secret_key(ratings, np.zeros(ratings.n_users, np.int32), recipe, Randomness(0))


def flat(ratings: Ratings, mu: float) -> recloak.Padding:
    """Predict one number for every cell."""
    no = np.zeros((ratings.n_users, 1), np.float32), np.zeros((ratings.n_items, 1), np.float32)
    return recloak.Padding(mu, no[0][:, 0], no[1][:, 0], *no, ratings.scale)


def who_is_who(layout: str | None = None, file_format: str = "parquet", **options: Any) -> dict[Any, int]:
    named = recloak.publish(PEOPLE, seed=1, **options).named(layout, file_format).mapping()
    return dict(zip(named["user_id"], named["user"], strict=True))


def test_joining_two_releases_of_one_seed_by_name_is_no_better_than_chance():
    found = {name: who_is_who(**options) for name, options in VARIANTS.items()}
    found |= {f"{one} {other}": who_is_who(one, other) for one, other in OTHER_FILES}
    fewer = PEOPLE.where(np.arange(PEOPLE.n_ratings) != 7)
    found["ratings"] = dict(recloak.publish(fewer, seed=1).mapping().select("user_id", "user").iter_rows())
    for one, other in combinations(found, 2):
        same = sum(found[one][person] == found[other][person] for person in found[one])
        assert same <= 9, (one, other, same)  # by chance 1 on average; more than 9 once in 10 million


def test_the_same_run_gives_the_same_names_however_its_options_are_said():
    assert who_is_who() == who_is_who() == who_is_who("grouped", labels="model", mode="padded", rank=22, grid=0.1)


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
    assert key_of(other) != key_of(Ratings.from_arrays(USERS, ITEMS, VALUES))


def test_ids_that_read_the_same_in_a_row_are_still_other_ids():
    one, other = (Ratings.from_arrays(ids, [0, 1], [1.0, 2.0]) for ids in (["a", "bc"], ["ab", "c"]))
    assert key_of(one) != key_of(other)


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
