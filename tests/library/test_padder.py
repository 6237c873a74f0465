"""A predictor of the caller's own."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse.linalg

import recloak

RATINGS = recloak.synth(users=60, items=40, ratings=900, seed=1)


def svd_of_residuals(ratings: recloak.Ratings) -> SimpleNamespace:
    """Predict by the singular vectors of what is left after the mean, as docs/library.md does."""
    matrix, mu = ratings.matrix.astype(np.float64), float(ratings.values.mean())
    matrix.data -= mu
    left, strength, right = scipy.sparse.linalg.svds(matrix, k=4, random_state=0)
    return SimpleNamespace(mu=mu, user_factors=left * strength, item_factors=right.T)


def test_a_model_of_another_library_pads_a_release_that_verifies(tmp_path):
    release = recloak.publish(RATINGS, tmp_path / "out", k=3, padder=svd_of_residuals, seed=1)
    assert recloak.verify(tmp_path / "out", k=3).passed
    assert release.facts.n_ratings == 60 * release.facts.n_items
    built_in = recloak.publish(RATINGS, k=3, seed=1)
    assert not release.to_polars()["rating"].equals(built_in.to_polars()["rating"])


def test_a_padding_is_taken_as_it_is():
    n_users, n_items = RATINGS.compact().shape
    flat = recloak.Padding(
        3.0, np.zeros(n_users, np.float32), np.zeros(n_items, np.float32), np.zeros((n_users, 0), np.float32),
        np.zeros((n_items, 0), np.float32), RATINGS.scale,
    )  # fmt: skip
    labels = recloak.publish(RATINGS, k=3, padder=lambda _: flat, seed=1).to_polars()["rating"]
    assert set(labels) == {3.0}


@pytest.mark.parametrize(
    ("made", "sentence"),
    [
        (None, "an object with user_factors, got NoneType"),
        (SimpleNamespace(user_factors=np.ones((60, 2))), "an object with item_factors"),
        (
            SimpleNamespace(user_factors=np.ones((6, 2)), item_factors=np.ones((40, 2))),
            "user_factors must have the shape",
        ),
        (
            SimpleNamespace(user_factors=np.ones((60, 2)), item_factors=np.ones((40, 3))),
            "item_factors must have the shape",
        ),
        (SimpleNamespace(user_factors=np.full((60, 2), np.nan), item_factors=np.ones((40, 2))), "finite numbers"),
        (SimpleNamespace(user_factors=np.ones((60, 600)), item_factors=np.ones((40, 600))), "at most 510 factors"),
        (SimpleNamespace(user_factors=np.ones((60, 2)), item_factors=np.ones((40, 2)), mu=np.inf), "mu must be"),
    ],
)
def test_a_model_that_does_not_fit_is_refused_in_one_sentence(made, sentence):
    with pytest.raises(recloak.InputError, match=r"^a padder") as told:
        recloak.publish(RATINGS, k=3, padder=lambda _: made)
    assert sentence in str(told.value)


def test_what_is_no_function_is_refused():
    with pytest.raises(recloak.InputError, match="must be a function of ratings, got str"):
        recloak.publish(RATINGS, padder="svd")  # type: ignore[arg-type]


def test_a_release_of_an_own_padder_is_not_made_again_with_another():
    release = recloak.publish(RATINGS, k=3, padder=svd_of_residuals, seed=1)
    with pytest.raises(recloak.InputError, match="cannot be made again"):
        recloak.audit(RATINGS, release, again=True, targets=9, known=(2,), varied_at=2, seed=1)


def test_a_padder_does_not_run_on_spark(tmp_path):
    with pytest.raises(recloak.OptionError, match=r"padder=\.\.\. does not go with engine='spark'"):
        recloak.publish("ratings.csv", tmp_path / "out", padder=svd_of_residuals, engine="spark")
