"""Public mentions: find them in text, re-identify who wrote them, defend, and advise the writer (paper 004)."""

from recloak.mentions.advise import Advice, AdvisorIndex, advise, prepare_advisor
from recloak.mentions.algorithms import ALGORITHMS, IdentifyOptions, stand_by
from recloak.mentions.decide import Find, find_in
from recloak.mentions.defend import Defences, defend
from recloak.mentions.find import Found, find_mentions
from recloak.mentions.identify import identify
from recloak.mentions.matching import TitleIndex, index_titles
from recloak.mentions.model import Identification, MentionIntake, Mentions, Rates, Standing
from recloak.mentions.sources import Posts, TitleList, posts_from_table, read_posts, read_titles, title_list
from recloak.mentions.tables import mentions_from_table, read_mentions

__all__ = [
    "ALGORITHMS",
    "Advice",
    "AdvisorIndex",
    "Defences",
    "Find",
    "Found",
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
    "read_mentions",
    "read_posts",
    "read_titles",
    "stand_by",
    "title_list",
]
