"""Names of a public module that are imported when they are first used, so that importing the module costs nothing."""

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recloak._core.spelling import did_you_mean


def lazy_names(file: str) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__all__``, ``__getattr__`` and ``__dir__`` of a module whose names its stub (``.pyi``) lists."""
    stub = Path(file).with_suffix(".pyi")
    listed = re.findall(r"from (\S+) import \w+ as (\w+)", stub.read_text(encoding="utf-8"))
    homes = {name: home for home, name in listed}

    def find(name: str) -> Any:
        if name not in homes:
            hint = did_you_mean(name, homes)
            raise AttributeError(f"module 'recloak.{stub.stem}' has no attribute {name!r}{hint}", name=name)
        return getattr(importlib.import_module(homes[name]), name)

    return sorted(homes), find, lambda: sorted(homes)
