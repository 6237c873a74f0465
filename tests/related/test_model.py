"""The definitions that makers, verifier and attackers share, seen by eye; and what a cut-off search is worth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import InputError, OptionError, RefusedError
from recloak._ratings.model import Ratings
from recloak._related.history import History
from recloak._related.model import (
    Holders,
    ListRelease,
    Lists,
    breach,
    distinguishes,
    moved,
    pairs,
    require_proper,
    require_window,
)
from recloak._related.options import BoundOptions, MethodOptions
from recloak._related.publish_lists import store_release
from recloak._related.release_making import Before, make_release
from recloak._related.verifier import verify

BACKGROUND, TARGET, OTHER = 0, 1, 2


def lists(*rows):
    return Lists(np.array(rows, np.int32))


def four_people():
    """Four hold the background at time 1, a fifth later; one of the four had the target, and one adds it at time 2."""
    rows = [(user, BACKGROUND, 1) for user in range(4)] + [(0, TARGET, 1), (1, TARGET, 2), (4, OTHER, 1)]
    rows.append((5, BACKGROUND, 2))
    users, items, times = (np.array(column) for column in zip(*rows, strict=True))
    return Ratings.from_arrays(users, items, np.ones(len(rows)), times)


def two_releases():
    """The target appears in the list of the background between times 1 and 2."""
    empty = [-1]
    return (ListRelease(1, 1, lists(empty, empty, empty)), ListRelease(2, 2, lists([TARGET], empty, empty)))


@given(st.integers(0, 7), st.none() | st.integers(2, 9))
def test_every_two_releases_of_a_window_are_compared_once(n, window):
    made = [ListRelease(number, number, lists([-1])) for number in range(n)]
    found = [(one.number, other.number) for one, other in pairs(made, BoundOptions(window=window))]
    assert found == [(a, b) for b in range(n) for a in range(b) if window is None or b - a < window]


def test_an_entry_tells_something_where_it_is_new_or_stands_higher():
    earlier, later = lists([1, 2, -1], [0, -1, 2]), lists([2, 1, 3], [0, 2, -1])
    assert distinguishes(earlier, later).tolist() == [[True, False, True], [False, True, False]]
    assert moved(earlier, later) == {2: [0, 1], 3: [0]}


def test_a_breach_is_counted_as_its_evidence_says():
    holders = Holders.of(four_people())
    assert breach(holders, [BACKGROUND], TARGET, 1, 2, "total") == (2, 5)
    assert breach(holders, [BACKGROUND], TARGET, 1, 2, "fresh") == (1, 3)
    assert breach(holders, [BACKGROUND, OTHER], TARGET, 1, 2, "total") == (0, 0)
    assert holders.support(1).tolist() == [4, 1, 1]
    assert holders.support(2).tolist() == [5, 2, 1]


@pytest.mark.parametrize(("evidence", "found"), [("total", (2 / 5, 2 / 6)), ("fresh", (1 / 3, 1 / 4))])
def test_a_finding_is_told_beside_what_anybody_knows_of_the_target(evidence, found):
    verdict = verify(
        two_releases(), Holders.of(four_people()), BoundOptions(evidence=evidence, delta=0.1, min_support=1)
    )
    assert verdict.worst is not None
    assert (verdict.max_breach, verdict.worst.base_rate) == pytest.approx(found)
    assert verdict.worst.lift == pytest.approx(found[0] / found[1])
    assert [one.background for one in verdict.violations] == [(BACKGROUND,)]


@pytest.mark.parametrize("every", [True, False])
def test_a_search_that_was_cut_off_is_no_pass(every):
    holders, bound = Holders.of(four_people()), BoundOptions(delta=0.9, min_support=1)
    assert verify(two_releases(), holders, bound, every=every).passed
    cut_off = verify(two_releases(), holders, bound.replace(delta=0.2), every=every, budget=0)
    assert cut_off.n_unknown == 1
    assert not cut_off.passed
    assert not verify(two_releases(), holders, bound, every=False, budget=0).passed


@pytest.mark.parametrize("every", [True, False])
def test_a_breach_of_exactly_delta_passes(every):
    holders, bound = Holders.of(four_people()), BoundOptions(delta=0.4, evidence="total", min_support=1)
    verdict = verify(two_releases(), holders, bound, every=every)
    assert (verdict.max_breach, verdict.passed) == (0.4, True)
    assert not verify(two_releases(), holders, bound.replace(delta=0.39), every=every).passed


def test_what_two_items_give_away_only_together_is_told_beside_what_one_gives_away():
    # Item 3 appears beside items 0, 1 and 2: each alone gives it away with 1/2 at most, items 0 and 1 together surely.
    # Item 4 appears beside item 5, which gives it away alone.
    held = {0: [0, 1, 3], 1: [0], 2: [1], 3: [2], 4: [4, 5]}
    users, items = zip(*((user, item) for user, row in held.items() for item in row), strict=True)
    holders = Holders.of(Ratings.from_arrays(users, items, np.ones(len(users)), np.full(len(users), 2)))
    empty = [-1]
    before, after = ListRelease(1, 1, lists(*[empty] * 6)), ListRelease(2, 2, lists([3], [3], [3], empty, empty, [4]))
    verdict = verify((before, after), holders, BoundOptions(delta=0.5, evidence="total", knowledge=2, min_support=1))
    assert {(one.target, one.background) for one in verdict.violations} == {(3, (0, 1)), (4, (5,))}


def test_what_could_not_be_verified_is_not_stored(tmp_path):
    ratings, (first, second) = four_people(), two_releases()
    method = MethodOptions(method="none", top=1)
    bound = BoundOptions(delta=0.9, min_support=1)
    step = make_release(Before().after(first, bound), second.lists, Holders.of(ratings), 2, bound, method)
    assert step.verdict.passed
    step = replace(step, release=replace(second, number=1))
    with History(tmp_path / "history.db") as store:
        with pytest.raises(RefusedError, match="1 items could not be verified within the budget"):
            store_release(store, replace(step, verdict=replace(step.verdict, n_unknown=1)), ratings.item_ids, {})
        assert store.releases == ()
        store_release(store, step, ratings.item_ids, {})
        assert len(store.releases) == 1


@pytest.mark.parametrize(
    ("rows", "rule"),
    [
        (([1], [2]), "items numbered 0 to 1, got 2"),
        (([1], [-2]), "items numbered 0 to 1"),
        (([0], [0]), "not stand in its own list, item number 0 does"),
        (([1, 1], [0, -1]), "must not stand twice in a list, the list of item number 0"),
    ],
)
def test_lists_that_are_none_are_refused(rows, rule):
    with pytest.raises(InputError, match=rule):
        require_proper(lists(*rows))
    require_proper(lists([1, -1, -1], [-1, 0, -1]))


def test_improper_lists_of_a_recommender_are_refused_before_they_are_verified():
    first, _ = two_releases()
    with pytest.raises(InputError, match="own list"):
        bound = BoundOptions(min_support=1)
        before, improper = Before().after(first, bound), lists([0], [-1], [-1])
        make_release(before, improper, Holders.of(four_people()), 2, bound, MethodOptions(top=1))


def test_a_window_longer_than_the_history_is_refused():
    require_window(BoundOptions(window=3), 3)
    require_window(BoundOptions(window=None), 1)
    with pytest.raises(OptionError, match="longer than the history of 2"):
        require_window(BoundOptions(window=3), 2)
