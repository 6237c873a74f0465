"""recloak: privacy of what a recommender shows the world.

Its ratings, its related-item lists, and what its users say in public: for each the attack, the defence, the proof that
the defence holds, and the price in usefulness.

    ratings = recloak.read("ratings.csv")
    release = recloak.publish(ratings, k=5, mode="padded", seed=0)
    release.write("released")
    assert recloak.verify("released").passed

Everything public is a name of this module; modules that begin with an underscore are not. ``__init__.pyi`` lists the
names once, for type checkers and for this file, which imports a name when it is first used: ``import recloak`` costs
next to nothing. docs/library.md shows the library on one page.
"""

import importlib as _importlib
import re as _re
from pathlib import Path as _Path

_LISTED = _re.findall(r"from recloak(\S*) import (.+)", _Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOMES = {name: f"recloak{home}" for home, names in _LISTED for name in _re.findall(r"as (\w+)", names)}

__all__ = sorted(_HOMES)  # noqa: PLE0605 (listed once, in the stub)


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home == "recloak":  # a namespace, such as recloak.related
        found = _importlib.import_module(f"recloak.{name}")
    elif home is not None:
        found = getattr(_importlib.import_module(home), name)
    elif name == "__version__":
        found = _importlib.import_module("importlib.metadata").version("recloak")
    else:
        hint = _importlib.import_module("recloak._core.spelling").did_you_mean(name, __all__)
        raise AttributeError(f"module 'recloak' has no attribute {name!r}{hint}", name=name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
