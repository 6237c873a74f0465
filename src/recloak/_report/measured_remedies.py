"""What another setting would bring, by the figures of a frontier of the same source.

An attack's own remedy says what helps in general ("raise k"). Where `recloak frontier` was run, its points say by how
much, and what it costs; and they say so too where no measured setting helps.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recloak._attacks.frontier_risks import risk_of
from recloak._attacks.model import Outcome
from recloak._core.errors import InputError
from recloak._report.formats import percent

_CLEARLY = 0.01  # a measure that falls by less is not named as a remedy


@dataclass(frozen=True, slots=True)
class Setting:
    """One measured release: its mode and k, each risk by name, and the error of the own group's row."""

    mode: str
    k: int
    risks: Mapping[str, float]
    error: float | None


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The settings that a frontier measured, and that of the release at hand."""

    settings: tuple[Setting, ...] = ()
    mode: str = ""
    k: int = 0

    def remedy_for(self, outcome: Outcome) -> str:
        """Return the least change that clearly lowers a risk, with its price; nothing where it was not measured."""
        name = risk_of(outcome, self.k)
        now = next((one for one in self.settings if (one.mode, one.k) == (self.mode, self.k)), None)
        if name is None or now is None or name not in now.risks:
            return ""
        others = [one for one in self.settings if one is not now and name in one.risks]
        better = [one for one in others if one.risks[name] <= now.risks[name] - _CLEARLY]
        if not better:
            return "No other setting that recloak frontier measured lowers this clearly." if others else ""
        least = min(better, key=lambda one: (one.mode != now.mode, one.k < now.k, abs(one.k - now.k)))
        return _sentence(name, now, least)


NO_ALTERNATIVES = Alternatives()


def alternatives_in(frontier: Any, manifest: Mapping[str, Any]) -> Alternatives:
    """Return the settings of a `Frontier`, or of the file of its points; none for None.

    Raises
    ------
    InputError
        If the file holds no points.
    """
    if frontier is None:
        return NO_ALTERNATIVES
    content = _content(frontier)
    try:
        settings = tuple(_setting(one) for one in content["points"])
    except (LookupError, TypeError, AttributeError):
        raise InputError(f"{frontier}: does not hold the points of a frontier; recloak frontier writes them") from None
    return Alternatives(settings, str(manifest.get("mode", "")), int(manifest.get("k", 0)))


def _content(frontier: Any) -> Any:
    if hasattr(frontier, "to_json"):
        return frontier.to_json()
    try:
        return json.loads(Path(frontier).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{frontier}: cannot be read: {error.strerror}") from None
    except ValueError:
        raise InputError(f"{frontier}: is not JSON; give the file of points beside the page of a frontier") from None


def _setting(point: Mapping[str, Any]) -> Setting:
    risks = {name: one["value"] for name, one in point["measures"].items() if one["value"] is not None}
    if point.get("bets"):
        risks["bets"] = point["bets"]["rate"]
    return Setting(str(point["mode"]), int(point["k"]), risks, (point.get("own") or {}).get("rmse"))


def _sentence(name: str, now: Setting, other: Setting) -> str:
    mode = "" if other.mode == now.mode else f"mode {other.mode}, "
    fall = f"{percent(other.risks[name])} instead of {percent(now.risks[name])}"
    return f"Measured by recloak frontier: {mode}k = {other.k} gives {fall}{_price(now, other)}."


def _price(now: Setting, other: Setting) -> str:
    if not now.error or not other.error:
        return ""
    change = other.error / now.error - 1
    return f"; the error {'rises' if change >= 0 else 'falls'} by {percent(abs(change))}"
