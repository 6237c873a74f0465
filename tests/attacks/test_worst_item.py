"""People whom one rare item gives away are found, however well everybody else is hidden, and luck is no breach."""

import math

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._attacks.auditing import audit
from recloak._attacks.model import Public
from recloak._attacks.public_view import ReleaseView
from recloak._attacks.registry import own_attacks
from recloak._attacks.worst_item import ATTACK, LIMIT, Claim, _end
from recloak._ratings.model import Ratings

N_USERS, N_ITEMS, N_CLIQUE = 300, 120, 20


def uses(clique: bool, seed: int = 1) -> pl.DataFrame:
    """Return uses of popular items, and of one that twenty people used who used hardly anything else."""
    stream = np.random.default_rng(seed)
    used = stream.random((N_USERS, N_ITEMS)) < np.linspace(0.6, 0.2, N_ITEMS)
    used[:, -1] = False
    if clique:
        used[:N_CLIQUE] = False
        used[:N_CLIQUE, :2] = used[:N_CLIQUE, -1] = True
    else:
        used[stream.permutation(N_USERS)[:N_CLIQUE], -1] = True
    users, items = np.nonzero(used)
    return pl.DataFrame({"user": users, "item": items})


def audited(source: Ratings, mode: str, seed: int = 1, **options):
    """Return the outcome of this attack on a release."""
    release = recloak.publish(source, k=5, mode=mode, seed=seed, **options)
    found = recloak.audit(source, release, known=(1,), varied_at=1)
    return next(one for one in found.outcomes if one.name == ATTACK.name)


@pytest.fixture
def alone(monkeypatch):
    monkeypatch.setattr("recloak._attacks.registry.own_attacks", lambda: (ATTACK,))
    assert own_attacks()


@pytest.mark.parametrize("kind", ["presence", "counts"])
@pytest.mark.usefixtures("alone")
def test_a_clique_is_found_where_rows_show_it(kind):
    count = pl.lit(2) + pl.col("item") % 3
    tables = [uses(clique).with_columns(rating=count) for clique in (True, False)]
    given, spread = (audited(recloak.read(one, values=kind), "pure") for one in tables)
    assert given.verdict == "breached"
    assert given.release.rate >= N_CLIQUE / (N_CLIQUE + 5)  # they fill four groups, or share five with a few others
    assert (given.people.risks[:N_CLIQUE] > LIMIT).all()
    assert spread.release.rate < given.release.rate  # the same item, used by as many
    assert given.control.rate <= LIMIT
    assert spread.control.rate <= LIMIT


@pytest.mark.usefixtures("alone")
def test_ratings_of_a_clique_are_found_in_rows_that_show_them():
    table = uses(True).with_columns(rating=(pl.col("user") * 7 + pl.col("item") * 3) % 5 + 1)
    found = audited(recloak.read(table), "pure")
    assert found.verdict == "breached"
    assert (found.people.risks[:N_CLIQUE] > LIMIT).all()


@pytest.mark.parametrize("mode", ["padded", "sampled"])
@pytest.mark.usefixtures("alone")
def test_an_item_that_is_shown_nowhere_gives_nobody_away(mode):
    found = audited(recloak.read(uses(True), values="presence"), mode)
    assert not found.people.risks[:N_CLIQUE].any()
    assert found.verdict != "breached"


def test_of_claims_about_single_items_counts_what_holds_for_all_at_once():
    def lower(right, n, error):
        """Return the share with which so many or more are right with that chance, by bisection."""
        low, high = 0.0, 1.0
        for _ in range(60):
            p = (low + high) / 2
            tail = sum(math.comb(n, r) * p**r * (1 - p) ** (n - r) for r in range(right, n + 1))
            low, high = (p, high) if tail < error else (low, p)
        return low

    for right, n, n_claims in ((5, 5, 200), (20, 20, 200), (13, 20, 7), (0, 5, 3)):
        counted = claim("item", n, right).counted(n_claims)
        assert counted == pytest.approx(lower(right, n, 0.05 / n_claims) if right else 0.0, abs=1e-6)
    assert claim("item", 5, 5).counted(200) < LIMIT < claim("item", 20, 20).counted(200)
    assert claim("surest", 20, 13).counted(200) == 13 / 20


def claim(kind: str, people: int, right: int) -> Claim:
    return Claim(kind, np.empty(0, np.int64), np.empty(0, np.int64), people, right)


@pytest.mark.parametrize(("people", "end"), [(1, 2), (10, 2), (11, 3), (16, 6), (99, 6)])
def test_groups_of_equal_scores_are_claimed_together(people, end):
    scores = np.array([3, 3, 2, 1, 1, 1], np.float32)
    assert _end(scores, np.full(6, 5), people) == end


def test_people_dealt_to_groups_by_lot_are_not_given_away_by_luck():
    stream, breached = np.random.default_rng(2), 0
    for seed in range(5):
        source = recloak.read(uses(False, seed), values="presence")
        owner = stream.permutation(np.arange(N_USERS) // 5).astype(np.int32)
        found = attacked(source, rows_of_strangers(source, owner, seed))
        breached += found.verdict == "breached"
    assert breached == 0


def rows_of_strangers(source: Ratings, owner: np.ndarray, seed: int) -> Public:
    """Return a complete release whose rows have nothing to do with the members."""
    n_groups = int(owner.max()) + 1
    labels = np.random.default_rng(seed).random(n_groups * source.n_items).astype(np.float32).round(2)
    indptr = np.arange(source.n_items + 1, dtype=np.int64) * n_groups
    groups = np.tile(np.arange(n_groups, dtype=np.int32), source.n_items)
    return Public.of(indptr, groups, labels, np.bincount(owner), owner, source.scale)


def attacked(source: Ratings, public: Public):
    return audit(source, ReleaseView(public, {"k": 5}), attacks=[ATTACK], rng=1).outcomes[0]
