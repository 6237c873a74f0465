"""The advisor: right in small cases, silent about others, robust against who knows the trick, and quick."""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recloak._core.errors import InputError, OptionError
from recloak._mentions import draft_rank_kernels, draft_search
from recloak._mentions.advisor import advise, warm_up
from recloak._mentions.advisor_index import prepare_advisor, prepare_exact_advisor
from recloak._mentions.algorithms import Candidates
from recloak._mentions.clues import default_constants
from recloak._mentions.draft_question import Said, make_question
from recloak._mentions.draft_rank_kernels import places, worst_without
from recloak._mentions.draft_search import ADDS, DraftGaps, Way
from recloak._mentions.mention_tables import mentions_from_table
from recloak._mentions.options import IdentifyOptions
from recloak._mentions.oracle_guard import BANDS, EXACT_BANDS, OracleGuard, band_of
from recloak._mentions.panel import rank_by_panel
from recloak._mentions.panel_kernels import DAY, PANEL
from recloak._mentions.shared_beginnings import series_of
from recloak._mentions.titles import Title
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


def strongest_place(ratings, user, items):
    """Work out the expected place before the strongest attacker by the attack itself, on one target."""
    mentions = said(ratings, *[(user, item) for item in items])
    ranks = rank_by_panel(ratings, Candidates.of(ratings, IdentifyOptions()), mentions, IdentifyOptions())
    return float(ranks.strongest.better[0] + (ranks.strongest.tied[0] + 1) / 2)


@settings(max_examples=10)
@given(st.integers(0, 299), st.integers(0, 10**6))
def test_the_advised_change_reaches_k_against_every_attacker_of_the_panel(user, seed):
    ratings = busy()
    own = ratings.item_ids.decode(ratings.items[ratings.row(user)]).to_list()
    picked = np.random.default_rng(seed).permutation(own).tolist()[:6]
    advice = advise(_advisor(), user, picked[:3], picked[3:], k=10)
    worst = strongest_place(ratings, user, picked)
    assert advice.after == band_of(worst)
    assert advice.hidden == (worst > 10)
    if advice.cheapest is None or advice.hidden:
        return
    changed = [item for item in picked if item not in advice.cheapest.drop] + list(advice.cheapest.add)
    assert not set(advice.cheapest.add) & set(own)
    assert strongest_place(ratings, user, changed) > 10


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
    assert set(advice.attackers.values()) <= bands
    assert set(advice.to_json()) == {
        "k", "before", "after", "hidden", "telling", "most_telling", "n_unknown", "drops", "adds", "unvoiced",
        "cheapest", "small", "attackers", "strongest", "uses",
    }  # fmt: skip


def test_what_is_proposed_does_not_depend_on_who_else_rated_it():
    """Two data sets with the same popularity and the same asker, but other owners of the ratings, propose the same."""
    one = watched(("me", "ab"), ("x", "pqr"), ("y", "pqs"), ("z", "prt"))
    two = watched(("me", "ab"), ("x", "pst"), ("y", "pqr"), ("z", "pqr"))
    proposed = [
        [change.add for change in advise(prepare_exact_advisor(d, secret=b"any"), "me", [], ["a"], k=1).adds]
        for d in (one, two)
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


@st.composite
def timed_questions(draw):
    """Draw ratings, some with times, and a question with some opinions and times."""
    ratings = draw(odd_ratings())
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    if draw(st.booleans()):
        times = rng.integers(0, 800 * DAY, ratings.n_ratings)
        ratings = Ratings.from_arrays(
            ratings.users(), ratings.items, rng.integers(1, 6, ratings.n_ratings), times=times
        )
    known = [*ratings.item_ids.ids.to_list(), 998]
    what = st.builds(
        Said,
        st.sampled_from(known),
        st.sampled_from([None, 1.0, 4.0]),
        st.sampled_from([None, 3 * DAY, 500 * DAY + 5]),
    )
    earlier, draft = (draw(st.lists(what, max_size=n)) for n in (3, 5))
    return ratings, (draw(st.integers(0, ratings.n_users - 1)), earlier, draft)


@settings(max_examples=30)
@given(timed_questions(), st.integers(1, 3))
def test_adding_up_effects_says_exactly_what_scoring_every_variant_anew_says(case, k):
    ratings, asked = case
    index = prepare_exact_advisor(ratings)
    gaps = DraftGaps(index, make_question(index, *asked))
    expected = plain_advise.plain(index, *asked, k=k)
    tables = gaps.tables()
    assert places(gaps.before, gaps.attackers, gaps.margins).min() == expected["before"]
    assert places(gaps.after(), gaps.attackers, gaps.margins).min() == expected["after"]
    without = worst_without(
        gaps.after(), tables.effects, tables.moments, tables.moment_of, gaps.attackers, gaps.margins
    )
    assert without.tolist() == expected["without"]
    for way, kept in expected["kept"].items():
        hidden, state = gaps.keep(way, float(k))
        assert hidden == (kept is not None)
        if kept is not None:
            assert np.flatnonzero(state).tolist() == sorted(kept)


@settings(max_examples=60)
@given(odd_ratings(), st.data())
def test_guarded_advice_never_says_hidden_where_exact_advice_does_not(ratings, data):
    """Neither for the draft nor for any change of it, whoever is in the sample; times are told by the sample itself."""
    options = IdentifyOptions(heavy=data.draw(st.sampled_from([0.3, 1.0])))
    guard = OracleGuard(
        b"0123456789abcdef", data.draw(st.sampled_from([0.3, 1.0])), data.draw(st.sampled_from([0.2, 1.0]))
    )
    known = ratings.item_ids.ids.to_list()
    earlier, draft = (data.draw(st.lists(st.sampled_from(known), max_size=n)) for n in (5, 8))
    asked = (data.draw(st.integers(0, ratings.n_users - 1)), earlier, draft)
    exact, guarded = prepare_exact_advisor(ratings, options), prepare_advisor(ratings, options, guard=guard)
    real, shown = (DraftGaps(index, make_question(index, *asked)) for index in (exact, guarded))
    assert (
        places(shown.before, shown.attackers, shown.margins) <= places(real.before, real.attackers, real.margins)
    ).all()
    assert (
        places(shown.after(), shown.attackers, shown.margins) <= places(real.after(), real.attackers, real.margins)
    ).all()
    for k in (1, 2, 3):
        assert advise(exact, *asked, k=k).hidden or not advise(guarded, *asked, k=k).hidden
    way = advise(guarded, *asked, k=2).cheapest
    if way is not None:
        said_then = [item for item in draft if item not in way.drop] + list(way.add)
        assert advise(exact, asked[0], earlier, said_then, k=2).hidden


@settings(max_examples=40)
@given(timed_questions(), st.binary(min_size=16, max_size=16))
def test_nothing_that_is_asked_depends_on_who_is_outside_the_crowd(case, secret):
    """Take away all ratings of everybody outside the sample, with the public numbers of raters as they were."""
    ratings, asked = case
    guard = OracleGuard(secret)
    index = prepare_advisor(ratings, IdentifyOptions(heavy=1.0), guard=guard)
    outside = np.flatnonzero(~guard.in_sample(ratings.user_ids.ids.to_list()))
    others = ratings.where(~np.isin(ratings.users(), outside[outside != asked[0]]))
    bare = prepare_advisor(others, IdentifyOptions(heavy=1.0), guard=guard)
    public = {
        name: getattr(index.pool, name) for name in ("rates", "gains", "squared_idf", "ignored", "appetite", "norms")
    }
    world = replace(index, ratings=others, pool=bare.pool._replace(**public), norms=index.norms, raters=index.raters)
    mean = index.ratings.n_ratings / index.ratings.n_users
    user, earlier, draft = asked
    one, other = (make_question(each, user, earlier, draft, 600 * DAY) for each in (index, world))
    other = replace(other, appetite=len(ratings.items[ratings.row(asked[0])]) / mean)
    first, second = DraftGaps(index, one), DraftGaps(world, other)
    assert np.array_equal(first.after(), second.after())
    assert np.array_equal(first.before, second.before)


def test_a_day_of_ones_own_gives_away_and_a_day_of_many_does_not():
    """Twenty people rated the same on days of their own; one of them posts on theirs."""
    n = 40
    users = np.repeat(np.arange(n), 3)
    items = np.tile([0, 1, 2], n)
    ratings = Ratings.from_arrays(users, items, np.tile([5.0, 1.0, 3.0], n), times=users * 20 * DAY)
    index = prepare_exact_advisor(ratings, IdentifyOptions(heavy=1.0))
    post = [Said(0, time=20 * 20 * DAY + 60)]
    advice = advise(index, 20, [], post, k=5)
    assert not advice.hidden
    assert advice.attackers["likelihood_ratio"] == "11 to 100"
    assert advice.strongest in ("learned", "time")
    together = Ratings.from_arrays(users, items, np.tile([5.0, 1.0, 3.0], n), times=users % 2 * 100 * DAY)
    assert advise(prepare_exact_advisor(together, IdentifyOptions(heavy=1.0)), 20, [], [Said(0, time=60)], k=5).hidden


def test_an_opinion_that_gives_away_is_advised_against():
    n = 60
    values = np.full(n, 4.0)
    values[7] = 1.0
    ratings = Ratings.from_arrays(np.arange(n), np.zeros(n, int), values)
    index = prepare_exact_advisor(ratings, IdentifyOptions(heavy=1.0))
    advice = advise(index, 7, [], [Said(0, rating=1.0)], k=5)
    assert not advice.hidden
    assert advice.unvoiced is not None
    assert advice.unvoiced.band == "11 to 100"
    assert advice.cheapest is not None
    assert advice.cheapest.no_opinions
    assert advice.cheapest.drop == ()


def test_a_series_is_named_instead_of_the_film_that_gives_away():
    """Everybody saw one of the two films; only the writer saw the sequel."""
    rows = [(user, 1) for user in range(40)] + [(0, 2)] + [(user, 3) for user in range(40)]
    users, items = zip(*rows, strict=True)
    ratings = Ratings.from_arrays(list(users), list(items), [3.0] * len(rows))
    series = series_of([Title(1, ("Alien",), 1979), Title(2, ("Alien 2",), 1986), Title(3, ("Fargo",), 1996)])
    index = prepare_exact_advisor(ratings, IdentifyOptions(heavy=1.0), series=series)
    advice = advise(index, 0, [], [2], k=5)
    assert not advice.hidden
    assert advice.cheapest is not None
    assert advice.cheapest.series == ((2, "Alien"),)


def test_additions_are_in_an_order_that_only_the_secret_knows():
    ratings = busy(n_items=400)
    one, two = (prepare_advisor(ratings, guard=OracleGuard(key)) for key in (b"0123456789abcdef", b"another secret.."))
    own = ratings.item_ids.decode(ratings.items[ratings.row(7)]).to_list()[:2]
    adds = [tuple(change.add for change in advise(index, 7, [], own).adds) for index in (one, two, one)]
    assert adds[0] == adds[2]
    assert adds[0] != adds[1]


def test_what_attackers_learn_comes_from_people_in_the_sample_only():
    ratings, table = _forum()
    guard = OracleGuard(b"0123456789abcdef")
    inside = guard.in_sample(ratings.user_ids.ids.to_list())
    mentions = mentions_from_table(table, ratings)
    some = mentions_from_table(table.filter(inside[table["user"].to_numpy()]), ratings)
    one, two = (prepare_advisor(ratings, guard=guard, mentions=each).known for each in (mentions, some))
    for name in one._fields:
        assert np.allclose(getattr(one, name), getattr(two, name))
    assert not np.allclose(one.same_item, default_constants().same_item)


def _forum(n=60):
    rng = np.random.default_rng(3)
    users = np.repeat(np.arange(n), 6)
    items = np.concatenate([rng.choice(30, 6, replace=False) for _ in range(n)])
    times = users * 30 * DAY
    table = pl.DataFrame({"user": users, "item": items, "time": times + 2 * DAY})
    return Ratings.from_arrays(users, items, np.full(len(users), 3.0), times=times), table


def test_the_panel_has_a_name_for_every_attacker():
    assert len(set(PANEL)) == len(PANEL)
    assert Way().cost(3) == 0
    assert ADDS[0] == 0


def test_a_crowd_is_the_same_for_the_same_secret_whoever_else_is_there():
    guard = OracleGuard(b"0123456789abcdef")
    assert guard.in_sample(list(range(1000))).tolist()[:500] == guard.in_sample(list(range(500))).tolist()
    assert 240 < guard.in_sample(list(range(1000))).sum() < 360
    wider = OracleGuard(guard.secret, 0.5).in_sample(list(range(1000)))
    assert (wider | ~guard.in_sample(list(range(1000)))).all()  # who lowers the share draws nobody new
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
def test_an_answer_takes_under_15_ms_of_one_core_at_movielens_1m_size(data):
    from recloak._ratings.readers import read

    ratings = read(data / "ml" / "ml-1m.inter")
    index = prepare_advisor(ratings)
    rng, times = np.random.default_rng(1), []
    for user in rng.choice(ratings.n_users, 40, replace=False).tolist():
        row = ratings.items[ratings.row(user)]
        said_ids = ratings.item_ids.decode(rng.choice(row, min(20, len(row)), replace=False)).to_list()
        start = time.process_time()
        advise(index, ratings.user_ids.ids[user], said_ids[:15], said_ids[15:], k=10)
        times.append(time.process_time() - start)
    assert np.median(times[2:]) < 0.015


def test_warming_up_calls_every_loop_that_a_question_may_need(monkeypatch):
    called = set()

    def noted(kernel):
        def call(*arguments):
            called.add(kernel)
            return kernel(*arguments)

        return call

    names = ("added_up", "keep", "mention_effects", "moment_effects", "no_gaps")
    for name in names:
        monkeypatch.setattr(draft_search, name, noted(getattr(draft_search, name)))
    ratings = Ratings.from_arrays(list("aabbcc"), list("xyxyxy"), [1.0, 5.0] * 3, times=range(6))
    warm_up(prepare_advisor(ratings, guard=OracleGuard(b"0123456789abcdef", 1.0)), "a")
    assert called == {getattr(draft_rank_kernels, name) for name in names}
