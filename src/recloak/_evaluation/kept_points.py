"""Points of a frontier kept in a file beside the page, so that a run that was stopped goes on where it was.

The file belongs to one source, one set of options and one seed; where they differ, it is started afresh, and what
differs is told.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recloak._core.files import written_file
from recloak._evaluation.frontier import FrontierPoint

SOURCE = "source"  # where the hash of the source stands among the options


@dataclass(frozen=True, slots=True)
class Kept:
    """Finished points, what they were made of and with which seed, and the file that holds them."""

    file: Path
    about: dict[str, Any]  # the source's hash and every option by name
    seed: int
    points: tuple[FrontierPoint, ...] = ()
    why_afresh: str = ""  # how the run whose points the file held differs from this one

    def add(self, point: FrontierPoint) -> Kept:
        """Write one point more, whole or not at all."""
        more = replace(self, points=(*self.points, point))
        found = {"about": self.about, "seed": self.seed, "points": [one.to_json() for one in more.points]}
        with written_file(self.file) as aside:
            aside.write_text(json.dumps(found, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        return more


def open_kept(file: Path, about: dict[str, Any], *, seed: int | None, fresh_seed: int) -> Kept:
    """Take up what an earlier run of the same (with the same seed, where one is asked for) left; else start afresh."""
    afresh = Kept(file, about, fresh_seed if seed is None else seed)
    if not file.exists():
        return afresh
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        points = tuple(FrontierPoint.from_json(one) for one in found["points"])
        why = _differences(found["about"], found["seed"], about, seed)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return replace(afresh, why_afresh="cannot be read by this version")
    return replace(afresh, why_afresh=why) if why else Kept(file, about, found["seed"], points)


def _differences(before: dict[str, Any], seed_before: int, now: dict[str, Any], seed: int | None) -> str:
    """Name every option that differs; nothing where the points are the same run's."""
    names = sorted((before.keys() | now.keys()) - {SOURCE})
    options = [(name, before.get(name), now.get(name)) for name in names]
    told = [f"--{name.replace('_', '-')} {_shown(was)} (now {_shown(is_)})" for name, was, is_ in options if was != is_]
    if seed not in (None, seed_before):
        told.append(f"--seed {seed_before} (now {seed})")
    if before[SOURCE] != now[SOURCE]:
        told.append("another source")
    return f"were made with {', '.join(told)}" if told else ""


def _shown(value: Any) -> str:
    return "not given" if value is None else str(value)
