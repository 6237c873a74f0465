"""Each algorithm against its obvious form, exact cases seen by eye, and what must not change the answer."""

from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import InputError, OptionError
from recloak._mentions.algorithms import Candidates, failures, ignoring_popular, intersect, rank_targets
from recloak._mentions.identification import identify, mention_bins
from recloak._mentions.likelihood import calibrate, fit_logistic, rank_by_likelihood
from recloak._mentions.mention_tables import mentions_from_table
from recloak._mentions.model import Standing
from recloak._mentions.options import IdentifyOptions
from recloak._ratings.model import Ratings
from tests.mentions import naive
from tests.strategies import small_ratings


@st.composite
def attacked(draw):
    """Draw ratings and mentions: of rated and unrated items, by users who are in the data and one who is not."""
    ratings = draw(small_ratings(min_users=3))
    who = st.sampled_from([*range(ratings.n_users), 99])
    what = st.sampled_from([*range(ratings.n_items), 77])
    rows = draw(st.lists(st.tuples(who, what, st.sampled_from([None, 1.0, 3.0, 5.0])), min_size=1, max_size=14))
    ids = ratings.item_ids.ids.to_list()
    table = pl.DataFrame(
        {
            "user": [user for user, _, _ in rows],
            "item": [ids[item] if item != 77 else 77 for _, item, _ in rows],
            "rating": pl.Series([rating for _, _, rating in rows], dtype=pl.Float64),
        }
    )
    return ratings, mentions_from_table(table, ratings)


def stood(case, name, options=None):
    ratings, mentions = case
    options = options or IdentifyOptions()
    standing = rank_targets(name, Candidates.of(ratings, options), mentions, options)
    return list(zip(np.where(standing.tied > 0, standing.better, 0).tolist(), standing.tied.tolist(), strict=True))


@settings(max_examples=40)
@given(attacked())
def test_scoring_places_targets_as_the_products_of_fractions_do(case):
    assert stood(case, "scoring") == naive.by_scoring(*case)


@settings(max_examples=40)
@given(attacked())
def test_exact_and_fuzzy_rating_place_targets_as_the_products_of_fractions_do(case):
    assert stood(case, "exact_rating") == naive.by_scoring(*case, delta=0)
    assert stood(case, "fuzzy_rating") == naive.by_scoring(*case, delta=1)


@settings(max_examples=40)
@given(attacked())
def test_the_options_of_scoring_change_what_they_say(case):
    flat = IdentifyOptions(flat=True, floor=0.25)
    assert stood(case, "scoring", flat) == naive.by_scoring(*case, flat=True, floor=Fraction(1, 4))
    unsaid = IdentifyOptions(unsaid="none")
    assert stood(case, "exact_rating", unsaid) == naive.by_scoring(*case, delta=0, none_unsaid=True)


@settings(max_examples=40)
@given(attacked())
def test_set_intersection_and_its_reasons_are_those_of_sets(case):
    ratings, mentions = case
    expected = naive.by_intersection(ratings, mentions)
    assert stood((ratings, mentions), "set_intersection") == [(better, tied) for better, tied, _ in expected]
    why = failures(*intersect(Candidates.of(ratings, IdentifyOptions()), mentions), 2)
    for t, (_, tied, possible) in enumerate(expected):
        reason = "no one possible" if not possible else "misdirected" if not tied else "identified"
        reason = "not narrow" if reason == "identified" and possible > 2 else reason
        assert [name for name, flags in why.items() if flags[t]] == [reason]


def test_a_target_among_exactly_k_possible_people_is_identified():
    why = failures(Standing(np.zeros(4, np.int64), np.array([2, 3, 0, 0])), np.array([2, 3, 0, 1]), 2)
    names = [[name for name, flags in why.items() if flags[t]] for t in range(4)]
    assert names == [["identified"], ["not narrow"], ["no one possible"], ["misdirected"]]


@settings(max_examples=40)
@given(attacked())
def test_tf_idf_places_targets_as_the_cosine_does(case):
    assert stood(case, "tf_idf") == naive.by_tf_idf(*case)


@settings(max_examples=40)
@given(attacked())
def test_the_likelihood_ratio_is_the_sum_of_its_terms(case):
    ratings, mentions = case
    candidates = Candidates.of(ratings, IdentifyOptions())
    found = rank_by_likelihood(candidates, mentions, ratings)
    rated, raters = naive.tables(ratings)
    mean = ratings.n_ratings / ratings.n_users
    shares = _q_of_each_half(mentions, rated)
    for t, (target, said, _) in enumerate(naive.targets(mentions)):
        scores = [naive.by_likelihood(u, said, rated, raters, shares[t % 2], mean) for u in range(len(rated))]
        if target < 0:
            assert (found.standing.tied[t], found.correct[t]) == (0, False)
            continue
        assert found.standing.better[t] == sum(s > scores[target] + 1e-9 for s in scores)
        assert found.standing.tied[t] == sum(abs(s - scores[target]) <= 1e-9 for s in scores)


def _q_of_each_half(mentions, rated):
    shares = []
    for half in (0, 1):
        others = [
            (t, said, out) for n, (t, said, out) in enumerate(naive.targets(mentions)) if n % 2 != half and t >= 0
        ]
        hits = sum(item in rated[t] for t, said, _ in others for item, _ in said)
        total = sum(len(said) + out for _, said, out in others)
        shares.append((hits + 8.2) / (total + 10))
    return shares


@settings(max_examples=30)
@given(attacked())
def test_expected_lies_between_pessimistic_and_optimistic_and_grows_with_k(case):
    found = identify(*case, levels=(1, 2, 5))
    for rates in found.algorithms.values():
        for n in range(3):
            assert rates.pessimistic[n] - 1e-12 <= rates.rate[n] <= rates.optimistic[n] + 1e-12
            assert rates.low[n] <= rates.rate[n] <= rates.high[n]
        assert list(rates.rate) == sorted(rates.rate)


@settings(max_examples=10)
@given(attacked())
def test_one_thread_gives_the_same_answer(case):
    import numba

    before = numba.get_num_threads()
    many = identify(*case, absent=0.5).to_json()
    numba.set_num_threads(1)
    try:
        assert identify(*case, absent=0.5).to_json() == many
    finally:
        numba.set_num_threads(before)


def watched(*rows):
    users, items = zip(*((user, item) for user, liked in rows for item in liked), strict=True)
    return Ratings.from_arrays(list(users), list(items), [3.0] * len(users))


def said(ratings, *rows, **more):
    users, items = zip(*rows, strict=True)
    return mentions_from_table(pl.DataFrame({"user": users, "item": items, **more}), ratings)


def test_who_alone_rated_every_mention_is_identified_by_all():
    ratings = watched(("ann", "abc"), ("bob", "cde"), ("cat", "efgxyz"), ("dan", "gha"))
    found = identify(ratings, said(ratings, ("ann", "a"), ("ann", "b")))
    # ann rated 3 of 11 items, no more than a third, and nobody else rated b
    # the knowing attackers ignore the forty most-rated items, here all of them
    others = [rates for name, rates in found.algorithms.items() if not name.startswith("knowing")]
    assert all(rates.rate == (1.0, 1.0, 1.0, 1.0) for rates in others)
    assert found.rated_share == 1.0


def test_users_with_equal_ratings_share_the_first_place():
    ratings = watched(("ann", "ab"), ("bob", "ab"), ("cat", "cdefgh"))
    rates = identify(ratings, said(ratings, ("ann", "a"))).algorithms["scoring"]
    assert (rates.pessimistic[0], rates.rate[0], rates.optimistic[0]) == (0.0, 0.5, 1.0)


def test_a_heavy_rater_is_no_candidate_of_scoring_but_counts_among_all_users():
    ratings = watched(("ann", "ab"), ("all", "abcdef"), ("cat", "cdef"))
    options = IdentifyOptions(heavy=0.9)
    candidates = Candidates.of(ratings, options)
    assert candidates.heavy.tolist() == [True, False, False]  # ids ascend: all, ann, cat
    assert candidates.n_users == 3
    assert candidates.raters.tolist() == [2, 2, 2, 2, 2, 2]
    assert stood((ratings, said(ratings, ("all", "a"))), "scoring", options) == [(0, 0)]
    assert stood((ratings, said(ratings, ("ann", "a"))), "scoring", options) == [(0, 1)]


def test_hundreds_of_mentions_do_not_underflow():
    items = [f"film {n:03}" for n in range(600)]
    ratings = watched(("ann", items), ("bob", items[1:]), ("cat", [f"other {n}" for n in range(3000)]))
    mentions = said(ratings, *[("bob", item) for item in items[1:]], ("bob", "film 000"))
    # 0.05 ** 600 is 0 in floating point; bob lacks one mention, ann lacks none
    assert stood((ratings, mentions), "scoring") == [(1, 1)]


def test_the_adaptive_attacker_ignores_the_most_rated_items_unless_nothing_is_left():
    ratings = watched(("ann", "ap"), ("bob", "bp"), ("cat", "cp"))
    mentions = said(ratings, ("ann", "a"), ("ann", "p"), ("bob", "p"))
    read = ignoring_popular(mentions, ratings.popularity, 0.25)
    assert read.counts.tolist() == [1, 1]
    assert ratings.item_ids.decode(read.items).to_list() == ["a", "p"]


def test_what_cannot_be_matched_is_told_and_counted():
    ratings = watched(("ann", "ab"), ("bob", "bc"))
    mentions = said(ratings, ("ann", "a"), ("ann", "a"), ("ann", "zzz"), ("eve", "b"), ("bob", "yyy"), ("dan", None))
    counted = mentions.intake
    assert (counted.n_rows, counted.n_repeated, counted.n_unknown_items) == (6, 1, 2)
    assert (counted.n_unknown_users, counted.n_without) == (1, 1)
    assert mentions.target_ids.to_list() == ["ann", "bob", "eve"]
    assert mentions.totals.tolist() == [2, 1, 1]
    found = identify(ratings, mentions)
    assert found.reasons["1"]["no one possible"] == pytest.approx(2 / 3, abs=1e-6)
    assert found.open_set is not None
    assert (found.open_set.n_present, found.open_set.n_absent) == (2, 1)


def test_no_mentions_at_all_is_refused():
    ratings = watched(("ann", "ab"), ("bob", "bc"))
    empty = pl.DataFrame({"user": [], "item": []}, schema={"user": pl.String, "item": pl.String})
    with pytest.raises(InputError, match="nobody to identify"):
        identify(ratings, mentions_from_table(empty, ratings))


def test_an_unknown_algorithm_is_refused():
    ratings = watched(("ann", "ab"), ("bob", "bc"))
    with pytest.raises(OptionError, match="algorithm must be one of"):
        stood((ratings, said(ratings, ("ann", "a"))), "magic")


def test_numbers_and_texts_as_ids_are_brought_together():
    ratings = Ratings.from_arrays([1, 1, 2], [10, 20, 20], [3.0, 4.0, 5.0])
    mentions = mentions_from_table(pl.DataFrame({"user": ["1", "2"], "item": ["10", "x"]}), ratings)
    assert mentions.users.tolist() == [0, 1]
    assert mentions.outside.tolist() == [0, 1]


def test_mentions_without_a_rating_take_the_mentioners_own():
    ratings = Ratings.from_arrays(["ann", "ann", "bob"], ["a", "b", "b"], [2.0, 5.0, 1.0])
    mentions = said(ratings, ("ann", "a"), ("ann", "b"), ("bob", "a"), rating=[None, 4.0, None])
    assert np.array_equal(mentions.ratings, [2.0, 4.0, np.nan], equal_nan=True)


@given(st.lists(st.integers(1, 200), min_size=1, max_size=30))
def test_every_number_of_mentions_falls_into_one_bin(counts):
    bins = mention_bins(np.array(counts))
    assert sum(int(inside.sum()) for _, _, inside in bins) == len(counts)
    for low, high, inside in bins:
        assert all(low <= n <= (high or 10**9) for n in np.array(counts)[inside])


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1))
def test_calibrated_probabilities_stay_in_order_and_inside_zero_and_one(seed):
    rng = np.random.default_rng(seed)
    odds = rng.normal(0, 6, 60)
    right = rng.random(60) < 1 / (1 + np.exp(-odds / 3))
    for probability in (calibrate(odds, right)[0::2], calibrate(odds, right)[1::2]):
        assert ((probability >= 0) & (probability <= 1)).all()
    slope, _ = fit_logistic(odds, right)
    assert 0 <= slope < 2


def test_overconfident_odds_are_brought_down():
    rng = np.random.default_rng(7)
    truth = rng.normal(0, 1.5, 4000)
    right = rng.random(4000) < 1 / (1 + np.exp(-truth))
    slope, level = fit_logistic(3 * truth, right)  # three times too sure
    assert slope == pytest.approx(1 / 3, abs=0.05)
    assert level == pytest.approx(0, abs=0.2)


def test_rates_of_a_standing_seen_by_eye():
    from recloak._mentions.model import Standing

    # first alone, tied fourth to sixth, not in the list
    rates = Standing(np.array([0, 3, 0]), np.array([1, 3, 0])).rates((1, 5))
    assert rates.rate == pytest.approx((1 / 3, (1 + 2 / 3) / 3))
    assert rates.optimistic == pytest.approx((1 / 3, 2 / 3))
    assert rates.pessimistic == pytest.approx((1 / 3, 1 / 3))
