"""The pages of audit and evaluate say what was measured, and never call silence safe."""

import dataclasses

import pytest
from tests.attacks.attack_values import OWN, made_attack

from recloak._attacks.audit_result import Audit
from recloak._attacks.gate import parse_gate, pass_gate
from recloak._attacks.model import Outcome
from recloak._core.intervals import wilson
from recloak._evaluation.model import Accuracy, Evaluation, Ranking, RecommenderScore, SelfRank
from recloak._evaluation.shape import METRICS
from recloak._report.audit_page import audit_account, audit_page, audit_verdict
from recloak._report.evaluate_page import evaluate_page, evaluate_verdict
from recloak._report.page import render

MANIFEST = {"k": 5, "mode": "padded", "n_users": 100, "n_groups": 20}


def named(known=8, hits=10, *, name="scoreboard", setting="plain", verdict="bounded"):
    return Outcome(
        OWN[name], "knows some; names the best", "targets named correctly", known, 0.01, wilson(90, 100),
        wilson(hits, 100),
        wilson(30, 100), wilson(1, 100), 0.2, verdict, setting=setting,
    )  # fmt: skip


def cell(name, hits=50, *, verdict="bounded", known=None, details=None):
    return Outcome(
        OWN[name], "looks", "bets won", known, 0.4, release=wilson(hits, 100), bound=0.45, verdict=verdict,
        details={"release": details or {"share": 0.5, "cells": 7}},
    )  # fmt: skip


LINK = {
    "max_share": 1.0, "cells_above_0.5": 0.1, "theorem_without_prior": 0.2, "independent_posterior": 0.3,
    "cells_by_share": {"nobody": 0.5, "0–20 %": 0.5},
}  # fmt: skip


def whole(**changes):
    outcomes = (
        named(1), named(8), named(8, setting="exact times"), named(8, name="label"), named(8, name="scoreboard-paper"),
        named(8, name="homogeneity"), cell("link", details=LINK), cell("fingerprint"), cell("insider", known=1),
        cell("insider", known=4), dataclasses.replace(cell("intersection"), release=None, verdict="not measured",
                                                      reason="there is only one release of these people"),
    )  # fmt: skip
    return dataclasses.replace(Audit(outcomes, (), 7), **changes)


def test_a_release_within_its_promise_is_called_bounded_and_what_is_missing_is_said():
    verdict = audit_verdict(whole())
    assert (verdict.tone, verdict.word) == ("caution", "Not measured")  # of linkability nothing is known
    linked = Audit((*whole().outcomes[:-1], cell("intersection")), (), 7)
    assert (audit_verdict(linked).tone, audit_verdict(linked).word) == ("good", "Bounded")
    assert "Not measured, so nothing is known about it: Several releases" in verdict.text
    assert "safe" not in (verdict.word + verdict.headline + verdict.text)


@pytest.mark.parametrize(
    ("outcomes", "word"),
    [
        ((named(verdict="breached"),), "Breached"),
        ((named(), cell("link", verdict="breached")), "Breached"),
        ((dataclasses.replace(named(), release=None, verdict="not measured"),), "Not measured"),
        ((), "Not measured"),
    ],
)
def test_the_worst_news_heads_the_page(outcomes, word):
    assert audit_verdict(Audit(outcomes, (), 1)).word == word


def test_a_closed_gate_heads_everything():
    passage = pass_gate(parse_gate("scoreboard@8<0.05"), [named()])
    verdict = audit_verdict(Audit((named(),), (passage,), 1))
    assert verdict.word == "Gate failed"
    assert "scoreboard@8<0.05" in verdict.headline


def test_the_page_shows_every_attack_with_its_bound():
    text = render(audit_page(whole(), manifest=MANIFEST, source="<x>")).replace("\N{NO-BREAK SPACE}", " ")
    assert "&lt;x&gt;" in text
    assert "bounded by 17.4 %" in text  # Wilson's upper end of 10 in 100
    assert "there is only one release of these people" in text
    assert "All attackers side by side" in text
    assert "How sure a link can be" in text
    assert len(text) < 2_000_000


def test_an_attack_that_could_not_run_says_why():
    failed = dataclasses.replace(named(), release=None, original=None, verdict="not measured", reason="ValueError: x")
    text = render(audit_page(Audit((failed,), (), 1), manifest={}, source="x"))
    assert "ValueError: x" in text


def test_the_account_has_one_step_for_each_attack():
    steps = audit_account(whole())
    assert len(steps) == 1 + len({one.name for one in whole().outcomes})
    assert "not measured" in steps[-1]


def test_an_attack_that_broke_down_is_told_in_the_verdict_and_takes_the_place_of_a_pass():
    broken = dataclasses.replace(cell("link"), release=None, verdict="not measured", reason="TypeError: x", failed=True)
    verdict = audit_verdict(Audit((named(), broken), (), 1))
    assert (verdict.tone, verdict.word) == ("caution", "Not measured")
    assert "broke down: TypeError: x." in verdict.text


def test_an_attack_of_somebody_else_is_on_the_page_in_its_own_words():
    theirs = made_attack(kind="identifies", title="Their <attack>", short="theirs", varied="once")
    told = made_attack(
        kind="tells-cells", name="told", title="Their cells", baseline="tossing a coin", details={"x": "An x"}
    )
    outcomes = (
        dataclasses.replace(named(hits=100, verdict="breached"), attack=theirs, known=None),
        dataclasses.replace(cell("link", details={"x": 0.5}), attack=told),
    )
    page = render(audit_page(Audit(outcomes, (), 1), manifest=MANIFEST, source="x"))
    for words in ("Their &lt;attack&gt;", "theirs", "Their cells", "tossing a coin", "An x"):
        assert words in page
    assert "The strongest attack on identity is “Their &lt;attack&gt;”: it names" in page


def evaluation(original=0.9, release=0.92, mean=1.0):
    def scored(rmse):
        return RecommenderScore(Accuracy(rmse, rmse and 0.7, 1.0, 100), Ranking(0.9, 0.1, 10))

    sides = {"original": scored(original), "release": scored(release)}
    shape = {
        "density": {"original": 0.1, "release": 1.0}, "edges_added": 5, "popularity_distance": 0.2,
        "group_sizes": {5: 3, 7: 1}, "pairs": {who: dict.fromkeys(METRICS, (0.5, 0.5)) for who in ("any", "one group")},
        "histogram": {"original": {"1": 0.5, "2": 0.5}, "release": {"1": 0.1, "2": 0.9}},
    }  # fmt: skip
    ranks = SelfRank({"50 %": 3.0}, 0.2, (0.5,) * 2 + (0.0,) * 18, 20, 10)
    target = Accuracy(0.93, 0.7, 0.8, 100)
    recommenders = {"factorisation": sides, "item-knn": sides, "bias": sides}
    return Evaluation(
        target, target, ranks, recommenders, {"item-mean": scored(mean), "popularity": scored(None)}, shape
    )


@pytest.mark.parametrize(
    ("release", "word"), [(0.92, "Useful"), (0.89, "Useful"), (0.97, "Costly"), (1.1, "Useless for prediction")]
)
def test_the_price_decides_the_word(release, word):
    assert evaluate_verdict(evaluation(release=release)).word == word


def test_nothing_scored_is_not_measured():
    assert evaluate_verdict(evaluation(release=None)).word == "Not measured"


def test_risk_and_usefulness_stand_on_one_page():
    both = render(audit_page(whole(), evaluation(), manifest=MANIFEST, source="x"))
    alone = render(evaluate_page(evaluation(), MANIFEST, source="x"))
    for text in (both, alone):
        assert "Prediction error" in text
        assert "Self-rank" in text
        assert "How alike the members of a group are" in text
        assert "5 to 7" in text  # people in a group
    assert "Can a person be found?" in both


def test_a_breach_says_nothing_good_of_names_that_could_not_be_measured():
    silent = dataclasses.replace(named(), verdict="not measured")
    headline = audit_verdict(Audit((silent, cell("link", verdict="breached")), (), 1)).headline
    assert "Nobody" not in headline
    assert "whether people can be named is not known" in headline
