"""A whole audit: what fails is not measured, 0 % and 100 % work, and the verdict follows the rules."""

import dataclasses
import json

import numpy as np
import pytest
from tests.attacks.attack_values import OWN, made_attack
from tests.attacks.test_matching import grouped

from recloak._attacks import auditing as running
from recloak._attacks import registry
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.audit_result import Audit
from recloak._attacks.auditing import audit
from recloak._attacks.gate import parse_gate
from recloak._attacks.model import MARGIN, Hits, Line, Outcome, PersonRisks, Public, judge
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_view import ReleaseView
from recloak._core.errors import InputError, InternalError, OptionError
from recloak._core.intervals import Share, wilson
from recloak._core.randomness import randomness
from recloak._ratings.model import Ratings, Scale

OPTIONS = AuditOptions(targets=60, known=(1, 4), varied_at=4)


@pytest.fixture(scope="module")
def ratings():
    stream = np.random.default_rng(1)
    users, items = np.nonzero(stream.random((60, 120)) < 0.2)
    return Ratings.from_arrays(users, items, stream.integers(1, 6, len(users)), np.arange(len(users)) * 86_400)


@pytest.fixture(scope="module")
def found(ratings):
    return audit(ratings, ReleaseView(grouped(ratings, 4), {"k": 4}), options=OPTIONS, rng=1)


def test_every_attack_of_the_contract_is_run(found):
    names = {one.name for one in found.outcomes}
    assert {"structure", "label", "homogeneity", "scoreboard", "nearest"} <= names
    assert {"link", "fingerprint", "insider", "intersection"} <= names
    assert {one.known for one in found.outcomes if one.name == "structure"} == {1, 4}


@pytest.mark.parametrize(
    ("asked", "promised", "counted"), [(None, None, "50 %"), (None, 0.25, "25 %"), (0.4, 0.25, "40 %")]
)
def test_the_cap_on_links_is_the_one_asked_for_else_the_one_promised(ratings, asked, promised, counted):
    release = ReleaseView(grouped(ratings, 4), {"k": 4, "max_link": promised})
    given = AttackInput(ratings, release.public, release, None, AuditOptions(link_cap=asked), randomness(1))
    units = [blank.unit for blank, _ in running.planned_runs(given, [OWN["link-cap"]])]
    assert units == [f"cells in which more than {counted} of the group rated the item"]


def insiders(ratings, public, k):
    """Prepare the attacks of insiders, by the number of colluders."""
    given = AttackInput(ratings, public, ReleaseView(public, {"k": k}), None, AuditOptions(), randomness(1))
    return {blank.known: (blank, each) for blank, each in running.planned_runs(given, [OWN["insider"]])}


@pytest.mark.parametrize(("k", "colluders"), [(2, [1, 2]), (3, [1, 2]), (5, [1, 2, 4])])
def test_insiders_are_one_two_and_all_but_the_target(ratings, k, colluders):
    assert list(insiders(ratings, grouped(ratings, k), k)) == colluders


@pytest.mark.parametrize(
    ("rated", "labels"),
    [([1, 5], [1, 5]), ([3, 3], [1, 5])],
    ids=["the labels tell all and their mean nothing", "the mean of the labels tells all and they nothing"],
)
def test_insiders_are_held_against_the_better_of_two_outsiders(rated, labels):
    # Two groups of two, and one item that everybody rated as the others of the group did.
    ratings = Ratings.from_arrays(np.arange(4), np.zeros(4, int), np.repeat(rated, 2), scale=Scale(1, 5, 1))
    public = Public.of(
        np.array([0, 2]), np.arange(2, dtype=np.int32), np.array(labels, np.float32),
        np.array([2, 2]), np.repeat(np.arange(2), 2).astype(np.int32), ratings.scale,
    )  # fmt: skip
    outcome = running.run_attack(*insiders(ratings, public, 2)[1])
    assert (outcome.baseline, outcome.bound) == (1.0, 1.0 + MARGIN)


def test_json_keeps_the_contract(found):
    told = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert told["verdict"] in ("breached", "bounded", "not measured")
    assert told["promise"] in ("pass", "fail", "not measured")
    assert set(told["criteria"]) == {"singling-out", "linkability", "inference"}
    for attack in told["attacks"]:
        assert {"name", "known", "original", "release", "baseline", "verdict"} <= set(attack)
        assert attack["verdict"] in ("breached", "not measured") or attack["verdict"].startswith("bounded by 0.")
        if attack["release"] is not None:
            assert attack["release"]["low"] <= attack["release"]["rate"] <= attack["release"]["high"]


def test_every_outcome_says_who_attacks_what_is_counted_and_how_sure_it_is(found):
    for attack in found.to_json()["attacks"]:
        assert attack["attacker"]
        assert attack["unit"]
        assert (attack["direction"], attack["seed"]) == ("lower is safer", 1)
        assert 0 <= attack["baseline"] <= 1
        if attack["name"].startswith("scoreboard"):
            assert attack["control"]["n"] == attack["release"]["n"] == attack["group"]["n"] > 0
        if attack["name"] == "link":
            assert attack["details"]["release"]["theorem_without_prior"] == 1 / 4


def test_nobody_is_named_beyond_one_in_k(found):
    for one in found.outcomes:
        if one.identifies:
            assert one.release is not None
            assert one.release.rate <= 1 / 4 + 1e-9
            assert one.verdict == "bounded"
    assert found.promise == "pass"


def test_one_release_alone_leaves_the_intersection_unmeasured(found):
    one = next(one for one in found.outcomes if one.name == "intersection")
    assert (one.verdict, one.release) == ("not measured", None)
    assert "only one release" in one.reason


def test_two_releases_are_intersected(ratings):
    release = ReleaseView(grouped(ratings, 4), {"k": 4})
    found = audit(ratings, release, second=release, options=OPTIONS, rng=1)
    one = next(one for one in found.outcomes if one.name == "intersection")
    assert one.release is not None
    assert one.release.rate == pytest.approx(one.baseline)  # the same release twice says nothing new


def audit_with(ratings, *others):
    """Audit a release that one attack of ours does not breach, with other attacks."""
    release = ReleaseView(grouped(ratings, 4), {"k": 4})
    return audit(ratings, release, options=OPTIONS, attacks=[OWN["structure"], *others], rng=1)


def raising(error):
    def run(_):
        raise error

    return run


@pytest.mark.parametrize("kind", ["identifies", "pins-down", "tells-cells", "of tomorrow"])
@pytest.mark.parametrize(
    "error", [ZeroDivisionError("on purpose"), TypeError("on purpose"), AssertionError("on purpose"),
              MemoryError("on purpose"), OptionError("on purpose"), InternalError("on purpose"),
              SystemExit("on purpose")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
def test_an_attack_that_breaks_down_is_not_measured_told_in_the_log_and_the_audit_does_not_pass(
    ratings, caplog, kind, error
):
    found = audit_with(ratings, made_attack(kind=kind, run=raising(error)))
    failed = found.outcomes[-1]
    assert (failed.verdict, failed.release, failed.failed) == ("not measured", None, True)
    assert failed.reason == f"{type(error).__name__}; the log says more"  # its words may hold an id
    assert found.promise == "not measured"
    assert "test_run.py" in caplog.text  # the traceback
    assert "on purpose" in caplog.text


def test_an_attack_may_say_that_these_ratings_cannot_be_attacked_so(ratings, caplog):
    found = audit_with(ratings, made_attack(kind="tells-cells", run=raising(InputError("no groups of two"))))
    assert (found.outcomes[-1].verdict, found.promise) == ("not measured", "pass")
    assert "no groups" not in caplog.text  # below the level of a warning
    named = audit_with(ratings, made_attack(kind="identifies", run=raising(InputError("no groups of two"))))
    assert named.promise == "not measured"
    assert named.outcomes[-1].reason == "InputError; the log says more"


def test_the_words_of_an_attack_of_ours_are_shown(ratings, monkeypatch):
    ours = made_attack(kind="tells-cells", run=raising(InputError("no groups of two")))
    monkeypatch.setattr(registry, "own_attacks", lambda: (ours,))
    assert audit_with(ratings, ours).outcomes[-1].reason == "no groups of two"


@pytest.mark.parametrize("kind", ["identifies", "tells-cells"])
def test_an_attack_cannot_have_tried_more_than_there_is(ratings, kind):
    n_users, n_items = ratings.shape
    most = n_users if kind == "identifies" else n_users * n_items
    for tried, verdict in ((most, "bounded"), (most + 1, "not measured"), (10**12, "not measured")):
        run = made_attack(kind=kind, run=lambda given, tried=tried: given.found(right=1, tried=tried, baseline=0.0))
        found = audit_with(ratings, run)
        assert (found.outcomes[-1].verdict, found.outcomes[-1].failed) == (verdict, verdict != "bounded")
        assert found.promise == ("pass" if verdict == "bounded" else verdict)


def test_a_perfect_attack_fails_the_audit(ratings):
    perfect = made_attack(kind="identifies", run=lambda given: given.found(right=60, tried=60))
    assert audit_with(ratings, perfect).promise == "fail"


def test_an_attack_of_an_unknown_kind_never_lets_an_audit_pass(ratings):
    found = audit_with(ratings, made_attack(kind="of tomorrow", run=lambda given: given.found(right=0, tried=60)))
    assert (found.outcomes[-1].verdict, found.promise) == ("not measured", "not measured")
    assert "cannot judge an attack of the kind 'of tomorrow'" in found.outcomes[-1].reason
    unjudged = dataclasses.replace(found.outcomes[0], attack=made_attack(kind="of tomorrow"))
    assert Audit((found.outcomes[0], unjudged), (), 1).verdict == "not measured"


NO_SHARE = Share(float("nan"), float("nan"), float("nan"), 60)


@pytest.mark.parametrize(
    ("kind", "findings", "reason"),
    [
        ("identifies", Findings(Hits(NO_SHARE)), "a share must lie"),
        ("identifies", Findings(Hits(Share(0.5, 0.6, 0.7, 60))), "a share must lie"),
        ("identifies", Findings(), "says nothing about the release"),
        ("identifies", None, "AttributeError"),
        ("tells-cells", Findings(Hits(wilson(60, 60))), "must say what is guessed"),
        ("tells-cells", Findings(Hits(wilson(60, 60)), baseline=float("nan")), "a baseline must lie"),
    ],
)
def test_what_is_no_finding_is_not_measured(ratings, kind, findings, reason):
    found = audit_with(ratings, made_attack(kind=kind, run=lambda _: findings))
    assert reason in found.outcomes[-1].reason
    assert found.promise == "not measured"


@pytest.mark.parametrize(("needs", "reason"), [("second release", "only one release"), ("times", "carry no times")])
def test_what_an_attack_needs_and_has_not_is_not_measured(ratings, needs, reason):
    timeless = dataclasses.replace(ratings, times=None)
    wanting = made_attack(kind="identifies", needs=("release", needs), run=lambda given: given.found(right=0, tried=60))
    found = audit_with(timeless, wanting)
    assert reason in found.outcomes[-1].reason
    assert found.promise == "not measured"


def test_an_unprotected_release_fails_where_everybody_is_named():
    alone = Ratings.from_arrays(np.arange(20), np.arange(20), np.tile([1.0, 5.0], 10))
    found = audit(alone, ReleaseView(grouped(alone, 1), {"k": 4}), options=OPTIONS, rng=1)
    scoreboard = next(one for one in found.outcomes if one.name == "scoreboard")
    assert scoreboard.release is not None
    assert (scoreboard.release.rate, scoreboard.release.high) == (1.0, 1.0)
    assert (scoreboard.verdict, found.verdict, found.promise) == ("breached", "breached", "fail")


def test_the_original_alone_can_be_audited(ratings):
    found = audit(ratings, options=OPTIONS, rng=1)
    assert all(one.verdict == "not measured" for one in found.outcomes)
    assert any(one.original is not None for one in found.outcomes)
    assert found.promise == "not measured"


def test_the_same_seed_gives_the_same_outcomes(ratings, found):
    again = audit(ratings, ReleaseView(grouped(ratings, 4), {"k": 4}), options=OPTIONS, rng=1)
    assert again.to_json() == found.to_json()


def test_a_gate_on_nothing_is_refused_before_the_work(ratings, monkeypatch):
    monkeypatch.setattr(running, "run_attack", lambda *_: pytest.fail("an attack was run"))
    with pytest.raises(OptionError, match="is not run"):
        audit(ratings, options=OPTIONS, gates=[parse_gate("scoreboard@5<0.5")], rng=1)


def outcome(**changes):
    plain = Outcome(OWN["scoreboard"], attacker="", unit="", known=8, baseline=0.0, release=wilson(0, 10))
    return dataclasses.replace(plain, verdict="bounded", **changes)


@pytest.mark.parametrize(
    ("successes", "verdict"),
    [(0, "bounded"), (10, "bounded"), (15, "not measured"), (26, "not measured"), (40, "breached")],
)
def test_a_breach_needs_an_interval_above_the_bound_and_a_bound_one_below(successes, verdict):
    assert judge(wilson(successes, 100), 0.2) == verdict


def test_a_verdict_is_said_with_its_figure():
    assert outcome().in_words == f"bounded by {wilson(0, 10).high:.4f}"
    assert Audit((outcome(),), (), 1).promise == "pass"
    assert Audit((), (), 1).verdict == "not measured"


def cells(right, tried, baseline, lines=()):
    """Make an attack on cells that reaches so much."""
    findings = Findings(Hits(wilson(right, tried)), baseline=baseline, lines=lines)
    return made_attack(kind="tells-cells", run=lambda _: findings)


def test_an_attack_below_its_own_baseline_reports_the_baseline_and_makes_nothing_look_better(ratings):
    worse = audit_with(ratings, cells(200, 1000, 0.5)).outcomes[-1]
    assert (worse.verdict, worse.release.rate, worse.failed) == ("not measured", 0.5, False)
    assert "less than its own baseline" in worse.reason
    by_chance = audit_with(ratings, cells(980, 2000, 0.5)).outcomes[-1]
    assert (by_chance.verdict, by_chance.release.rate) == ("bounded", 0.5)
    unclear = audit_with(ratings, cells(49, 100, 0.5)).outcomes[-1]
    assert (unclear.verdict, unclear.release.rate, unclear.undecided) == ("not measured", 0.5, True)
    assert Audit((worse,), (), 1).verdict_on("inference") == "not measured"
    assert Audit((by_chance,), (), 1).verdict_on("inference") == "bounded"
    assert Audit((by_chance, worse), (), 1).verdict_on("inference") == "not measured"


def test_a_line_beside_the_success_can_breach_by_itself(ratings):
    quiet, loud = Line("quiet", wilson(100, 1000), 0.1), Line("loud", wilson(60, 100), 0.1)
    assert audit_with(ratings, cells(1000, 2000, 0.5, (quiet,))).outcomes[-1].verdict == "bounded"
    unclear = audit_with(ratings, cells(1000, 2000, 0.5, (Line("few", wilson(2, 20), 0.1),))).outcomes[-1]
    assert (unclear.verdict, unclear.undecided) == ("not measured", True)
    assert unclear.to_json()["also"]["few"]["verdict"] == "not measured"
    found = audit_with(ratings, cells(20, 100, 0.5, (quiet, loud))).outcomes[-1]
    assert found.verdict == "breached"
    assert found.to_json()["also"]["loud"]["verdict"] == "breached"
    wrong = audit_with(ratings, cells(20, 100, 0.5, (Line("wrong", NO_SHARE, 0.1),))).outcomes[-1]
    assert (wrong.verdict, wrong.failed) == ("not measured", True)


def test_the_verdict_is_the_worst_of_the_criteria_and_names_actors():
    def judged(criterion, actor, verdict, **more):
        attack = made_attack(criterion=criterion, actor=actor)
        return dataclasses.replace(outcome(), attack=attack, verdict=verdict, **more)

    three = [judged(one, "public", "bounded") for one in ("singling-out", "linkability", "inference")]
    assert Audit(tuple(three), (), 1).verdict == "bounded"
    assert Audit(tuple(three[:2]), (), 1).verdict == "not measured"
    inside = judged("inference", "insider", "breached")
    found = Audit((*three[:2], three[2], inside), (), 1)
    assert (found.verdict, found.criteria["inference"]["actors"]) == (
        "breached", {"public": "bounded", "insider": "breached"},
    )  # fmt: skip
    broken = judged("inference", "public", "not measured", failed=True)
    assert Audit((*three, broken), (), 1).verdict_on("inference") == "not measured"


def test_the_people_at_the_greatest_risk_come_first_and_each_once():
    people = PersonRisks(np.array([3, 5, 9]), np.array([0.2, 0.9, 0.4]))
    one = dataclasses.replace(outcome(), people=people)
    other = dataclasses.replace(outcome(), people=PersonRisks(np.array([3]), np.array([0.7])), baseline=0.1)
    found = Audit((one, other), (), 1)
    assert [user for user, _, _ in found.worst_off(2)] == [5, 3]
    assert found.worst_off()[1][1] == pytest.approx(0.6)
    assert one.to_json()["worst"] == {
        "max": 0.9, "people": 3,
        "quantiles": {f"{100 * q:g} %": float(np.quantile(people.risks, q)) for q in (0.5, 0.9, 0.99)},
    }  # fmt: skip


def test_a_line_below_its_own_baseline_reports_the_baseline_and_bounds_nothing():
    worse = Line("bets", wilson(10, 1000), 0.3).to_json(0.3 + MARGIN)
    assert (worse["rate"], worse["verdict"]) == (0.3, "not measured")
    assert "0.0100" in worse["reason"]
    by_chance = Line("bets", wilson(290, 1000), 0.3).to_json(0.3 + MARGIN)
    assert (by_chance["rate"], by_chance["verdict"]) == (0.3, "bounded")
    assert Line("bets", wilson(29, 100), 0.3).to_json(0.3 + MARGIN)["verdict"] == "not measured"  # too wide
    assert "reason" not in Line("bets", wilson(31, 100), 0.3).to_json(0.3 + MARGIN)
