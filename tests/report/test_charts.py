"""What charts refuse, and how the usual ones are made."""

import pytest

from recloak._core.errors import OptionError
from recloak._core.intervals import wilson
from recloak._report.charts import Axis, ChartPoint, Lines, Series, bars, lines, quantile_curve

X, Y = Axis("x"), Axis("y")


def test_a_share_brings_its_interval_along():
    chart = lines(X, Y, {"a": {1: wilson(3, 10), 2: 0.5}})
    share = wilson(3, 10)
    assert chart.series[0].points == (ChartPoint(1, 0.3, share.low, share.high), ChartPoint(2, 0.5))


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
    ],
)
def test_what_cannot_be_drawn_is_refused(make):
    with pytest.raises(OptionError):
        make()
