"""How well a score tells two kinds of cases apart: the area under the ROC curve, and what is found at few alarms."""

import numpy as np
from numpy.typing import NDArray

from recloak._core.errors import InputError
from recloak._core.intervals import Z_95, Share, wilson


def auc(yes: NDArray[np.floating], no: NDArray[np.floating]) -> float:
    """Return the chance that a case of the first kind scores above one of the second, ties counting half."""
    if not len(yes) or not len(no):
        raise InputError("there are not two kinds of cases to tell apart")
    if np.isnan(yes).any() or np.isnan(no).any():
        return float("nan")
    return float(_share_below(yes, no).mean())


def auc_share(yes: NDArray[np.floating], no: NDArray[np.floating]) -> Share:
    """Return that chance with its 95 % interval (DeLong, DeLong and Clarke-Pearson 1988, doi:10.2307/2531595)."""
    if not len(yes) or not len(no):
        raise InputError("there are not two kinds of cases to tell apart")
    ranks = _ranks(np.concatenate((yes, no)))
    above_no = (ranks[: len(yes)] - _ranks(yes)) / len(no)  # of each yes: share of the no below
    below_yes = 1 - (ranks[len(yes) :] - _ranks(no)) / len(yes)
    rate = float(above_no.mean())
    variance = _spread(above_no) / len(yes) + _spread(below_yes) / len(no)
    reach = Z_95 * float(np.sqrt(variance))
    return Share(rate, max(rate - reach, 0.0), min(rate + reach, 1.0), len(yes) + len(no))


def auc_within(scores: NDArray[np.floating], kind: NDArray[np.bool_]) -> Share:
    """Return the chance that a case of the kind scores above another one of its column, with its 95 % interval.

    Both are (n_cases, n_columns), scores nan where there is no case. What differs between columns alone says nothing:
    all pairs of one column are counted, so each column weighs as many pairs as it has.
    """
    above, pairs, variance = 0.0, 0, 0.0
    for column in range(scores.shape[1]):
        here = ~np.isnan(scores[:, column])
        yes, no = scores[here & kind[:, column], column], scores[here & ~kind[:, column], column]
        if not (n_pairs := len(yes) * len(no)):
            continue
        above_no, below_yes = _share_below(yes, no), 1 - _share_below(no, yes)
        above, pairs = above + n_pairs * float(above_no.mean()), pairs + n_pairs
        variance += n_pairs**2 * (_spread(above_no) / len(yes) + _spread(below_yes) / len(no))
    if not pairs:
        raise InputError("no column has two kinds of cases to tell apart")
    rate, reach = above / pairs, Z_95 * float(np.sqrt(variance)) / pairs
    return Share(rate, max(rate - reach, 0.0), min(rate + reach, 1.0), int((~np.isnan(scores)).sum()))


def clustered_share(right: NDArray[np.integer], tried: NDArray[np.integer]) -> Share:
    """Return the share of right cases where those of one cluster go together, with its 95 % interval.

    Of clusters with y_g right of m_g cases the share p varies by sum (y_g - p m_g)^2 / n^2, n = sum m_g. Wilson's
    interval is that of so many independent cases as would vary as much, at most n, and of one where all are of one
    cluster.
    """
    n, n_clusters = int(tried.sum()), int((tried > 0).sum())
    if n == 0:
        return wilson(0, 1)
    rate, n_alone = float(right.sum()) / n, 1.0
    if n_clusters > 1:
        variance = float(np.square(right - rate * tried).sum()) / n**2 * n_clusters / (n_clusters - 1)
        n_alone = min(rate * (1 - rate) / variance, n) if variance > 0 else n
    whole = max(int(n_alone), 1)
    ends = wilson(rate * whole, whole)
    return Share(rate, ends.low, ends.high, n)


def _share_below(some: NDArray[np.floating], others: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return for each of some scores which share of the others lies below it, equal ones counting half."""
    ordered = np.sort(others)
    return (np.searchsorted(ordered, some, "left") + np.searchsorted(ordered, some, "right")) / (2 * len(others))


def _ranks(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Return the ranks from 1 on, equal scores sharing the mean of theirs; all are nan if one score is.

    Not by ``scipy.stats``, which takes longer to import than many an audit takes to run.
    """
    if np.isnan(scores).any():
        return np.full(len(scores), np.nan)
    _, place, n_equal = np.unique(scores, return_inverse=True, return_counts=True)
    last: NDArray[np.float64] = np.cumsum(n_equal) - (n_equal - 1) / 2
    return last[place]


def wider(share: Share, factor: float) -> Share:
    """Return a share whose interval is so many times as wide, for cases that are not independent of each other."""
    low, high = (share.rate + factor * (end - share.rate) for end in (share.low, share.high))
    return Share(share.rate, max(low, 0.0), min(high, 1.0), share.n)


def _spread(x: NDArray[np.floating]) -> float:
    return float(x.var(ddof=1)) if len(x) > 1 else 0.25  # the most there is, where one case says nothing


def found_at(yes: NDArray[np.floating], no: NDArray[np.floating], alarms: float) -> float:
    """Return the share of the first kind above the score that at most so many of the second kind reach."""
    allowed = int(np.floor(alarms * len(no)))
    line = np.sort(no)[::-1][allowed]
    return float((yes > line).mean())


def found_share(yes: NDArray[np.floating], no: NDArray[np.floating], alarms: float) -> Share:
    """Return the same with its interval."""
    return wilson(found_at(yes, no, alarms) * len(yes), len(yes))
