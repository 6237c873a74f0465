"""The options of publishing: what a release promises, how cells are predicted, and how labels are made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recloak._core.errors import OptionError
from recloak._core.options import Options, option
from recloak._releases.model.modes import MODES, modes_with
from recloak._releases.model.release_format import TABLES, Diversity
from recloak._releases.predictors import PREDICTORS

LABELS = ("model", "raters")
_MODE = option("padded", choices=MODES, spark=[mode.name for mode in MODES.values() if mode.on_spark])
_LABELS = option(
    None,
    f"{', '.join(modes_with('labels'))}: labels of the model alone, or moved by the raters' own ratings, which shows "
    f"where there are some [default: {LABELS[0]}]",
    choices=LABELS,
)
_MAX_LINK = option(
    None,
    f"{', '.join(modes_with('max_link'))}: leave out items that more than this share of a group rated",
    above=0,
    at_most=1,
)
_MIN_SHOWN = option(
    None, f"{', '.join(modes_with('min_shown'))}: leave out items that fewer members than this rated", at_least=2
)
_DECOYS = option(
    None,
    f"{', '.join(modes_with('decoys'))}: for each item of a row add so many that nobody in the group rated, from the "
    "rows of near groups",
    above=0,
    at_most=20,
)
_GRID = option(None, "step of the published grid of labels, or none; by default chosen per mode")
GROUPING_BY = ("taste", "items", "both")
_BOOST = option(
    None,
    f"{', '.join(modes_with('boost'))}: how much of the items drawn for a group comes from its 20 nearest groups "
    "instead of its own members, from 0 to 1 [default: 0.5]",
    at_least=0,
    at_most=1,
)
_GROUPING_BY = option(
    None,
    f"{', '.join(modes_with('grouping_by'))}: put people together who rate alike, who rate the same items, or both "
    "[default: both]",
    choices=GROUPING_BY,
)
RANK = 22
MOST_FACTORS = 510
MOST_EPSILON = 10.0  # above it, differential privacy promises next to nothing
_LOW_RANK = 5
FACTORS = "factors"  # the layout
_LAYOUT = "grouped"  # members of a group have one and the same row: who splits users must see it
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
        None, "number of factors of the svd predictor; by default 22, and 5 where rows hold their raters' ratings and "
        "groups are of 20 or more",
        at_least=0, at_most=MOST_FACTORS,
    )  # fmt: skip
    iterations: int = option(8, "rounds over users and items, at most", at_least=1)
    tolerance: float = option(0.0005, "stop when a round gains less than this, in nats per rating", at_least=0)

    @property
    def n_factors(self) -> int:
        """The rank asked for, or the default."""
        return RANK if self.rank is None else self.rank

    def for_fits(self) -> PadOptions:
        """Return the options with a rank that suits fitted groups, if none was asked for."""
        return self if self.rank is not None else self.replace(rank=RANK)

    def for_groups(self, k: int) -> PadOptions:
        """Return the options with a rank that suits means over groups of k (docs/decisions/grouping.md)."""
        return self if self.rank is not None else self.replace(rank=RANK if k < _LARGE_GROUPS else _LOW_RANK)


@dataclass(frozen=True, kw_only=True)
class HomogeniseOptions(Options):
    """How the shared row of a group is made."""

    mode: str = _MODE
    labels: str | None = _LABELS
    min_raters: int = option(2, "fewest real raters behind a label; with fewer it is a mean of predictions", at_least=1)
    grid: float | str | None = _GRID
    max_link: float | None = _MAX_LINK
    min_shown: int | None = _MIN_SHOWN
    decoys: float | None = _DECOYS

    def check(self) -> None:
        """Raise OptionError for an option that the mode does not take, or a grid that is no step."""
        for name in ("labels", "max_link", "min_shown", "decoys"):
            if getattr(self, name) is not None:
                MODES[self.mode].require_taken(name)
        if isinstance(self.grid, str) and self.grid != "none":
            raise OptionError(f"grid must be a step above 0 or none, got {self.grid!r}")

    @property
    def labels_of(self) -> str:
        """Whose ratings a label holds: ``model`` or ``raters``."""
        return self.labels or next(iter(MODES[self.mode].leaks))


@dataclass(frozen=True, kw_only=True)
class WriteOptions(Options):
    """How the tables of a release are written."""

    layout: str | None = option(
        None,
        "long: a row per user; grouped: per group; factors: a few numbers per group and item, from which recloak load "
        f"and expand compute cells; drawn: the rows of mode {', '.join(modes_with('boost'))}, which has no other "
        f"[default: {_LAYOUT}, factors where that is above the size limit]",
        choices=tuple(TABLES),
    )
    format: str = option(
        "parquet", "what the tables are written as", choices=("parquet", "csv"), spark=("parquet",)
    )  # fmt: skip
    size_limit: str | None = option(
        None,
        "the largest padded table to write, such as 500MB, or none [default: 2GB, or 100 times the source]",
    )

    @property
    def chosen_layout(self) -> str:
        """The layout asked for, or the default."""
        return self.layout or _LAYOUT

    def for_mode(self, mode: str) -> WriteOptions:
        """Return the options with a layout that the mode has; raise OptionError where another's was asked for."""
        layouts = MODES[mode].layouts
        if self.layout is not None and self.layout not in layouts:
            raise OptionError(f"layout must be {' or '.join(layouts)} for mode {mode}, got {self.layout!r}")
        return self if _LAYOUT in layouts else self.replace(layout=layouts[0])


@dataclass(frozen=True, kw_only=True)
class StatisticsOptions(Options):
    """What is counted and published beside the rows."""

    statistics: float | None = option(
        None,
        "publish counts of the source beside the rows, with differential privacy for each person: this epsilon in all",
        above=0,
        at_most=MOST_EPSILON,
    )


@dataclass(frozen=True, kw_only=True)
class PublishOptions(Options):
    """What a release promises and how it is made."""

    k: int = option(5, "every row is shared by at least this many users", at_least=2)
    mode: str = _MODE
    labels: str | None = _LABELS
    min_raters: int | None = option(
        None,
        "fewest real raters behind a label that is of the raters; with fewer it is a mean of predictions [default: 2]",
        at_least=1,
    )
    grid: float | str | None = _GRID
    max_link: float | None = _MAX_LINK
    min_shown: int | None = _MIN_SHOWN
    decoys: float | None = _DECOYS
    boost: float | None = _BOOST
    grouping_by: str | None = _GROUPING_BY
    diversity: str | None = option(None, "B,L or all,L: any B items rated together stand in at least L groups")
    paper: bool = option(
        False,
        "the paper's literal behaviour: labels of the raters, one is enough, no grid; the data card says what it leaks",
    )

    def check(self) -> None:
        """Raise OptionError if options contradict each other or cannot be read."""
        for name in ("boost", "grouping_by", "diversity", "paper", "min_raters"):
            if getattr(self, name) not in (None, False):
                MODES[self.mode].require_taken(name)
        if self.paper and (self.min_raters not in (None, 1) or self.grid not in (None, "none")):
            raise OptionError("paper means min_raters 1 and no grid; leave both out or leave paper out")
        if self.paper and self.labels == "model":
            raise OptionError("paper means labels of the raters; leave labels='model' out or leave paper out")
        if self.min_raters is not None and not self.paper and self.homogenising.labels_of == "model":
            raise OptionError("min_raters=... needs labels='raters': labels of the model alone hold no one's rating")
        for name in ("max_link", "min_shown"):
            if getattr(self, name) is not None and self.diversity is not None:
                raise OptionError(
                    f"{name} and diversity exclude each other: one takes items out, the other puts them in"
                )
        _ = self.homogenising, self.wanted_diversity

    @property
    def why_no_factors(self) -> str | None:
        """Why such a release cannot be written as factors; None if it can."""
        if not MODES[self.mode].is_complete:
            complete = ", ".join(mode.name for mode in MODES.values() if mode.is_complete)
            return f"it is for mode {complete}, whose rows have every item"
        if self.homogenising.labels_of != "model":
            return "it takes labels='model': what raters add to labels does not follow from factors"
        if self.grid not in (None, "none"):
            return "it has no grid: cells follow from factors, which are rounded instead"
        return None

    @property
    def homogenising(self) -> HomogeniseOptions:
        """The options of homogenising."""
        if self.paper:
            taken = "raters" if self.mode in modes_with("labels") else None
            return HomogeniseOptions(mode=self.mode, labels=taken, min_raters=1, grid="none", **self._shown)
        return HomogeniseOptions(
            mode=self.mode, labels=self.labels, min_raters=self.min_raters or 2, grid=self.grid, **self._shown
        )  # fmt: skip

    @property
    def _shown(self) -> dict[str, Any]:
        """Which items stand in a row."""
        return {"max_link": self.max_link, "min_shown": self.min_shown, "decoys": self.decoys}

    @property
    def leaves_out(self) -> bool:
        """Whether an item that someone rated may stand in no row at all."""
        return self.max_link is not None or self.min_shown is not None

    @property
    def recipe(self) -> dict[str, Any]:
        """All that is chosen here, defaults filled in; the grid stands among the facts of a release."""
        labels = self.homogenising
        chosen = {**self.to_mapping(), **labels.to_mapping(), "labels": labels.labels_of}
        return {name: value for name, value in chosen.items() if name != "grid"}

    @property
    def wanted_diversity(self) -> Diversity | None:
        """The diversity asked for."""
        return None if self.diversity is None else Diversity.parse(self.diversity)
