"""Points of a frontier kept in a file beside the page, so that a run that was stopped can continue.

The file belongs to one source, one set of options and one seed. If they differ, all points are measured again, and the
difference is reported.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recloak._core.files import written_file
from recloak._evaluation.frontier import FrontierPoint

SOURCE = "source"  # the key of the source's hash among the options


@dataclass(frozen=True, slots=True)
class KeptPoints:
    """Finished points, the source, options and seed they were measured with, and their file."""

    file: Path
    about: dict[str, Any]  # the source's hash and every option by name
    seed: int
    points: tuple[FrontierPoint, ...] = ()
    why_discarded: str = ""  # how the run whose points the file held differs from this one

    def add(self, point: FrontierPoint) -> KeptPoints:
        """Return the points with one more, after replacing the file as a whole."""
        more = replace(self, points=(*self.points, point))
        content = {"about": self.about, "seed": self.seed, "points": [one.to_json() for one in more.points]}
        with written_file(self.file) as partial:
            partial.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
        return more


def open_kept_points(file: Path, about: dict[str, Any], *, seed: int | None, fresh_seed: int) -> KeptPoints:
    """Return the points of an earlier run with the same options and, where one is given, the same seed; else none."""
    empty = KeptPoints(file, about, fresh_seed if seed is None else seed)
    if not file.exists():
        return empty
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        points = tuple(FrontierPoint.from_json(one) for one in content["points"])
        why = _differences(content["about"], content["seed"], about, seed)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return replace(empty, why_discarded="cannot be read by this version")
    return replace(empty, why_discarded=why) if why else KeptPoints(file, about, content["seed"], points)


def _differences(before: dict[str, Any], seed_before: int, now: dict[str, Any], seed: int | None) -> str:
    """Return a phrase with every option that differs, or an empty one if none does."""
    names = sorted((before.keys() | now.keys()) - {SOURCE})
    options = [(name, before.get(name), now.get(name)) for name in names]
    changed = [_change(name, old, new) for name, old, new in options if old != new]
    if seed not in (None, seed_before):
        changed.append(_change("seed", seed_before, seed))
    if before[SOURCE] != now[SOURCE]:
        changed.append("another source")
    return f"were made with {', '.join(changed)}" if changed else ""


def _change(name: str, old: Any, new: Any) -> str:
    missing = (None, False)  # on the command line, a flag that was not given
    before = f"{name}=... not given" if old in missing else f"{name}={old!r}"
    return f"{before} (now {'not given' if new in missing else new})"
