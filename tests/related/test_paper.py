"""Paper 003 held to the letter, and its holes."""

import json
from pathlib import Path

import numpy as np
import pytest

from recloak._ratings.model import Ratings
from recloak._related.borders import border
from recloak._related.leaks import Observer
from recloak._related.literal_method import literal
from recloak._related.model import Holders, ListRelease, Lists, moved
from recloak._related.options import BoundOptions
from recloak._related.similarity import nearest
from recloak._related.verifier import verify
from tests.related.brute_force import judged
from tests.related.histories import ratings_of, safe_releases, true_releases

GOLDEN = Path(__file__).parents[1] / "golden" / "003"
FIGURE = json.loads((GOLDEN / "figure1.json").read_text())
CASES = json.loads((GOLDEN / "counterexamples.json").read_text())["cases"]


def figure_1():
    users, items = np.nonzero(np.array(FIGURE["ratings"]))
    values = np.array(FIGURE["ratings"])[users, items].astype(float)
    ratings = Ratings.from_arrays(users, items, values, np.zeros(len(users), int))
    releases = [ListRelease(n, n - 1, Lists(np.array(FIGURE[f"release_{n}"], np.int32))) for n in (1, 2)]
    return Holders.of(ratings), releases


def test_figure_1_gives_the_moved_lists_that_the_paper_names():
    _, (first, second) = figure_1()
    assert moved(first.lists, second.lists)[FIGURE["target"]] == FIGURE["moved"]


def test_example_2_gives_exactly_the_border_of_the_paper():
    holders, _ = figure_1()
    scratch = (np.zeros(holders.n_users, np.int8), np.full(holders.n_users, -1, np.int32))
    rule = (np.int64(1), False, FIGURE["delta"], np.int64(99), np.int64(10**9))
    data = (holders.indptr, holders.users, holders.times)
    members, none = np.array(FIGURE["moved"], np.int32), np.zeros(0, np.int32)
    newly = np.ones(len(members), np.bool_)
    given = (members, newly, none, np.int64(0), rule, data, scratch)
    masks, n, enough = border(np.int32(FIGURE["target"]), *given)
    found = [[int(j) for m, j in enumerate(members) if int(mask[0]) >> m & 1] for mask in masks[:n]]
    assert enough
    assert sorted(found) == sorted(FIGURE["border"])


def test_the_verifiers_find_the_same_minimal_sets_in_figure_1():
    holders, releases = figure_1()
    bound = BoundOptions(delta=FIGURE["delta"], evidence="total", window=2, min_support=1)
    violations = verify(releases, holders, bound).violations
    found = [list(one.background) for one in violations if one.target == FIGURE["target"]]
    assert sorted(found) == sorted(FIGURE["border"])
    bad, _, _ = judged(releases, holders, bound)
    assert {tuple(one) for one in FIGURE["border"]} <= {one[3] for one in bad if one[2] == FIGURE["target"]}


def greedy_releases(case):
    """Release lists by the printed algorithm, or by the variant of it that the hole is about."""
    how = dict(case["greedy"])
    method, history = how.pop("method"), how.pop("history", "published")
    ratings = ratings_of(case["matrices"])
    holders, bound = Holders.of(ratings), bound_of(case)
    made: list[ListRelease] = []
    true = true_releases(ratings, len(case["matrices"]), case["top"])
    for time in range(len(case["matrices"])):
        ranking = nearest(ratings.until(time), 10)
        known = true[:time] if history == "true" else made
        window = known[-1:] if history == "last" else known[max(0, len(known) - case["window"] + 1) :]
        if not known:
            lists = ranking.cut(case["top"])
        elif method == "repeat":
            lists = true[1].lists
        else:
            lists = literal(
                Observer.of_window(tuple(window), time, holders, bound),
                ranking,
                case["top"],
                permute=method == "perm",
                **how,
            )
        made.append(ListRelease(time + 1, time, Lists(lists.items)))
    return ratings, made


def bound_of(case):
    return BoundOptions(delta=case["delta"], window=case["window"], evidence="total", min_support=1)


@pytest.mark.parametrize("case", CASES, ids=[case["hole"] for case in CASES])
def test_the_greedy_steps_leave_this_breach(case):
    ratings, made = greedy_releases(case)
    bad, _, _ = judged(made, Holders.of(ratings), bound_of(case))
    found = {(target, background): breach for _, _, target, background, breach in bad}
    assert found.get((case["item"], tuple(case["background"]))) == pytest.approx(case["breach"]), found


@pytest.mark.parametrize("method", ["perm", "supp"])
@pytest.mark.parametrize("case", CASES, ids=[case["hole"] for case in CASES])
def test_the_default_leaves_none(case, method):
    ratings = ratings_of(case["matrices"])
    for evidence in ("total", "fresh"):
        bound = bound_of(case).replace(evidence=evidence)
        made = safe_releases(ratings, len(case["matrices"]), case["top"], bound, method)
        bad, _, few = judged(made, Holders.of(ratings), bound)
        assert not bad
        assert not few
