"""The texts that come with a contest: the task, and the terms of use."""

from __future__ import annotations

from recloak._contest.model import BASELINE, LOADERS, QUESTIONS, RELEASE, TERMS, VALIDATOR, Rules
from recloak._contest.options import ContestOptions


def task_text(rules: Rules, options: ContestOptions, n_groups: int, decimals_note: str) -> str:
    """Return the description of the task in Markdown."""
    return f"""# The task

Predict ratings from {rules.low:g} to {rules.high:g}. `{RELEASE}/` holds anonymised ratings: groups of people who share
one row of items and ratings ({n_groups:,} groups); its README says what a rating means. Before it was made, some
ratings were held out. `{QUESTIONS}` asks for a prediction for each `group` and `item`: the rating that a member of the
group gave the item.

About one question in {options.fakes + 1} is about a rating that was held out; the others are fakes and are not scored.

## A submission

A CSV with the columns `question` and `prediction` and a row for every question, as `{BASELINE}` (the mean of each
item). Leave a prediction empty where you have none; it counts as the middle of the scale. `python {VALIDATOR} mine.csv`
checks it.
`{LOADERS}` loads release and questions for pandas and LensKit and writes RecBole's `.inter`.

## Scores and the board

The root mean squared error decides. The board shows one line per team. It is about a secret half of the held-out
ratings, has noise of about {decimals_note}, is rounded, and moves only when a team improves by more than that, so that
ratings are hard to read off it. The other half decides in the end; then the order of the teams is told, and no scores.
A team may make {options.per_day} submissions in a day, and the board answers {options.submissions} in all.

Use of the data is bound to `{TERMS}`.
"""


TERMS_TEXT = """# Terms of use

1. The data is for this contest and for research on recommenders.
2. Do not try to find out who the people are, whether a certain person is among them, or what a person rated, and do
   not link the data with other data to that end.
3. Do not use submissions to learn single ratings. One person or company takes part in one team.
4. Do not pass the data on. Delete it when you no longer need it.
5. If you find a way to learn about people, tell the owner first, so that it can be closed.
6. Submissions stay yours. The owner may publish scores and team names.

The release is anonymised as its README says; it also says what is not promised. The data comes without warranty.
"""
