"""Whether ratings can be those behind a history: against others nothing that is published looks like a breach."""

from collections.abc import Sequence

import numpy as np

from recloak._core.errors import SourceError
from recloak._ratings.model import Ratings
from recloak._related.history import History, ReleaseRecord, item_names, require_kind
from recloak._related.ledger import Ledger, arrivals
from recloak._related.model import require_times
from recloak._related.verifier import Coverage

_LEAST_ITEMS = 0.99  # of the published items that somebody rated; what is taken out of a catalogue is little
_MOST_CHANGED = 0.1  # of the holdings, or of the ratings behind a release: some come late, some are taken back


def require_source(
    history: History, ratings: Ratings, ledger: Ledger | None, *, by_time: bool = False
) -> Coverage | None:
    """Return how well ratings fit a history; raise SourceError if they are not those that it was made from.

    Without a ledger, or where what is done goes by the ratings' own times (``by_time``), these must fit, too.
    """
    require_times(ratings)
    require_kind(history, ratings.item_ids)
    names = item_names(history)
    n_items = _items_known(history, ratings, len(names))
    if ledger is None or by_time:
        _require_counts(history, ratings, history.releases)
    if ledger is None:
        return None
    arrived = arrivals(ledger, ratings)
    n_users = int(np.count_nonzero((arrived.users < ledger.n_users) & (ratings.activity > 0)))
    n_holdings = ratings.n_ratings - arrived.n_new
    people = int(ledger.user_ids.is_not_null().sum())
    found = Coverage(n_items, len(names), n_users, people, n_holdings, ledger.n_holdings)
    _require_people(history, found)
    return found


def _items_known(history: History, ratings: Ratings, n_names: int) -> int:
    numbers = ratings.item_ids.encode(item_names(history))
    known = int(np.count_nonzero(ratings.popularity[numbers[numbers >= 0]]))
    if known < _LEAST_ITEMS * n_names:
        raise SourceError(
            f"the ratings are not those of this history: {known} of its {n_names} items have ratings",
            file=history.name,
        )
    return known


def _require_people(history: History, found: Coverage) -> None:
    if not found.users or found.holdings < (1 - _MOST_CHANGED) * found.holdings_of_history:
        raise SourceError(
            f"the ratings are not those of this history: {found.users} of its {found.users_of_history} users and "
            f"{found.holdings} of the {found.holdings_of_history} ratings it has seen are in them",
            file=history.name,
        )


def _require_counts(history: History, ratings: Ratings, records: Sequence[ReleaseRecord]) -> None:
    assert ratings.times is not None
    times = np.sort(ratings.times)
    for one in records:
        found, then = int(np.searchsorted(times, one.time, side="right")), one.settings.get("n_ratings")
        if not found or (then is not None and abs(found - then) > _MOST_CHANGED * then):
            told = "" if then is None else f"; it was made from {then}"
            raise SourceError(
                f"the ratings are not those of this history: {found} of them come before release {one.number}{told}",
                file=history.name,
            )
