"""The public names of a module as text, one line per name, for a snapshot that is renewed on purpose."""

import inspect
import os
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent


def require_names(module: ModuleType, file: str) -> None:
    """Compare the public names of a module with a file; RECLOAK_WRITE_NAMES=1 writes the file anew."""
    told = "\n".join(lines(module)) + "\n"
    if os.environ.get("RECLOAK_WRITE_NAMES") == "1":
        (HERE / file).write_text(told, encoding="utf-8")
    assert told == (HERE / file).read_text(encoding="utf-8"), "RECLOAK_WRITE_NAMES=1 renews the file on purpose"


def lines(module: ModuleType) -> Iterator[str]:
    for name in sorted(module.__all__):
        value = getattr(module, name)
        if isinstance(value, dict):
            yield f"{name}: {', '.join(value)}"
            continue
        if not inspect.isclass(value):
            yield f"{name}{inspect.signature(value)}"
            continue
        made_by_callers = "__init__" in vars(value) and not hasattr(value, "__dataclass_fields__")
        yield f"class {name}{inspect.signature(value) if made_by_callers else ''}"
        yield from (f"    {member}{_arguments(value, member)}" for member in dir(value) if not member.startswith("_"))


def _arguments(kind: type, member: str) -> str:
    value = getattr(kind, member)
    return str(inspect.signature(value)) if inspect.isroutine(value) and not inspect.isdatadescriptor(value) else ""
