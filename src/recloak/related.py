"""Related-item lists ("people also liked"), published night after night so that no change in them gives anyone away.

`publish` adds a safe release to a `History`, `verify` proves every two releases that an observer can compare, `export`
returns what may be shown. `advise` and `simulate` say beforehand what a bound costs; `attack` measures what an observer
learns; `build` returns the true lists, which are not safe to publish.

    with recloak.related.History("lists.db") as history:
        recloak.related.publish(history, "ratings.csv", delta=0.1)
        assert recloak.related.verify(history, "ratings.csv").passed
        recloak.related.export(history, release="last").write("lists.parquet")

Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recloak._library.lazy_names import lazy_names

if TYPE_CHECKING:
    from recloak._attacks.passive import CurvePoint, PassiveCurve
    from recloak._library.related_checks import PassiveAttack, attack, verify
    from recloak._library.related_lists import build, export, publish
    from recloak._library.related_trials import advise, simulate
    from recloak._related.delta_advice import DeltaAdvice, DeltaCost
    from recloak._related.history import History, ListChanges, ReleaseRecord
    from recloak._related.list_files import RelatedLists
    from recloak._related.measures import Cost
    from recloak._related.methods import METHODS
    from recloak._related.model import Residual
    from recloak._related.nightly import PublishedRelease
    from recloak._related.simulation import SimulatedRelease, Simulation
    from recloak._related.verifier import Finding, HistoryVerdict

__all__ = [
    "METHODS",
    "Cost",
    "CurvePoint",
    "DeltaAdvice",
    "DeltaCost",
    "Finding",
    "History",
    "HistoryVerdict",
    "ListChanges",
    "PassiveAttack",
    "PassiveCurve",
    "PublishedRelease",
    "RelatedLists",
    "ReleaseRecord",
    "Residual",
    "SimulatedRelease",
    "Simulation",
    "advise",
    "attack",
    "build",
    "export",
    "publish",
    "simulate",
    "verify",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        **dict.fromkeys(("build", "export", "publish"), "_library.related_lists"),
        **dict.fromkeys(("PassiveAttack", "attack", "verify"), "_library.related_checks"),
        **dict.fromkeys(("advise", "simulate"), "_library.related_trials"),
        **dict.fromkeys(("History", "ListChanges", "ReleaseRecord"), "_related.history"),
        **dict.fromkeys(("DeltaAdvice", "DeltaCost"), "_related.delta_advice"),
        **dict.fromkeys(("SimulatedRelease", "Simulation"), "_related.simulation"),
        **dict.fromkeys(("Finding", "HistoryVerdict"), "_related.verifier"),
        **dict.fromkeys(("CurvePoint", "PassiveCurve"), "_attacks.passive"),
        "Cost": "_related.measures",
        "METHODS": "_related.methods",
        "PublishedRelease": "_related.nightly",
        "RelatedLists": "_related.list_files",
        "Residual": "_related.model",
    },
)
