"""Points of a frontier kept in a file beside the page, so that a run that was stopped goes on where it was.

The file belongs to one source and one set of options (its key); with another key it is started afresh.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recloak.evaluate.frontier import Point
from recloak.files import written_file


@dataclass(frozen=True, slots=True)
class Kept:
    """Finished points, the seed they were made with, and the file that holds them."""

    file: Path
    key: str
    seed: int
    points: tuple[Point, ...] = ()

    def add(self, point: Point) -> Kept:
        """Write one point more, whole or not at all."""
        more = Kept(self.file, self.key, self.seed, (*self.points, point))
        found = {"key": self.key, "seed": self.seed, "points": [one.to_json() for one in more.points]}
        with written_file(self.file) as aside:
            aside.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        return more


def key_of(source_hash: str, *options: dict[str, Any]) -> str:
    """Give the key of a source and options."""
    return hashlib.sha256(json.dumps([source_hash, *options], sort_keys=True).encode()).hexdigest()


def open_kept(file: Path, key: str, *, seed: int | None, fresh_seed: int) -> Kept:
    """Take up what an earlier run with the same key (and seed, where one is asked for) left; else start afresh."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        if found["key"] == key and seed in (None, found["seed"]):
            return Kept(file, key, found["seed"], tuple(Point.from_json(one) for one in found["points"]))
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return Kept(file, key, fresh_seed if seed is None else seed)
