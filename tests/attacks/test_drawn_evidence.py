"""Attackers who know how rows are drawn: their evidence by hand, and on releases that leak by choice."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import poisson

import recloak
from recloak._attacks import registry
from recloak._attacks.auditing import audit
from recloak._attacks.drawn_evidence import activity, added, counts_of, evidence, member_odds
from recloak._attacks.group_likelihood import group_model, score_groups
from recloak._attacks.insider import insider
from recloak._attacks.intersection import drawn_together
from recloak._attacks.membership import membership_together
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import see_release


@pytest.fixture(scope="module")
def ratings():
    return recloak.synth(users=200, items=120, ratings=5000, seed=1)


@pytest.fixture(scope="module")
def seen(ratings, tmp_path_factory):
    """Give releases by their boost, as a stranger sees them, and where they lie."""
    folder = tmp_path_factory.mktemp("drawn")
    for boost in (0, 1):
        recloak.publish(ratings, folder / str(boost), k=4, mode="sampled", boost=boost, seed=2)
    views = {boost: see_release(folder / str(boost), folder / f"{boost}-private", ratings) for boost in (0, 1)}
    return views, folder


def test_counts_are_the_rows_that_hold_an_item(ratings, seen):
    views, folder = seen
    public = views[0].public
    rows, members = (pl.read_parquet(folder / "0" / f"{name}.parquet") for name in ("ratings", "members"))
    table = np.zeros((public.n_profiles, ratings.n_items))
    joined = rows.join(members, on="user")
    np.add.at(table, (joined["group"].to_numpy() - 1, ratings.item_ids.encode(joined["item"])), 1)
    assert np.array_equal(counts_of(public, np.arange(public.n_profiles)), table)
    each = table.sum(1) / public.weights
    assert np.allclose(activity(public), each / each.mean())
    assert views[0].manifest["boost"] == 0.0


def test_evidence_is_the_ratio_of_two_poisson_chances(seen):
    public = seen[0][0].public
    counts, expected, told = np.array([0.0, 1, 3]), np.array([0.2, 0.5, 1.5]), np.array([0.0, 1, 2])
    usual = expected + added(public) * told
    wanted = poisson.logpmf(counts, usual + added(public)) - poisson.logpmf(counts, usual)
    assert evidence(public, counts, expected, told) == pytest.approx(wanted)


def test_groups_are_scored_as_by_hand(ratings, seen):
    public = seen[0][0].public
    model = group_model(public, ratings.popularity / ratings.n_users)
    row = ratings.row(7)
    items, values = ratings.items[row][:6], ratings.values[row][:6]
    _, presence = score_groups(model, items, values)
    expected = public.weights[:, None] * model.popularity[items] * model.active[:, None]
    wanted = 2 * evidence(public, counts_of(public, np.arange(public.n_profiles))[:, items], expected).sum(1)
    assert presence == pytest.approx(wanted, rel=1e-3, abs=1e-3)


def found(view, ratings):
    """Return the share of people whose own group is the likeliest given all their ratings."""
    model = group_model(view.public, ratings.popularity / ratings.n_users)
    right = 0
    for user in range(ratings.n_users):
        scores = score_groups(model, ratings.items[ratings.row(user)], ratings.values[ratings.row(user)])[1]
        right += scores.argmax() == view.public.owner[user]
    return right / ratings.n_users


def test_a_release_that_draws_from_its_own_members_alone_is_found_out_and_one_that_does_not_is_safer(ratings, seen):
    leaky, safer = (found(seen[0][boost], ratings) for boost in (0, 1))
    assert leaky >= 0.3  # by chance 0.02
    assert safer <= leaky / 2


def test_links_and_insiders_gain_by_counts_where_rows_leak(ratings, seen):
    public = seen[0][0].public
    chance = np.clip(ratings.popularity / ratings.n_users, 1e-3, 0.9)
    odds = member_odds(public, public.owner, np.tile(chance, (ratings.n_users, 1)))
    rated = ratings.matrix.toarray() > 0
    assert odds[rated].mean() > 1.3 * np.broadcast_to(chance, rated.shape)[rated].mean()
    assert odds[~rated].mean() < np.broadcast_to(chance, rated.shape)[~rated].mean()
    hits = insider(public, ratings, np.arange(0, 200, 4), colluders=3, rng=0)
    assert hits.details["link_auc"] > hits.details["link_auc_by_popularity"] + 0.05


def test_an_attack_that_takes_drawn_rows_for_shared_ones_never_bounds_them(ratings, seen):
    _, folder = seen
    found = recloak.audit(ratings, folder / "1", private=folder / "1-private", targets=100, known=(4,), seed=1)
    for one in found.outcomes:
        assert one.attack.drawn_rows or one.verdict != "bounded", one.name
    assert {one.name: one.verdict for one in found.outcomes}["structure"] == "not measured"
    assert any(one.verdict == "bounded" for one in found.outcomes)


@pytest.fixture(scope="module")
def drawn_twice(ratings, seen):
    folder = seen[1]
    recloak.publish(ratings, folder / "again", k=4, mode="sampled", boost=0, seed=3)
    return [seen[0][0].public, see_release(folder / "again", folder / "again-private", ratings).public]


def test_rows_drawn_twice_tell_more_of_rare_items_than_rows_drawn_once(ratings, drawn_twice):
    targets = np.arange(ratings.n_users)
    hits, rare = drawn_together(drawn_twice, ratings, targets)
    once, nothing_new = drawn_together(drawn_twice[:1], ratings, targets)
    assert once.user.rate == once.details["one_release"] == hits.details["one_release"]
    assert nothing_new.share.rate == nothing_new.baseline == rare.baseline
    assert rare.share.rate > rare.baseline
    assert hits.user.rate >= once.user.rate - 0.01  # learned, so that more evidence does no harm


def test_rows_drawn_twice_tell_more_of_who_is_in_the_data(ratings, drawn_twice):
    models = [group_model(public, ratings.popularity / ratings.n_users) for public in drawn_twice]
    alone, together = membership_together(models, ratings, np.arange(200), stream=np.random.default_rng(0))
    same, once = membership_together(models[:1], ratings, np.arange(200), stream=np.random.default_rng(0))
    assert same == once == alone
    assert together.rate > alone.rate + 0.01


def test_an_audit_of_two_drawn_releases_measures_what_they_tell_together(ratings, seen, drawn_twice):  # noqa: ARG001
    views = [see_release(seen[1] / name, seen[1] / f"{name}-private", ratings) for name in ("0", "again")]
    attacks = [one for one in registry.own_attacks() if one.name == "intersection"]
    found = audit(ratings, views[0], second=views[1], options=AuditOptions(targets=100), attacks=attacks, rng=1)
    (one,) = found.outcomes
    assert {line.name for line in one.lines} == {"rare_together", "membership_together"}
