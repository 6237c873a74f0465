"""The strong attackers on small releases known to leak, and on the same releases without the leak."""

import dataclasses

import numpy as np
import pytest
from tests.attacks.attack_values import OWN
from tests.attacks.test_matching import grouped

from recloak._attacks.attack_input import OutsideRatings, OwnerKnowledge
from recloak._attacks.auditing import audit
from recloak._attacks.group_likelihood import group_model, score_groups
from recloak._attacks.insider import insider
from recloak._attacks.model import Public
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView
from recloak._attacks.table_fit import fit_rows
from recloak._attacks.two_samples import auc, auc_share, auc_within, clustered_share, found_at
from recloak._core.intervals import wilson
from recloak._ratings.model import Ratings, Scale

K, N_GROUPS, N_ITEMS, RANK = 4, 150, 260, 3
GRID = 0.05


@dataclasses.dataclass(frozen=True)
class World:
    """People of a low-rank world, its groups, and its releases."""

    ratings: Ratings
    model: ReleaseView  # labels of the model alone
    raters: ReleaseView  # moved by raters where there are two
    n_raters: np.ndarray
    held_out: OutsideRatings


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(5)
    items = rng.normal(0, 0.5, (RANK, N_ITEMS))
    taste = np.repeat(rng.normal(0, 0.8, (N_GROUPS + 30, RANK)), K, axis=0)
    taste += rng.normal(0, 0.5, taste.shape)
    predicted = np.clip(3 + taste @ items, 1, 5)
    popularity = np.clip(rng.beta(0.7, 3, N_ITEMS), 0.03, 0.8)
    rated = rng.random(predicted.shape) < popularity
    rated[:, :3] |= ~rated.any(axis=1, keepdims=True)
    stars = np.clip(np.rint(predicted + rng.normal(0, 0.8, predicted.shape)), 1, 5)
    n = N_GROUPS * K
    users, chosen = np.nonzero(rated[:n])
    assert len(np.unique(chosen)) == N_ITEMS
    ratings = Ratings.from_arrays(users, chosen, stars[:n][users, chosen], scale=Scale(1, 5, 1))
    by_group = (N_GROUPS, K, N_ITEMS)
    mean = predicted[:n].reshape(by_group).mean(axis=1)
    n_raters = rated[:n].reshape(by_group).sum(axis=1)
    moved = np.where(rated, stars - predicted, 0)[:n].reshape(by_group).sum(axis=1) / K
    outside, out_items = np.nonzero(rated[n:])
    indptr = np.searchsorted(outside, np.arange(len(rated) - n + 1))
    held_out = OutsideRatings(indptr, out_items.astype(np.int32), stars[n:][outside, out_items].astype(np.float32))
    return World(ratings, padded(mean), padded(mean + np.where(n_raters >= 2, moved, 0)), n_raters, held_out)


def padded(labels):
    """Publish a full table of labels on a grid."""
    owner = np.repeat(np.arange(N_GROUPS), K).astype(np.int32)
    on_grid = (np.round(np.clip(labels, 1, 5) / GRID) * GRID).astype(np.float32)
    indptr = np.arange(N_ITEMS + 1, dtype=np.int64) * N_GROUPS
    holders = np.tile(np.arange(N_GROUPS, dtype=np.int32), N_ITEMS)
    public = Public.of(indptr, holders, on_grid.T.ravel(), np.full(N_GROUPS, K), owner, Scale(1, 5, 1))
    return ReleaseView(public, {"k": K, "mode": "padded", "min_raters": 2, "labels": "raters"})


def attacked(world, release, name, **more):
    options = AuditOptions(targets=400, known=(8,), varied_at=8)
    return audit(world.ratings, release, options=options, attacks=[OWN[name]], rng=1, **more).outcomes


@pytest.mark.parametrize("name", ["residual", "insider", "membership"])
def test_labels_moved_by_raters_are_breached(world, name):
    outcomes = attacked(world, world.raters, name)
    assert not any(one.failed for one in outcomes)
    assert "breached" in {one.verdict for one in outcomes}


@pytest.mark.parametrize("name", ["residual", "insider"])
def test_labels_of_the_model_alone_are_not(world, name):
    release = ReleaseView(world.model.public, {**world.model.manifest, "labels": "model"})
    assert {one.verdict for one in attacked(world, release, name)} <= {"bounded", "not measured"}


def test_a_release_that_only_says_that_its_labels_are_of_the_model_is_breached(world):
    lying = ReleaseView(world.raters.public, {**world.raters.manifest, "labels": "model"})
    assert "breached" in {one.verdict for one in attacked(world, lying, "insider")}


def test_items_that_fit_worse_than_others_tell_nothing_of_their_cells(world):
    """Rare items have labels of their mean alone, so residuals tell items apart and no cell of an item from another."""
    table = world.model.public.labels.reshape(N_ITEMS, N_GROUPS).T.astype(np.float64)
    rough = np.random.default_rng(2).normal(0, 0.1, table.shape)
    often = world.ratings.popularity >= np.median(world.ratings.popularity)
    shown = ReleaseView(padded(np.where(often, table + rough, table.mean(axis=0))).public, world.model.manifest)
    found = attacked(world, shown, "residual")[0]
    assert found.details["release"]["told_across_items"] > 0.6
    assert found.details["release"]["told_by_popularity"] > 0.8
    assert found.verdict != "breached"
    moved = np.where(world.n_raters >= 2, world.raters.public.labels.reshape(N_ITEMS, N_GROUPS).T - table, 0)
    leaking = padded(np.where(often, table + moved, table.mean(axis=0)))
    found = attacked(world, ReleaseView(leaking.public, world.model.manifest), "residual")[0]
    assert (found.verdict, found.release.low > 0.7) == ("breached", True)


def test_a_small_part_of_the_raters_labels_is_breached_and_rows_of_other_people_never_are(world):
    table = world.model.public.labels.reshape(N_ITEMS, N_GROUPS).T.astype(np.float64)
    moved = world.raters.public.labels.reshape(N_ITEMS, N_GROUPS).T - table
    assert attacked(world, padded(table + 0.3 * moved), "residual")[0].verdict == "breached"
    for seed in range(3):
        rng = np.random.default_rng(seed)
        rough = np.where(rng.random(N_GROUPS) < 0.1, 0.1, 0.0)[:, None]  # a few rows fit badly, as a whole
        strange = table[rng.permutation(N_GROUPS)] + rng.normal(0, 1, table.shape) * rough
        assert attacked(world, padded(strange), "residual")[0].verdict != "breached"


def test_the_area_within_columns_is_the_share_of_pairs_of_one_column_in_order():
    rng = np.random.default_rng(3)
    scores, kind = rng.integers(0, 5, (30, 4)).astype(float), rng.random((30, 4)) < 0.4
    scores[:, 1] += 100  # what differs between columns does not count
    kind[:, 3] = True
    scores[:5, 2] = np.nan
    pairs = [
        (np.sign(scores[i, c] - scores[j, c]) + 1) / 2
        for c in range(4)
        for i in np.flatnonzero(kind[:, c] & ~np.isnan(scores[:, c]))
        for j in np.flatnonzero(~kind[:, c] & ~np.isnan(scores[:, c]))
    ]
    found = auc_within(scores, kind)
    assert found.rate == pytest.approx(np.mean(pairs))
    assert found.low < found.rate < found.high
    one = auc_within(scores[:, :1], kind[:, :1])
    usual = auc_share(scores[kind[:, 0], 0], scores[~kind[:, 0], 0])
    assert (one.rate, one.low, one.high, one.n) == pytest.approx((usual.rate, usual.low, usual.high, usual.n))


def test_the_fit_is_the_model_and_its_residuals_are_the_ratings(world):
    table = world.raters.public.labels.reshape(N_ITEMS, N_GROUPS).T
    clean = world.model.public.labels.reshape(N_ITEMS, N_GROUPS).T
    fit = fit_rows(table, np.random.default_rng(0))
    assert RANK <= len(fit.basis) <= RANK + 4
    still = world.n_raters < 2
    assert np.abs(table - clean)[still].max() == 0
    assert np.median(np.abs(fit.residuals(table)[still])) < GRID / 2


def test_all_but_one_insiders_read_stars_that_the_label_hides(world):
    hits = insider(world.raters.public, world.ratings, np.arange(0, 600, 7), colluders=K - 1, rng=0)
    assert hits.user.low > hits.details["told_by_label"] + 0.2
    assert hits.details["link_auc"] > hits.details["link_auc_by_popularity"] + 0.1


def test_members_are_found_with_people_held_out_as_without_them(world):
    known = attacked(world, world.raters, "membership", owner=OwnerKnowledge(held_out=world.held_out))[-1]
    guessed = attacked(world, world.raters, "membership")[-1]
    assert known.details["release"]["people_held_out"] > 0
    assert known.release.rate == pytest.approx(guessed.release.rate, abs=0.1)


def test_the_compiled_score_of_a_padded_release_is_the_obvious_one(world):
    model = group_model(world.raters.public, world.ratings.popularity / world.ratings.n_users)
    items, stars = np.array([3, 50, 200]), np.array([4, 1, 5], np.float32)
    taste, presence = score_groups(model, items, stars)
    table = world.raters.public.labels.reshape(N_ITEMS, N_GROUPS).T
    for group in (0, 17, 149):
        expected = model.fit.predict(model.places[[group]])[0][items]
        assert taste[group] == pytest.approx(-(((stars - expected) / model.taste) ** 2).sum() / 2, rel=1e-4)
        shown = sum(
            evidence(model, group, item, table[group, item] - at, star - at)
            for item, star, at in zip(items, stars, expected, strict=True)
        )
        assert presence[group] == pytest.approx(shown, rel=1e-3, abs=1e-3)


def evidence(model, group, item, off, surprise):
    """Weigh a residual as if a member had rated against one that anybody may have made."""

    def normal(x, variance):
        return np.exp(-(x**2) / variance / 2) / np.sqrt(variance)

    p = min(model.popularity[item] * model.active[group], 0.95)
    alone, one = (1 - p) ** (K - 1), (model.taste / K) ** 2
    two = 1 - (1 - p) ** K - K * p * alone
    still = normal(off, model.blur**2)
    member = (1 - alone) * normal(off - surprise / K, model.blur**2 + one) + alone * still
    return np.log((member + 1e-9) / (two * normal(off, model.blur**2 + 2.2 * one) + (1 - two) * still + 1e-9))


def test_the_group_of_a_pure_row_is_found_by_its_items(world):
    release = ReleaseView(grouped(world.ratings, K), {"k": K, "mode": "pure", "min_raters": 1})
    found = attacked(world, release, "likelihood")[0]
    assert found.group.low > 0.5
    assert found.release.rate <= 1 / K + 1e-9
    assert "breached" in {one.verdict for one in attacked(world, release, "membership")}
    assert attacked(world, release, "outside-record")[0].verdict == "breached"


def test_attributes_and_sensitive_items_are_told_where_groups_are_alike(world):
    labels = world.raters.public.labels.reshape(N_ITEMS, N_GROUPS)
    by_taste = (labels[0] > np.median(labels[0])).astype(np.int64)
    owner = OwnerKnowledge(attribute=np.repeat(by_taste, K))
    assert attacked(world, world.raters, "attribute", owner=owner)[0].verdict == "breached"
    noise = OwnerKnowledge(attribute=np.random.default_rng(0).integers(0, 2, N_GROUPS * K))
    assert attacked(world, world.raters, "attribute", owner=noise)[0].verdict != "breached"
    rare = np.zeros(N_ITEMS, bool)
    rare[np.argsort(world.ratings.popularity)[60:66]] = True
    pure = ReleaseView(grouped(world.ratings, K), {"k": K, "mode": "pure", "min_raters": 1})
    assert attacked(world, pure, "sensitive", owner=OwnerKnowledge(sensitive=rare))[0].verdict == "breached"


def test_what_the_owner_did_not_give_is_not_measured(world):
    for name in ("attribute", "sensitive", "public-mentions", "other-time", "intersection", "join"):
        outcome = attacked(world, world.raters, name)[0]
        assert (outcome.verdict, outcome.failed) == ("not measured", False)
        assert outcome.reason


def test_people_are_joined_by_their_names_only_where_these_are_the_same(world):
    names = np.array([f"n{number}" for number in range(N_GROUPS * K)], object)
    shuffled = np.random.default_rng(1).permutation(N_GROUPS * K)
    other = dataclasses.replace(world.raters.public, owner=world.raters.public.owner[shuffled])
    one = dataclasses.replace(world.raters, names=names)
    same, fresh = (ReleaseView(other, {"k": K}, each) for each in (names, names[shuffled]))
    assert attacked(world, one, "join", second=same)[0].verdict == "breached"
    assert attacked(world, one, "join", second=fresh)[0].verdict == "bounded"


def test_the_area_under_the_curve_is_the_share_of_pairs_in_order():
    rng = np.random.default_rng(0)
    yes, no = rng.integers(0, 6, 40).astype(float), rng.integers(0, 5, 30).astype(float)
    pairs = np.sign(yes[:, None] - no[None, :])
    assert auc(yes, no) == pytest.approx(((pairs + 1) / 2).mean())
    share = auc_share(yes, no)
    assert share.low < share.rate < share.high
    assert auc_share(yes.astype(np.float32), no.astype(np.float32)) == share
    assert found_at(np.array([3.0, 5, 6]), np.arange(5.0), 0.2) == pytest.approx(2 / 3)
    assert np.isnan(auc(np.array([1.0, np.nan]), no))  # what cannot be ranked is no success and no failure


def test_cases_of_one_cluster_count_as_fewer_and_independent_ones_as_they_are():
    rng = np.random.default_rng(4)
    tried = np.full(400, 25)
    alone = clustered_share(rng.binomial(tried, 0.4), tried)
    usual = wilson(round(alone.rate * alone.n), alone.n)
    assert (alone.low, alone.high) == pytest.approx((usual.low, usual.high), abs=0.003)
    together = clustered_share(tried * (rng.random(400) < 0.4), tried)
    of_clusters = wilson(round(together.rate * 400), 400)
    assert (together.low, together.high) == pytest.approx((of_clusters.low, of_clusters.high), abs=0.003)
    assert clustered_share(np.array([9]), np.array([9])).low < 0.3  # one cluster is one case
    assert clustered_share(np.array([0]), np.array([0])).high > 0.7
