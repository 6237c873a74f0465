"""Public mentions: find titles in posts, re-identify who wrote them, try defences, and advise before posting.

    found = recloak.mentions.find("posts.csv", "movies.csv")
    recloak.mentions.identify("ratings.csv", found).algorithms["scoring"].at(1)   # share of writers identified
    recloak.mentions.defend("ratings.csv", found)                                 # the defences, and how well they work

    advisor = recloak.mentions.prepare_advisor("ratings.csv", secret=secret)
    recloak.mentions.advise(advisor, user, earlier, draft, k=10).hidden

``mentions.pyi`` lists the names, which are imported when they are first used.
"""

from __future__ import annotations

from recloak._library.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__file__)
