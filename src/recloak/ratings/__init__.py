"""The model of ratings, its ids, its readers and synthetic data."""

from recloak.ratings.ids import IdMap
from recloak.ratings.model import Columns, Intake, Ratings, Scale, assemble

__all__ = ["Columns", "IdMap", "Intake", "Ratings", "Scale", "assemble"]
