"""What a manifest says about factors: a mean and a precision that carry nothing else, and how many rows there are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._releases.model.factor_tables import decimals_at
from recloak._releases.model.release_format import FACTOR_TABLES

MOST_FACTORS = 1_000
_MOST_MULTIPLE = 1_000_000  # of the precision, so that float32 tells neighbours apart


def factor_rules(manifest: dict[str, Any]) -> dict[str, bool]:
    """Return whether the mean, the precision and the rank can be those of the layout, which alone has them."""
    mean, step, rank = (manifest.get(name) for name in ("mean", "precision", "rank"))
    if manifest["layout"] != "factors":
        return {"mean": mean is None, "precision": step is None, "rank": rank is None}
    is_step = type(step) is float and 1e-9 <= step <= 1e9 and step == plain_step(step)
    return {
        "mean": is_step and type(mean) is float and _is_multiple(mean, float(step or 1)),
        "precision": is_step,
        "rank": type(rank) is int and 0 <= rank <= MOST_FACTORS,
        "labels": manifest.get("labels") == "model",
        "grid": manifest["grid"] is None,
    }


def plain_step(step: float) -> float:
    """Return the number with one digit, 1, 2 or 5, that is nearest to a precision."""
    power = math.floor(math.log10(step) + 1e-9)
    return min((round(digit * 10.0**power, 12) for digit in (1, 2, 5)), key=lambda one: abs(one - step))


def _is_multiple(value: float, step: float) -> bool:
    if not abs(value) <= _MOST_MULTIPLE * step:
        return False
    return repr(value) == repr(round(round(value / step) * step, decimals_at(step)) + 0.0)


def off_precision(values: NDArray[np.float32], step: float) -> bool:
    """Return whether a number is no multiple of the precision, written with the fewest decimals."""
    wide = values.astype(np.float64)
    if not np.abs(wide).max(initial=0.0) <= _MOST_MULTIPLE * step:
        return True
    wanted = np.round(np.rint(wide / step) * step, decimals_at(step)) + 0.0
    return not np.array_equal(wanted.astype(np.float32), values)


def row_problems(claims: Any) -> Iterator[str]:
    """Say where the rows of the tables are not as many as the groups and items that are claimed."""
    for table, n_rows in zip(FACTOR_TABLES, (claims.n_groups, claims.n_items), strict=True):
        if sum(part.n_rows for part in claims.parts if part.table == table) != n_rows:
            yield f"the manifest says {n_rows} {table}, but the table of {table} has more or fewer rows"
    if sum(part.table == "items" for part in claims.parts) != 1:
        yield "the table of items must be one file"
