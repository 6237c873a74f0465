"""What stands in a released folder, and what is said about it: names of files and columns, diversity, the verdict."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from recloak._core.errors import OptionError

FORMAT = "recloak-release"
VERSION = 1
MANIFEST = "manifest.json"
CARD = "README.md"

# layout -> table -> columns, in the order they stand in the file
TABLES: dict[str, dict[str, tuple[str, ...]]] = {
    "long": {"ratings": ("user", "item", "rating")},
    "grouped": {"profiles": ("group", "item", "rating"), "members": ("user", "group")},
}


def table_names(layout: str, file_format: str) -> dict[str, str]:
    """Return the file of each table of a layout: ``{"profiles": "profiles.parquet", ...}``."""
    return {table: f"{table}.{file_format}" for table in TABLES[layout]}


def part_name(file: str, part: int) -> str:
    """Return the name of a part of a table that lies in a folder: ``profiles.parquet/part-00000.parquet``."""
    return f"{file}/part-{part:05d}{file[file.rindex('.') :]}"


def sealed(manifest: Mapping[str, Any]) -> str:
    """Return the seal of a manifest: the SHA-256 of all its fields but the seal, in order, as JSON without spaces.

    It catches a careless edit. It is no signature: whoever edits on purpose can seal again.
    """
    fields = {name: value for name, value in manifest.items() if name != "seal"}
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Diversity:
    """(b, l)-diversity: every b items that someone rated together stand together in at least ``l`` groups.

    Definition 5.3 of the technical report; ``b`` None stands for every b at once (written ``all,L``).
    """

    b: int | None
    l: int  # noqa: E741 (the paper's letter)

    def __post_init__(self) -> None:
        if self.b is not None and self.b < 1:
            raise OptionError(f"diversity must be B,L with B at least 1 or all, got {self}")
        if self.l < 2:
            raise OptionError(f"diversity must be B,L with L at least 2, got {self}")

    def __str__(self) -> str:
        return f"{'all' if self.b is None else self.b},{self.l}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``B,L`` or ``all,L``."""
        b, _, l = text.replace(" ", "").partition(",")  # noqa: E741 (the paper's letter)
        if not (b == "all" or _is_count(b)) or not _is_count(l):
            raise OptionError(f"diversity must be two whole numbers B,L or all,L, got {text!r}")
        return cls(None if b == "all" else int(b), int(l))


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the verifier found in a released folder; numbers it could not derive are None, never a guess."""

    k_required: int | None
    k_found: int | None
    n_users: int | None
    n_groups: int | None
    problems: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing is wrong and the promised k was found."""
        return not self.problems

    @property
    def verdict(self) -> str:
        """``pass`` or ``fail``."""
        return "pass" if self.passed else "fail"

    def to_mapping(self) -> dict[str, Any]:
        """Return the JSON of ``recloak verify``."""
        return {"verdict": self.verdict, **asdict(self), "problems": list(self.problems)}
