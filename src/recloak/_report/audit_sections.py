"""The sections of an audit's page; every word about an attack comes from the attack."""

from collections.abc import Iterable, Sequence
from typing import Any

from recloak._attacks.attack import Attack, DetailChart, Kind, Varied
from recloak._attacks.model import Outcome
from recloak._core.intervals import Share
from recloak._report.charts import Axis, Lines, bars, lines
from recloak._report.formats import count, percent, plural, with_interval
from recloak._report.measured_remedies import Alternatives
from recloak._report.page import Section, Table

ORIGINAL, RELEASE, GROUP = "original data", "release", "release, right group named"
PROMISE = "promised at most"

_HEAD = ("Attack", "Known", "Knowledge", "Verdict", "Original", "Release", "Right group", "Absent named", "Guessing",
         "Bound")  # fmt: skip
_NAMED = Axis("targets named correctly", percent=True, low=0, high=1)
_SUCCESS = Axis("success", percent=True, low=0, high=1)


def verdict_in_words(one: Outcome) -> str:
    """Return a verdict in words: breached, bounded by x beside what it is compared with, or why there is none."""
    if one.verdict == "bounded" and one.release is not None:
        return f"bounded by {percent(one.release.high)} ({compared_with(one)})"
    return one.verdict


def compared_with(one: Outcome) -> str:
    """Return what a success must be seen against: what is promised, or what is reached without the release."""
    if one.identifies and one.bound is not None:
        return f"promised at most {percent(one.bound)}"
    return f"without the release {percent(one.baseline)}"


def excess(one: Outcome) -> float:
    """Return how bad an outcome is: a breach before anything else, then by how far it is from what is allowed."""
    assert one.release is not None
    bound = one.baseline if one.bound is None else one.bound
    return (2.0 if one.verdict == "breached" else 0.0) + (0.5 * one.identifies) + one.release.high - bound


def worst_of(outcomes: Iterable[Outcome], n: int) -> tuple[Outcome, ...]:
    """Return the worst outcomes, one for each attack, the worst first."""
    measured = by_attack(one for one in outcomes if one.release is not None)
    return tuple(sorted((max(runs, key=excess) for runs in measured.values()), key=excess, reverse=True)[:n])


def worst_section(outcomes: Sequence[Outcome], alternatives: Alternatives, n: int = 3) -> tuple[Section, ...]:
    """Return a table of the worst outcomes with what to do about each; nothing, if nothing was measured."""
    rows = tuple(_worst(one, alternatives) for one in worst_of(outcomes, n))
    table = Table(("Attack", "Verdict", "Success, and what to compare it with", "What to do"), rows, 4, wraps=True)
    return (Section("", "", table=table),) if rows else ()


def _worst(one: Outcome, alternatives: Alternatives) -> tuple[str, ...]:
    what = "colluding member" if one.attack.varied is Varied.COLLUDERS else "known item"
    known = "" if one.known is None else f", {plural(one.known, what)}"
    limit = "" if one.bound is None or one.identifies else f"; breached above {percent(one.bound)}"
    reached = f"{with_interval(one.release)} of {one.unit}; {compared_with(one)}{limit}"
    remedy = " ".join(filter(None, (_capital(one.attack.remedy), alternatives.remedy_for(one))))
    return f"{one.attack.title}{known}", one.verdict, reached, remedy


def titles_of(outcomes: Iterable[Outcome]) -> str:
    """Return the titles of attacks, each once."""
    return "; ".join(dict.fromkeys(one.attack.title for one in outcomes))


def by_attack(outcomes: Iterable[Outcome]) -> dict[Attack, list[Outcome]]:
    """Return the outcomes of each attack, in the order of first appearance."""
    grouped: dict[Attack, list[Outcome]] = {}
    for one in outcomes:
        grouped.setdefault(one.attack, []).append(one)
    return grouped


def naming_sections(outcomes: Sequence[Outcome]) -> tuple[Section, ...]:
    """Return charts of the strongest attacker over its knowledge, of all attackers, and of other kinds of knowledge."""
    identifying = [one for one in outcomes if one.identifies]
    plain = [one for one in identifying if one.setting == "plain"]
    all_attackers = [_all_attackers(plain)] if any(not _has_own_chart(one) for one in plain) else []
    curves = [curve(runs) for runs in by_attack(filter(_has_own_chart, plain)).values()]
    varied = by_attack(one for one in identifying if one.setting != "plain").values()
    return (*curves, *all_attackers, *(_varied(runs) for runs in varied if any(one.release for one in runs)))


def _has_own_chart(one: Outcome) -> bool:
    """Return whether the attack is also tried with other kinds of knowledge."""
    return one.attack.varied is Varied.SETTINGS


def curve(runs: Sequence[Outcome]) -> Section:
    """Return a chart of one attack against the number of known items."""
    measured, attack = [one for one in runs if one.release is not None], runs[0].attack
    if not measured:
        return Section(attack.title, _why_not(runs), "lower", table=_table_of(runs))
    most = max(measured, key=lambda one: one.known or 0)
    assert most.release is not None
    original = "" if most.original is None else f", and in the original data {percent(most.original.rate)}"
    guess = f" A blind guess names {percent(most.baseline)}." if most.baseline else ""
    meaning = (
        f"The attacker {attack.attacker}. With {plural(most.known or 0, 'known rating')} this succeeds "
        f"for {percent(most.release.rate)} of the targets in the release{original}.{guess} Bands are 95 % intervals."
    )
    return Section(attack.title, meaning, "lower", _chart(measured), _table_of(runs))


def _chart(runs: Sequence[Outcome]) -> Lines:
    sides: dict[str, dict[float, Share | float]] = {RELEASE: {}, ORIGINAL: {}, GROUP: {}, PROMISE: {}}
    for one in runs:
        promise = one.bound if one.identifies else None
        for side, share in ((RELEASE, one.release), (ORIGINAL, one.original), (GROUP, one.group), (PROMISE, promise)):
            if share is not None and one.known is not None:
                sides[side][float(one.known)] = share
    known = tuple(sorted({float(one.known) for one in runs if one.known is not None}))
    shown = {side: points for side, points in sides.items() if points}
    y = Axis("share of the targets", percent=True, low=0, high=1)
    return lines(Axis("known items", log=True, ticks=known), y, shown)


def _all_attackers(plain: Sequence[Outcome]) -> Section:
    meaning = (
        "Every attacker knows the same ratings. Averaging removes exact ratings from a release, so a low figure of the "
        "attacker who looks for them proves nothing by itself; the tolerant and the scoring attackers are the test."
    )
    compared = [one for one in plain if one.attack.varied is not Varied.ONE_KNOWN]
    numbers = [one.known or 0 for one in plain if one.attack.varied is Varied.ONE_KNOWN]
    at = max(numbers, default=0) or next((one.known for one in reversed(compared) if one.known), None)
    same = [one for one in compared if one.known in (at, None) and one.release is not None]
    axis = Axis("attacker" if at is None else f"attacker who knows {at} items")
    chart = bars(axis, _NAMED, [one.attack.short for one in same], _both_sides(same)) if same else None
    rest = [one for one in plain if not _has_own_chart(one)]
    return Section("All attackers side by side", meaning, "lower", chart, _table_of(rest))


def _both_sides(runs: Sequence[Outcome]) -> dict[str, list[Share | float]]:
    return {RELEASE: [one.release or 0.0 for one in runs], ORIGINAL: [one.original or 0.0 for one in runs]}


def _varied(varied: Sequence[Outcome]) -> Section:
    measured = [one for one in varied if one.release is not None]
    meaning = (
        f"{varied[0].attack.short} with popular or rare items, with ratings that are off, with some of the knowledge "
        "wrong, and with times. A release carries no times, so knowing them helps against the original data only."
    )
    axis = Axis(f"what is known of {measured[0].known} items")
    chart = bars(axis, _NAMED, [one.setting for one in measured], _both_sides(measured))
    return Section("If the attacker knows better, or worse", meaning, "lower", chart, _table_of(varied))


def cell_sections(outcomes: Sequence[Outcome]) -> tuple[Section, ...]:
    """Return what pins a profile down, the attacks on cells in one chart, and each of them in words and numbers."""
    hidden = by_attack(one for one in outcomes if not one.identifies)
    pinning = {attack: runs for attack, runs in hidden.items() if attack.kind is Kind.PINS_DOWN}
    cells = {attack: runs for attack, runs in hidden.items() if attack not in pinning}
    measured = [one for runs in cells.values() for one in runs if one.release is not None]
    sections = [curve(runs) for runs in pinning.values()]
    sections += [_side_by_side(measured)] if measured else []
    for attack, runs in cells.items():
        sections.append(_section(attack, runs))
        sections += [_detail_chart(chart, one) for one in runs if one.release for chart in attack.charts]
    return tuple(sections)


def _side_by_side(measured: Sequence[Outcome]) -> Section:
    values: dict[str, list[Share | float]] = {
        RELEASE: [one.release or 0.0 for one in measured],
        "without this knowledge": [one.baseline for one in measured],
    }
    places = [_place(one) for one in measured]
    meaning = (
        "How often each attacker is right with the release, and how often without it (or without the colluders, or "
        "without the second release). The closer the two bars are, the less the release reveals."
    )
    return Section("Revealed beyond a guess", meaning, "lower", bars(Axis("attack"), _SUCCESS, places, values))


def _place(one: Outcome) -> str:
    known = [] if one.known is None else [str(one.known)]
    return ", ".join([one.attack.short, *known, *([] if one.setting == "plain" else [one.setting])])


def _section(attack: Attack, runs: Sequence[Outcome]) -> Section:
    measured = [one for one in runs if one.release is not None]
    if not measured:
        return Section(attack.title, _why_not(runs), "lower")
    worst = max(measured, key=lambda one: one.release.rate - one.baseline if one.release else 0.0)
    assert worst.release is not None
    meaning = (
        f"The attacker {worst.attacker}. {_capital(worst.unit)}: {percent(worst.release.rate)}, against "
        f"{percent(worst.baseline)} by {attack.baseline}: {verdict_in_words(worst)}."
    )
    return Section(attack.title, meaning, "lower", table=_cell_table(attack, measured))


def _cell_table(attack: Attack, measured: Sequence[Outcome]) -> Table:
    rows, varied = [], "colluding" if attack.varied is Varied.COLLUDERS else "known"
    for one in measured:
        number = "" if one.known is None else f", {one.known} {varied}"
        rows.append((f"{_capital(one.unit)}{number}", with_interval(one.release)))
        rows.append((f"Without the attack{number}", percent(one.baseline)))
    return Table(("", "Value"), (*rows, *_plain_details(attack, measured[-1].details.get("release", {}))))


def _plain_details(attack: Attack, details: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the figures among the details, except those that the attack gives no words."""
    plain = {name: value for name, value in details.items() if isinstance(value, float | int)}
    named = ((attack.details.get(name, _capital(name.replace("_", " "))), value) for name, value in plain.items())
    return tuple(
        (words, percent(value) if isinstance(value, float) else count(value)) for words, value in named if words
    )


def _detail_chart(chart: DetailChart, one: Outcome) -> Section:
    details, text = one.details["release"], chart.text
    for name, value in details.items():
        text = text.replace(f"{{{name}}}", percent(value) if isinstance(value, float) else str(value))
    shares = details[chart.detail]
    y = Axis(chart.y, percent=True, low=0, high=1)
    return Section(chart.title, text, "lower", bars(Axis(chart.x), y, list(shares), {"cells": list(shares.values())}))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _why_not(runs: Sequence[Outcome]) -> str:
    return f"{_capital(runs[0].verdict)}: {runs[0].reason or 'the attack did not run'}."


def _table_of(runs: Sequence[Outcome]) -> Table:
    return Table(_HEAD, tuple(_row(one) for one in runs), n_labels=4)


def _row(one: Outcome) -> tuple[str, ...]:
    return (
        one.name,
        "–" if one.known is None else str(one.known),
        one.setting,
        verdict_in_words(one),
        *(with_interval(share) for share in (one.original, one.release, one.group, one.control)),
        percent(one.baseline),
        "–" if one.bound is None else percent(one.bound),
    )
