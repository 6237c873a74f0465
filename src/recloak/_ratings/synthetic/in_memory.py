"""Synthetic ratings in memory."""

from __future__ import annotations

import numpy as np

from recloak._core.randomness import Rng, randomness
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings, Scale, assemble
from recloak._ratings.synthetic.options import SynthOptions
from recloak._ratings.synthetic.rating_stream import blocks, make_world


def synthesise(options: SynthOptions | None = None, *, rng: Rng = None) -> Ratings:
    """Make synthetic ratings; users and items have the ids 1, 2, 3, ...

    The same seed gives the same ratings as `write_synthetic`, whatever the number of threads. Sizes that fit into
    memory only; files of any size are written by `write_synthetic`.
    """
    options = options or SynthOptions()
    n_users, n_items, _ = options.sizes
    parts = list(blocks(make_world(options, randomness(rng).child("synthetic"))))
    return assemble(
        np.concatenate([part.users for part in parts]),
        np.concatenate([part.items for part in parts]),
        np.concatenate([part.values for part in parts]).astype(np.float32),
        np.concatenate([part.times for part in parts]),
        user_ids=IdMap.of(np.arange(1, n_users + 1)),
        item_ids=IdMap.of(np.arange(1, n_items + 1)),
        scale=Scale(1.0, 5.0),
    )
