"""What another setting would bring is said by the figures of a frontier, also where nothing helps."""

import dataclasses
import json

import pytest
from tests.report.test_audit_page import MANIFEST, cell, whole

import recloak
from recloak._report.audit_page import audit_page
from recloak._report.measured_remedies import alternatives_in
from recloak._report.page import render


def point(k, membership, error, mode="padded", bets=0.4):
    value = {"value": membership, "low": None, "high": None, "n": 1, "baseline": 0.5, "why": ""}
    share = {"rate": bets, "low": bets, "high": bets, "n": 10}
    return {"mode": mode, "k": k, "measures": {"membership": value}, "own": {"rmse": error}, "bets": share}


def alternatives(tmp_path, *points):
    file = tmp_path / "points.json"
    file.write_text(json.dumps({"points": points}))
    return alternatives_in(file, {"mode": "padded", "k": 5})


def membership(setting="all ratings known"):
    return dataclasses.replace(cell("membership"), setting=setting)


def text(sentence):
    return sentence.replace("\N{NO-BREAK SPACE}", " ")


def test_the_least_change_that_helps_is_named_with_its_price(tmp_path):
    points = point(5, 0.61, 0.85), point(10, 0.58, 0.8534), point(50, 0.51, 0.9), point(20, 0.5, 0.8, "pure")
    said = text(alternatives(tmp_path, *points).remedy_for(membership()))
    assert said == "Measured by recloak frontier: k = 10 gives 58.0 % instead of 61.0 %; the error rises by 0.4 %."


def test_another_mode_is_named_where_no_k_helps(tmp_path):
    points = point(5, 0.61, 0.85), point(10, 0.608, 0.86), point(5, 0.52, 0.84, "sampled")
    said = text(alternatives(tmp_path, *points).remedy_for(membership()))
    assert "mode sampled, k = 5 gives 52.0 % instead of 61.0 %; the error falls by 1.2 %" in said


def test_no_setting_that_helps_is_said(tmp_path):
    found = alternatives(tmp_path, point(5, 0.61, 0.85), point(10, 0.605, 0.86))
    assert "No other setting" in found.remedy_for(membership())


def test_what_was_not_measured_gives_no_remedy(tmp_path):
    found = alternatives(tmp_path, point(5, 0.61, 0.85), point(10, 0.5, 0.86))
    assert found.remedy_for(membership("plain")) == ""  # a frontier measures it with all ratings known
    assert found.remedy_for(cell("residual")) == ""
    assert alternatives(tmp_path, point(10, 0.5, 0.86)).remedy_for(membership()) == ""  # this release was not measured
    assert alternatives_in(None, {}).remedy_for(membership()) == ""


@pytest.mark.parametrize("content", ["{}", "[]", "x", '{"points": [3]}'])
def test_a_file_without_points_is_refused(tmp_path, content):
    (tmp_path / "points.json").write_text(content)
    with pytest.raises(recloak.InputError, match=r"points\.json"):
        alternatives_in(tmp_path / "points.json", {})


def test_the_page_shows_the_measured_remedy(tmp_path):
    found = dataclasses.replace(whole(), outcomes=(membership(),))
    known = alternatives(tmp_path, point(5, 0.61, 0.85), point(10, 0.58, 0.8534))
    page = text(render(audit_page(found, manifest=MANIFEST, source="x", alternatives=known)))
    assert "k = 10 gives 58.0 % instead of 61.0 %" in page


def test_a_frontier_of_the_library_goes_in(tmp_path):
    ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    release = recloak.publish(ratings, k=3, seed=1)
    found = recloak.frontier(ratings, k=[3, 6], mode=["padded"], targets=20, known=2, epsilon=(), seed=1)
    audit = recloak.audit(ratings, release, frontier=found, targets=20, known=[2], varied_at=2, seed=1)
    audit.write_page(tmp_path / "audit.html")
    assert (tmp_path / "audit.html").exists()
    assert alternatives_in(found, {"mode": "padded", "k": 3}).settings[0].k == 3
