"""The advisor: right in small cases, silent about others, robust against who knows the trick, and quick."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import InputError, OptionError
from recloak._mentions.advisor import advise, make_question, prepare_advisor, prepare_exact_advisor, rank_draft
from recloak._mentions.algorithms import Candidates, ignoring_popular, rank_targets
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.oracle_guard import BANDS, EXACT_BANDS, OracleGuard, band_of
from recloak._ratings.model import Ratings
from tests.mentions import plain_advise
from tests.mentions.test_defend import similar_users
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
    return prepare_exact_advisor(busy())


def test_the_rare_mention_is_the_telling_one_and_leaving_it_out_hides():
    index = prepare_exact_advisor(similar_users())
    advice = advise(index, "u07", ["p"], ["q", "rare 07"], k=5)
    assert (advice.before, advice.after, advice.hidden) == ("11 to 100", "1", False)
    assert advice.telling == "rare 07"
    assert advice.cheapest is not None
    assert advice.cheapest.drop == ("rare 07",)
    assert advice.cheapest.band == "11 to 100"


def test_a_draft_that_hides_is_left_alone():
    advice = advise(prepare_exact_advisor(similar_users()), "u07", [], ["p"], k=5)
    assert advice.hidden
    assert advice.cheapest is not None
    assert (advice.cheapest.drop, advice.cheapest.add) == ((), ())


def test_items_that_nobody_rated_are_counted_and_give_nothing_away():
    index = prepare_exact_advisor(similar_users())
    advice = advise(index, "u07", ["nonsense"], ["p", 12], k=5)
    assert advice.n_unknown == 2
    assert advice.after == advise(index, "u07", [], ["p"], k=5).after


def test_strangers_and_odd_wishes_are_refused():
    index = prepare_exact_advisor(similar_users())
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
    standing = rank_targets("scoring", candidates, read, options)
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
    exact = data.draw(st.booleans())
    index = prepare_exact_advisor(ratings) if exact else prepare_advisor(ratings)
    advice = advise(index, user, [], draft, k=2)
    bands = {name for _, name in (EXACT_BANDS if exact else BANDS)}
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
    proposed = [
        [change.add for change in advise(prepare_exact_advisor(d), "me", [], ["a"], k=1).adds] for d in (one, two)
    ]
    assert proposed[0] == proposed[1]


@st.composite
def odd_ratings(draw):
    """Draw ratings in which some items are rated by (nearly) everybody, some by one, and some users are alike."""
    n_users, n_items = draw(st.integers(4, 14)), draw(st.integers(3, 40))
    shares = draw(st.lists(st.sampled_from([0.02, 0.1, 0.3, 0.6, 1.0]), min_size=n_items, max_size=n_items))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    cells = rng.random((n_users, n_items)) < np.array(shares)
    cells[np.arange(n_users), rng.integers(0, n_items, n_users)] = True
    if draw(st.booleans()):
        cells[: n_users // 2] = cells[0]
    users, items = np.nonzero(cells)
    return Ratings.from_arrays(users, items, np.full(len(users), 3.0))


@settings(max_examples=150)
@given(odd_ratings(), st.data())
def test_adding_up_once_says_exactly_what_scoring_every_variant_anew_says(ratings, data):
    options = IdentifyOptions(heavy=data.draw(st.sampled_from([0.3, 1.0])), flat=data.draw(st.booleans()))
    known = [*ratings.item_ids.ids.to_list(), 998, 999, "text"]
    earlier, draft = (data.draw(st.lists(st.sampled_from(known), max_size=n)) for n in (6, 15))
    asked = (data.draw(st.integers(0, ratings.n_users - 1)), earlier, draft)
    k = data.draw(st.integers(1, ratings.n_users - 1))
    quick = advise(prepare_exact_advisor(ratings, options), *asked, k=k)
    assert quick == plain_advise.advise(plain_advise.prepare(ratings, options), *asked, k=k)


def test_an_attacker_who_ignores_all_that_is_said_reads_it_in_full():
    """All but the asker rated the one item that the adaptive attackers ignore, so all of them stand above."""
    ratings, options = watched(("me", "a"), *[(f"other {n}", "p") for n in range(6)]), IdentifyOptions(heavy=1.0)
    assert advise(prepare_exact_advisor(ratings, options), "me", [], ["p"], k=6).hidden
    assert plain_advise.advise(plain_advise.prepare(ratings, options), "me", [], ["p"], k=6).hidden


@settings(max_examples=100)
@given(odd_ratings(), st.data())
def test_guarded_advice_never_says_hidden_where_exact_advice_does_not(ratings, data):
    """Neither for the draft nor for any change of it, whoever is in the sample."""
    options = IdentifyOptions(heavy=data.draw(st.sampled_from([0.3, 1.0])))
    guard = OracleGuard(
        b"0123456789abcdef", data.draw(st.sampled_from([0.3, 1.0])), data.draw(st.sampled_from([0.2, 1.0]))
    )
    known = ratings.item_ids.ids.to_list()
    earlier, draft = (data.draw(st.lists(st.sampled_from(known), max_size=n)) for n in (5, 8))
    asked = (data.draw(st.integers(0, ratings.n_users - 1)), earlier, draft)
    exact, guarded = prepare_exact_advisor(ratings, options), prepare_advisor(ratings, options, guard=guard)
    real, shown = (rank_draft(index, make_question(index, *asked)) for index in (exact, guarded))
    assert shown.before <= real.before
    assert shown.after <= real.after
    assert (shown.without <= real.without).all()
    assert (shown.added <= real.added).all()
    for k in (1, 2, 3):
        assert advise(exact, *asked, k=k).hidden or not advise(guarded, *asked, k=k).hidden
    way = advise(guarded, *asked, k=2).cheapest
    if way is not None:
        said_then = [item for item in draft if item not in way.drop] + list(way.add)
        assert advise(exact, asked[0], earlier, said_then, k=2).hidden


@settings(max_examples=60)
@given(odd_ratings(), st.data())
def test_nothing_that_is_asked_depends_on_who_is_outside_the_crowd(ratings, data):
    """Change the ratings of somebody outside the sample, with the public numbers of raters as they were."""
    guard = OracleGuard(data.draw(st.binary(min_size=16, max_size=16)))
    index = prepare_advisor(ratings, IdentifyOptions(heavy=1.0), guard=guard)
    outside = np.flatnonzero(~guard.in_sample(ratings.user_ids.ids.to_list()))
    asker = data.draw(st.integers(0, ratings.n_users - 1))
    others = ratings.where(~np.isin(ratings.users(), outside[outside != asker]))
    bare = prepare_advisor(others, IdentifyOptions(heavy=1.0), guard=guard)
    public = {name: getattr(index, name) for name in ("raters", "weights", "not_ignored", "proposals")}
    draft = data.draw(st.lists(st.sampled_from(ratings.item_ids.ids.to_list()), max_size=8))
    worlds = (index, replace(bare, **public))
    one, other = (rank_draft(world, make_question(world, asker, draft[:2], draft[2:])) for world in worlds)
    assert (one.before, one.after) == (other.before, other.after)
    for name in ("without", "added", "order", "table"):
        assert np.array_equal(getattr(one, name), getattr(other, name))


def test_a_crowd_is_the_same_for_the_same_secret_whoever_else_is_there():
    guard = OracleGuard(b"0123456789abcdef")
    assert guard.in_sample(list(range(1000))).tolist()[:500] == guard.in_sample(list(range(500))).tolist()
    assert 400 < guard.in_sample(list(range(1000))).sum() < 600
    assert (guard.in_sample(list(range(100))) != OracleGuard(b"another secret..").in_sample(list(range(100)))).any()


def test_k_between_two_borders_is_read_as_the_next_so_that_it_tells_no_place():
    guarded = prepare_advisor(busy(), guard=OracleGuard(b"0123456789abcdef"))
    row = busy().item_ids.decode(busy().items[busy().row(7)]).to_list()
    for draft in (row[:1], row[:2], row[:3]):
        assert len({advise(guarded, 7, [], draft, k=k).hidden for k in range(1, 11)}) == 1


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        ({"secret": b"short"}, "at least 16 bytes, got 5"),
        ({"sample_share": 0.0}, "more than 0"),
        ({"widely": 2.0}, "at most 1"),
    ],
)
def test_a_guard_that_guards_nothing_is_refused(wrong, rule):
    with pytest.raises(OptionError, match=rule):
        OracleGuard(**wrong)


def test_threads_that_ask_at_once_get_the_answers_of_one_that_asks_alone():
    ratings = busy()
    rows = [ratings.item_ids.decode(ratings.items[ratings.row(user)]).to_list() for user in range(ratings.n_users)]
    asked = [(user, row[:4], row[4:9]) for user, row in enumerate(rows)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda one: advise(_advisor(), *one), asked))
    assert together == [advise(_advisor(), *one) for one in asked]


@pytest.mark.data
def test_adding_up_once_agrees_with_scoring_anew_on_movielens_1m(data):
    from recloak._ratings.readers import read

    ratings = read(data / "ml" / "ml-1m.inter")
    quick, plain = prepare_exact_advisor(ratings), plain_advise.prepare(ratings)
    rng = np.random.default_rng(3)
    for user in rng.choice(ratings.n_users, 60, replace=False).tolist():
        said_ids = ratings.item_ids.decode(rng.choice(ratings.n_items, 20, replace=False)).to_list()
        said_ids[5:15] = ratings.item_ids.decode(rng.choice(ratings.items[ratings.row(user)], 10)).to_list()
        asked = (ratings.user_ids.ids[user], said_ids[:10], said_ids[10:])
        assert advise(quick, *asked, k=10) == plain_advise.advise(plain, *asked, k=10)


@pytest.mark.data
def test_an_answer_takes_under_3_ms_of_one_core_at_movielens_1m_size(data):
    from recloak._ratings.readers import read

    ratings = read(data / "ml" / "ml-1m.inter")
    index = prepare_exact_advisor(ratings)
    rng, times = np.random.default_rng(1), []
    for user in rng.choice(ratings.n_users, 40, replace=False).tolist():
        row = ratings.items[ratings.row(user)]
        said_ids = ratings.item_ids.decode(rng.choice(row, min(20, len(row)), replace=False)).to_list()
        start = time.process_time()
        advise(index, ratings.user_ids.ids[user], said_ids[:15], said_ids[15:], k=10)
        times.append(time.process_time() - start)
    assert np.median(times[2:]) < 0.003
