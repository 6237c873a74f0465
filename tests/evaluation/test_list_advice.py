"""Advice on delta and horizon: one sentence that follows from the figures, and other ways beside ours."""

import numpy as np
import pytest

import recloak.related
from recloak._attacks.yields import Observation, YieldAt
from recloak._core.intervals import Share
from recloak._evaluation.list_advice import AdvisedSetting, ListAdvice
from recloak._ratings.model import Ratings


def observed(rate, low, high):
    return Observation(9, 100, (YieldAt(0.3, Share(rate, low, high, 100), 50),), ())


def setting(delta, horizon, recall, seen):
    return AdvisedSetting("bound", "", delta, horizon, "fresh", recall, recall, delta, seen)


def advice(*settings):
    true = AdvisedSetting("true lists", "every night", None, None, None, 1.0, 1.0, None, observed(0.2, 0.1, 0.3))
    return ListAdvice(settings=settings, others=(true,), control=observed(0, 0, 0), n_releases=5, least_recall=0.9)


def test_of_settings_whose_yield_cannot_be_told_from_the_lowest_the_one_that_keeps_most_is_recommended():
    near = setting(0.1, "all", 0.95, observed(0.03, 0.01, 0.06))
    lowest = setting(0.05, "all", 0.91, observed(0.02, 0.01, 0.04))
    leaky = setting(0.3, "30d", 0.99, observed(0.15, 0.1, 0.2))
    dear = setting(0.01, "all", 0.5, observed(0.0, 0.0, 0.0))
    found = advice(leaky, near, lowest, dear)
    assert found.best == near
    assert found.sentence == (
        "Publish with --delta 0.1 --horizon all: it keeps 95.0% of the true lists, and an observer infers 3.0% of what "
        "people add with 30% of the inferences right, where true lists give 20.0% and no moves 0.0%."
    )


def test_the_sentence_says_when_no_setting_keeps_enough_and_when_nothing_was_measured():
    low = setting(0.1, "all", 0.7, Observation(3, 4, None, ()))
    found = advice(low).sentence
    assert "less than the 90% that you asked for" in found
    assert "could not be measured" in found


@pytest.fixture(scope="module")
def found():
    chance = np.random.default_rng(3)
    users, items = np.divmod(chance.choice(60 * 25, 900, replace=False), 25)
    ratings = Ratings.from_arrays(users.tolist(), items.tolist(), [4.0] * 900, np.sort(chance.integers(1, 4000, 900)))
    return recloak.related.advise(ratings, deltas=[0.2, 0.5], horizons=["all"], gap=15, min_support=2, seed=1)


def test_our_settings_stand_beside_the_other_ways_on_one_chart(found):
    assert {one.way for one in found.others} == {"true lists", "every n-th night", "delay by n nights", "noise"}
    assert found.others[0].recall == 1.0
    assert all(one.max_breach <= one.delta for one in found)
    page = found.to_html()
    assert found.sentence.split(":")[0] in page
    assert "epsilon 10 per person" in page
    assert found.to_polars().height == len(found.settings) + len(found.others)


def test_a_delay_is_read_by_whoever_waits(found):
    true = found.others[0]
    assert all(one.observation == true.observation for one in found.others if one.way == "delay by n nights")
    assert all(one.recall < 1 for one in found.others if one.way == "delay by n nights")
