"""What the operator of a history wants to see: what changed tonight, how it went over time, and what to look at."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from recloak._core.errors import InputError
from recloak._core.results import Result, counted, plural
from recloak._related.history import History, ListChanges, ReleaseRecord, item_names, table_of

_DAY = 86_400
_LOW_RECALL = 0.8
_FALL = 0.05  # of recall from one release to the next
_USUAL = 3  # releases that show how often they come
_FEW = 5  # people behind an entry
_LOST_LISTS = 0.1


@dataclass(frozen=True, eq=False, slots=True, kw_only=True, repr=False)
class OperatorView(Result):
    """A history as its operator sees it; it says more than was published."""

    name: str
    records: tuple[ReleaseRecord, ...]
    changes: ListChanges | None  # between the last two releases; None: there is one
    n_lists: int  # in the last release
    n_entries: int
    n_items: int  # that were ever published
    warnings: tuple[str, ...]
    observers: tuple[Any, ...] = ()  # of `recloak.related.attack`, if ratings were given

    def __repr__(self) -> str:
        return counted(self, plural(len(self.records), "release"), plural(len(self.warnings), "warning"))

    @property
    def last(self) -> ReleaseRecord:
        """The latest release."""
        return self.records[-1]

    def to_polars(self) -> pl.DataFrame:
        """Return a row per release: its promise, its recall and its surest inference."""
        rows = [{**one.to_json(), "loosened": ", ".join(one.to_json()["loosened"])} for one in self.records]
        return pl.DataFrame([{**row, "window": str(row["window"] or "")} for row in rows], infer_schema_length=None)

    def to_json(self) -> dict[str, Any]:
        """Return everything but the single changes, ready for JSON."""
        kinds = {} if self.changes is None else dict(self.changes.table["change"].value_counts().sort("change").rows())
        return {
            "releases": [one.to_json() for one in self.records],
            "changes": kinds,
            "coverage": {"lists": self.n_lists, "entries": self.n_entries, "items": self.n_items},
            "warnings": list(self.warnings),
            "observers": [one.to_json() for one in self.observers],
        }


def view_of(history: History, *, now: int) -> OperatorView:
    """Return what the operator sees of a history at some time of the clock; raise InputError if it is empty."""
    records = history.releases
    if not records:
        raise InputError(f"{history.name}: there is no release to report on")
    changes = history.changes(records[-2].number, records[-1].number) if len(records) > 1 else None
    tables = [table_of(history, one.number) for one in records[-2:]]
    n_lists = [table["item"].n_unique() for table in tables]
    return OperatorView(
        name=history.name,
        records=records,
        changes=changes,
        n_lists=n_lists[-1],
        n_entries=len(tables[-1]),
        n_items=len(item_names(history)),
        warnings=tuple(_warnings(records, n_lists, now)),
    )


def _warnings(records: Sequence[ReleaseRecord], n_lists: Sequence[int], now: int) -> list[str]:
    """Return in sentences what the operator should look at."""
    last, policy = records[-1], records[-1].policy
    recalls = [one.settings["cost"]["recall"] for one in records[-2:]]
    told = _promised_nothing(records) + [
        f"Release {one.number} promises less than the one before it: {', '.join(one.settings['loosened'])}."
        for one in records
        if one.settings.get("loosened")
    ]
    told += [
        f"The ratings of release {one.number} did not go on from those before it (--accept-source)."
        for one in records
        if one.settings.get("accepted_source")
    ]
    if last.settings.get("kept_out"):
        told.append(
            f"The ratings still hold {plural(last.settings['kept_out'], 'person', 'people')} who asked to be "
            "forgotten; they were left out. Take them out of the ratings."
        )
    if not n_lists[-1]:
        told.append(f"No item has a list: no two have {policy.min_support} raters in common.")
    if policy.min_support < _FEW:
        told.append(
            f"An entry may rest on {plural(policy.min_support, 'person', 'people')}; "
            f"with fewer than {_FEW} it points at somebody."
        )
    if policy.window is not None:
        told.append("The promise is a window of releases: what was added is told once the window has passed.")
    if recalls[-1] < _LOW_RECALL:
        told.append(f"Release {last.number} keeps {recalls[-1]:.0%} of the true entries.")
    if last.number > 2 and recalls[-1] < recalls[0] - _FALL:  # the first release of all is the true lists
        told.append(f"Recall fell from {recalls[0]:.3f} to {recalls[-1]:.3f} since the release before.")
    if n_lists[-1] < (1 - _LOST_LISTS) * n_lists[0]:
        told.append(f"Tonight {n_lists[-1]:,} items have a list; {n_lists[0]:,} had one in the release before.")
    return told + _silence(records, now)


def _promised_nothing(records: Sequence[ReleaseRecord]) -> list[str]:
    """Return a warning for a last release that bounds nothing, or only says how many people stand behind an entry."""
    policy = records[-1].policy
    if policy.promises_nothing:
        return ["The last release promises nothing: everything may be inferred, from entries that rest on one person."]
    return ["Delta 1 bounds no inference: only the support of entries is promised."] if policy.delta >= 1 else []


def _silence(records: Sequence[ReleaseRecord], now: int) -> list[str]:
    """Return a warning if releases came regularly and the next one is long overdue."""
    if len(records) < _USUAL:
        return []
    gaps = [after.time - before.time for before, after in itertools.pairwise(records)]
    usual = max(statistics.median(gaps), _DAY)
    late = now - records[-1].time
    if late <= 3 * usual:
        return []
    return [
        f"The last release is {late / _DAY:,.0f} days old; they used to come every {max(usual / _DAY, 1):.0f} days."
    ]
