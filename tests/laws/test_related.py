"""What is published never exceeds the bound: random small histories, judged by brute force, both meanings."""

import numpy as np
import pytest

from recloak._related.anonymise import n_kept
from recloak._related.model import EMPTY, Holders, require_proper
from recloak._related.options import MethodOptions
from recloak._related.release_making import Before, make_release
from recloak._related.similarity import nearest
from recloak._related.verifier import verify
from tests.related.brute_force import judged
from tests.related.histories import random_bound, random_history, safe_releases, true_releases


def minimal(told):
    """Return the violations that contain no smaller one of the same start, release and target."""
    sets: dict[tuple[int, int, int], set[tuple[int, ...]]] = {}
    for start, later, target, background, _ in told:
        sets.setdefault((start, later, target), set()).add(background)
    return {
        (*key, one) for key, all_ in sets.items() for one in all_
        if not any(set(other) < set(one) for other in all_)
    }  # fmt: skip


def agree(releases, holders, bound, seed):
    """Hold the verifier to the brute force: the same verdict, worst breach and violating sets; return the verdict."""
    bad, most, few = judged(releases, holders, bound)
    verdict, quick = verify(releases, holders, bound), verify(releases, holders, bound, every=False)
    assert (verdict.max_breach, quick.max_breach) == (most, most), seed
    assert verdict.is_kept == quick.is_kept == (not bad and not few), seed
    assert {(one.release, one.item, one.related) for one in verdict.unsupported} == few, seed
    found = {(one.earlier, one.later, one.target, tuple(sorted(one.background))) for one in verdict.violations}
    every = {one[:-1] for one in bad}
    first = 1 if bound.evidence == "total" else 0  # under total the longest look stands for all starts
    assert {key[first:3] for key in found} == {key[first:3] for key in every}, seed
    assert found <= every, seed
    if bound.window or bound.knowledge == 1:
        assert found == minimal(bad), seed
    return verdict


def check(seed):
    """Release along one random history by every method and hold the promises."""
    rng = np.random.default_rng(seed)
    ratings, n_periods, top, more = random_history(rng)
    bound, holders = random_bound(rng), Holders.of(ratings)
    for method in ("perm", "supp"):
        made = safe_releases(ratings, n_periods, top, bound, method, more=more)
        for release in made:
            require_proper(release.lists)
            gaps = (release.lists.items[:, :-1] == EMPTY) & (release.lists.items[:, 1:] != EMPTY)
            assert not gaps.any(), seed
        assert agree(made, holders, bound, seed).is_kept, (seed, method)
    agree(true_releases(ratings, n_periods, top), holders, bound, seed)


@pytest.mark.parametrize("start", range(0, 100, 50))
def test_random_histories_keep_within_the_bound(start):
    for seed in range(start, start + 50):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 6000, 1000))
def test_five_thousand_random_histories_keep_within_the_bound(start):
    for seed in range(start, start + 1000):
        check(seed)


@pytest.mark.parametrize("seed", range(40))
def test_permuting_never_keeps_less_than_suppressing(seed):
    rng = np.random.default_rng(seed)
    ratings, n_periods, top, _ = random_history(rng)
    bound, holders, before = random_bound(rng), Holders.of(ratings), Before()
    made = safe_releases(ratings, n_periods, top, bound, "supp")
    for release in made[:-1]:
        before = before.after(release, bound)
    ranking = nearest(ratings.until(made[-1].time), top + 3)
    step = {
        method: make_release(before, ranking, holders, made[-1].time, bound, MethodOptions(method=method, top=top))
        for method in ("perm", "supp")
    }
    kept = {name: n_kept(one.release.lists.items, one.true.items) for name, one in step.items()}
    assert kept["perm"] >= kept["supp"]


@pytest.mark.parametrize("seed", range(20))
def test_a_budget_that_runs_out_removes_and_never_lets_through(seed):
    rng = np.random.default_rng(seed)
    ratings, n_periods, top, _ = random_history(rng)
    bound = random_bound(rng)
    made = safe_releases(ratings, n_periods, top, bound, budget=1)
    bad, _, few = judged(made, Holders.of(ratings), bound)
    assert not bad
    assert not few
