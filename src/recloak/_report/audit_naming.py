"""Sections on attacks that name people."""

from __future__ import annotations

from collections.abc import Sequence

from recloak._attacks.model import IDENTIFYING, Outcome
from recloak._core.intervals import Share
from recloak._report.audit_words import CALLED, GROUP, ORIGINAL, PROMISE, RELEASE, table_of, why_not
from recloak._report.charts import Axis, Lines, bars, lines
from recloak._report.formats import percent, plural
from recloak._report.page import Section

_NAMED = Axis("targets named rightly", percent=True, low=0, high=1)
_SHORT = {"structure": "items only", "label": "exact ratings", "label-tolerant": "within a step",
          "scoreboard": "Scoreboard-RH", "nearest": "nearest profile"}  # fmt: skip


def naming_sections(outcomes: Sequence[Outcome]) -> tuple[Section, ...]:
    """Show the strongest attacker over what it knows, all attackers side by side, and other kinds of knowledge."""
    plain = [one for one in outcomes if one.name in IDENTIFYING and one.setting == "plain"]
    varied = [one for one in outcomes if one.name == "scoreboard" and one.setting != "plain"]
    sections = [curve([one for one in plain if one.name == "scoreboard"])] if plain else []
    sections += [_others(plain)] if any(one.name != "scoreboard" for one in plain) else []
    return (*sections, *([_varied(varied)] if any(one.release for one in varied) else []))


def curve(found: Sequence[Outcome]) -> Section:
    """Chart one attack against the number of known items."""
    measured = [one for one in found if one.release is not None]
    if not measured:
        return Section(CALLED[found[0].name], why_not(found), "lower", table=table_of(found))
    most = max(measured, key=lambda one: one.known or 0)
    assert most.release is not None
    original = "" if most.original is None else f", and in the original data {percent(most.original.rate)}"
    guess = f" A blind guess names {percent(most.baseline)}." if most.baseline else ""
    meaning = (
        f"The attacker {most.attacker.split('; ')[-1]}. With {plural(most.known or 0, 'known rating')} this succeeds "
        f"for {percent(most.release.rate)} of the targets in the release{original}.{guess} Bands are 95 % intervals."
    )
    return Section(CALLED[most.name], meaning, "lower", _chart(measured), table_of(found))


def _chart(found: Sequence[Outcome]) -> Lines:
    sides: dict[str, dict[float, Share | float]] = {RELEASE: {}, ORIGINAL: {}, GROUP: {}, PROMISE: {}}
    for one in found:
        promise = one.bound if one.name in IDENTIFYING else None
        for side, share in ((RELEASE, one.release), (ORIGINAL, one.original), (GROUP, one.group), (PROMISE, promise)):
            if share is not None and one.known is not None:
                sides[side][float(one.known)] = share
    known = tuple(sorted({float(one.known) for one in found if one.known is not None}))
    shown = {side: points for side, points in sides.items() if points}
    found_axis = Axis("share of the targets", percent=True, low=0, high=1)
    return lines(Axis("known items", log=True, ticks=known), found_axis, shown)


def _others(plain: Sequence[Outcome]) -> Section:
    """Put all attackers with the same knowledge side by side."""
    at = max((one.known or 0 for one in plain if one.name == "scoreboard-paper"), default=0) or plain[-1].known
    same = [one for one in plain if one.known == at and one.name in _SHORT and one.release is not None]
    meaning = (
        "Every attacker knows the same ratings. Averaging removes exact ratings from a release, so a low figure of the "
        "attacker who looks for them proves nothing by itself; the tolerant and the scoring attackers are the test."
    )
    chart = None
    if same:
        values = {RELEASE: [one.release or 0.0 for one in same], ORIGINAL: [one.original or 0.0 for one in same]}
        chart = bars(Axis(f"attacker who knows {at} items"), _NAMED, [_SHORT[one.name] for one in same], values)
    rest = [one for one in plain if one.name != "scoreboard"]
    return Section("All attackers side by side", meaning, "lower", chart, table_of(rest))


def _varied(varied: Sequence[Outcome]) -> Section:
    """Chart how other kinds of knowledge change Scoreboard-RH."""
    measured = [one for one in varied if one.release is not None]
    values = {RELEASE: [one.release or 0.0 for one in measured], ORIGINAL: [one.original or 0.0 for one in measured]}
    axis = Axis(f"what is known of {measured[0].known} items")
    meaning = (
        "Scoreboard-RH with popular or rare items, with ratings that are off, with some of the knowledge wrong, and "
        "with times. A release carries no times, so knowing them helps against the original data only."
    )
    chart = bars(axis, _NAMED, [one.setting for one in measured], values)
    return Section("If the attacker knows better, or worse", meaning, "lower", chart, table_of(varied))
