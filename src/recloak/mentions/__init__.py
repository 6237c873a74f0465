"""Public mentions: find them in text, re-identify who wrote them, defend, and advise the writer (paper 004)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recloak.lazy import import_on_use

if TYPE_CHECKING:
    from recloak.mentions.advise import Advice, AdvisorIndex, advise, prepare_advisor, prepare_exact_advisor
    from recloak.mentions.algorithms import ALGORITHMS, stand_by
    from recloak.mentions.decide import Find, find_in
    from recloak.mentions.defend import Defences, defend
    from recloak.mentions.find import Found, find_mentions
    from recloak.mentions.guard import Guard
    from recloak.mentions.identify import identify
    from recloak.mentions.matching import TitleIndex, index_titles
    from recloak.mentions.model import Identification, MentionIntake, Mentions, Rates, Standing
    from recloak.mentions.options import IdentifyOptions
    from recloak.mentions.sources import Posts, TitleList, posts_from_table, read_posts, read_titles, title_list
    from recloak.mentions.tables import mentions_from_table, read_mentions

__all__ = [
    "ALGORITHMS",
    "Advice",
    "AdvisorIndex",
    "Defences",
    "Find",
    "Found",
    "Guard",
    "Identification",
    "IdentifyOptions",
    "MentionIntake",
    "Mentions",
    "Posts",
    "Rates",
    "Standing",
    "TitleIndex",
    "TitleList",
    "advise",
    "defend",
    "find_in",
    "find_mentions",
    "identify",
    "index_titles",
    "mentions_from_table",
    "posts_from_table",
    "prepare_advisor",
    "prepare_exact_advisor",
    "read_mentions",
    "read_posts",
    "read_titles",
    "stand_by",
    "title_list",
]

import_on_use(
    __name__,
    {
        "ALGORITHMS": "algorithms",
        "Advice": "advise",
        "AdvisorIndex": "advise",
        "Defences": "defend",
        "Find": "decide",
        "Found": "find",
        "Guard": "guard",
        "Identification": "model",
        "IdentifyOptions": "options",
        "MentionIntake": "model",
        "Mentions": "model",
        "Posts": "sources",
        "Rates": "model",
        "Standing": "model",
        "TitleIndex": "matching",
        "TitleList": "sources",
        "advise": "advise",
        "defend": "defend",
        "find_in": "decide",
        "find_mentions": "find",
        "identify": "identify",
        "index_titles": "matching",
        "mentions_from_table": "tables",
        "posts_from_table": "sources",
        "prepare_advisor": "advise",
        "prepare_exact_advisor": "advise",
        "read_mentions": "tables",
        "read_posts": "sources",
        "read_titles": "sources",
        "stand_by": "algorithms",
        "title_list": "sources",
    },
)
