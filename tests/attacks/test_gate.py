import dataclasses

import pytest
from tests.attacks.attack_values import OWN

from recloak._attacks.gate import Gate, parse_gate, pass_gate
from recloak._attacks.model import Outcome, Verdict
from recloak._core.errors import OptionError
from recloak._core.intervals import wilson


def outcome(successes: int | None, known: int = 8, name: str = "scoreboard") -> Outcome:
    release = None if successes is None else wilson(successes, 1000)
    verdict: Verdict = "not measured" if release is None else "bounded"
    return Outcome(
        OWN[name],
        attacker="",
        unit="",
        known=known,
        baseline=0.001,
        release=release,
        reason="it broke",
        verdict=verdict,
    )


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("scoreboard@8<0.05", Gate("scoreboard", 8, 0.05)),
        (" label-tolerant @ 4 < 0.2 ", Gate("label-tolerant", 4, 0.2)),
        ("link<1", Gate("link", None, 1.0)),
    ],
)
def test_a_gate_is_read(text, gate):
    assert parse_gate(text) == gate


@pytest.mark.parametrize(
    "text", ["", "scoreboard", "scoreboard@8>0.05", "scoreboard@x<0.1", "a@8<0", "a@8<2", "a<1.2.3"]
)
def test_a_wrong_gate_is_refused(text):
    with pytest.raises(OptionError, match="gate"):
        parse_gate(text)


def test_the_upper_end_of_the_interval_decides():
    measured = outcome(40)
    assert measured.release is not None
    assert measured.release.rate < 0.05 < measured.release.high
    assert not pass_gate(parse_gate("scoreboard@8<0.05"), [measured]).passed
    assert pass_gate(parse_gate("scoreboard@8<0.06"), [measured]).passed


def test_no_success_at_all_still_has_an_upper_end():
    assert pass_gate(parse_gate("scoreboard@8<0.01"), [outcome(0)]).passed
    assert not pass_gate(parse_gate("scoreboard@8<0.001"), [outcome(0)]).passed


def test_what_was_not_measured_never_passes():
    passage = pass_gate(parse_gate("scoreboard@8<1"), [outcome(None)])
    assert not passage.passed
    assert "not measured (it broke)" in passage.reason


def test_every_outcome_of_the_name_must_pass():
    assert not pass_gate(parse_gate("scoreboard<0.1"), [outcome(1), outcome(500, known=16)]).passed


def test_a_gate_on_nothing_is_an_error():
    with pytest.raises(OptionError, match="is not run"):
        pass_gate(parse_gate("scoreboard@3<0.5"), [outcome(1)])


def test_a_figure_that_proves_nothing_never_passes_a_gate():
    silent = dataclasses.replace(outcome(1), verdict="not measured")
    assert pass_gate(parse_gate("scoreboard@8<0.5"), [outcome(1)]).passed
    assert not pass_gate(parse_gate("scoreboard@8<0.5"), [silent]).passed
