"""Padding: what each predictor gives, and what none of them may do."""

from dataclasses import replace
from itertools import islice, pairwise

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core import progress
from recloak._core.errors import InputError, OptionError
from recloak._core.randomness import randomness
from recloak._library.opened_releases import publish_again
from recloak._ratings.model import Ratings
from recloak._releases.factorise import rounds
from recloak._releases.options import PadOptions
from recloak._releases.pad import pad
from recloak._releases.predictors import PREDICTORS, Predictor, item_means
from recloak._releases.publishing import publish
from tests.strategies import small_ratings


def planted(n_users=300, n_items=80, rank=2, share=0.3, noise=0.1, seed=0):
    """Draw ratings from a known low-rank model; give them and the model's own cells."""
    draws = np.random.default_rng(seed)
    cells = 3 + draws.standard_normal((n_users, rank)) @ draws.standard_normal((rank, n_items))
    users, items = np.nonzero(draws.random(cells.shape) < share)
    values = cells[users, items] + noise * draws.standard_normal(len(users))
    return Ratings.from_arrays(users, items, values), cells


@settings(max_examples=30)
@given(small_ratings(low=0), st.sampled_from([*PREDICTORS]), st.integers(0, 12))
def test_every_cell_gets_a_finite_prediction(ratings, predictor, rank):
    padding = pad(ratings, PadOptions(predictor=predictor, rank=rank), rng=0)
    assert padding.shape == ratings.shape
    assert np.isfinite(padding.rows(slice(None))).all()


@pytest.mark.parametrize("predictor", [one for one in PREDICTORS if one != "propensity"])  # that is no rating
@pytest.mark.parametrize("columns", [([1, 1, 2, 3], [1, 2, 1, 3]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [1, 1, 1])])
def test_equal_ratings_are_predicted_by_themselves(predictor, columns):
    users, items = columns
    padding = pad(Ratings.from_arrays(users, items, np.full(len(users), 4.0)), PadOptions(predictor=predictor), rng=0)
    np.testing.assert_allclose(padding.rows(slice(None)), 4, atol=1e-5)


def test_a_planted_low_rank_matrix_is_recovered_in_its_unrated_cells():
    ratings, cells = planted()
    rows = pad(ratings, PadOptions(rank=4, iterations=20), rng=0).rows(slice(None))
    unrated = np.ones(cells.shape, bool)
    unrated[ratings.users(), ratings.items] = False
    assert np.std((rows - cells)[unrated]) < 0.1  # cells vary by sqrt(2); the noise of one rating is 0.1


def test_no_round_raises_the_free_energy():
    ratings, _ = planted(noise=1.0)
    energies = [found.energy for found in islice(rounds(ratings, 4, randomness(0)), 12)]
    assert all(after <= before + 1e-5 for before, after in pairwise(energies))


def test_the_noise_found_is_the_noise_planted():
    ratings, _ = planted(n_users=1000, noise=0.5)
    *_, found = islice(rounds(ratings, 2, randomness(0)), 12)
    assert found.levels.noise == pytest.approx(0.5**2, rel=0.1)


def test_the_scale_of_the_ratings_does_not_matter():
    ratings, _ = planted()
    hundredfold = Ratings.from_arrays(ratings.users(), ratings.items, 100 * ratings.values)
    rows, hundredfold_rows = (pad(one, rng=0).rows(slice(None)) for one in (ratings, hundredfold))
    np.testing.assert_allclose(hundredfold_rows / 100, rows, atol=0.02)


def test_renaming_users_and_reordering_rows_changes_nothing_but_rounding():
    ratings, _ = planted()
    names = np.random.default_rng(1).permutation(ratings.n_users)
    order = np.random.default_rng(2).permutation(ratings.n_ratings)
    renamed = Ratings.from_arrays(names[ratings.users()][order], ratings.items[order], ratings.values[order])
    options = PadOptions(rank=2, tolerance=0)
    rows, renamed_rows = (pad(one, options, rng=0).rows(slice(None)) for one in (ratings, renamed))
    np.testing.assert_allclose(renamed_rows[names], rows, atol=0.01)


def test_users_and_items_without_ratings_get_the_bare_mean():
    ratings, _ = planted()
    left = ratings.where((ratings.users() != 5) & (ratings.items != 7))
    for predictor in PREDICTORS:
        padding = pad(left, PadOptions(predictor=predictor), rng=0)
        assert not padding.user_factors[5].any()
        assert not padding.item_factors[7].any()
        assert padding.rows(np.array([5]))[0, 7] == pytest.approx(padding.mu)


def test_item_means_are_the_means_of_the_items():
    padding = pad(Ratings.from_arrays([1, 1, 2], [1, 2, 1], [5.0, 1.0, 4.0]), PadOptions(predictor="mean"))
    assert padding.rank == 0
    np.testing.assert_allclose(padding.rows(slice(None)), [[4.5, 1], [4.5, 1]], atol=1e-6)


def test_any_callable_can_be_the_predictor():
    ratings, _ = planted()
    drawn = []

    def everything_is_drawn(given, rng):
        drawn.append(rng.stream().random())
        return item_means(given, PadOptions(), rng)

    mine = pad(ratings, padder=everything_is_drawn, rng=3)
    assert drawn == [randomness(3).child("pad").stream().random()]
    np.testing.assert_array_equal(mine.item_bias, pad(ratings, PadOptions(predictor="mean")).item_bias)


def by_seven(ratings, rng):
    """Predict every cell by the item's mean and seven: a predictor of a caller's own."""
    return replace(item_means(ratings, PadOptions(), rng), mu=7.0)


def test_a_release_is_made_with_a_predictor_of_the_callers_own():
    ratings, _ = planted(n_users=20)
    release = publish(ratings, k=3, grid="none", padder=by_seven, rng=0)
    assert release.account["padding"]["padder"] == "own"
    assert (
        release.to_polars()["rating"].to_list()
        != publish(ratings, k=3, grid="none", rng=0).to_polars()["rating"].to_list()
    )
    with pytest.raises(InputError, match="a function of its maker's own"):
        publish_again(release.account, ratings)


def test_a_predictor_is_added_by_its_value_alone(monkeypatch):
    monkeypatch.setitem(PREDICTORS, "seven", Predictor("seven", "by seven", lambda given, _, rng: by_seven(given, rng)))
    ratings, _ = planted(n_users=20)
    assert pad(ratings, PadOptions(predictor="seven")).mu == 7.0
    release = publish(ratings, k=3, pad_options=PadOptions(predictor="seven"), rng=0)
    assert release.account["padding"]["predictor"] == "seven"


def test_a_predictor_of_another_shape_is_refused():
    ratings, _ = planted()
    with pytest.raises(InputError, match=r"must predict \(300, 80\)"):
        pad(ratings, padder=lambda _, rng: item_means(planted(n_users=20)[0], PadOptions(), rng))


def test_a_rating_of_zero_is_a_rating():
    ratings = Ratings.from_arrays([1, 1, 2, 2], [1, 2, 1, 2], [0.0, 10.0, 0.0, 10.0])
    np.testing.assert_allclose(pad(ratings, PadOptions(predictor="mean")).rows(slice(None)), [[0, 10]] * 2, atol=1e-6)


def test_the_progress_is_told_by_halves_of_a_round():
    told = []

    class Ear:
        def start(self, label, total):
            told.append((label, total))
            return told.append, lambda: None

    with progress.listening(Ear()):
        pad(planted()[0], PadOptions(iterations=3, tolerance=0), rng=0)
    assert told == [("padding", 6)] + [1] * 6


REFUSED = {"rank": -1, "iterations": 0, "tolerance": -1.0, "predictor": "oracle"}


@pytest.mark.parametrize("name", REFUSED)
def test_an_option_outside_its_rule_is_refused(name):
    with pytest.raises(OptionError, match=name):
        PadOptions.from_mapping({name: REFUSED[name]})


def test_ratings_without_a_rating_are_refused():
    ratings = Ratings.from_arrays([1, 2], [1, 2], [1.0, 2.0])
    with pytest.raises(InputError, match="no ratings"):
        pad(ratings.where(np.zeros(2, bool)))


def test_one_and_two_threads_give_the_same_bits(monkeypatch):
    ratings, seen = planted(n_users=2000)[0], set()
    for threads in (1, 2, 3):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        padding = pad(ratings, rng=7)
        arrays = padding.user_bias, padding.item_bias, padding.user_factors, padding.item_factors
        seen.add(b"".join(array.tobytes() for array in arrays))
    assert len(seen) == 1


@pytest.mark.data
def test_movielens_is_predicted_better_than_by_biases_and_by_means(data):
    import polars as pl

    table = pl.read_csv(data / "ml" / "ml-1m.inter", separator="\t", quote_char=None)
    ratings = Ratings.from_arrays(table["user_id:token"], table["item_id:token"], table["rating:float"])
    train = np.random.default_rng(0).random(ratings.n_ratings) < 0.9
    users, items, values = ratings.users()[~train], ratings.items[~train], ratings.values[~train]
    paddings = [pad(ratings.where(train), PadOptions(predictor=name), rng=0) for name in PREDICTORS]
    svd, bias, mean = (np.sqrt(np.mean((padding.predict(users, items) - values) ** 2)) for padding in paddings)
    assert svd < 0.845
    assert svd < bias < mean


def test_large_groups_are_padded_with_fewer_factors_unless_a_rank_is_asked_for():
    assert [PadOptions().for_groups(k).rank for k in (5, 19, 20, 50)] == [22, 22, 5, 5]
    assert PadOptions(rank=9).for_groups(50).rank == 9
