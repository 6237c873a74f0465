"""What the usefulness of a frontier's points is called: the error of predictions, or the nDCG@10 of rankings.

Ratings can be predicted, and a smaller error is better. Of presence and counts only rankings can be measured, and a
larger nDCG@10 is better. Everything else on the page is the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from recloak._evaluation.frontier import Frontier, FrontierPoint
from recloak._report.charts import Axis
from recloak._report.formats import decimals
from recloak._report.page import Better
from recloak._report.use_page import USE_NAMES


@dataclass(frozen=True, slots=True)
class Usefulness:
    """The words for one way to measure usefulness, and which way is good."""

    better: Better
    figure: str  # in headings of tables
    axis: str
    verb: str  # what a recommender does
    trivial: str  # what a useful release must beat, in sentences
    trivial_line: str  # the same, in the chart
    of: str  # "has an error of"
    direction: str  # "down" or "up": where useful releases lie in the chart
    meaning: str

    def value(self, point: FrontierPoint) -> float | None:
        """Return the figure of a point; None where it was not measured."""
        if self is RANKINGS:
            return point.ranking.ndcg if point.ranking else None
        return point.trained.rmse

    def trivial_value(self, frontier: Frontier) -> float:
        """Return the figure that a useful release must beat."""
        found = frontier.popularity.ndcg if frontier.popularity is not None else frontier.item_mean.rmse
        return found or 0.0

    def beats(self, point: FrontierPoint, frontier: Frontier) -> bool:
        """Return whether a release is more useful than what needs no release."""
        value, trivial = self.value(point), self.trivial_value(frontier)
        if value is None:
            return False
        return value > trivial if self.better == "higher" else value < trivial

    def order(self, point: FrontierPoint) -> float:
        """Return a number that is smaller for the more useful of two points."""
        value = self.value(point)
        return 9e9 if value is None else -value if self.better == "higher" else value

    def axis_over(self, values: list[float]) -> Axis:
        """Return an axis over the values that occur, which does not reach down to 0."""
        room = max(0.15 * (max(values) - min(values)), 0.005)
        return Axis(self.axis, low=min(values) - room, high=max(values) + room)

    def told(self, point: FrontierPoint) -> str:
        """Return the figure of a point in words, with the recommender that reached it."""
        by = f" by {USE_NAMES[point.ranking.recommender]}" if point.ranking else ""
        return f"{decimals(self.value(point))}{by}"


ERRORS = Usefulness(
    better="lower",
    figure="RMSE",
    axis="error of a recommender (RMSE; the axis does not start at 0)",
    verb="predicts",
    trivial="item means",
    trivial_line="mean of each item",
    of="has an error of",
    direction="down",
    meaning="The error is that of a factorisation trained on the release; above the line of the item means a release "
    "is useless for prediction.",
)
RANKINGS = Usefulness(
    better="higher",
    figure="nDCG@10",
    axis="nDCG@10 of the best recommender (the axis does not start at 0)",
    verb="ranks",
    trivial="popularity",
    trivial_line="popularity alone",
    of="reaches an nDCG@10 of",
    direction="up",
    meaning="nDCG@10 is that of the best recommender trained on the release, for uses that were held out; below the "
    "line of popularity a release is useless for ranking.",
)


def usefulness_of(frontier: Frontier) -> Usefulness:
    """Return how the usefulness of these points was measured."""
    return ERRORS if frontier.popularity is None else RANKINGS
