"""Synthetic ratings with the shape of real data sets: activity, popularity, histogram, taste and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recloak.lazy import import_on_use

if TYPE_CHECKING:
    from recloak.ratings.synthetic.making import synthesise
    from recloak.ratings.synthetic.mentions import make_mentions
    from recloak.ratings.synthetic.options import FileOptions, MentionOptions, SynthOptions
    from recloak.ratings.synthetic.presets import PRESETS
    from recloak.ratings.synthetic.titles import make_titles
    from recloak.ratings.synthetic.writing import Written, write_synthetic

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

import_on_use(
    __name__,
    {
        "FileOptions": "options",
        "MentionOptions": "options",
        "PRESETS": "presets",
        "SynthOptions": "options",
        "Written": "writing",
        "make_mentions": "mentions",
        "make_titles": "titles",
        "synthesise": "making",
        "write_synthetic": "writing",
    },
)
