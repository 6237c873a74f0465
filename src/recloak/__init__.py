"""recloak: privacy of what a recommender shows the world.

Its ratings, its related-item lists, and what its users say in public: for each the attack, the defence, the proof that
the defence holds, and the price in usefulness.

    ratings = recloak.read("ratings.csv")
    release = recloak.publish(ratings, k=5, mode="padded", seed=0)
    release.write("released")
    assert recloak.verify("released").passed

Everything public is a name of this module; modules that begin with an underscore are not. Names are imported when they
are first used, so that ``import recloak`` costs next to nothing. docs/library.md shows the library on one page.
"""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:  # for type checkers; tests/library holds these names and _HOMES together
    from recloak._attacks.audit_result import Audit as Audit
    from recloak._attacks.gate import Gate as Gate
    from recloak._attacks.model import Outcome as Outcome
    from recloak._core.errors import InputError as InputError
    from recloak._core.errors import InternalError as InternalError
    from recloak._core.errors import MissingExtraError as MissingExtraError
    from recloak._core.errors import OptionError as OptionError
    from recloak._core.errors import RecloakError as RecloakError
    from recloak._core.errors import RefusedError as RefusedError
    from recloak._core.errors import SourceError as SourceError
    from recloak._core.intervals import Share as Share
    from recloak._core.progress import progress as progress
    from recloak._evaluation.frontier import Frontier as Frontier
    from recloak._evaluation.model import Evaluation as Evaluation
    from recloak._library.audit_release import audit as audit
    from recloak._library.compare_releases import frontier as frontier
    from recloak._library.evaluate_release import evaluate as evaluate
    from recloak._library.inspect_source import Inspection as Inspection
    from recloak._library.inspect_source import inspect as inspect
    from recloak._library.publish_source import publish as publish
    from recloak._library.sources import Source as Source
    from recloak._library.sources import read as read
    from recloak._library.synthetic_data import synth as synth
    from recloak._library.verify_release import verify as verify
    from recloak._ratings.exposure import Exposure as Exposure
    from recloak._ratings.ids import IdMap as IdMap
    from recloak._ratings.model import Ratings as Ratings
    from recloak._ratings.model import Scale as Scale
    from recloak._ratings.summary import Summary as Summary
    from recloak._releases.manifest import Facts as Facts
    from recloak._releases.model.release_format import Diversity as Diversity
    from recloak._releases.model.release_format import Verdict as Verdict
    from recloak._releases.model.steps import Grouping as Grouping
    from recloak._releases.model.steps import Padding as Padding
    from recloak._releases.release import Release as Release

    __version__: str

_HOMES = {
    # verbs
    "audit": "_library.audit_release",
    "evaluate": "_library.evaluate_release",
    "frontier": "_library.compare_releases",
    "inspect": "_library.inspect_source",
    "progress": "_core.progress",
    "publish": "_library.publish_source",
    "read": "_library.sources",
    "synth": "_library.synthetic_data",
    "verify": "_library.verify_release",
    # ratings
    "Exposure": "_ratings.exposure",
    "IdMap": "_ratings.ids",
    "Inspection": "_library.inspect_source",
    "Ratings": "_ratings.model",
    "Scale": "_ratings.model",
    "Source": "_library.sources",
    "Summary": "_ratings.summary",
    # releases
    "Diversity": "_releases.model.release_format",
    "Facts": "_releases.manifest",
    "Grouping": "_releases.model.steps",
    "Padding": "_releases.model.steps",
    "Release": "_releases.release",
    "Verdict": "_releases.model.release_format",
    # attacks and evaluation
    "Audit": "_attacks.audit_result",
    "Evaluation": "_evaluation.model",
    "Frontier": "_evaluation.frontier",
    "Gate": "_attacks.gate",
    "Outcome": "_attacks.model",
    "Share": "_core.intervals",
    # errors
    "InputError": "_core.errors",
    "InternalError": "_core.errors",
    "MissingExtraError": "_core.errors",
    "OptionError": "_core.errors",
    "RecloakError": "_core.errors",
    "RefusedError": "_core.errors",
    "SourceError": "_core.errors",
}
_NAMESPACES = ("mentions", "related")  # public modules, imported when they are first used

__all__ = sorted([*_HOMES, *_NAMESPACES])  # noqa: PLE0605 (written once, above)


def __getattr__(name: str) -> _typing.Any:
    if name in _HOMES:
        found = getattr(_importlib.import_module(f"recloak.{_HOMES[name]}"), name)
    elif name in _NAMESPACES:
        found = _importlib.import_module(f"recloak.{name}")
    elif name == "__version__":
        found = _importlib.import_module("importlib.metadata").version("recloak")
    else:
        raise AttributeError(f"module 'recloak' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
