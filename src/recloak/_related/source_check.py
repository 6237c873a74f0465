"""Whether ratings can be those behind a history: against others nothing that is published tells anything."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from recloak._core.errors import SourceError
from recloak._ratings.model import Ratings
from recloak._related.history import History, ReleaseRecord, item_names, require_kind, table_of
from recloak._related.ledger import Arrivals, Ledger, arrivals
from recloak._related.model import Lists, require_times
from recloak._related.verifier import Coverage

_LEAST_ITEMS = 0.99  # of the published items that somebody rated; what is taken out of a catalogue is little
_MOST_CHANGED = 0.1  # of the ratings behind the last release: some come late, some are taken back


def require_source(
    history: History, ratings: Ratings, ledger: Ledger | None, *, by_time: bool = False
) -> Coverage | None:
    """Return how well ratings fit a history; raise SourceError if they are not those that it was made from.

    Without a ledger, or where what is done goes by the ratings' own times (``by_time``), these must fit, too.
    """
    require_times(ratings)
    require_kind(history, ratings.item_ids)
    names, records = item_names(history), history.releases
    if ledger is None or by_time:
        _require_items(history, _n_rated(ratings, names), len(names))
        _require_counts(history, ratings, records)
    if ledger is None:
        return None
    last = _shown_items(history, records[-1], ledger)
    _require_items(history, _n_rated(ratings, last), len(last))
    arrived = arrivals(ledger, ratings)
    n_users = int(np.count_nonzero((arrived.users < ledger.n_users) & (ratings.activity > 0)))
    n_holdings = ratings.n_ratings - arrived.n_new
    people = int(ledger.user_ids.is_not_null().sum())
    found = Coverage(_n_rated(ratings, names), len(names), n_users, people, n_holdings, ledger.n_holdings)
    if not n_users or n_holdings < _least_holdings(records[-1], ledger):
        raise _not_of(history, f"{n_users} of its {people} users and {_holdings(n_holdings, ledger)}")
    return found


def require_continued(
    history: History, ratings: Ratings, arrived: Arrivals, ledger: Ledger, last: tuple[ReleaseRecord, Lists]
) -> None:
    """Raise SourceError unless ratings go on from those of the last release, whose lists are given too.

    The ledger would take in another log of the same people as what they added tonight, and the old one would be
    proved against the new.
    """
    record, lists = last
    n_holdings = ratings.n_ratings - arrived.n_new
    if not n_holdings or n_holdings < _least_holdings(record, ledger):
        raise _not_of(history, _holdings(n_holdings, ledger), hint=True)
    is_rated, is_shown = np.zeros(len(ledger.item_ids), np.bool_), np.zeros(lists.n_items, np.bool_)
    numbers = arrived.items[ratings.popularity > 0]
    is_rated[numbers[numbers < len(is_rated)]] = True
    is_shown[lists.items[lists.items >= 0]] = True
    shown = np.flatnonzero((is_shown | (lists.items >= 0).any(axis=1))[ledger.ranks()] & ledger.is_held())
    _require_items(history, int(is_rated[shown].sum()), len(shown), hint=True)


def _least_holdings(last: ReleaseRecord, ledger: Ledger) -> float:
    """Return how many holdings of a ledger ratings must have: most of those that were there at the last release."""
    then = last.settings.get("n_ratings", ledger.n_holdings)
    return (1 - _MOST_CHANGED) * min(then, ledger.n_holdings)


def _holdings(n: int, ledger: Ledger) -> str:
    return f"{n} of the {ledger.n_holdings} ratings it has seen are in them"


def _not_of(history: History, why: str, *, hint: bool = False) -> SourceError:
    more = "; pass accept_source=True if they are meant to take the place of the earlier ones" if hint else ""
    return SourceError(f"the ratings are not those of this history: {why}{more}", file=history.name)


def _shown_items(history: History, last: ReleaseRecord, ledger: Ledger) -> pl.Series:
    """Return the items of a release; without those whose holders were all forgotten since."""
    table = table_of(history, last.number)
    names = pl.concat([table["item"], table["related"]]).unique()
    return names.filter(names.is_in(ledger.item_ids.filter(pl.Series(ledger.is_held())).implode()))


def _n_rated(ratings: Ratings, names: pl.Series) -> int:
    numbers = ratings.item_ids.encode(names)
    return int(np.count_nonzero(ratings.popularity[numbers[numbers >= 0]]))


def _require_items(history: History, known: int, n_names: int, *, hint: bool = False) -> None:
    if known < _LEAST_ITEMS * n_names:
        raise _not_of(history, f"{known} of its {n_names} items have ratings", hint=hint)


def _require_counts(history: History, ratings: Ratings, records: Sequence[ReleaseRecord]) -> None:
    assert ratings.times is not None
    times = np.sort(ratings.times)
    for one in records:
        found, then = int(np.searchsorted(times, one.time, side="right")), one.settings.get("n_ratings")
        if not found or (then is not None and abs(found - then) > _MOST_CHANGED * then):
            told = "" if then is None else f"; it was made from {then}"
            raise _not_of(history, f"{found} of them come before release {one.number}{told}")
