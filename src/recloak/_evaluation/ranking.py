"""How well a recommender's top ten serve the users whose ratings were held out.

nDCG@10 orders a user's held-out items by prediction and compares with the best order, gains being ratings above the
lowest. Recall@10 is the share of the user's liked held-out items (the upper quarter of the scale) that are among the
first ten of all items the user had not rated. Both are means over users.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from recloak._evaluation.holdout import Probe
from recloak._evaluation.model import Ranking
from recloak._ratings.model import Ratings

TOP = 10
_LIKED = 0.75
_BLOCK = 64

Rows = Callable[[NDArray[np.integer]], NDArray[np.float32]]


def rank(rows: Rows, ratings: Ratings, probe: Probe, users: NDArray[np.int32]) -> Ranking:
    """Score the rankings of a recommender; ``rows`` predicts every item for some users of the original."""
    ndcgs: list[float] = []
    recalls: list[float] = []
    for first in range(0, len(users), _BLOCK):
        block = users[first : first + _BLOCK]
        for user, row in zip(block, rows(block), strict=True):
            held = slice(*np.searchsorted(probe.users, [user, user + 1]))
            items, values = probe.items[held], probe.values[held]
            if len(items) > 1:
                ndcgs.append(ndcg_of_order(row[items], values - ratings.scale.low))
            liked = items[values >= ratings.scale.low + _LIKED * ratings.scale.span]
            if len(liked):
                recalls.append(_recall(row, ratings.items[ratings.row(int(user))], liked))
    return Ranking(_mean(ndcgs), _mean(recalls), len(users))


def _mean(values: list[float]) -> float | None:
    return float(np.mean(values)) if values else None


def ndcg_of_order(predicted: NDArray[np.floating], gain: NDArray[np.floating]) -> float:
    """Return the discounted gain of the predicted order over that of the best: sum gain / log2(place + 1)."""
    discount = 1 / np.log2(np.arange(2, min(len(gain), TOP) + 2))
    got = (gain[np.argsort(-predicted, kind="stable")][:TOP] * discount).sum()
    best = (np.sort(gain)[::-1][:TOP] * discount).sum()
    return float(got / best) if best > 0 else 1.0


def _recall(row: NDArray[np.float32], rated: NDArray[np.int32], liked: NDArray[np.int32]) -> float:
    """Return the share of liked items among the first ten not rated before; ties are broken by item number."""
    unrated = row.astype(np.float64)
    unrated[rated] = -np.inf
    n_found = sum(_n_before(unrated, int(item)) < TOP for item in liked)
    return n_found / min(len(liked), TOP)


def _n_before(row: NDArray[np.float64], item: int) -> int:
    return int((row > row[item]).sum() + (row[:item] == row[item]).sum())
