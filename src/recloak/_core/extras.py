"""Optional parts: what a command needs that a plain install does not bring."""

import importlib.util

from recloak._core.errors import MissingExtraError


def require_extra(extra: str, *modules: str, need: str) -> None:
    """Raise `MissingExtraError` with the command to run if one of ``modules`` is not installed."""
    if any(importlib.util.find_spec(module) is None for module in modules):
        raise MissingExtraError(f"{need} needs the extra {extra!r}, which is not installed: {install_hint(extra)}")


def install_hint(extra: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'recloak[{extra}]'"
