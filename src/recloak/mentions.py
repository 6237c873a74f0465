"""Public mentions: find titles in posts, re-identify who wrote them, try defences, and advise before posting.

    found = recloak.mentions.find("posts.csv", "movies.csv")
    recloak.mentions.identify("ratings.csv", found).algorithms["scoring"].at(1)   # share of writers identified
    recloak.mentions.defend("ratings.csv", found)                                 # the defences, and how well they work

    advisor = recloak.mentions.prepare_advisor("ratings.csv", secret=secret)
    recloak.mentions.advise(advisor, user, earlier, draft, k=10).hidden

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recloak._library.lazy_names import lazy_names

if TYPE_CHECKING:
    from recloak._library.mention_tools import Advisor, advise, defend, find, identify, prepare_advisor
    from recloak._mentions.advisor import Advice, DraftChange
    from recloak._mentions.defences import Defence, Defences, DefenceTrial
    from recloak._mentions.found_mentions import FoundMentions
    from recloak._mentions.model import Bin, Identification, MentionIntake, OpenSet, Rates

__all__ = [
    "Advice",
    "Advisor",
    "Bin",
    "Defence",
    "DefenceTrial",
    "Defences",
    "DraftChange",
    "FoundMentions",
    "Identification",
    "MentionIntake",
    "OpenSet",
    "Rates",
    "advise",
    "defend",
    "find",
    "identify",
    "prepare_advisor",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(
            ("Advisor", "advise", "defend", "find", "identify", "prepare_advisor"), "_library.mention_tools"
        ),
        **dict.fromkeys(("Bin", "Identification", "MentionIntake", "OpenSet", "Rates"), "_mentions.model"),
        **dict.fromkeys(("Defence", "DefenceTrial", "Defences"), "_mentions.defences"),
        **dict.fromkeys(("Advice", "DraftChange"), "_mentions.advisor"),
        "FoundMentions": "_mentions.found_mentions",
    },
)
