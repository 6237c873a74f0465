"""Which entries must go: one look at the borders serves several costs, and only what moves more is looked at again."""

import numpy as np

from recloak._related.leaks import Observer, entries_of, moves_more, sorted_entries, to_remove
from recloak._related.model import Holders, Sight
from recloak._related.options import BoundOptions
from recloak._related.similarity import nearest
from tests.related.histories import random_history


def entries(*rows):
    """Return entries from rows of target, owner, position and whether it moves in each view."""
    targets, owners, positions, since = zip(*rows, strict=True)
    where = np.array(owners, np.int32), np.array(positions, np.int32)
    return sorted_entries(np.array(targets, np.int32), *where, np.array(since))


def test_an_entry_moves_more_if_a_view_shows_a_move_that_it_did_not_show():
    before = entries((1, 0, 2, (True, False)), (1, 5, 0, (True, True)), (3, 0, 1, (False, True)))
    after = entries(
        (1, 0, 1, (True, True)),  # has risen above a further place
        (1, 4, 0, (False, True)),  # did not move at all before
        (1, 5, 0, (True, False)),  # moves less
        (3, 0, 1, (False, True)),  # as before
    )
    assert moves_more(before, after).tolist() == [True, True, False, False]
    assert moves_more(before.where(np.zeros(3, bool)), after).all()


def test_costs_that_share_a_look_choose_what_each_would_choose_alone():
    n_chosen = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        ratings, n_periods, top, _ = random_history(rng)
        holders, bound = Holders.of(ratings), BoundOptions(delta=0.3, horizon="all", min_support=1)
        first, last = nearest(ratings.until(0), top), nearest(ratings.until(n_periods - 1), top)
        observer = Observer.of_horizon([Sight.of(0, first)], first, n_periods - 1, holders, bound)
        found = entries_of(observer, last.items)
        costs = rng.uniform(0.5, 1, (3, len(found)))
        together = to_remove(observer, found, costs)
        assert (together == [to_remove(observer, found, one[None])[0] for one in costs]).all()
        n_chosen += int(together.sum())
    assert n_chosen > 20
