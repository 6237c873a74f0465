"""The page of ``recloak related report``: tonight's changes, recall and risk over time, the promise, and warnings."""

from collections.abc import Mapping
from typing import Any

from recloak._related.history import ReleaseRecord
from recloak._related.operator_view import OperatorView
from recloak._report.charts import Axis, Lines, bars, lines
from recloak._report.formats import count, day, percent, plural, with_interval
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table

_MOST_ROWS = 40
_CHANGES = ("appeared", "rose", "sank", "vanished")
_WHY = {
    "suppressed": "left out: it would tell too much",
    "permuted": "moved to a place that tells less",
    "replaced": "stands in for an entry that tells too much",
    None: "as in the true list",
}


def related_page(view: OperatorView, *, titles: Mapping[str, str] | None = None, provenance: Provenance = ()) -> Page:
    """Return the page of a history for its operator."""
    return Page(
        title="Related lists: tonight and until now",
        subtitle=view.name,
        verdict=_verdict(view),
        facts=_facts(view),
        chapters=tuple(one for one in (_tonight(view, titles or {}), _over_time(view), _promise(view)) if one.sections),
        account=Account(_account(view), provenance),
    )


def _verdict(view: OperatorView) -> PageVerdict:
    last = view.last
    kept = f"Release {last.number} keeps {percent(last.settings['cost']['recall'])} of the true entries"
    surest = f"the surest inference is right with {last.settings['max_breach']:.4f}"
    text = f"{kept}; {surest}, allowed is {last.policy.delta:g}."
    if not view.warnings:
        return PageVerdict("good", "In order", "Nothing needs your attention.", text)
    more = "" if len(view.warnings) == 1 else f" There {_are(len(view.warnings) - 1)} below."
    return PageVerdict("caution", "Look at this", view.warnings[0] + more, text)


def _are(n: int) -> str:
    return f"{'is' if n == 1 else 'are'} {plural(n, 'more warning')}"


def _facts(view: OperatorView) -> tuple[Fact, ...]:
    last, cost = view.last, view.last.settings["cost"]
    n_changes = "–" if view.changes is None else count(len(view.changes))
    return (
        Fact("Releases", count(len(view.records)), f"the last of {day(last.time)}"),
        Fact(
            "Recall",
            percent(cost["recall"]),
            f"{count(cost['suppressed'])} entries left out, {count(cost['permuted'])} moved",
        ),
        Fact("Surest inference", f"{last.settings['max_breach']:.3f}", f"allowed: {last.policy.delta:g}"),
        Fact("Changes tonight", n_changes, "entries that appeared, rose, sank or vanished"),
        Fact(
            "Items with a list",
            count(view.n_lists),
            f"of {count(view.n_items)} ever shown; {view.n_entries / max(view.n_lists, 1):.1f} entries each",
        ),
    )


def _tonight(view: OperatorView, titles: Mapping[str, str]) -> Chapter:
    if view.changes is None:
        return Chapter("Tonight")
    table = view.changes.table
    kinds = dict(table["change"].value_counts().rows())
    chart = bars(
        Axis("change"), Axis("entries", low=0), _CHANGES, {"entries": [float(kinds.get(one, 0)) for one in _CHANGES]}
    )
    why = dict(table["reason"].value_counts().rows())
    reasons = "; ".join(
        f"{_WHY.get(one, one)} ({count(n)})" for one, n in sorted(why.items(), key=lambda pair: -pair[1])
    )
    between = f"between release {view.changes.earlier} and {view.changes.later}"
    meaning = f"What a visitor can see {between}. Why: {reasons or 'nothing changed'}."
    counted = Table(("Change", "Entries"), tuple((one, count(kinds.get(one, 0))) for one in _CHANGES))
    return Chapter(
        "Tonight",
        "For your eyes only: the reasons say more than was published.",
        sections=(Section("What changed", meaning, None, chart, counted), _changes(table.to_dicts(), titles)),
    )


def _changes(rows: list[dict[str, Any]], titles: Mapping[str, str]) -> Section:
    shown = sorted(rows, key=lambda row: (row["reason"] is None, row["item"]))[:_MOST_ROWS]
    left = len(rows) - len(shown)
    meaning = "Changes that the protection made or shaped come first." + (
        f" {plural(left, 'further change')} not shown; related history --changes lists all." if left else ""
    )
    cells = tuple((_sentence(row, titles), _place(row["position"]), _place(row["position_after"])) for row in shown)
    return Section("Which entries", meaning, None, None, Table(("What happened", "Before", "After"), cells))


def _sentence(row: dict[str, Any], titles: Mapping[str, str]) -> str:
    happened = f"{_title(row['related'], titles)} {row['change']} in the list of {_title(row['item'], titles)}"
    return f"{happened}: {_WHY.get(row['reason'], row['reason'])}"


def _title(item: Any, titles: Mapping[str, str]) -> str:
    return titles.get(str(item), str(item))


def _place(position: int | None) -> str:
    return "–" if position is None else str(position)


def _over_time(view: OperatorView) -> Chapter:
    recall = {float(one.number): one.settings["cost"]["recall"] for one in view.records}
    surest = {float(one.number): one.settings["max_breach"] for one in view.records}
    allowed = {float(one.number): one.policy.delta for one in view.records}
    x = Axis("release")
    sections = [
        Section(
            "Recall",
            "Share of the true entries that are still in their list.",
            "higher",
            _chart(x, "true entries kept", {"recall": recall}),
            _figures(view),
        ),
        Section(
            "Risk",
            "The surest inference that a release allows the observer whom the promise names, and what is allowed.",
            "lower",
            _chart(x, "probability", {"surest inference": surest, "allowed (delta)": allowed}),
        ),
    ]
    if view.observers:
        sections.append(_observers(view))
    return Chapter("Over time", sections=tuple(sections))


def _chart(x: Axis, label: str, series: dict[str, dict[float, float]]) -> Lines:
    return lines(x, Axis(label, low=0.0, high=1.0), {name: dict(points) for name, points in series.items()})


def _figures(view: OperatorView) -> Table:
    rows = tuple(
        (
            str(one.number),
            day(one.time),
            f"{one.settings['cost']['recall']:.3f}",
            count(one.settings["cost"]["suppressed"]),
            count(one.settings["cost"]["permuted"]),
            f"{one.settings['max_breach']:.4f}",
        )
        for one in view.records[-_MOST_ROWS:]
    )
    return Table(("Release", "Day", "Recall", "Left out", "Moved", "Surest inference"), rows, n_labels=2)


def _observers(view: OperatorView) -> Section:
    meaning = (
        "An observer who knows all that somebody held has learned from other people how to read the lists. Each figure "
        "is the share of everything added that is inferred while so many of the inferences are right; the control sees "
        "no moves."
    )
    levels = next((one.observation.yields for one in view.observers if one.observation.yields), ())
    head = ("Lists", "Targets", "Sees", *(f"{one.accuracy:.0%} right" for one in levels))
    rows = tuple(
        (
            one.lists,
            one.targets,
            one.sees,
            *([with_interval(each.yielded) for each in one.observation.yields or ()] or ["not measured"] * len(levels)),
        )
        for one in view.observers
    )
    return Section("What a learned observer infers", meaning, "lower", None, Table(head, rows, n_labels=3))


def _promise(view: OperatorView) -> Chapter:
    rows = tuple(_policy_row(one) for one in view.records[-_MOST_ROWS:])
    head = ("Release", "Loosened", "Covers", "Evidence", "Delta", "People behind an entry", "Positions")
    meaning = "What held when each release was published. Less than before needs --loosen and stays on record here."
    sections = [Section("The promise of every release", meaning, None, None, Table(head, rows, n_labels=4))]
    if view.warnings:
        warned = Table(("No.", "Warning"), tuple((str(n), one) for n, one in enumerate(view.warnings, 1)), n_labels=2)
        sections.insert(0, Section("Warnings", "What to look at, the oldest first.", None, None, warned))
    return Chapter("The promise", sections=tuple(sections))


def _policy_row(one: ReleaseRecord) -> tuple[str, ...]:
    policy = one.policy
    covers = f"window {policy.window_name}" if policy.window else policy.horizon
    loosened = ", ".join(one.settings.get("loosened", [])) or "no"
    return (
        str(one.number),
        loosened,
        covers,
        policy.evidence,
        f"{policy.delta:g}",
        str(policy.min_support),
        str(one.top),
    )


def _account(view: OperatorView) -> tuple[str, ...]:
    told = [
        f"Read {plural(len(view.records), 'release')} from the store; nothing was changed.",
        "Recall, risk and reasons are those that were stored when each release was made and verified.",
    ]
    if view.observers:
        told.append("Attacked the published lists anew with the ratings that were given.")
    return tuple(told)
