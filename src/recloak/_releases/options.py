"""The options of publishing: what a release promises, how cells are predicted, and how labels are made."""

from __future__ import annotations

from dataclasses import dataclass

from recloak._core.errors import OptionError
from recloak._core.options import Options, option
from recloak._releases.model.modes import MODES, modes_with
from recloak._releases.model.release_format import TABLES, Diversity
from recloak._releases.predictors import PREDICTORS

_MODE = option("padded", choices=MODES)
_MAX_LINK = option(
    None,
    f"{', '.join(modes_with('max_link'))}: leave out items that more than this share of a group rated",
    above=0,
    at_most=1,
    spark=False,
)
_GRID = option(None, "step of the published grid of labels, or none; by default chosen per mode")
RANK = 22
_LOW_RANK = 5
_LARGE_GROUPS = 20  # in groups from here on a low rank makes as good a release, in a third of the time


@dataclass(frozen=True, kw_only=True)
class PadOptions(Options):
    """How missing cells are predicted."""

    predictor: str = option(
        "svd",
        "how missing ratings are predicted",
        choices=PREDICTORS,
        spark=[one.name for one in PREDICTORS.values() if one.on_spark],
    )
    rank: int | None = option(
        None, "number of factors of the svd predictor; by default 22, and 5 for groups of 20 or more",
        at_least=0, at_most=510,
    )  # fmt: skip
    iterations: int = option(8, "rounds over users and items, at most", at_least=1)
    tolerance: float = option(0.0005, "stop when a round gains less than this, in nats per rating", at_least=0)

    @property
    def n_factors(self) -> int:
        """The rank asked for, or the default."""
        return RANK if self.rank is None else self.rank

    def for_groups(self, k: int) -> PadOptions:
        """Return the options with a rank that suits groups of k, if none was asked for (docs/decisions/grouping.md)."""
        return self if self.rank is not None else self.replace(rank=RANK if k < _LARGE_GROUPS else _LOW_RANK)


@dataclass(frozen=True, kw_only=True)
class HomogeniseOptions(Options):
    """How the shared row of a group is made."""

    mode: str = _MODE
    min_raters: int = option(2, "fewest real raters behind a label; with fewer it is a mean of predictions", at_least=1)
    grid: float | str | None = _GRID
    max_link: float | None = _MAX_LINK

    def check(self) -> None:
        """Raise OptionError for an option that the mode does not take, or a grid that is no step."""
        if self.max_link is not None:
            MODES[self.mode].require_taken("max_link")
        if isinstance(self.grid, str) and self.grid != "none":
            raise OptionError(f"grid must be a step above 0 or none, got {self.grid!r}")


_LAYOUTS = ", ".join(sorted(f"{mode.layout} for {mode.name}" for mode in MODES.values()))


@dataclass(frozen=True, kw_only=True)
class WriteOptions(Options):
    """How the tables of a release are written."""

    layout: str | None = option(None, f"one row per user or per group. [default: {_LAYOUTS}]", choices=tuple(TABLES))
    format: str = option(
        "parquet", "what the tables are written as", choices=("parquet", "csv"), spark=("parquet",)
    )  # fmt: skip

    def layout_of(self, mode: str) -> str:
        """Return the layout asked for, or the default one of a mode."""
        return self.layout or MODES[mode].layout


@dataclass(frozen=True, kw_only=True)
class PublishOptions(Options):
    """What a release promises and how it is made."""

    k: int = option(5, "every row is shared by at least this many users", at_least=2)
    mode: str = _MODE
    min_raters: int | None = option(
        None, "fewest real raters behind a label; with fewer it is a mean of predictions [default: 2]", at_least=1
    )
    grid: float | str | None = _GRID
    max_link: float | None = _MAX_LINK
    diversity: str | None = option(None, "B,L or all,L: any B items rated together stand in at least L groups")
    paper: bool = option(
        False, "the paper's literal behaviour: one rater is enough, no grid; the data card says what it leaks"
    )

    def check(self) -> None:
        """Raise OptionError if options contradict each other or cannot be read."""
        if self.paper and (self.min_raters not in (None, 1) or self.grid not in (None, "none")):
            raise OptionError("paper means min_raters 1 and no grid; leave both out or leave paper out")
        if self.max_link is not None and self.diversity is not None:
            raise OptionError("max_link and diversity exclude each other: one takes items out, the other puts them in")
        _ = self.labels, self.wanted_diversity

    @property
    def labels(self) -> HomogeniseOptions:
        """The options of homogenising."""
        if self.paper:
            return HomogeniseOptions(mode=self.mode, min_raters=1, grid="none", max_link=self.max_link)
        return HomogeniseOptions(
            mode=self.mode, min_raters=self.min_raters or 2, grid=self.grid, max_link=self.max_link
        )  # fmt: skip

    @property
    def wanted_diversity(self) -> Diversity | None:
        """The diversity asked for."""
        return None if self.diversity is None else Diversity.parse(self.diversity)
