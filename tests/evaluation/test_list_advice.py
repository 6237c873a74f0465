"""Advice on delta and horizon: one sentence that follows from the figures, and other ways beside ours."""

import numpy as np
import pytest

import recloak.related
from recloak._attacks.yields import Observation, YieldAt
from recloak._core.intervals import Share
from recloak._evaluation.list_advice import AdvisedSetting, ListAdvice
from recloak._ratings.model import Ratings
from recloak._report.list_advice_page import advice_page


def observed(rate, low, high):
    return Observation(9, 100, (YieldAt(0.3, Share(rate, low, high, 100), 50),), ())


def setting(delta, horizon, recall, seen):
    return AdvisedSetting("bound", "", delta, horizon, "fresh", recall, recall, delta, seen)


def advice(*settings, true=None):
    seen = true or observed(0.2, 0.1, 0.3)
    true = AdvisedSetting("true lists", "every night", None, None, None, 1.0, 1.0, None, seen)
    return ListAdvice(settings=settings, others=(true,), control=observed(0, 0, 0), n_releases=5, least_recall=0.9)


def test_of_settings_whose_yield_cannot_be_told_from_the_lowest_the_one_that_keeps_most_is_recommended():
    near = setting(0.1, "all", 0.95, observed(0.03, 0.01, 0.06))
    lowest = setting(0.05, "all", 0.91, observed(0.02, 0.01, 0.04))
    leaky = setting(0.3, "30d", 0.99, observed(0.15, 0.1, 0.2))
    dear = setting(0.01, "all", 0.5, observed(0.0, 0.0, 0.0))
    found = advice(leaky, near, lowest, dear)
    assert found.best == near
    assert found.sentence == (
        "Publish with --delta 0.1 --horizon all: it keeps 95.0% of the true lists, and an observer infers 3.0% (1.0% "
        "to 6.0%) of what people add with 30% of the inferences right, where true lists give 20.0% and no moves 0.0%."
    )


def test_where_no_setting_protects_none_is_recommended_and_the_sentence_says_so():
    """These are the figures of a real run, where almost no protection was once recommended."""
    wide = setting(0.3, "30d", 0.941, observed(0.315, 0.29, 0.34))
    strong = setting(0.1, "all", 0.85, observed(0.25, 0.22, 0.28))
    found = advice(wide, strong, true=observed(0.337, 0.31, 0.36))
    assert found.best is None
    assert found.strongest == strong
    assert found.sentence == (
        "None of the tried settings protects much: with 30% of the inferences right an observer infers 33.7% of what "
        "people add from true lists, and no setting clearly leaves at most two thirds of that. The strongest tried is "
        "--delta 0.1 --horizon all, which keeps 85.0% of the true lists and leaves a yield of 25.0% (22.0% to 28.0%) "
        "where true lists give 33.7%."
    )
    assert found.to_json()["recommended"] == {"delta": None, "horizon": None, "sentence": found.sentence}
    assert found.to_json()["strongest"] == {"delta": 0.1, "horizon": "all"}
    assert advice_page(found, source="").verdict.word == "None recommended"


def test_a_setting_protects_by_the_upper_end_of_its_interval():
    unsure = setting(0.1, "all", 0.95, observed(0.1, 0.05, 0.134))
    sure = setting(0.1, "all", 0.95, observed(0.1, 0.05, 0.133))
    assert advice(unsure).best is None
    assert advice(sure).best == sure


def test_a_setting_that_protects_is_recommended_before_one_that_only_keeps_more():
    kept = setting(0.3, "30d", 0.95, observed(0.19, 0.15, 0.25))
    safe = setting(0.1, "all", 0.7, observed(0.05, 0.03, 0.08))
    found = advice(kept, safe)
    assert found.best == safe
    assert "less than the 90% that you asked for, but no setting that protects keeps more" in found.sentence
    assert "where true lists give 20.0%" in found.sentence


def test_what_was_not_measured_is_not_recommended():
    unknown = Observation(3, 4, None, ())
    found = advice(setting(0.3, "all", 0.99, unknown), setting(0.1, "all", 0.95, unknown))
    assert found.best is None
    assert found.sentence == (
        "None of the tried settings is known to protect: what an observer infers could not be measured, for too little "
        "was added between releases. The strictest tried is --delta 0.1 --horizon all, which keeps 95.0% of the true "
        "lists."
    )
    assert advice(setting(0.1, "all", 0.95, observed(0, 0, 0)), true=unknown).best is None


def test_where_true_lists_tell_nothing_no_setting_is_known_to_protect():
    found = advice(setting(0.1, "all", 0.95, observed(0, 0, 0)), true=observed(0, 0, 0.1))
    assert found.best is None
    assert "even from true lists the observer infers nothing" in found.sentence


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
