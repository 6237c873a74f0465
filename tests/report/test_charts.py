"""What charts refuse, and how the usual ones are made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import OptionError
from recloak._core.intervals import wilson
from recloak._report import Axis, ChartPoint, Lines, Series, bars, ecdf, lines, quantile_curve

X, Y = Axis("x"), Axis("y")


def test_a_share_brings_its_interval_along():
    chart = lines(X, Y, {"a": {1: wilson(3, 10), 2: 0.5}})
    share = wilson(3, 10)
    assert chart.series[0].points == (ChartPoint(1, 0.3, share.low, share.high), ChartPoint(2, 0.5))


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=50))
def test_stairs_give_the_share_of_values_at_most_x(values):
    for point in ecdf(X, Y, {"a": values}).series[0].points:
        assert point.y == pytest.approx(np.mean(np.array(values) <= point.x))


def test_long_stairs_are_thinned_but_reach_both_ends():
    points = ecdf(X, Y, {"a": np.arange(10_000)}).series[0].points
    assert len(points) <= 400
    assert (points[0].x, points[-1].x, points[-1].y) == (0, 9999, 1)


def test_a_quantile_curve_keeps_its_pairs():
    chart = quantile_curve(X, Y, {"a": [(5, 1), (50, 7)]})
    assert [(p.x, p.y) for p in chart.series[0].points] == [(5, 1), (50, 7)]


@pytest.mark.parametrize(
    "make",
    [
        lambda: lines(X, Y, {}),
        lambda: lines(X, Y, {str(n): {1: 1.0} for n in range(6)}),
        lambda: Lines(Axis("x", log=True), Y, (Series("a", (ChartPoint(0, 1),)),)),
        lambda: bars(X, Y, ["a", "b"], {"s": [1.0]}),
        lambda: bars(X, Y, ["a", "a"], {"s": [1.0, 2.0]}),
        lambda: ecdf(X, Y, {"a": []}),
    ],
)
def test_what_cannot_be_drawn_is_refused(make):
    with pytest.raises(OptionError):
        make()
