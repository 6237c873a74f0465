"""Presence and counts as ranking algorithms see them: who used what. A level of a count is a use.

A padded row has propensities, and its uses are those in the upper quarter of the scale, as `training.is_liked` says.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recloak._evaluation.fidelity.training_rows import TrainingRows
from recloak._evaluation.holdout import Probe
from recloak._ratings.event_values import as_used, shows_propensities
from recloak._ratings.model import Ratings
from recloak._ratings.value_kinds import PRESENCE


def uses_of(ratings: Ratings) -> Ratings:
    """Return the source as uses, on the scale of its release."""
    return ratings if shows_propensities(ratings) else as_used(ratings)


def in_uses(released: TrainingRows) -> TrainingRows:
    """Return released rows as uses; propensities stay what they are."""
    rows = released.rows if released.rows.scale.low == 0 else as_used(released.rows)
    return replace(released, rows=replace(rows, kind=PRESENCE))


def used(probe: Probe) -> Probe:
    """Return held-out cells as uses."""
    return replace(probe, values=np.ones(len(probe), np.float32))
