"""The sections of a policy file: each is named like a command, and its keys are that command's options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recloak._attacks.options import AuditOptions
from recloak._core.errors import OptionError
from recloak._core.options import option
from recloak._evaluation.options import EvaluateOptions

PRESETS = ("research", "contest", "open-data", "strict")


@dataclass(frozen=True, kw_only=True)
class AuditPlan(AuditOptions):
    """How a release is attacked, and what it must withstand."""

    gates: tuple[str, ...] = option((), "lines that must hold, such as scoreboard@8<0.05")
    accept: tuple[str, ...] = option((), "attacks whose success the owner accepts, such as membership")
    accept_unmeasured: bool = option(
        False, "go on although some attacks that name people cannot be measured, as on drawn rows (mode sampled)"
    )
    again: bool = option(False, "make a second release with the same options, and attack both together")
    sybils: int = option(0, "publish again in private with so many copies of some people planted", at_least=0)

    def check(self) -> None:
        """Raise OptionError for names that are not texts."""
        AuditOptions.check(self)
        for name in ("gates", "accept"):
            if not all(isinstance(one, str) for one in getattr(self, name)):
                raise OptionError(f"{name} must be a list of texts, got {list(getattr(self, name))!r}")


@dataclass(frozen=True, kw_only=True)
class EvaluatePlan(EvaluateOptions):
    """How usefulness is measured: on a second release, made in the same way without the ratings held out."""

    holdout: float = option(0.1, "share of the ratings held out to measure usefulness", above=0.0, at_most=0.9)


def changed(options: Any) -> dict[str, Any]:
    """Return the options that differ from their defaults."""
    usual = type(options)().to_mapping()
    return {name: value for name, value in options.to_mapping().items() if value != usual[name]}
