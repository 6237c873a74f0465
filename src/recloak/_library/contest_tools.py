"""Hold a contest on a release: prepare it, score submissions, keep the board."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from recloak._contest.options import ContestOptions
from recloak._core.errors import OptionError
from recloak._core.spelling import suggests_keywords
from recloak._library.arguments import as_path, diversity_text
from recloak._releases.options import PublishOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recloak._contest.model import Board, Contest, Standings, SubmissionScore
    from recloak._core.randomness import Rng
    from recloak._library.sources import PathLike, RatingsLike
    from recloak._releases.model.release_format import Diversity


@suggests_keywords
def prepare(
    source: RatingsLike,
    out: PathLike,
    *,
    private: PathLike | None = None,
    holdout: float = 0.1,
    fakes: int = 4,
    submissions: int = 100,
    per_day: int = 5,
    k: int = 5,
    mode: str = "padded",
    grid: float | str | None = None,
    labels: str | None = None,
    min_raters: int | None = None,
    diversity: Diversity | str | None = None,
    max_link: float | None = None,
    min_shown: int | None = None,
    decoys: float | None = None,
    boost: float | None = None,
    grouping_by: str | None = None,
    paper: bool = False,
    seed: int | None = None,
    rng: Rng = None,
) -> Contest:
    """Prepare a contest: hold ratings out, publish the rest, and ask about what was held out.

    The public folder holds the release, questions about groups and items (most of them fakes), the task, terms of use,
    a baseline submission, a validator, loaders for pandas, LensKit and RecBole, and a Croissant description. The
    private folder holds the answers.

    Parameters
    ----------
    source
        Anything that holds ratings, see `recloak.read`.
    out
        The public folder to write.
    private
        The private folder to write; by default ``out`` with ``-private`` behind it.
    holdout
        The share of the ratings held out.
    fakes
        How many questions nobody is scored on are asked for each real one.
    submissions
        How many submissions the board answers in all; the noise of its scores grows with the root of it.
    per_day
        How many submissions a team may make in a day.
    k, mode, grid, labels, min_raters, diversity, max_link, min_shown, decoys, boost, grouping_by, paper
        As in `recloak.publish`.
    seed, rng
        Make the run repeatable: a whole number, or a numpy generator; without one a secret seed is drawn.

    Returns
    -------
    Contest
        Where the folders lie, and how many questions and hidden ratings there are.

    Raises
    ------
    InputError
        If the source or a folder cannot be used, or an option breaks its rule.
    RefusedError
        If the release does not keep its promise; then nothing is written.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> recloak.contest.prepare(ratings, "contest", k=3, seed=1).n_hidden
    43
    """
    made = PublishOptions(
        k=k, mode=mode, grid=grid, labels=labels, min_raters=min_raters, max_link=max_link,
        min_shown=min_shown, decoys=decoys, boost=boost, grouping_by=grouping_by, paper=paper,
        diversity=diversity_text(diversity),
    )  # fmt: skip
    options = ContestOptions(holdout=holdout, fakes=fakes, submissions=submissions, per_day=per_day)
    from recloak._contest.preparing import prepare as make
    from recloak._core.randomness import seed_or_rng
    from recloak._library.sources import explicit_ratings
    from recloak._releases.folder_checks import check_folders

    folders = check_folders(as_path("out", out), None if private is None else as_path("private", private))
    return make(explicit_ratings(source, "contest prepare"), *folders, made, options, seed_or_rng(seed, rng))


@suggests_keywords
def score(
    submission: PathLike,
    private: PathLike,
    *,
    board: PathLike | None = None,
    team: str | None = None,
    day: date | str | None = None,
    exact: bool = False,
) -> SubmissionScore:
    """Score a submission: exactly for the owner, or for a team by the rules of the board.

    Parameters
    ----------
    submission
        A CSV with ``question`` and ``prediction``.
    private
        The private folder of the contest.
    board
        Where the board is kept: a file or a ``postgresql://`` address. With it the submission is added to the board,
        and only what the team may be told is returned.
    team
        The name of the team, with ``board``.
    day
        The day of the submission, by default today (UTC).
    exact
        Return exact scores on both halves, for the owner's eyes alone: those of two submissions that differ in a few
        cells show the ratings there, during the contest and after it. `final` gives the order of the teams instead.

    Returns
    -------
    SubmissionScore
        With ``board`` the score that is told, or exact scores.

    Raises
    ------
    InputError
        If the submission, the private folder or the board cannot be used.
    RefusedError
        If the team or the board has no submission left.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> made = recloak.contest.prepare(ratings, "contest", k=3, seed=1)
    >>> recloak.contest.score("contest/baseline.csv", "contest-private", exact=True).board.coverage
    1.0
    >>> recloak.contest.score("contest/baseline.csv", "contest-private", board="board.db", team="baseline").improved
    True
    """
    if (board is None) != (team is None):
        raise OptionError("board=... and team=... go together")
    if (board is None) != exact:
        raise OptionError("pass board=... and team=... to tell a score, or exact=True for the owner's eyes alone")
    from recloak._contest.answer_key import mark_of, read_key
    from recloak._contest.board import BoardStore, check_team
    from recloak._contest.model import SubmissionScore
    from recloak._contest.submission_scores import filled, score_submission
    from recloak._contest.submissions import read_submission
    from recloak._contest.telling import noisy_score

    rules, answers = read_key(as_path("private", private))
    if team is not None:
        check_team(team)
    predictions = read_submission(as_path("submission", submission), rules)
    on_board, deciding = score_submission(predictions, answers, rules)
    if board is None or team is None:
        return SubmissionScore(on_board, deciding)
    told = noisy_score(on_board, filled(predictions, rules), rules)
    with BoardStore(_place(board), contest=mark_of(rules), submissions=rules.submissions) as store:
        shown, improved = store.add(team, _day(day), told, rules, on_board.n)
    return SubmissionScore(team=team, told=shown, improved=improved)


@suggests_keywords
def final(submissions: Mapping[str, PathLike], private: PathLike) -> Standings:
    """Return the order of the teams on the half that decides, without any score.

    Parameters
    ----------
    submissions
        The last submission of each team, by the team's name.
    private
        The private folder of the contest.

    Returns
    -------
    Standings
        The teams, the smallest error first; errors that agree to four digits share a place.

    Raises
    ------
    InputError
        If a submission or the private folder cannot be used.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> made = recloak.contest.prepare(ratings, "contest", k=3, seed=1)
    >>> recloak.contest.final({"baseline": "contest/baseline.csv"}, "contest-private").places
    (('baseline',),)
    """
    if not submissions:
        raise OptionError("submissions must name at least one team")
    from recloak._contest.answer_key import read_key
    from recloak._contest.board import check_team
    from recloak._contest.submission_scores import score_submission, standings
    from recloak._contest.submissions import read_submission

    rules, answers = read_key(as_path("private", private))
    errors = {}
    for team, path in submissions.items():
        check_team(team)
        predictions = read_submission(as_path("submission", path), rules)
        errors[team] = score_submission(predictions, answers, rules)[1]
    return standings(errors)


@suggests_keywords
def board(store: PathLike) -> Board:
    """Return the public board: one line per team, the best first.

    Parameters
    ----------
    store
        Where the board is kept: a file or a ``postgresql://`` address.

    Returns
    -------
    Board
        Its lines, and how many submissions are left.

    Raises
    ------
    InputError
        If there is no board.

    Examples
    --------
    >>> import recloak
    >>> ratings = recloak.synth(users=60, items=40, ratings=900, seed=1)
    >>> made = recloak.contest.prepare(ratings, "contest", k=3, seed=1)
    >>> told = recloak.contest.score("contest/baseline.csv", "contest-private", board="board.db", team="baseline")
    >>> recloak.contest.board("board.db")
    <Board: 1 team, 99 submissions left>
    """
    from recloak._contest.board import BoardStore

    with BoardStore(_place(store)) as opened:
        return opened.board()


def _place(where: PathLike) -> str:
    return where if isinstance(where, str) else str(as_path("board", where))


def _day(given: date | str | None) -> str:
    if given is None:
        return datetime.now(UTC).date().isoformat()
    try:
        return (date.fromisoformat(given) if isinstance(given, str) else given).isoformat()
    except (ValueError, AttributeError):
        raise OptionError(f"day must be a date such as 2026-01-31, got {given!r}") from None
