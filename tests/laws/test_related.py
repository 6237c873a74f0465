"""What is published never exceeds the bound: random small histories, every pair of every window, both meanings."""

import numpy as np
import pytest

from recloak._related.anonymise import n_kept
from recloak._related.model import Holders, require_proper
from recloak._related.similarity import nearest
from recloak._related.verifier import verify
from tests.related.brute_force import verify_naive
from tests.related.histories import random_bound, random_history, safe_releases, true_releases


def same(first, second):
    """Return whether two verdicts agree."""
    key = lambda one: (one.earlier, one.later, one.target, one.background)  # noqa: E731
    alike = sorted(map(key, first.violations)) == sorted(map(key, second.violations))
    return alike and first.max_breach == second.max_breach and first.n_pairs == second.n_pairs


def check(seed):
    """Release along one random history by every method and hold the promises."""
    rng = np.random.default_rng(seed)
    ratings, n_periods, top, more = random_history(rng)
    bound, holders = random_bound(rng), Holders.of(ratings)
    for method in ("perm", "supp"):
        made = safe_releases(ratings, n_periods, top, bound, method, more=more)
        for release in made:
            require_proper(release.lists)
        verdict = verify_naive(made, holders, bound)
        assert verdict.passed, (seed, method, verdict)
        assert same(verdict, verify(made, holders, bound)), seed
    true = true_releases(ratings, n_periods, top)
    naive, worst = verify_naive(true, holders, bound), verify(true, holders, bound, every=False)
    assert same(naive, verify(true, holders, bound)), seed
    assert (worst.passed, worst.max_breach) == (naive.passed, naive.max_breach), seed


@pytest.mark.parametrize("start", range(0, 100, 50))
def test_random_histories_keep_within_the_bound(start):
    for seed in range(start, start + 50):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 21000, 1000))
def test_twenty_thousand_random_histories_keep_within_the_bound(start):
    for seed in range(start, start + 1000):
        check(seed)


@pytest.mark.parametrize("seed", range(40))
def test_permuting_never_keeps_less_than_suppressing(seed):
    rng = np.random.default_rng(seed)
    ratings, n_periods, top, _ = random_history(rng)
    bound = random_bound(rng)
    made = safe_releases(ratings, n_periods, top, bound, "supp")
    last, before = made[-1], made[:-1]
    from recloak._related.anonymise import anonymise
    from recloak._related.leaks import Observer

    observer = Observer(tuple(before[len(before) - bound.span(len(made)) :]), last.time, Holders.of(ratings), bound)
    ranking = nearest(ratings.until(last.time), top + 3)
    kept = {
        method: n_kept(anonymise(observer, ranking, top, permute=method == "perm").items, ranking.items[:, :top])
        for method in ("perm", "supp")
    }
    assert kept["perm"] >= kept["supp"]


@pytest.mark.parametrize("seed", range(20))
def test_a_budget_that_runs_out_removes_and_never_lets_through(seed):
    rng = np.random.default_rng(seed)
    ratings, n_periods, top, _ = random_history(rng)
    bound = random_bound(rng)
    made = safe_releases(ratings, n_periods, top, bound, budget=1)
    assert verify_naive(made, Holders.of(ratings), bound).passed
