"""A whole history judged by the verifier, and what needs that: forgetting somebody, and leaving old releases out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from recloak._core.errors import InputError
from recloak._related.erased_people import EraseKey, mark_of
from recloak._related.history import History, ReleaseRecord, published
from recloak._related.history_writing import Seal, forget_user, ledger_of, prune_releases, seals_of
from recloak._related.ledger import Ledger
from recloak._related.model import starts_of
from recloak._related.options import BoundOptions
from recloak._related.verifier import HistoryVerdict, verify


def verify_history(history: History, ledger: Ledger, bounds: Sequence[BoundOptions]) -> HistoryVerdict:
    """Judge every release by its own promise, with what the ledger knows; sealed releases keep their last verdict."""
    seals, item_ids = seals_of(history), ledger.items()
    releases = published(history, item_ids)
    through = seals[-1].through if seals else 0
    verdict = verify(releases, ledger.holders(), bounds, after=through)
    failed = [seal for seal in seals if not seal.passed]
    sealed = [(one, bound) for one, bound in zip(releases, bounds, strict=True) if one.number <= through]
    empty = tuple(one.number for one, bound in sealed if bound.promises_nothing)
    return replace(
        verdict.named(item_ids),
        n_sealed=len(sealed),
        n_unknown=verdict.n_unknown + len(failed),
        n_entries=verdict.n_entries + sum(one.lists.n_entries for one, _ in sealed),
        unpromising=empty + verdict.unpromising,
    )


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Somebody was taken out of a history."""

    holdings: int  # that were taken out
    sealed: int  # releases that were proved for the last time
    verdict: HistoryVerdict  # of that proof
    key: str | None = None  # file of the key by which the store knows them again; None: they come back if rated anew

    def to_json(self) -> dict[str, Any]:
        """Return what was done, ready for JSON; it names nobody."""
        done = {"holdings": self.holdings, "sealed": self.sealed, "stays_out": self.stays_out, "key": self.key}
        return {**done, "verified": self.verdict.to_json()}

    @property
    def stays_out(self) -> bool:
        """Whether ratings of theirs are left out of later nights."""
        return self.key is not None


def forget(history: History, user: int | str, key: EraseKey | None) -> Forgotten:
    """Take a user out of a history, after a last proof of the releases that leaned on them.

    With a ``key`` that has a place the store keeps a mark of theirs, so that they stay out.

    Raises
    ------
    InputError
        If the history has no ledger, or does not know the user.
    """
    ledger, records = ledger_of(history), history.releases
    if ledger is None:
        raise InputError(f"{history.name}: it holds nobody's ratings, so there is nobody to forget")
    number = _number_of(ledger, user)
    if number is None:
        raise InputError(f"{history.name}: it does not know this user")
    verdict = verify_history(history, ledger, [one.policy for one in records])
    n_holdings = sum(int((batch.users == number).sum()) for batch in ledger.batches)
    seal = Seal(records[-1].number if records else 0, 1, verdict.is_kept, verdict.max_breach)
    is_marked = key is not None and key.path is not None
    forget_user(history, ledger, number, seal, mark_of(key.made(), user) if key and is_marked else None)
    return Forgotten(n_holdings, len(records), verdict, str(key.path) if key and is_marked else None)


def _number_of(ledger: Ledger, user: int | str) -> int | None:
    for number, one in enumerate(ledger.user_ids):
        if one is not None and str(one) == str(user):
            return number
    return None


@dataclass(frozen=True, slots=True)
class Pruned:
    """Old releases were left out of a history."""

    removed: int
    kept: int

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of releases, ready for JSON."""
        return {"removed": self.removed, "kept": self.kept}


def prune(history: History) -> Pruned:
    """Delete the releases that no promise looks back to any more: those before the horizon of the last one."""
    records = history.releases
    if len(records) < 2:
        return Pruned(0, len(records))
    ledger, last = ledger_of(history), records[-1]
    times = [one.time for one in records[:-1]]
    if last.policy.window:
        n_kept = last.policy.span(len(records))
    elif ledger is None:
        n_kept = len(times)
    else:
        n_kept = len(starts_of(last.policy, times, last.time, ledger.holders()))
    first: ReleaseRecord = records[len(times) - n_kept]
    removed = prune_releases(history, first.number)
    return Pruned(removed, n_kept + 1)
