"""The store of a board: every submission in order, in an SQLite file or a PostgreSQL database.

It only grows. It holds what was told, never an exact score, so that whoever reads it learns no more than the teams.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from recloak._contest.model import Board, BoardLine, Rules
from recloak._contest.telling import improves
from recloak._core.errors import InputError, RefusedError
from recloak._core.store_address import explained, locked, store_address, store_engine

_TABLES = sa.MetaData()
_CONTEST = sa.Table(
    "recloak_contest",
    _TABLES,
    sa.Column("key", sa.String(40), primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
_SUBMISSIONS = sa.Table(
    "recloak_submissions",
    _TABLES,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("team", sa.String(200), nullable=False),
    sa.Column("day", sa.String(10), nullable=False),
    sa.Column("told", sa.Float, nullable=False),
    sa.Column("improved", sa.Boolean, nullable=False),
)
_LONGEST_NAME = 100
_LOCK = "SELECT pg_advisory_xact_lock(7261504)"


class BoardStore:
    """An open board."""

    def __init__(self, where: str | os.PathLike[str], *, contest: str | None = None, submissions: int = 0) -> None:
        """Open a board; with ``contest``, the mark of a contest, a new one is made where there is none."""
        self.name, url = store_address(where, noun="board", missing="board" if contest is None else None)
        self._engine = store_engine(url, self.name)
        try:
            with self._writing() as connection:
                _prepare(connection, self.name, contest, submissions)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the database."""
        self._engine.dispose()

    def __enter__(self) -> BoardStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, team: str, day: str, told: float, rules: Rules, n_board: int) -> tuple[float, bool]:
        """Add a submission; return the team's score on the board and whether this one improved it."""
        check_team(team)
        with self._writing() as connection:
            rows = connection.execute(sa.select(_SUBMISSIONS).order_by(_SUBMISSIONS.c.number)).all()
            own = [row for row in rows if row.team == team]
            _refuse_more(rows, own, day, rules)
            best = min((row.told for row in own if row.improved), default=None)
            improved = improves(told, best, rules, n_board)
            shown = told if best is None or improved else best
            row = {"number": len(rows) + 1, "team": team, "day": day, "told": shown, "improved": improved}
            connection.execute(sa.insert(_SUBMISSIONS), [row])
            return shown, improved

    def board(self) -> Board:
        """Return one line per team, the best first; who had a score first stands before others with the same."""
        with self._writing() as connection:
            rows = connection.execute(sa.select(_SUBMISSIONS).order_by(_SUBMISSIONS.c.number)).all()
            known = {row.key: row.value for row in connection.execute(sa.select(_CONTEST))}
        best = {row.team: row for row in rows if row.improved}  # the last that improved is the best
        order = sorted(best.values(), key=lambda row: (row.told, row.number))
        counts = {team: sum(row.team == team for row in rows) for team in best}
        lines = (BoardLine(place, row.team, row.told, counts[row.team], row.day) for place, row in enumerate(order, 1))
        return Board(tuple(lines), int(known["submissions"]) - len(rows))

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """Open a transaction that excludes all others."""
        with explained(self.name, "board"), locked(self._engine, _LOCK) as connection:
            yield connection


def check_team(team: str) -> None:
    """Raise InputError for a name that cannot stand on a board."""
    if not team.strip() or team != team.strip() or len(team) > _LONGEST_NAME or not team.isprintable():
        raise InputError(f"a team's name must be 1 to {_LONGEST_NAME} printable letters, got {team!r}")


def _refuse_more(rows: Any, own: Any, day: str, rules: Rules) -> None:
    if len(rows) >= rules.submissions:
        raise RefusedError(
            f"the board has answered its {rules.submissions} submissions; the final half decides between the teams"
        )
    if own and day < own[-1].day:
        raise InputError(f"the day must not lie before {own[-1].day}, the team's last submission, got {day}")
    if sum(row.day == day for row in own) >= rules.per_day:
        raise RefusedError(f"a team may make {rules.per_day} submissions in a day; this one has")


def _prepare(connection: sa.Connection, name: str, contest: str | None, submissions: int) -> None:
    """Make missing tables, and refuse the board of another contest or a database of something else."""
    found = sa.inspect(connection).get_table_names()
    if _CONTEST.name not in found:
        if contest is None or (found and connection.dialect.name == "sqlite"):
            raise InputError(f"{name}: a database of something else, not a board")
        _TABLES.create_all(connection)
        rows = [{"key": "contest", "value": contest}, {"key": "submissions", "value": str(submissions)}]
        connection.execute(sa.insert(_CONTEST), rows)
        return
    known = {row.key: row.value for row in connection.execute(sa.select(_CONTEST))}
    if contest is not None and known.get("contest") != contest:
        raise InputError(f"{name}: the board of another contest")
