"""Read a submission: a CSV with the columns ``question`` and ``prediction``, every question once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._contest.model import Rules
from recloak._core.errors import SourceError


def read_submission(path: str | Path, rules: Rules) -> NDArray[np.float64]:
    """Return the prediction of each question in their order, nan where one is left empty, inside the scale."""
    table = _table(Path(path))
    questions = table["question"].to_numpy()
    n = rules.n_questions
    if len(table) != n or not np.array_equal(np.sort(questions), np.arange(1, n + 1)):
        raise SourceError(f"a submission must have every question from 1 to {n:,} once", file=Path(path))
    predictions = np.empty(n)
    predictions[questions - 1] = table["prediction"].fill_null(np.nan).to_numpy()
    if np.isinf(predictions).any() or table["prediction"].is_nan().any():
        raise SourceError("a prediction must be a finite number or empty", file=Path(path))
    # Inside the scale: one prediction of a million would show its rating through any noise.
    return np.clip(predictions, rules.low, rules.high)


def _table(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise SourceError("there is no such file", file=path)
    try:
        columns = {"question": pl.Int64, "prediction": pl.Float64}
        table = pl.read_csv(path, schema_overrides=columns)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else "not a table"
        raise SourceError(f"a submission must be a CSV with question and prediction ({reason})", file=path) from None
    if table.columns != ["question", "prediction"]:
        raise SourceError("the columns must be question and prediction", file=path)
    if table["question"].null_count():
        raise SourceError("a row has no question", file=path)
    return table
