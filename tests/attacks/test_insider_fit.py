"""Insiders who know how rows are fitted: the sum they are left with is exact, and tells where little hides it."""

import numpy as np
import pytest

from recloak._attacks.group_likelihood import group_model
from recloak._attacks.insider_fit import _NOISE_SHARE, insider_fit, insiders_of, left_over, read_target
from recloak._attacks.model import Public
from recloak._attacks.table_fit import TableFit
from recloak._ratings.model import Ratings, Scale

RANK, N_ITEMS, K = 6, 50, 2


@pytest.fixture(scope="module")
def leaking():
    """Return insiders of pairs of people with few ratings each, rows fitted exactly: known to leak."""
    rng = np.random.default_rng(2)
    n_users = 400
    basis, places = rng.normal(0, 0.6, (RANK, N_ITEMS)), rng.normal(0, 1, (n_users, RANK))
    rated = rng.random((n_users, N_ITEMS)) < 0.12
    rated[:, 0] = True
    stars = np.clip(np.rint(3 + places @ basis + rng.normal(0, 0.4, rated.shape)), 1, 5)
    users, items = np.nonzero(rated)
    ratings = Ratings.from_arrays(users, items, stars[users, items], scale=Scale(1, 5, 1))
    owner = np.repeat(np.arange(n_users // K), K).astype(np.int32)
    noise, precision = 0.5, np.eye(RANK)
    rows = np.array([fitted(basis, stars, rated, owner == group, noise) for group in range(n_users // K)])
    labels = np.clip(3 + rows @ basis, 1, 5).astype(np.float32)
    indptr = np.arange(N_ITEMS + 1, dtype=np.int64) * len(rows)
    holders = np.tile(np.arange(len(rows), dtype=np.int32), N_ITEMS)
    public = Public.of(indptr, holders, labels.T.ravel(), np.full(len(rows), K), owner, Scale(1, 5, 1))
    who = insiders_of(group_model(public, ratings.popularity / n_users), ratings)
    fit = TableFit(np.full(N_ITEMS, 3.0), basis, 0.01, 1.0, 5.0)
    memory = who.memory.__class__(
        fit, np.zeros(RANK), precision, noise, who.memory.turn, who.memory.spread,
        (basis * ratings.popularity / ratings.n_ratings) @ basis.T,
    )  # fmt: skip
    model = who.model.__class__(
        public, fit, rows, *(getattr(who.model, name) for name in who.model.__slots__ if name not in
                             ("public", "fit", "places", "__weakref__"))
    )  # fmt: skip
    return who.__class__(model, memory, ratings, who.stars, who.odds, who.typical, who.members, who.means), stars, rated


def fitted(basis, stars, rated, members, noise):
    """Solve the row of a group from all ratings of its members, as the code that publishes does."""
    known, wanted = _NOISE_SHARE * K * noise * np.eye(RANK), np.zeros(RANK)
    for user in np.flatnonzero(members):
        z = basis[:, rated[user]]
        known, wanted = known + z @ z.T, wanted + z @ (stars[user, rated[user]] - 3)
    return np.linalg.solve(known, wanted)


def test_what_is_left_is_the_sum_over_the_others_ratings(leaking):
    who, stars, rated = leaking
    basis = who.memory.fit.basis
    for target, other in ((0, 1), (11, 10)):
        place = who.model.places[target // K]
        items = np.flatnonzero(rated[target])
        naive = sum(basis[:, i] * (stars[target, i] - 3 - basis[:, i] @ place) for i in items)
        assert np.allclose(left_over(who, place, np.array([other]), K), naive, atol=1e-6)


def test_where_little_hides_it_stars_and_links_are_read(leaking):
    who = leaking[0]
    hits, by_label, line = insider_fit(who, np.arange(0, 400, 2), k=K, colluders=K - 1, stream=np.random.default_rng(0))
    assert hits.user.rate > by_label + 0.05
    assert line.share.rate > line.baseline + 0.05


def test_nothing_left_over_tells_nothing(leaking):
    who = leaking[0]
    reading = read_target(who, who.model.places[0], np.zeros(RANK), 1)
    assert np.allclose(reading.departs, 0)
    assert (reading.evidence <= 1e-9).all()
