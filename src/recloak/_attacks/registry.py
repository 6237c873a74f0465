"""Every attack there is: those of this package, one file each, and those of installed packages.

A module of this package adds attacks by a value named ``ATTACK`` or ``ATTACKS``; another package by an entry point of
the group ``recloak.attacks`` that names such a value. An entry point that cannot be loaded becomes an attack that is
never measured, so that an audit says so and does not pass.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, NoReturn

import recloak._attacks
from recloak._attacks.attack import Attack
from recloak._core.errors import OptionError

GROUP = "recloak.attacks"


class EntryPointError(Exception):
    """An entry point does not give attacks; the words are ours, so that a page may show them."""


def attacks() -> tuple[Attack, ...]:
    """Return every attack, in the order in which an audit runs them."""
    found = {one.name: one for one in own_attacks()}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value)):
        for one in _loaded(entry, taken=found):
            found[one.name] = one
    return tuple(sorted(found.values(), key=lambda one: one.order))


@cache
def own_attacks() -> tuple[Attack, ...]:
    """Return the attacks of this package."""
    modules = (
        importlib.import_module(f"{recloak._attacks.__name__}.{found.name}")
        for found in pkgutil.iter_modules(recloak._attacks.__path__)
    )
    found = [one for module in modules for one in getattr(module, "ATTACKS", (getattr(module, "ATTACK", None),)) if one]
    return tuple(sorted(found, key=lambda one: one.order))


def _loaded(entry: EntryPoint, taken: dict[str, Attack]) -> list[Attack]:
    """Return the attacks of an entry point, or one that says why they cannot be run."""
    try:
        value = entry.load()
        if isinstance(value, Attack) and value.name != entry.name:
            raise EntryPointError(f"it is named {entry.name} and its attack {value.name}; both must be one name")
        return list(_checked(value, taken))
    except (Exception, SystemExit) as error:  # whatever another package raises, it is told and never skipped
        return [_not_loaded(entry, error, taken)]


def _checked(value: Any, taken: dict[str, Attack]) -> Iterator[Attack]:
    names = set(taken)
    for one in [value] if isinstance(value, Attack) else value:
        if not isinstance(one, Attack):
            raise EntryPointError(f"an attack must be a recloak.Attack, got {type(one).__name__}")
        if one.name in names:
            raise EntryPointError(f"there is already an attack named {one.name}")
        names.add(one.name)
        yield one


def _not_loaded(entry: EntryPoint, error: BaseException, taken: dict[str, Attack]) -> Attack:
    """Return an attack that fails for the reason for which the entry point could not be loaded."""

    def run(_: object) -> NoReturn:
        ours = isinstance(error, EntryPointError | OptionError)
        why = str(error) if ours else type(error).__name__  # another package's words stay in the log
        raise EntryPointError(f"the entry point {entry.name} = {entry.value} could not be loaded: {why}") from error

    name = "plugin-" + (re.sub(r"[^a-z0-9]+", "-", entry.name.lower()).strip("-") or "attack")
    while name in taken:
        name += "-again"
    return Attack(
        name=name,
        kind="not loaded",
        title=f"{entry.name} (could not be loaded)",
        short=entry.name,
        attacker="is not known, because the attack could not be loaded",
        unit="nothing",
        baseline="nothing",
        criterion="singling-out",  # the gravest, for nobody knows what it would have tested
        run=run,
        needs=(),
    )
