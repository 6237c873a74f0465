"""Packages whose names are imported when they are first used, so that a command's help does not pay for its work."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any


class _LazyPackage(ModuleType):
    """A package that knows in which of its modules each of its names stands."""

    homes: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self.homes:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f"{self.__name__}.{self.homes[name]}"), name)

    def __setattr__(self, name: str, value: Any) -> None:
        """Keep a name for the function where a module has the same one: importing the module would bind it here."""
        if not (name in self.homes and isinstance(value, ModuleType)):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.homes})


def import_on_use(package: str, homes: Mapping[str, str]) -> None:
    """Make a package give each name from its home, the module of the package that defines it."""
    module = sys.modules[package]
    module.__dict__["homes"] = homes
    module.__class__ = _LazyPackage
