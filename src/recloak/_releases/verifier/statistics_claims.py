"""What a manifest may say about statistics, and which files they lie in."""

from __future__ import annotations

from typing import Any

from recloak._releases.model.statistics import STATISTICS, StatisticsFacts, delta_for, rounded_noise

_ALWAYS = {"statistics_items", "statistics_activity"}
_LARGEST_EPSILON = 10.0


def statistics_files(manifest: dict[str, Any]) -> dict[str, str]:
    """Return the file of each table of statistics that a manifest names."""
    said = manifest.get("statistics")
    return {} if said is None else {table: f"{table}.{manifest['file_format']}" for table in said["noise"]}


def are_statistics(manifest: dict[str, Any]) -> bool:
    """Return whether a manifest says nothing of statistics, or what can be said of them and no digit more."""
    if "statistics" not in manifest:
        return True
    said = manifest["statistics"]
    if list(said) != list(StatisticsFacts._fields) or type(said["noise"]) is not dict:
        return False
    epsilon, delta, noise = said.values()
    return (
        type(epsilon) is float
        and 0 < epsilon <= _LARGEST_EPSILON
        and epsilon == round(epsilon, 6)
        and type(delta) is float
        and manifest["n_users"] >= 1
        and delta == delta_for(manifest["n_users"])
        and list(noise) == [table for table in STATISTICS if table in noise]
        and set(noise) >= _ALWAYS
        and all(_are_ends(ends) for ends in noise.values())
    )


def _are_ends(ends: Any) -> bool:
    """Return whether these are two standard deviations of three digits."""
    if type(ends) is not list or [type(end) for end in ends] != [float, float]:
        return False
    low, high = ends
    return 0 < low <= high < 1e15 and all(end == rounded_noise(end) for end in ends)
