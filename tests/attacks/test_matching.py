"""The compiled matchers beside obvious versions over sets and dictionaries."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import small_ratings

from recloak._attacks.clue_matching import Kernel, match, score
from recloak._attacks.homogeneity import homogeneity
from recloak._attacks.knowledge import draw_clues
from recloak._attacks.label import label, label_tolerant
from recloak._attacks.model import Clues, Knowledge, Public
from recloak._attacks.nearest import nearest
from recloak._attacks.public_columns import item_means, support
from recloak._attacks.public_view import see_original
from recloak._attacks.scoreboard import scoreboard, scoreboard_paper
from recloak._attacks.structure import structure
from recloak._ratings.model import Ratings

KNOWN = st.builds(Knowledge, known=st.integers(1, 4), wrong_items=st.integers(0, 1), wrong_ratings=st.integers(0, 1))


def rows_of(public: Public) -> list[dict[int, float]]:
    """Give each profile as item -> label."""
    rows: list[dict[int, float]] = [{} for _ in range(public.n_profiles)]
    for item in range(public.n_items):
        for place in range(public.indptr[item], public.indptr[item + 1]):
            rows[public.profiles[place]][item] = float(public.labels[place])
    return rows


def clues_of(clues: Clues, target: int) -> dict[int, float]:
    places = slice(clues.indptr[target], clues.indptr[target + 1])
    return dict(zip(clues.items[places].tolist(), clues.ratings[places].tolist(), strict=True))


def single_clues(*known: tuple[int, int, float]) -> Clues:
    """Know one item of each target: (target, item, rating)."""
    targets, items, ratings = zip(*known, strict=True)
    return Clues(Knowledge(known=1), np.array(targets, np.int32), np.arange(len(known) + 1), np.array(items, np.int32),
                 np.array(ratings, np.float32))  # fmt: skip


def grouped(ratings: Ratings, k: int) -> Public:
    """Put neighbouring users into groups of k and give each group the union of its items with the mean label."""
    n_groups = max(ratings.n_users // k, 1)
    owner = np.minimum(np.arange(ratings.n_users) // k, n_groups - 1).astype(np.int32)
    cells: dict[tuple[int, int], list[float]] = {}
    for user, item, value in zip(ratings.users(), ratings.items, ratings.values, strict=True):
        cells.setdefault((int(item), int(owner[user])), []).append(float(value))
    places = sorted(cells)
    indptr = np.searchsorted([item for item, _ in places], np.arange(ratings.n_items + 1)).astype(np.int64)
    labels = np.array([np.mean(cells[place]) for place in places], np.float32)
    groups = np.array([group for _, group in places], np.int32)
    return Public.of(indptr, groups, labels, np.bincount(owner), owner, ratings.scale)


@settings(max_examples=60)
@given(small_ratings(), KNOWN, st.sampled_from([0.0, 1.0, math.inf]), st.integers(1, 3))
def test_containment_agrees_with_sets(ratings, knowledge, tolerance, k):
    public, clues = grouped(ratings, k), draw_clues(ratings, knowledge, n_targets=5, rng=1)
    found, rows = match(public, clues, tolerance), rows_of(public)
    for t in range(clues.n_targets):
        known, slack = clues_of(clues, t), tolerance + 1e-6
        fits = {p for p, row in enumerate(rows) if all(abs(row.get(i, 1e9) - r) <= slack for i, r in known.items())}
        fits = {p for p in fits if set(known) <= set(rows[p])}
        assert found.n_profiles[t] == len(fits)
        assert found.n_users[t] == sum(public.weights[p] for p in fits)
        assert found.has_own[t] == (public.owner[clues.targets[t]] in fits)


@settings(max_examples=60)
@given(small_ratings(), KNOWN, st.integers(1, 3))
def test_structure_and_label_attacks_guess_evenly_among_the_sets_that_fit(ratings, knowledge, k):
    public, clues = grouped(ratings, k), draw_clues(ratings, knowledge, n_targets=5, rng=1)
    users = [set(rows_of(public)[profile].items()) for profile in public.owner]  # what each released user shows
    for attack, show in ((structure, lambda row: {item for item, _ in row}), (label, lambda row: row)):
        chances = []
        for t, target in enumerate(clues.targets):
            wanted = show(set(clues_of(clues, t).items()))
            fits = [user for user, row in enumerate(users) if wanted <= show(row)]
            chances.append((target in fits) / max(len(fits), 1))
        assert attack(public, clues).user.rate == pytest.approx(np.mean(chances))


def naive_score(row: dict[int, float], known: dict[int, float], weights, scale: float, *, squared: bool) -> float:
    off = {i: abs(row[i] - r) / scale for i, r in known.items() if i in row}
    return sum(weights[i] * ((1 - d) ** 2 if squared else math.exp(-d)) for i, d in off.items())


@settings(max_examples=60)
@given(small_ratings(), KNOWN, st.booleans(), st.integers(1, 3))
def test_scores_agree_with_a_plain_sum(ratings, knowledge, squared, k):
    public, clues = grouped(ratings, k), draw_clues(ratings, knowledge, n_targets=5, rng=1)
    weights = 1 / np.log1p(np.maximum(support(public), 1))
    found, rows = score(public, clues, Kernel(weights, 1.5, squared=squared)), rows_of(public)
    for t in range(clues.n_targets):
        scores = [naive_score(row, clues_of(clues, t), weights, 1.5, squared=squared) for row in rows]
        own = scores[public.owner[clues.targets[t]]]
        each_user = np.repeat(scores, public.weights)
        assert found.best[t] == pytest.approx(max(scores))
        assert found.own[t] == pytest.approx(own)
        assert found.std[t] == pytest.approx(np.std(each_user), abs=1e-7)
        assert found.users_at_best[t] + sum(each_user < max(scores) - 1e-9) == len(each_user)
        assert found.users_above_own[t] == sum(each_user > own + 1e-9)
        assert found.profiles_above_own[t] == sum(np.array(scores) > own + 1e-9)


@given(small_ratings(), st.integers(1, 3))
def test_item_means_count_each_user_once(ratings, k):
    public = grouped(ratings, k)
    rows, means = rows_of(public), item_means(public)
    for item in range(public.n_items):
        having = [(row[item], weight) for row, weight in zip(rows, public.weights, strict=True) if item in row]
        labels = [label for label, weight in having for _ in range(weight)]
        assert means[item] == pytest.approx(np.mean(labels))


@settings(max_examples=30)
@given(small_ratings(min_users=4), st.integers(2, 4))
def test_no_attack_beats_one_in_k_on_users_hidden_in_groups_of_k(ratings, k):
    public = grouped(ratings, k)
    clues = draw_clues(ratings, Knowledge(known=3), n_targets=50, rng=0)
    for attack in (structure, label, label_tolerant, scoreboard, nearest):
        assert attack(public, clues).user.rate <= 1 / min(public.weights) + 1e-9


@settings(max_examples=20)
@given(st.integers(2, 9), st.integers(2, 6), st.data())
def test_a_release_in_which_all_are_equal_is_attacked_no_better_than_guessing(n_users, n_items, data):
    row = data.draw(st.lists(st.integers(1, 5), min_size=n_items, max_size=n_items))
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    ratings = Ratings.from_arrays(users, items, np.tile(row, n_users).astype(float))
    clues = draw_clues(ratings, Knowledge(known=2), n_targets=n_users, rng=0)
    for attack in (structure, label, label_tolerant, scoreboard, nearest):
        assert attack(see_original(ratings), clues).user.rate == pytest.approx(1 / n_users)


def test_everybody_is_found_where_everybody_is_alone_with_an_item():
    ratings = Ratings.from_arrays([0, 1, 2, 3], [0, 1, 2, 3], [1.0, 2.0, 3.0, 5.0])
    clues = draw_clues(ratings, Knowledge(known=1), n_targets=4, rng=0)
    for attack in (structure, label, scoreboard, nearest):
        hits = attack(see_original(ratings), clues)
        assert (hits.user.rate, hits.user.high) == (1.0, 1.0)
    assert homogeneity(see_original(ratings), clues, ratings).user.rate == 1.0


def test_nobody_is_found_by_exact_labels_that_were_averaged_away():
    ratings = Ratings.from_arrays([0, 1, 0, 1], [0, 0, 1, 1], [1.0, 4.0, 2.0, 5.0])
    hits = label(grouped(ratings, 2), draw_clues(ratings, Knowledge(known=2), n_targets=2, rng=0))
    assert (hits.user.rate, hits.user.low) == (0.0, 0.0)


def test_the_tolerant_attacker_accepts_labels_of_one_step_and_no_more():
    ratings = Ratings.from_arrays(np.arange(9), np.zeros(9, int), np.arange(1, 5.5, 0.5))  # 1, 1.5, ... 5
    hits = label_tolerant(see_original(ratings), single_clues((4, 0, 3.0)))
    assert hits.user.rate == pytest.approx(1 / len([2.5, 3.0, 3.5]))


def test_times_help_the_scoreboard():
    # Two users with the same items and ratings differ only in when they rated.
    day = 86_400
    ratings = Ratings.from_arrays([0, 0, 1, 1], [0, 1, 0, 1], [3.0, 4.0, 3.0, 4.0], [0, 0, 300 * day, 300 * day])
    public = see_original(ratings)
    without = draw_clues(ratings, Knowledge(known=2), n_targets=2, rng=0)
    within = draw_clues(ratings, Knowledge(known=2, days=3), n_targets=2, rng=0)
    assert scoreboard(public, without).user.rate == pytest.approx(1 / 2)
    assert scoreboard(public, within).user.rate == 1.0


def test_a_short_profile_is_likelier_than_a_long_one_that_fits_as_well():
    # User 0 rated items 0 and 1; user 1 rated them alike, and eight more.
    ratings = Ratings.from_arrays([0, 0] + [1] * 10, [0, 1, *range(10)], [3.0, 4.0, 3.0, 4.0, *[1.0] * 8])
    clues = Clues(Knowledge(known=2), np.array([0], np.int32), np.array([0, 2]), np.array([0, 1], np.int32),
                  np.array([3.0, 4.0], np.float32))  # fmt: skip
    assert scoreboard(see_original(ratings), clues).user.rate == 1.0
    assert scoreboard_paper(see_original(ratings), clues).user.rate == pytest.approx(1 / 2)
