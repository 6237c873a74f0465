"""The names of ``recloak.contest``, listed once: for type checkers, and for ``contest.py``."""

from recloak._contest.model import Board as Board
from recloak._contest.model import BoardLine as BoardLine
from recloak._contest.model import Contest as Contest
from recloak._contest.model import Score as Score
from recloak._contest.model import Standings as Standings
from recloak._contest.model import SubmissionScore as SubmissionScore
from recloak._library.contest_tools import board as board
from recloak._library.contest_tools import final as final
from recloak._library.contest_tools import prepare as prepare
from recloak._library.contest_tools import score as score

__all__: list[str]
