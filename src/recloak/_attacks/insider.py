"""Insiders: members of a group who subtract their own ratings from its label.

With c members of the target's group colluding and c_i of them having rated item i, the best simple estimate of the
target's rating from the label L is (c_i + 1) L - (sum of their ratings): the label's total over one person more than
the colluders, less what they gave. Exact when nobody else rated; the grid and the other members blur it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recloak._attacks.attack import Attack, Kind, Varied
from recloak._attacks.attack_input import AttackInput, Findings
from recloak._attacks.model import Hits, Public, step_of
from recloak._attacks.public_columns import item_means
from recloak._attacks.released_cells import members_of, rows_of
from recloak._core.errors import InputError
from recloak._core.intervals import wilson
from recloak._core.randomness import Rng, randomness
from recloak._ratings.model import Ratings


def insider(public: Public, ratings: Ratings, targets: NDArray[np.integer], *, colluders: int, rng: Rng = None) -> Hits:
    """Attack the ratings of each target with some members of its group; details hold what an outsider can read."""
    stream = randomness(rng).stream("insider", colluders)
    members = members_of(public)
    means, labels = item_means(public), rows_of(public, public.owner[targets])
    read, told, guessed, total = 0, 0, 0, 0
    for t, user in enumerate(targets):
        group = int(public.owner[user])
        others = members.users[members.starts[group] : members.starts[group + 1]]
        others = stream.permutation(others[others != user])[:colluders]
        if len(others) < colluders:
            continue
        row = ratings.row(int(user))
        items, truth = ratings.items[row], ratings.values[row]
        estimate = _subtract(labels[t], ratings, others)[items]
        read += int(_is_right(estimate, truth, ratings).sum())
        told += int(_is_right(labels[t][items], truth, ratings).sum())
        guessed += int(_is_right(means[items], truth, ratings).sum())
        total += len(items)
    if not total:
        raise InputError(f"no target has {colluders} other members in its group to collude")
    details = {"told_by_label": told / total, "guessed_from_item_mean": guessed / total, "cells": total}
    return Hits(user=wilson(read, total), details=details)


def _subtract(labels: NDArray[np.float32], ratings: Ratings, others: NDArray[np.integer]) -> NDArray[np.float64]:
    """Estimate the rating of one person more than the colluders, for every item."""
    n_raters, total = np.zeros(ratings.n_items), np.zeros(ratings.n_items)
    for other in others:
        row = ratings.row(int(other))
        n_raters[ratings.items[row]] += 1
        total[ratings.items[row]] += ratings.values[row]
    return (n_raters + 1) * labels - total


def _is_right(estimate: NDArray[np.floating], truth: NDArray[np.float32], ratings: Ratings) -> NDArray[np.bool_]:
    """Tell where an estimate, brought to the scale, is the true rating."""
    step = step_of(ratings.scale)
    rounded = np.clip(np.round(estimate / step) * step, ratings.scale.low, ratings.scale.high)
    return np.abs(rounded - truth) < step / 2


def _run(given: AttackInput) -> Findings:
    hits = insider(
        given.public_release(), given.ratings, given.targets(), colluders=given.colluders or 1, rng=given.randomness
    )
    outsider = max(hits.details["told_by_label"], hits.details["guessed_from_item_mean"])
    return Findings(hits, baseline=float(outsider))


ATTACK = Attack(
    name="insider",
    kind=Kind.TELLS_CELLS,
    title="Members who subtract their own ratings (insiders)",
    short="insiders",
    attacker="has members of the target's group subtract their own ratings from the label, and reads off the target's",
    unit="ratings read off",
    baseline="an outsider's best guess",
    criterion="inference",
    run=_run,
    varied=Varied.COLLUDERS,
    details={
        "cells": "Cells looked at",
        "told_by_label": "Read off the label as it is",
        "guessed_from_item_mean": "Guessed by the item's mean",
    },
    order=110,
)
