import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.attacks.test_matching import grouped
from tests.attacks.test_matching import rows_of as naive_rows
from tests.attacks.test_matching import rows_of as rows_as_dicts
from tests.strategies import small_ratings

from recloak._attacks.fingerprint import fingerprint
from recloak._attacks.insider import insider
from recloak._attacks.intersection import intersection
from recloak._attacks.link import above_cap, betting_on_the_popular, link
from recloak._attacks.model import Public
from recloak._attacks.public_view import see_original
from recloak._attacks.released_cells import count_cells, raters_of, rows_of
from recloak._core.errors import InputError
from recloak._ratings.model import Ratings


@settings(max_examples=30)
@given(small_ratings(), st.integers(1, 3))
def test_raters_of_cells_agree_with_a_count(ratings, k):
    public = grouped(ratings, k)
    items = np.repeat(np.arange(public.n_items), np.diff(public.indptr))
    counted, total = raters_of(public, ratings, public.profiles, items)
    shares = []
    for item, profile, n, ratings_of_them in zip(items, public.profiles, counted, total, strict=True):
        behind = (ratings.items == item) & (public.owner[ratings.users()] == profile)
        assert (n, ratings_of_them) == (behind.sum(), pytest.approx(ratings.values[behind].sum()))
        shares.append(n / public.weights[profile])
    possible, cells = count_cells(public, ratings)
    assert sorted(np.repeat(possible.ravel(), cells.ravel())) == pytest.approx(sorted(shares))


@settings(max_examples=30)
@given(small_ratings(), st.integers(1, 3))
def test_rows_are_the_released_rows(ratings, k):
    public = grouped(ratings, k)
    wanted = public.owner[::2]
    for row, profile in zip(rows_of(public, wanted), wanted, strict=True):
        shown = {item: label for item, label in enumerate(row.tolist()) if not np.isnan(label)}
        assert shown == naive_rows(public)[profile]


def test_links_of_the_original_are_no_secret():
    ratings = Ratings.from_arrays(np.repeat(np.arange(4), 12), np.arange(48) % 24, np.ones(48))
    hits = link(see_original(ratings), ratings, np.arange(4), k=1)
    assert hits.user.rate == 1.0
    assert hits.details["max_share"] == 1.0
    assert betting_on_the_popular(ratings, np.arange(4)) == pytest.approx(1 / 2)


def test_the_posterior_of_a_link_is_above_one_in_k():
    # Half of the cells are rated, so with k = 5 the posterior is 0.5 / (1 - 0.5^5), not 1/5.
    users, items = np.divmod(np.arange(100), 10)
    keep = (users + items) % 2 == 0
    ratings = Ratings.from_arrays(users[keep], items[keep], np.ones(keep.sum()))
    details = link(grouped(ratings, 5), ratings, np.arange(10), k=5).details
    assert details["independent_posterior"] == pytest.approx(0.5 / (1 - 0.5**5))
    assert details["theorem_without_prior"] == pytest.approx(1 / 5)


def averaged(n_groups: int, k: int, n_items: int, *, seed: int, round_to: float | None) -> tuple[Ratings, Public]:
    """Make groups whose labels are means over one, or over all k, of their members."""
    rng = np.random.default_rng(seed)
    rated = np.repeat(rng.random((n_groups, 1, n_items)) < 0.5, k, axis=1)
    rated[:, 0, :] = True
    users, items = np.nonzero(rated.reshape(n_groups * k, n_items))
    ratings = Ratings.from_arrays(users, items, rng.integers(1, 6, len(users)).astype(float))
    public = grouped(ratings, k)
    if round_to is None:
        return ratings, public
    labels = (np.round(public.labels / round_to) * round_to).astype(np.float32)
    return ratings, Public.of(public.indptr, public.profiles, labels, public.weights, public.owner, public.scale)


def test_exact_averages_give_away_the_number_of_raters_and_a_coarse_grid_hides_it():
    ratings, exact = averaged(60, 5, 20, seed=0, round_to=None)
    _, coarse = averaged(60, 5, 20, seed=0, round_to=2.0)
    leaky, tight = fingerprint(exact, ratings, rng=0), fingerprint(coarse, ratings, rng=0)
    assert leaky.user.rate > leaky.details["baseline"] + 0.2
    assert tight.user.rate < leaky.user.rate - 0.1
    assert leaky.details["bare_single_ratings"] == leaky.details["cells_with_one_rater"] > 0.3


def test_all_but_one_colluders_read_the_last_ones_rating_off_an_exact_average():
    ratings, public = averaged(20, 3, 10, seed=1, round_to=None)
    everyone = Ratings.from_arrays(*np.divmod(np.arange(200), 10), np.tile([1.0, 2, 3, 4, 5], 40))
    full = grouped(everyone, 4)
    assert full.is_complete
    assert insider(full, everyone, np.arange(20), colluders=3, rng=0).user.rate == 1.0
    assert insider(public, ratings, np.arange(60), colluders=1, rng=0).user.rate < 1.0


def test_too_few_members_to_collude_measure_nothing():
    ratings, public = averaged(5, 2, 4, seed=1, round_to=None)
    with pytest.raises(InputError, match="who rated something with it"):
        insider(public, ratings, np.arange(10), colluders=2, rng=0)


def test_two_groupings_of_the_same_people_say_more_than_one():
    rng = np.random.default_rng(0)
    rated = rng.random((120, 300)) < 0.1
    rated[:, :12] |= ~rated[:, :12].any(axis=1, keepdims=True)
    users, items = np.nonzero(rated)
    ratings = Ratings.from_arrays(users, items, np.ones(len(users)))
    order = rng.permutation(120)
    shuffled = Ratings.from_arrays(np.argsort(order)[users], items, np.ones(len(users)))
    one, two = grouped(ratings, 4), grouped(shuffled, 4)
    other = dataclasses.replace(two, owner=two.owner[np.argsort(order)])
    hits, lines = intersection([one, other], ratings, np.arange(120))
    assert lines[0].share.low > lines[0].baseline
    assert hits.details["right_in_all_of_2"] > hits.details["right_in_all_of_1"]
    n_rated = int(rated.sum())
    in_both = sum(
        len(set(rows_as_dicts(one)[one.owner[user]]) & set(rows_as_dicts(other)[other.owner[user]]))
        for user in range(120)
    )
    assert hits.details["right_in_all_of_2"] == pytest.approx(n_rated / in_both)


@settings(max_examples=30)
@given(small_ratings(), st.integers(1, 3), st.sampled_from([0.25, 0.5, 0.9, 1.0]))
def test_cells_above_a_cap_are_counted_and_common_items_are_the_baseline(ratings, k, cap):
    public = grouped(ratings, k)
    shares, common = [], []
    for profile, row in enumerate(naive_rows(public)):
        members = np.flatnonzero(public.owner == profile)
        for item in row:
            raters = ratings.users()[ratings.items == item]
            shares.append(np.isin(members, raters).mean())
            common.append(len(raters) / ratings.n_users)
    hits, baseline = above_cap(public, ratings, cap)
    assert hits.user.rate == hits.user.low == hits.user.high == pytest.approx(np.mean(np.array(shares) > cap))
    assert baseline == pytest.approx(np.mean(np.array(common) > cap))
    assert hits.details["max_share"] == pytest.approx(max(shares))
