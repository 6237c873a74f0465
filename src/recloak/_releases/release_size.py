"""How large a release will be, told before any work, and refused where nobody can have meant it.

A padded table has a cell for every group and item, whatever the source holds: 340,000 items by 105,000 users, a CSV of
30 MB, would be 24 GB.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from recloak._core.errors import OptionError
from recloak._core.logger import log
from recloak._ratings.model import Scale
from recloak._releases.grid import make_grid
from recloak._releases.model.modes import MODES
from recloak._releases.options import FACTORS, RANK, PublishOptions, WriteOptions

_MOST_BYTES = 2_000_000_000
_MOST_TIMES = 100  # times the source, three numbers of 4 bytes a rating
_NEVER_REFUSED = 100_000_000
_ROW_BYTES = {"parquet": 1.5, "csv": 16.0}  # of a row of a table, measured on releases of the Netflix size
_NUMBER_BYTES = {"parquet": 1.3, "csv": 6.0}  # of a number of the layout factors
_NAME_BYTES = {"parquet": 2.5, "csv": 14.0}  # of a user and the user's group
_UNITS = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}


@dataclass(frozen=True, slots=True)
class ReleaseSize:
    """About what will be written: rows of the largest table, and bytes."""

    mode: str
    layout: str
    rows: int
    bytes: int
    at_most: bool  # the mode decides later which cells there are

    def __str__(self) -> str:
        kind = "at most" if self.at_most else "about"
        return f"a {self.mode} release in the layout {self.layout}: {kind} {self.rows:,} rows, {in_units(self.bytes)}"


class SourceSize(NamedTuple):
    """What a source holds."""

    n_users: int
    n_items: int
    n_ratings: int
    scale: Scale


def plan_size(
    counts: SourceSize, options: PublishOptions, writing: WriteOptions, rank: int | None = None
) -> ReleaseSize:
    """Return what publishing such a source will write; ``rank`` is the number of factors of its model."""
    if writing.chosen_layout == FACTORS:
        return _plan_factors(counts, options, writing.format, RANK if rank is None else rank)
    mode, long = MODES[options.mode], writing.chosen_layout == "long"
    complete = mode.is_complete
    n_groups = max(counts.n_users // options.k, 1)
    cells = n_groups * counts.n_items
    cells = cells if complete else counts.n_ratings if mode.is_drawn else min(counts.n_ratings, cells)
    rows = cells * -(-counts.n_users // n_groups) if long else cells
    n_values = len(make_grid(counts.scale, options.mode, options.homogenising.grid).values)
    packed = complete and not long and writing.format == "parquet" and 0 < n_values <= 256
    width = max(math.ceil(math.log2(n_values)), 1) / 8 if packed else _ROW_BYTES[writing.format]
    width += 4 if writing.format == "parquet" and not n_values else 0
    return ReleaseSize(options.mode, writing.chosen_layout, rows, round(rows * width), not complete)


def _plan_factors(counts: SourceSize, options: PublishOptions, file_format: str, rank: int) -> ReleaseSize:
    n_rows = max(counts.n_users // options.k, 1) + counts.n_items
    n_bytes = n_rows * (rank + 1) * _NUMBER_BYTES[file_format] + counts.n_users * _NAME_BYTES[file_format]
    return ReleaseSize(options.mode, FACTORS, n_rows, round(n_bytes), at_most=False)


def announce(
    counts: SourceSize,
    options: PublishOptions,
    writing: WriteOptions,
    rank: int | None = None,
    *,
    spark: bool = False,
) -> ReleaseSize:
    """Log what will be written and return it; raise OptionError if a complete table is above the limit.

    If no layout was asked for and the table is above the limit, the layout becomes `factors` where that can be. On
    Spark the driver makes factors, in the memory of a local run, so there they are a way out and not taken unasked.
    """
    if writing.chosen_layout == FACTORS and (why := options.why_no_factors):
        raise OptionError(f"layout='{FACTORS}' does not go with these options: {why}")
    size = plan_size(counts, options, writing, rank)
    limit = _usual_limit(counts.n_ratings) if writing.size_limit is None else parse_size(writing.size_limit)
    if size.bytes > limit and not size.at_most:
        size = _smaller(size, counts, options, writing, rank, limit, spark)
    log.info("will write %s", size)
    return size


def _smaller(
    size: ReleaseSize, counts: SourceSize, options: PublishOptions, writing: WriteOptions, rank: int | None,
    limit: float, spark: bool,
) -> ReleaseSize:  # fmt: skip
    """Return the release as factors where no other layout was asked for; raise OptionError if it is too large."""
    others = [writing.replace(layout=layout) for layout in (None, FACTORS)]
    planned = [plan_size(counts, options, other, rank) for other in others]
    fitting = [one for one in planned if one.bytes <= limit and one.layout != size.layout]
    fitting = [one for one in fitting if one.layout != FACTORS or options.why_no_factors is None]
    if fitting and writing.layout is None and not spark:
        log.info(
            "the full table would be %s, above the limit of %s, so the layout is %s: recloak.load and recloak expand "
            "give any cell of it", in_units(size.bytes), in_units(limit), fitting[0].layout,
        )  # fmt: skip
        return fitting[0]
    raise OptionError(
        f"{size} is above the limit of {in_units(limit)}: {_way_out(fitting, spark)} or allow it with "
        f"size_limit='{in_units(size.bytes * 1.2).replace(' ', '')}'"
    )


def _way_out(fitting: list[ReleaseSize], spark: bool) -> str:
    if fitting:
        where = "; the driver makes it, in the memory of a local run" if spark and fitting[0].layout == FACTORS else ""
        return f"take layout='{fitting[0].layout}' ({in_units(fitting[0].bytes)}{where})"
    return "take mode='pure', which writes only items that someone in a group rated, or a larger k=..., or fewer items,"


def _usual_limit(n_ratings: int) -> float:
    return min(_MOST_BYTES, max(_MOST_TIMES * 12 * n_ratings, _NEVER_REFUSED))


def parse_size(text: str) -> float:
    """Return the bytes of a text like ``500MB`` or ``2 GB``; ``none`` is no limit."""
    if text == "none":
        return math.inf
    number = text.rstrip("KMGTBkmgtb ")
    unit = text[len(number) :].strip().upper() or "B"
    try:
        return float(number) * _UNITS[unit if unit.endswith("B") else unit + "B"]
    except (KeyError, ValueError):
        raise OptionError(f"size_limit must be a size like 500MB or 2GB, or none, got {text!r}") from None


def in_units(n_bytes: float) -> str:
    """Return a number of bytes in the largest unit of which there is one."""
    unit = next((unit for unit in ("TB", "GB", "MB", "KB") if n_bytes >= _UNITS[unit]), "B")
    return f"{n_bytes / _UNITS[unit]:.3g} {unit}"
