"""A contest on a release: others predict ratings that were held out, and nobody can read a rating off the board.

`prepare` writes the task and keeps the answers; `score` scores a submission, for the owner exactly or for a team by the
rules of the board; `board` returns the board, and `final` the order of the teams in the end.

    recloak.contest.prepare("ratings.csv", "contest", k=5, mode="pure")
    recloak.contest.score("theirs.csv", "contest-private", board="board.db", team="theirs")
    print(recloak.contest.board("board.db").to_polars())

``contest.pyi`` lists the names, which are imported when they are first used.
"""

from __future__ import annotations

from recloak._library.lazy_names import lazy_names

__all__, __getattr__, __dir__ = lazy_names(__file__)
