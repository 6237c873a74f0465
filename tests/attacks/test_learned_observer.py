"""The learned observer: finds a planted leak, finds nothing where nothing moves, and says when it cannot measure."""

import numpy as np
import pytest

from recloak._attacks.boosted_trees import learn
from recloak._attacks.learned_observer import CONTROL, TARGETS, _learned, observe, observe_each
from recloak._attacks.list_signs import Period, signs_of
from recloak._attacks.logistic_regression import regress
from recloak._attacks.options import ObserverOptions
from recloak._attacks.yields import ACCURACIES, FEWEST_INFERENCES, _furthest
from recloak._core.errors import InputError
from recloak._ratings.model import Ratings
from recloak._related.model import EMPTY, ListRelease, Lists

N_USERS, N_ITEMS, N_RELEASES = 80, 120, 6
OPTIONS = ObserverOptions(fewest=5)


def world(*, tells: bool):
    """Return ratings and releases: each period some users add 3 items; a list of what they hold shows one of them."""
    stream = np.random.default_rng(7)
    rows, releases = [], []
    held = [stream.choice(N_ITEMS, 12, replace=False).tolist() for _ in range(N_USERS)]
    rows += [(user, item, 0) for user in range(N_USERS) for item in held[user]]
    lists = np.full((N_ITEMS, 3), EMPTY, np.int32)
    releases.append(ListRelease(1, 0, Lists(lists.copy())))
    for period in range(1, N_RELEASES):
        lists = np.full((N_ITEMS, 3), EMPTY, np.int32)
        for user in stream.choice(N_USERS, 25, replace=False).tolist():
            added = stream.choice([one for one in range(N_ITEMS) if one not in held[user]], 3, replace=False).tolist()
            for owner in held[user][:6]:
                lists[owner, 0] = added[0] if tells else (owner + 1) % N_ITEMS
            held[user] += added
            rows += [(user, item, period) for item in added]
        releases.append(ListRelease(period + 1, period, Lists(lists)))
    users, items, times = zip(*rows, strict=True)
    return Ratings.from_arrays(list(users), list(items), [5.0] * len(rows), list(times)), releases


@pytest.mark.parametrize("targets", TARGETS)
def test_the_observer_finds_a_planted_leak_and_the_control_does_not(targets):
    ratings, releases = world(tells=True)
    seen, control = observe_each(releases, ratings, OPTIONS, targets=targets, rng=0)
    assert (seen.at(0.5) or 0) > 0.05
    assert control.at(0.5) == 0.0
    assert seen.n_added == control.n_added > 50


def test_nothing_is_found_where_no_move_tells_anything():
    ratings, releases = world(tells=False)
    found = observe(releases, ratings, OPTIONS, rng=0)
    assert found.at(0.5) == found.at(0.3) == 0.0


def test_yields_grow_as_less_accuracy_is_asked_and_lie_in_their_intervals():
    ratings, releases = world(tells=True)
    found = observe(releases, ratings, OPTIONS, rng=0)
    assert found.yields
    rates = [one.yielded.rate for one in found.yields]
    assert [one.accuracy for one in found.yields] == list(ACCURACIES)
    assert rates == sorted(rates)
    assert all(one.yielded.low <= one.yielded.rate <= one.yielded.high for one in found.yields)


def test_what_trees_and_a_regression_say_counts_alike():
    stream = np.random.default_rng(2)
    signs = stream.normal(size=(400, 3)).astype(np.float32)
    right, weights = stream.random(400) < 1 / (1 + np.exp(-signs[:, 0])), stream.uniform(1, 3, 400)
    found = _learned(signs, right, weights, np.random.default_rng(0))(signs)
    trees = learn(signs, right, weights, stream=np.random.default_rng(0)).log_odds(signs)
    np.testing.assert_allclose(2 * found - trees, regress(signs, right, weights).log_odds(signs), atol=1e-9)


def test_too_few_additions_are_not_measured_rather_than_safe():
    ratings, releases = world(tells=True)
    found = observe(releases, ratings, ObserverOptions(fewest=1000), rng=0)
    assert found.yields is None
    assert not found.is_measured
    assert found.to_json()["measured"] is False


def test_one_seed_gives_one_result():
    ratings, releases = world(tells=True)
    first, second = (observe(releases, ratings, OPTIONS, rng=3).to_json() for _ in range(2))
    assert first == second


def test_one_release_cannot_be_compared():
    ratings, releases = world(tells=True)
    with pytest.raises(InputError, match="compares two releases"):
        observe(releases[:1], ratings, OPTIONS)


def test_the_control_has_no_sign_of_a_move():
    """Its signs are the same whatever the later lists are."""
    ratings, releases = world(tells=True)
    known, support = ratings.matrix.astype(bool).astype(np.float32)[:3], ratings.popularity
    first = releases[1].lists
    kept = []
    for later in (releases[2].lists, releases[3].lists):
        signs = signs_of(known, Period.between(first, later), Period.between(later, later), support)
        kept.append(signs.values[:, :, [group not in CONTROL for group in signs.groups]])
    np.testing.assert_array_equal(kept[0], kept[1])


def test_a_period_is_seen_by_eye():
    """In list 0, item 1 falls, 2 rises to the top, 3 leaves; list 1 stays."""
    earlier = Lists(np.array([[1, 2, 3], [0, EMPTY, EMPTY], [EMPTY] * 3, [EMPTY] * 3], np.int32))
    later = Lists(np.array([[2, 1, EMPTY], [0, EMPTY, EMPTY], [EMPTY] * 3, [EMPTY] * 3], np.int32))
    period = Period.between(earlier, later)
    assert period.up.toarray()[0].tolist() == [0, 0, 1, 0]
    assert period.down.toarray()[0].tolist() == [0, 1, 0, 1]
    assert period.still.toarray()[:2].tolist() == [[0, 0, 0, 0], [1, 0, 0, 0]]


def test_the_yield_is_taken_at_the_lowest_threshold_that_keeps_the_accuracy():
    right = np.cumsum([1] * 40 + [0] * 40 + [1] * 10)
    assert _furthest(right, np.arange(1, 91), 0.5) == (50, 90)
    assert _furthest(right, np.arange(1, 91), 0.9) == (40, 44)
    assert _furthest(right[: FEWEST_INFERENCES - 1], np.arange(1, FEWEST_INFERENCES), 0.5) == (0, 0)
