"""The options of contests."""

from dataclasses import dataclass

from recloak._core.options import Options, option


@dataclass(frozen=True, kw_only=True)
class ContestOptions(Options):
    """What is asked, and what the board tells."""

    holdout: float = option(0.1, "share of the ratings held out as the hidden probe", above=0.0, at_most=0.5)
    fakes: int = option(4, "questions about pairs that nobody is scored on, for each real one", at_least=0)
    submissions: int = option(100, "how many submissions the board answers in all; more mean more noise", at_least=2)
    per_day: int = option(5, "how many submissions a team may make in a day", at_least=1)
