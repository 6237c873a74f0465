"""The options of publishing: what a release promises, and how its labels are made."""

from __future__ import annotations

from dataclasses import dataclass

from recloak.errors import OptionError
from recloak.options import Options, option
from recloak.publish.model import Diversity

_MODE = option("padded", "pure: the items someone in the group rated; padded: all items", choices=("pure", "padded"))
_GRID = option(None, "step of the published grid of labels, or none; by default chosen per mode")


@dataclass(frozen=True, kw_only=True)
class HomogeniseOptions(Options):
    """How the shared row of a group is made."""

    mode: str = _MODE
    min_raters: int = option(2, "fewest real raters behind a label; with fewer it is a mean of predictions", at_least=1)
    grid: float | str | None = _GRID

    def check(self) -> None:
        """Refuse a grid that is neither a step nor ``none``."""
        if isinstance(self.grid, str) and self.grid != "none":
            raise OptionError(f"grid must be a step above 0 or none, got {self.grid!r}")


@dataclass(frozen=True, kw_only=True)
class PublishOptions(Options):
    """What a release promises and how it is made."""

    k: int = option(5, "every row is shared by at least this many users", at_least=2)
    mode: str = _MODE
    min_raters: int | None = option(
        None, "fewest real raters behind a label; with fewer it is a mean of predictions [default: 2]", at_least=1
    )
    grid: float | str | None = _GRID
    diversity: str | None = option(None, "B,L or all,L: any B items rated together stand in at least L groups")
    paper: bool = option(
        False, "the paper's literal behaviour: one rater is enough, no grid; the data card says what it leaks"
    )

    def check(self) -> None:
        """Refuse options that contradict each other or cannot be read."""
        if self.paper and (self.min_raters not in (None, 1) or self.grid not in (None, "none")):
            raise OptionError("paper means min_raters 1 and no grid; leave both out or leave paper out")
        _ = self.labels, self.wanted_diversity

    @property
    def labels(self) -> HomogeniseOptions:
        """The options of homogenising."""
        if self.paper:
            return HomogeniseOptions(mode=self.mode, min_raters=1, grid="none")
        return HomogeniseOptions(mode=self.mode, min_raters=self.min_raters or 2, grid=self.grid)

    @property
    def wanted_diversity(self) -> Diversity | None:
        """The diversity asked for."""
        return None if self.diversity is None else Diversity.parse(self.diversity)
