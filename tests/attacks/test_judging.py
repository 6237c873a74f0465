"""Verdicts rest on the worse end of an interval, too few people bound nothing, and everybody is no sample."""

import dataclasses

import numpy as np
import pytest
from tests.attacks.attack_values import OWN, made_attack
from tests.attacks.test_matching import grouped

from recloak._attacks.attack_input import Findings
from recloak._attacks.audit_result import Audit, seed_of_release
from recloak._attacks.auditing import audit
from recloak._attacks.gate import parse_gate, pass_gate
from recloak._attacks.judging import FEWEST_TARGETS, N_DRAWS
from recloak._attacks.model import Hits, Line, PersonRisks, expected_share
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView
from recloak._core.intervals import wilson
from recloak._ratings.model import Ratings


@pytest.fixture(scope="module")
def ratings():
    stream = np.random.default_rng(1)
    users, items = np.nonzero(stream.random((240, 60)) < 0.2)
    return Ratings.from_arrays(users, items, stream.integers(1, 6, len(users)))


def audited(ratings, run, targets, kind="tells-cells"):
    """Audit a release by one attack of ours and one that is made here."""
    options = AuditOptions(targets=targets, known=(2,), varied_at=2)
    release = ReleaseView(grouped(ratings, 4), {"k": 4})
    return audit(ratings, release, options=options, attacks=[OWN["structure"], made_attack(kind=kind, run=run)], rng=1)


def share_of(right, tried, baseline=0.5):
    return lambda _: Findings(Hits(wilson(right, tried)), baseline=baseline)


def test_an_interval_around_the_limit_is_not_measured_and_says_how_many_targets_would_tell(ratings):
    found = audited(ratings, share_of(53, 100), targets=120)
    one = found.outcomes[-1]
    assert (one.verdict, one.undecided, found.verdict_on("inference")) == ("not measured", True, "not measured")
    assert "the limit 0.55 lies within the interval from 0.43" in one.reason
    assert "about 240 targets would tell" in one.reason  # more than there are people: all of them


def test_more_targets_are_asked_for_as_the_square_of_the_distance(ratings):
    one = audited(ratings, share_of(510, 1000), targets=120).outcomes[-1]
    reach, gap = wilson(510, 1000).high - 0.51, 0.04
    assert one.verdict == ("bounded" if reach < gap else "not measured")
    near = audited(ratings, share_of(523, 1000), targets=120).outcomes[-1]
    expected = 1.1 * 120 * ((wilson(523, 1000).high - 0.523) / (0.55 - 0.523)) ** 2
    assert f"about {int(np.ceil(expected))} targets" in near.reason


def test_few_targets_bound_nothing_however_many_cells_they_have(ratings):
    many_cells = share_of(5000, 10_000)
    few = audited(ratings, many_cells, targets=FEWEST_TARGETS - 1)
    assert (few.outcomes[-1].verdict, few.outcomes[-1].undecided, few.promise) == (
        "not measured", True, "not measured",
    )  # fmt: skip
    assert f"only {FEWEST_TARGETS - 1} targets were drawn; at least {FEWEST_TARGETS}" in few.outcomes[-1].reason
    enough = audited(ratings, many_cells, targets=FEWEST_TARGETS)
    assert (enough.outcomes[-1].verdict, enough.promise) == ("bounded", "pass")


def test_few_targets_can_breach(ratings):
    assert audited(ratings, share_of(90, 100), targets=5).outcomes[-1].verdict == "breached"


def on_everybody(rates, lines=()):
    """Return an attack on everybody that reaches one rate after the other, and how often it was run."""
    runs: list[float] = []

    def run(given):
        rate = rates[len(runs) % len(rates)]
        runs.append(rate)
        people = PersonRisks(np.arange(given.ratings.n_users), np.full(given.ratings.n_users, rate))
        return Findings(Hits(wilson(rate * 240, 240), people=people), baseline=0.5, lines=lines)

    return run, runs


def test_everybody_is_no_sample(ratings):
    run, runs = on_everybody([0.53])
    one = audited(ratings, run, targets=1000).outcomes[-1]
    assert (one.verdict, one.release.low, one.release.high, len(runs)) == ("bounded", 0.53, 0.53, N_DRAWS)
    run, _ = on_everybody([0.56])
    assert audited(ratings, run, targets=1000).outcomes[-1].verdict == "breached"


def test_the_luck_of_what_is_known_stays_in_the_interval(ratings):
    run, runs = on_everybody([0.50, 0.56, 0.53, 0.59, 0.47])
    one = audited(ratings, run, targets=1000).outcomes[-1]
    assert (one.verdict, one.undecided) == ("not measured", True)
    assert one.release.rate == pytest.approx(0.53)
    assert one.release.high - one.release.rate == pytest.approx(2.776 * np.std(runs, ddof=1) / np.sqrt(5), rel=1e-3)
    assert "240 people are too few to tell" in one.reason


def test_lines_are_repeated_too(ratings):
    run, _ = on_everybody([0.5], (Line("bets", wilson(11, 100), 0.1),))
    one = audited(ratings, run, targets=1000).outcomes[-1]
    assert (one.verdict, one.lines[0].share.high) == ("bounded", pytest.approx(0.11))


def test_the_same_part_of_the_people_again_and_again_is_not_everybody(ratings):
    one = audited(ratings, share_of(53, 100), targets=1000).outcomes[-1]
    assert (one.verdict, one.release.high) == ("not measured", wilson(53, 100).high)


def test_what_is_clear_at_once_is_not_repeated(ratings):
    run, runs = on_everybody([0.3])
    audited(ratings, run, targets=1000)
    assert len(runs) == 1


def test_where_k_share_a_row_nobody_is_named_above_one_in_k():
    always = expected_share(np.full(50, 0.25), most=0.25)
    assert (always.rate, always.high) == (0.25, 0.25)
    half = expected_share(np.repeat([0.25, 0.0], 500), most=0.25)
    assert half.high == pytest.approx(wilson(500, 1000).high / 4)
    assert half.high < expected_share(np.repeat([0.25, 0.0], 500)).high  # and never wider


def test_a_most_that_is_exceeded_is_not_believed():
    assert expected_share(np.full(50, 0.5), most=0.25) == expected_share(np.full(50, 0.5))


def test_a_gate_takes_the_upper_end_of_what_cannot_be_judged_by_its_usual_limit(ratings):
    found = audited(ratings, share_of(53, 100), targets=120)
    name = found.outcomes[-1].name
    assert pass_gate(parse_gate(f"{name}<0.7"), found.outcomes).passed
    assert not pass_gate(parse_gate(f"{name}<0.6"), found.outcomes).passed


def test_one_open_outcome_leaves_its_criterion_open(ratings):
    found = audited(ratings, share_of(530, 1000), targets=120)
    clear = dataclasses.replace(found.outcomes[-1], verdict="bounded", undecided=False)
    assert Audit((clear,), (), 1).verdict_on("inference") == "bounded"
    assert Audit((clear, found.outcomes[-1]), (), 1).verdict_on("inference") == "not measured"


def test_the_seed_that_follows_from_a_release_is_its_own():
    assert seed_of_release("a") == seed_of_release("a") != seed_of_release("b")
