"""What publishing costs, seen by eye; the ceiling; the residual risk."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

from recloak._ratings.ids import IdMap
from recloak._ratings.model import assemble
from recloak._related.measures import ceiling, cost, reasons
from recloak._related.model import Holders, Lists, breach, moved
from recloak._related.options import BoundOptions, ProtocolOptions
from recloak._related.residual import residual_risk
from recloak._related.simulation import perturbed, schedule
from tests.related.histories import ratings_of, true_releases

TRUE = Lists(np.array([[1, 2], [0, 2], [0, -1], [1, 0]], np.int32))
SHOWN = Lists(np.array([[2, 1], [0, 3], [0, -1], [1, -1]], np.int32))


def test_costs_are_counted_entry_by_entry():
    found = cost(SHOWN, TRUE)
    assert found.recall == 5 / 7
    assert found.targeted_recall == 4 / 6  # the list of item 2 is untouched
    assert (found.changed_lists, found.suppressed, found.permuted, found.replaced, found.holes) == (3, 2, 2, 1, 1)
    assert found.staleness == 1 / 6
    assert found.order_agreement == 0.0  # the one pair that was kept stands the other way round


def test_every_changed_entry_has_its_reason():
    changes = set(reasons(SHOWN, TRUE))
    assert changes == {
        (0, 1, "permuted"), (0, 2, "permuted"), (1, 2, "suppressed"), (1, 3, "replaced"), (3, 0, "suppressed"),
    }  # fmt: skip


def test_untouched_lists_cost_nothing():
    found = cost(TRUE, TRUE)
    assert (found.recall, found.targeted_recall, found.staleness) == (1.0, None, 0.0)


def test_the_ceiling_counts_entries_that_could_ever_enter():
    first, second = [[5, 5, 0], [5, 0, 0]], [[5, 5, 4], [5, 0, 0]]
    ratings = ratings_of([first, second])
    true = [release.lists for release in true_releases(ratings, 2, 2)]
    # New at the second release: item 2 in the lists of 0 (P = 1/2) and 1 (P = 1), and both in the list of 2 (P = 1).
    assert ceiling(true, [0, 1], Holders.of(ratings), 0.5) == [3 / 6]


def test_a_further_item_raises_what_an_observer_learns():
    # Two hold item 0, one of them item 1 too, and that one adds item 2: from {0} 1/2, from {0, 1} certainty.
    ratings = ratings_of([[[5, 5, 0], [5, 0, 0]], [[5, 5, 4], [5, 0, 0]]])
    releases = true_releases(ratings, 2, 1)
    bound = BoundOptions(delta=0.5, min_support=1)
    known_two = residual_risk(releases, Holders.of(ratings), ratings, bound, known=2, rng=0)
    assert known_two.max_breach == 1.0


def reachable(releases, holders, bound, known):
    """Return the worst breach of every move over all backgrounds of at most ``known`` items that contain its list."""
    (first, second), worst = releases, []
    for target, owners in moved(first.lists, second.lists).items():
        others = set(range(holders.n_items)) - {target}
        for owner in owners:
            sets = [(owner, *more) for n in range(known) for more in combinations(others - {owner}, n)]
            counts = [breach(holders, one, target, first.time, second.time, bound.evidence) for one in sets]
            worst.append(max(above / max(below, 1) for above, below in counts))
    return worst


@pytest.mark.parametrize("seed", range(12))
def test_the_residual_risk_is_exact_for_one_further_item_and_a_lower_bound_for_more(seed):
    rng = np.random.default_rng(seed)
    rated = rng.random((8, 5)) < 0.6
    ratings = ratings_of([np.where(rated & (rng.random((8, 5)) < 0.6), 3, 0), np.where(rated, 3, 0)])
    releases, holders = true_releases(ratings, 2, 2), Holders.of(ratings)
    bound = BoundOptions(evidence=["fresh", "total"][seed % 2])
    two, three = (residual_risk(releases, holders, ratings, bound, known=known, rng=0) for known in (2, 3))
    worst = reachable(releases, holders, bound, 2)
    assert two.exact
    assert (two.max_breach, two.mean_breach) == pytest.approx((max(worst, default=0), np.mean(worst or [0])))
    assert not three.exact
    assert two.max_breach <= three.max_breach <= max(reachable(releases, holders, bound, 3), default=0)


def test_releases_are_made_after_shares_of_the_ratings():
    ratings = ratings_of([[[1, 0], [0, 0]], [[1, 1], [0, 0]], [[1, 1], [1, 1]]])  # 6 ratings, 2 of them at time 99
    assert schedule(ratings, ProtocolOptions(initial=50, gap=50)) == [2, 99]
    assert schedule(ratings, ProtocolOptions(initial=50, gap=50, releases=1)) == [2]


def test_rounding_makes_no_release_after_the_last_rating():
    n = 1_000_209  # of MovieLens-1M, where shares of a thousandth add up to a rating too many
    times = np.arange(n)
    cells = np.divmod(times, 1000)
    ratings = assemble(
        cells[0].astype(np.int32), cells[1].astype(np.int32), np.ones(n, np.float32), times,
        user_ids=IdMap.of(pl.Series(range(1001))), item_ids=IdMap.of(pl.Series(range(1000))),
    )  # fmt: skip
    assert schedule(ratings, ProtocolOptions(initial=30, gap=0.1))[-1] == n - 1


def test_noise_is_uniform_with_variance_one_and_leaves_the_ratings_alone():
    ratings = ratings_of([np.full((60, 60), 3)])
    noise = perturbed(ratings, 1).values - ratings.values
    assert np.abs(noise).max() <= np.sqrt(3) + 1e-6
    assert noise.var() == pytest.approx(1.0, abs=0.05)
    assert np.array_equal(ratings.values[:60], np.full(60, 3))
