"""A small source and its release, made once, for the tests of commands that take both."""

from pathlib import Path

import numpy as np

from recloak._ratings.model import Ratings
from recloak._ratings.readers import read
from recloak._releases.publishing import publish


def write_source(folder: Path, *, n_users: int = 60, n_items: int = 40) -> Path:
    stream = np.random.default_rng(2)
    users, items = np.nonzero(stream.random((n_users, n_items)) < 0.3)
    taste = stream.normal(size=(n_users, 2)) @ stream.normal(size=(2, n_items))
    values = np.clip(np.rint(3 + taste[users, items]), 1, 5)
    table = Ratings.from_arrays(users, items, values, np.arange(len(users)) * 86_400).to_polars()
    path = folder / "ratings <b>.csv"
    table.write_csv(path)
    return path


def write_release(source: Path, folder: Path, *, seed: int = 1, **options: object) -> Path:
    return publish(read(source), rng=seed, **{"k": 4, "mode": "padded", **options}).write(folder)  # type: ignore[arg-type]
