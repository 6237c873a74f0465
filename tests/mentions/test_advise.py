"""The advisor: right in small cases, silent about others, robust against who knows the trick, and quick."""

import time
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak.errors import InputError, OptionError
from recloak.mentions import IdentifyOptions, stand_by
from recloak.mentions.advise import BANDS, LAST_BAND, advise, band_of, prepare_advisor
from recloak.mentions.algorithms import Candidates, ignoring_popular
from recloak.ratings import Ratings
from tests.mentions.test_defend import crowd
from tests.mentions.test_identify import said, watched
from tests.strategies import small_ratings


@cache
def busy(n_users=300, n_items=120, seed=5):
    rng = np.random.default_rng(seed)
    weights = 1 / np.arange(1, n_items + 1)
    rows = [(u, i) for u in range(n_users) for i in rng.choice(n_items, 12, replace=False, p=weights / weights.sum())]
    users, items = zip(*rows, strict=True)
    return Ratings.from_arrays(list(users), [int(i) for i in items], [3.0] * len(users))


@cache
def _advisor():
    return prepare_advisor(busy())


def test_the_rare_mention_is_the_telling_one_and_leaving_it_out_hides():
    index = prepare_advisor(crowd())
    advice = advise(index, "u07", ["p"], ["q", "rare 07"], k=5)
    assert (advice.before, advice.after, advice.hidden) == ("11 to 100", "1", False)
    assert advice.telling == "rare 07"
    assert advice.cheapest is not None
    assert advice.cheapest.drop == ("rare 07",)
    assert advice.cheapest.band == "11 to 100"


def test_a_draft_that_hides_is_left_alone():
    advice = advise(prepare_advisor(crowd()), "u07", [], ["p"], k=5)
    assert advice.hidden
    assert advice.cheapest is not None
    assert (advice.cheapest.drop, advice.cheapest.add) == ((), ())


def test_items_that_nobody_rated_are_counted_and_give_nothing_away():
    index = prepare_advisor(crowd())
    advice = advise(index, "u07", ["nonsense"], ["p", 12], k=5)
    assert advice.n_unknown == 2
    assert advice.after == advise(index, "u07", [], ["p"], k=5).after


def test_strangers_and_odd_wishes_are_refused():
    index = prepare_advisor(crowd())
    with pytest.raises(InputError, match="there is no id 'nobody'"):
        advise(index, "nobody", [], ["p"])
    with pytest.raises(OptionError, match="k must be at least 1"):
        advise(index, "u07", [], ["p"], k=0)
    with pytest.raises(OptionError, match="below the number of users"):
        advise(index, "u07", [], ["p"], k=1000)


def place(ratings, user, items, share):
    """Work out the expected place by the attack itself."""
    options = IdentifyOptions()
    candidates = Candidates.of(ratings, options)
    mentions = said(ratings, *[(user, item) for item in items])
    read = ignoring_popular(mentions, candidates.raters, share) if share else mentions
    standing = stand_by("scoring", candidates, read, options)
    return float(standing.better[0] + (standing.tied[0] + 1) / 2)


@settings(max_examples=10)
@given(st.integers(0, 299), st.integers(0, 10**6))
def test_the_advised_change_reaches_k_against_plain_and_adaptive_attackers(user, seed):
    ratings = busy()
    own = ratings.item_ids.decode(ratings.items[ratings.row(user)]).to_list()
    picked = np.random.default_rng(seed).permutation(own).tolist()[:6]
    advice = advise(_advisor(), user, picked[:3], picked[3:], k=10)
    worst = min(place(ratings, user, picked, share) for share in (0.0, 0.01, 0.02))
    assert advice.after == band_of(worst)
    assert advice.hidden == (worst > 10)
    if advice.cheapest is None or advice.hidden:
        return
    changed = [item for item in picked if item not in advice.cheapest.drop] + list(advice.cheapest.add)
    assert not set(advice.cheapest.add) & set(own)
    assert min(place(ratings, user, changed, share) for share in (0.0, 0.01, 0.02)) > 10


@settings(max_examples=25)
@given(small_ratings(min_users=4, max_users=10), st.data())
def test_advice_names_only_what_the_asker_said_or_could_pick_from_public_popularity(ratings, data):
    user = data.draw(st.integers(0, ratings.n_users - 1))
    items = ratings.item_ids.ids.to_list()
    draft = data.draw(st.lists(st.sampled_from(items), max_size=4, unique=True))
    advice = advise(prepare_advisor(ratings), user, [], draft, k=2)
    bands = {name for _, name in BANDS} | {LAST_BAND}
    changes = [*advice.drops, *advice.adds, *([advice.cheapest] if advice.cheapest else [])]
    assert {advice.before, advice.after, *(one.band for one in changes)} <= bands
    own = set(ratings.item_ids.decode(ratings.items[ratings.row(user)]).to_list())
    for one in changes:
        assert set(one.drop) <= set(draft)
        assert not set(one.add) & (own | set(draft))
    assert set(advice.to_json()) == {
        "k",
        "before",
        "after",
        "hidden",
        "telling",
        "n_unknown",
        "drops",
        "adds",
        "cheapest",
    }


def test_what_is_proposed_does_not_depend_on_who_else_rated_it():
    """Two data sets with the same popularity and the same asker, but other owners of the ratings, propose the same."""
    one = watched(("me", "ab"), ("x", "pqr"), ("y", "pqs"), ("z", "prt"))
    two = watched(("me", "ab"), ("x", "pst"), ("y", "pqr"), ("z", "pqr"))
    proposed = [[change.add for change in advise(prepare_advisor(d), "me", [], ["a"], k=1).adds] for d in (one, two)]
    assert proposed[0] == proposed[1]


@pytest.mark.data
def test_an_answer_takes_under_50_ms_at_movielens_1m_size(data):
    from recloak.ratings import read

    ratings = read(data / "ml" / "ml-1m.inter")
    index = prepare_advisor(ratings)
    rng, times = np.random.default_rng(1), []
    for user in rng.choice(ratings.n_users, 40, replace=False).tolist():
        row = ratings.items[ratings.row(user)]
        said_ids = ratings.item_ids.decode(rng.choice(row, min(20, len(row)), replace=False)).to_list()
        start = time.process_time()
        advise(index, ratings.user_ids.ids[user], said_ids[:15], said_ids[15:], k=10)
        times.append(time.process_time() - start)
    assert np.median(times) < 0.05
