"""The model of ratings, its ids, its readers and synthetic data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recloak.lazy import import_on_use

if TYPE_CHECKING:
    from recloak.ratings.exposure import Exposure, expose
    from recloak.ratings.ids import IdMap
    from recloak.ratings.model import Columns, Intake, Ratings, Scale, assemble
    from recloak.ratings.options import ExposureOptions, ReadOptions
    from recloak.ratings.readers import read
    from recloak.ratings.summary import Summary, summarise

__all__ = [
    "Columns",
    "Exposure",
    "ExposureOptions",
    "IdMap",
    "Intake",
    "Ratings",
    "ReadOptions",
    "Scale",
    "Summary",
    "assemble",
    "expose",
    "read",
    "summarise",
]

import_on_use(
    __name__,
    {
        "Columns": "model",
        "Exposure": "exposure",
        "ExposureOptions": "options",
        "IdMap": "ids",
        "Intake": "model",
        "Ratings": "model",
        "ReadOptions": "options",
        "Scale": "model",
        "Summary": "summary",
        "assemble": "model",
        "expose": "exposure",
        "read": "readers",
        "summarise": "summary",
    },
)
