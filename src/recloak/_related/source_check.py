"""Whether ratings can be those behind a history: against others nothing that is published looks like a breach."""

from collections.abc import Sequence

import numpy as np

from recloak._core.errors import SourceError
from recloak._ratings.model import Ratings
from recloak._related.history import History, ReleaseRecord, item_names, require_kind
from recloak._related.model import require_times

_LEAST_ITEMS = 0.99  # of the published items that somebody rated; what is taken out of a catalogue is little
_MOST_CHANGED = 0.1  # of the ratings behind a release: some come late, some are taken back


def require_source(history: History, ratings: Ratings) -> None:
    """Raise SourceError if ratings are not those that the releases of a history were made from."""
    require_times(ratings)
    require_kind(history, ratings.item_ids)
    _require_items(history, ratings)
    _require_counts(history, ratings, history.releases)


def _require_items(history: History, ratings: Ratings) -> None:
    names = item_names(history)
    numbers = ratings.item_ids.encode(names)
    known = int(np.count_nonzero(ratings.popularity[numbers[numbers >= 0]]))
    if known < _LEAST_ITEMS * len(names):
        raise SourceError(
            f"the ratings are not those of this history: {known} of its {len(names)} items have ratings",
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
