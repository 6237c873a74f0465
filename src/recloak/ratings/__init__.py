"""The model of ratings, its ids, its readers and synthetic data."""

from recloak.ratings.exposure import Exposure, ExposureOptions, expose
from recloak.ratings.ids import IdMap
from recloak.ratings.model import Columns, Intake, Ratings, Scale, assemble
from recloak.ratings.readers import ReadOptions, read
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
