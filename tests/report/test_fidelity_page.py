"""The page of a fidelity measurement: two rankings with lines between them, small charts, one sentence."""

from dataclasses import replace

import pytest

import recloak
from recloak._core.errors import OptionError
from recloak._evaluation.fidelity.model import Fidelity
from recloak._report.charts import Panels, ScatterPanel, Slope, Slopes
from recloak._report.comparison_drawing import slopes_body
from recloak._report.draw import NARROW, WIDE, draw
from recloak._report.fidelity_page import fidelity_verdict

SLOPES = Slopes("original", "release", (Slope("a", 1.0, 3.0), Slope("b", 2.0, 1.0, True), Slope("c", 3.0, 2.0)), True)
PANELS = Panels("original", "release", (ScatterPanel("popularity", ((1.0, 2.0), (10.0, 0.0)), log=True),))


def places(chart):
    rows = slopes_body(chart, narrow=False)["data"]["values"]
    return {(row["name"], row["x"]): row["place"] for row in rows if row["name"]}


def test_each_entry_stands_at_its_place_on_both_sides():
    assert places(SLOPES) == {("a", 0): 1, ("b", 0): 2, ("c", 0): 3, ("b", 1): 1, ("c", 1): 2, ("a", 1): 3}


def test_where_the_larger_wins_it_stands_on_top():
    turned = Slopes("original", "release", SLOPES.entries, smaller_first=False)
    assert places(turned)["c", 0] == places(turned)["a", 1] == 1


@pytest.mark.parametrize("chart", [SLOPES, PANELS], ids=["slopes", "panels"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_both_charts_are_drawn_with_the_colours_of_the_page(chart, size):
    svg = draw(chart, size=size, key="x", title="t", text="u")
    assert svg.startswith("<svg")
    assert "#0102" not in svg


def test_a_chart_of_nothing_is_refused():
    with pytest.raises(OptionError):
        Slopes("a", "b", (), True)
    with pytest.raises(OptionError):
        Panels("a", "b", ())


def test_the_page_tells_the_verdict_and_every_algorithm():
    ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    found = recloak.fidelity(ratings, holdout=0.1, k=3, mode="pure", quick=True, splits=1, seed=1)
    page = found.to_html()
    assert found.verdict.split(",")[0] in page
    for one in found.to_polars()["algorithm"].unique():
        assert one in page
    assert ("scored the hidden probe" in page) == (found.owner is not None)
    assert "scored the hidden probe" not in replace(found, owner=None).to_html()


def test_what_was_not_measured_is_not_called_faithful():
    assert fidelity_verdict(Fidelity({"rmse": None}, None, {}, 1, 1, 1)).word == "Not measured"
