"""Synthetic ratings with the shape of real data sets: activity, popularity, histogram, taste and times."""

from recloak.ratings.synthetic.making import synthesise
from recloak.ratings.synthetic.mentions import MentionOptions, make_mentions
from recloak.ratings.synthetic.options import SynthOptions
from recloak.ratings.synthetic.presets import PRESETS
from recloak.ratings.synthetic.titles import make_titles
from recloak.ratings.synthetic.writing import FileOptions, Written, write_synthetic

__all__ = [
    "PRESETS",
    "FileOptions",
    "MentionOptions",
    "SynthOptions",
    "Written",
    "make_mentions",
    "make_titles",
    "synthesise",
    "write_synthetic",
]
