"""Sections on what a release tells about people who stay hidden."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recloak._attacks.model import Outcome
from recloak._core.intervals import Share
from recloak._report.audit_naming import curve
from recloak._report.audit_words import CALLED, RELEASE, shown, verdict_in_words, why_not
from recloak._report.charts import Axis, bars
from recloak._report.formats import count, percent
from recloak._report.page import Section, Table

_SUCCESS = Axis("success", percent=True, low=0, high=1)
_BESIDE = {
    "link": "betting on the most popular items",
    "link-cap": "items that so many people rated anyway",
    "fingerprint": "guessing without the label",
    "insider": "an outsider's best guess",
    "intersection": "one release alone",
}

_SHORT = {
    "link": "link",
    "link-cap": "link, sure cells",
    "fingerprint": "fingerprint",
    "insider": "insiders",
    "intersection": "intersection",
}


_SAID = ("baseline", "cap", "one_release")  # told in the first lines of the table already
_DETAILS = {
    "cells": "Cells looked at",
    "cells_above": "Cells above the cap",
    "max_share": "Largest share of a group that rated an item",
    "share_at_50_%": "Share that half of the cells do not exceed",
    "share_at_90_%": "Share that 90 % of the cells do not exceed",
    "share_at_99_%": "Share that 99 % of the cells do not exceed",
    "mean_share": "Mean share of a group that rated an item",
    "mean_share_of_rated_cells": "The same where anybody rated it",
    "cells_above_0.5": "Cells that more than half of the group rated",
    "base_rate": "Share of all people who rated an item, on average",
    "theorem_without_prior": "The paper's bound on the confidence, 1/k",
    "theorem_with_prior": "The paper's bound with the base rate known",
    "independent_posterior": "What is true even of independent members",
    "cells_with_one_rater": "Labels with one rater behind them",
    "bare_single_ratings": "Labels that are that one rating itself",
    "told_by_label": "Read off the label as it is",
    "guessed_from_item_mean": "Guessed by the item's mean",
}


def cell_sections(outcomes: Sequence[Outcome]) -> tuple[Section, ...]:
    """Show homogeneity, the attacks on cells side by side, and each of them in words and numbers."""
    by_name = {name: [one for one in outcomes if one.name == name] for name in ("homogeneity", *_BESIDE)}
    sections = [curve(by_name["homogeneity"])] if by_name["homogeneity"] else []
    measured = [one for name in _BESIDE for one in by_name[name] if one.release is not None]
    sections += [_side_by_side(measured)] if measured else []
    for name in _BESIDE:
        sections += [_section(name, by_name[name])] if by_name[name] else []
        sections += [_confidence(one) for one in by_name[name] if name == "link" and one.release]
    return tuple(sections)


def _side_by_side(measured: Sequence[Outcome]) -> Section:
    found: list[Share | float] = [one.release or 0.0 for one in measured]
    guessed: list[Share | float] = [one.baseline for one in measured]
    values = {RELEASE: found, "without this knowledge": guessed}
    places = [_SHORT[one.name] + (f", {one.known}" if one.name == "insider" else "") for one in measured]
    meaning = (
        "How often each attacker is right with the release, and how often without it (or without the colluders, or "
        "without the second release). What counts is the difference: the nearer the two bars, the less is told."
    )
    return Section("Told beyond a guess", meaning, "lower", bars(Axis("attack"), _SUCCESS, places, values))


def _section(name: str, found: Sequence[Outcome]) -> Section:
    measured = [one for one in found if one.release is not None]
    if not measured:
        return Section(CALLED[name], why_not(found), "lower")
    worst = max(measured, key=lambda one: one.release.rate - one.baseline if one.release else 0.0)
    assert worst.release is not None
    meaning = (
        f"The attacker {worst.attacker}. {_capital(worst.unit)}: {percent(worst.release.rate)}, against "
        f"{percent(worst.baseline)} by {_BESIDE[name]}: {verdict_in_words(worst)}."
    )
    return Section(CALLED[name], meaning, "lower", table=_table(measured))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _table(measured: Sequence[Outcome]) -> Table:
    rows = []
    for one in measured:
        colluders = "" if one.known is None else f", {one.known} colluding"
        rows.append((f"{_capital(one.unit)}{colluders}", shown(one.release)))
        rows.append((f"Without the attack{colluders}", percent(one.baseline)))
    details = measured[-1].details.get("release", {})
    return Table(("", "Value"), (*rows, *_plain_details(details)))


def _plain_details(details: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    plain = {name: value for name, value in details.items() if isinstance(value, float | int)}
    return tuple(
        (
            _DETAILS.get(name, _capital(name.replace("_", " "))),
            percent(value) if isinstance(value, float) else count(value),
        )
        for name, value in plain.items()
        if name not in _SAID
    )


def _confidence(one: Outcome) -> Section:
    """Chart the share of real raters over the released cells, with the paper's theorems beside it."""
    details = one.details["release"]
    shares = details["cells_by_share"]
    chart = bars(
        Axis("share of the group's members who rated the item"),
        Axis("released cells", percent=True, low=0, high=1),
        list(shares),
        {"cells": list(shares.values())},
    )
    meaning = (
        f"Whoever knows a person's group believes that the person rated an item as strongly as the share of members "
        f"who did: at most {percent(details['max_share'])}, above one half in {percent(details['cells_above_0.5'])} of "
        f"the cells. The paper's bound of 1/k ({percent(details['theorem_without_prior'])}) does not hold: even among "
        f"independent members the belief is {percent(details['independent_posterior'])}."
    )
    return Section("How sure a link can be", meaning, "lower", chart)
