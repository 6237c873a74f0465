"""How the pages call the attacks, and how they say a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from recloak._attacks.model import Outcome
from recloak._core.intervals import Share
from recloak._report.formats import percent, with_interval
from recloak._report.page import Table

ORIGINAL, RELEASE, GROUP = "original data", "release", "release, right group named"
PROMISE = "promised at most"
CALLED = {
    "structure": "Items only (structure-based)",
    "label": "Exact ratings (label-based)",
    "label-tolerant": "Ratings within a step",
    "scoreboard": "Best score over all known ratings (Scoreboard-RH)",
    "scoreboard-paper": "Best score, with the constants of its paper (Scoreboard-RH)",
    "nearest": "Nearest profile",
    "homogeneity": "Profile pinned down (homogeneity)",
    "link": "Did this person rate it? (link existence)",
    "link-cap": "Cells that most of a group rated (link confidence)",
    "fingerprint": "How many are behind a label? (fingerprint of the average)",
    "insider": "Members who subtract their own ratings (insiders)",
    "intersection": "Two releases of the same people (intersection)",
}

_HEAD = ("Attack", "Known", "Knowledge", "Verdict", "Original", "Release", "Right group", "Absent named", "Guess",
         "Bound")  # fmt: skip


def verdict_in_words(one: Outcome) -> str:
    """Say a verdict: breached, bounded by x, or not measured."""
    if one.verdict == "bounded" and one.release is not None:
        return f"bounded by {percent(one.release.high)}"
    return one.verdict


def share_of_names(outcomes: Iterable[Outcome]) -> str:
    """Name attacks, each once."""
    return "; ".join(dict.fromkeys(CALLED[one.name] for one in outcomes))


def shown(share: Share | None) -> str:
    """Write a share with its interval, or a dash."""
    return "–" if share is None else with_interval(share)


def why_not(found: Sequence[Outcome]) -> str:
    """Say why nothing was measured."""
    return f"Not measured: {found[0].reason or 'the attack did not run'}." if found else "Not measured."


def table_of(found: Sequence[Outcome]) -> Table:
    """Give the numbers of some outcomes."""
    return Table(_HEAD, tuple(_row(one) for one in found), n_labels=4)


def _row(one: Outcome) -> tuple[str, ...]:
    return (
        one.name,
        "–" if one.known is None else str(one.known),
        one.setting,
        verdict_in_words(one),
        shown(one.original),
        shown(one.release),
        shown(one.group),
        shown(one.control),
        percent(one.baseline),
        "–" if one.bound is None else percent(one.bound),
    )
