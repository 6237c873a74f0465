"""Public mentions: find them in text, re-identify who wrote them, defend, and advise the writer (paper 004)."""

from recloak.mentions.algorithms import ALGORITHMS, IdentifyOptions, stand_by
from recloak.mentions.identify import identify
from recloak.mentions.model import Identification, MentionIntake, Mentions, Rates, Standing
from recloak.mentions.tables import mentions_from_table, read_mentions

__all__ = [
    "ALGORITHMS",
    "Identification",
    "IdentifyOptions",
    "MentionIntake",
    "Mentions",
    "Rates",
    "Standing",
    "identify",
    "mentions_from_table",
    "read_mentions",
    "stand_by",
]
