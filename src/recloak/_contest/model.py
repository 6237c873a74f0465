"""The values of a contest, and the names of its files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.results import Tabular, counted, plural, table_of

if TYPE_CHECKING:
    import polars as pl

RELEASE = "release"  # the folder of the release, inside the public and inside the private folder
QUESTIONS = "questions.csv"
BASELINE = "baseline.csv"
TASK = "TASK.md"
TERMS = "TERMS.md"
VALIDATOR = "validate.py"
LOADERS = "loaders.py"
CROISSANT = "croissant.json"
ANSWERS = "answers.parquet"
RULES = "contest.json"


@dataclass(frozen=True, slots=True)
class Rules:
    """What scoring needs besides the answers: the scale, the limits of the board, and the secret of its noise."""

    low: float
    high: float
    n_questions: int
    submissions: int
    per_day: int
    secret: str  # hexadecimal; never leaves the private folder
    step: float = 0.0  # between ratings that can be given, 0 where any can

    def __repr__(self) -> str:
        return counted(self, plural(self.n_questions, "question"), plural(self.submissions, "submission"))

    @property
    def span(self) -> float:
        """The largest possible difference of two ratings."""
        return self.high - self.low

    @property
    def unsure(self) -> float:
        """What a hidden rating must stay unsure by, before the factor of the noise: a fourth of the span, or a step."""
        return max(self.span / 4, self.step)


@dataclass(frozen=True, slots=True)
class Contest:
    """A prepared contest: where it lies and how large it is.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> recloak.contest.prepare(ratings, "contest", k=3, seed=1)
    <Contest: 43 hidden ratings, 210 questions>
    """

    folder: Path
    private: Path
    n_questions: int
    n_hidden: int
    noise: float  # of the scores that the board tells, about; teams that differ by less cannot be told apart

    def __repr__(self) -> str:
        return counted(self, plural(self.n_hidden, "hidden rating"), plural(self.n_questions, "question"))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "folder": str(self.folder), "private": str(self.private)}


@dataclass(frozen=True, slots=True)
class Score:
    """The exact score of a submission on some of the hidden ratings: for the owner's eyes.

    Attributes
    ----------
    rmse, mae : float
        Errors over all hidden ratings; a missing prediction counts as the middle of the scale.
    ndcg : float or None
        nDCG@10 of each group's hidden items in the order of the predictions; None where no group has two.
    coverage : float
        Share of the hidden ratings that have a prediction.
    n : int
        Number of hidden ratings.
    """

    rmse: float
    mae: float
    ndcg: float | None
    coverage: float
    n: int

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SubmissionScore:
    """What came of a submission: exact scores for the owner, or with a board what its team may be told.

    Attributes
    ----------
    board, final : Score or None
        Exact scores on the half that the board is about, and on the half that decides in the end. None where the
        submission went to a board: then nobody needs them.
    told : float or None
        The score that the board shows for the team.
    improved : bool or None
        Whether this submission improved it.
    """

    board: Score | None = None
    final: Score | None = None
    team: str | None = None
    told: float | None = None
    improved: bool | None = None

    def __repr__(self) -> str:
        return counted(self, "exact, for the owner" if self.board else "told to the team")

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        if self.board is not None and self.final is not None:
            return {"board": self.board.to_json(), "final": self.final.to_json()}
        return {"team": self.team, "told": self.told, "improved": self.improved}


@dataclass(frozen=True, slots=True, repr=False)
class Standings(Tabular):
    """The teams in the order of the half that decides, the best first; equal errors share a place.

    There is no score in it: exact scores of submissions that differ in a few cells show the ratings there.

    Examples
    --------
    >>> from recloak._contest.model import Standings
    >>> Standings((("b",), ("a", "c")), n=50)
    <Standings: 3 teams>
    """

    places: tuple[tuple[str, ...], ...]  # teams by place
    n: int  # hidden ratings in the half

    def __repr__(self) -> str:
        return counted(self, plural(sum(map(len, self.places)), "team"))

    @property
    def lines(self) -> list[dict[str, Any]]:
        """A place and a team in each line."""
        first_places = [1 + sum(map(len, self.places[:number])) for number in range(len(self.places))]
        return [
            {"place": first, "team": team}
            for first, teams in zip(first_places, self.places, strict=True)
            for team in teams
        ]

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each team."""
        return table_of(self.lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"standings": self.lines, "hidden_ratings": self.n}


@dataclass(frozen=True, slots=True)
class BoardLine:
    """A team's place on the board."""

    place: int
    team: str
    score: float
    submissions: int
    day: str  # of the submission that counts


@dataclass(frozen=True, slots=True, repr=False)
class Board(Tabular):
    """The public board: one line per team, the best first.

    Examples
    --------
    >>> from recloak._contest.model import Board, BoardLine
    >>> Board((BoardLine(1, "a", 0.9, 2, "2026-01-01"),), left=98)
    <Board: 1 team, 98 submissions left>
    """

    lines: tuple[BoardLine, ...]
    left: int

    def __repr__(self) -> str:
        return counted(self, plural(len(self.lines), "team"), f"{plural(self.left, 'submission')} left")

    def __len__(self) -> int:
        return len(self.lines)

    def to_polars(self) -> pl.DataFrame:
        """Return a row for each team."""
        return table_of(asdict(line) for line in self.lines)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"board": [asdict(line) for line in self.lines], "submissions_left": self.left}
