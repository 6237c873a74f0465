"""What a manifest of purchases or plays must say: a scale that shows nothing but uses, levels or propensities."""

from __future__ import annotations

from typing import Any

from recloak._ratings.value_kinds import COUNTS, PRESENCE
from recloak._releases.model.modes import MODES

_MOST_LEVEL = 64


def event_rules(manifest: dict[str, Any]) -> dict[str, bool]:
    """Return whether the kind of values is one that is named, and the scale is the one of its releases.

    Ratings are not named, so that there is one way to write them.
    """
    if "values" not in manifest:
        return {name: name not in manifest for name in ("popular_alone", "surest")}
    kind, ends = manifest["values"], list(manifest["scale"].values())
    if kind not in (PRESENCE.name, COUNTS.name):
        return {"values": False}
    return {
        "values": _is_scale_of(kind, ends, manifest) and not manifest["paper"],
        "popular_alone": _is_share(manifest.get("popular_alone"), MODES[manifest["mode"]].is_complete),
        "surest": _is_share(manifest.get("surest"), not MODES[manifest["mode"]].is_drawn),
    }


def _is_share(said: float | None, may_say: bool) -> bool:
    """Return whether a share is said where it may be, in hundredths: more digits could say anything."""
    return said is None or (may_say and 0 <= said <= 1 and said == round(said, 2))


def _is_scale_of(kind: str, ends: list[Any], manifest: dict[str, Any]) -> bool:
    if MODES[manifest["mode"]].is_complete:
        return ends == [0, 1]
    levels = 1 if kind == PRESENCE.name else _MOST_LEVEL
    in_levels = len(ends) == 2 and all(type(end) in (int, float) and end == int(end) for end in ends)
    return in_levels and ends[0] == 1 and 1 <= ends[1] <= levels and manifest["grid"] == 1
