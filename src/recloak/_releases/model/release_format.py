"""What stands in a released folder, and what is said about it: names of files and columns, diversity, the verdict."""

from __future__ import annotations

import hashlib
import html
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from recloak._core.errors import OptionError
from recloak._core.results import Tabular, counted, html_line, plural, table_of
from recloak._releases.model.statistics import STATISTICS

if TYPE_CHECKING:
    import polars as pl

FORMAT = "recloak-release"
VERSION = 1
MANIFEST = "manifest.json"
CARD = "README.md"
BLOCK_CELLS = 4_000_000  # of a row group: as many whole rows of users or groups as fit, and at least one

# layout -> table -> columns, in the order they stand in the file
TABLES: dict[str, dict[str, tuple[str, ...]]] = {
    "long": {"ratings": ("user", "item", "rating")},
    "grouped": {"profiles": ("group", "item", "rating"), "members": ("user", "group")},
    "factors": {"groups": ("group", "bias"), "items": ("item", "bias"), "members": ("user", "group")},
    "drawn": {"ratings": ("user", "item", "rating"), "members": ("user", "group")},
}
FACTOR_TABLES = ("groups", "items")  # whose columns go on with f1, f2, ... for the factors of a row

# table -> column -> what is stored: names (ascending), numbers (whole), items (ids), labels (of a grid), reals,
# decimals (multiples of a precision)
STORED: dict[str, dict[str, str]] = {
    "ratings": {"user": "names", "item": "items", "rating": "labels"},
    "profiles": {"group": "names", "item": "items", "rating": "labels"},
    "members": {"user": "numbers", "group": "numbers"},
    "groups": {"group": "numbers", "bias": "decimals"},
    "items": {"item": "items", "bias": "decimals"},
}


def stored_columns(table: str, rank: int | None) -> dict[str, str]:
    """Return the columns of a table and what each stores; ``rank`` is the number of factors, where there are some."""
    if table in STATISTICS:
        return STATISTICS[table]
    factors = factor_names(rank or 0) if table in FACTOR_TABLES else ()
    return STORED[table] | dict.fromkeys(factors, "decimals")


def factor_names(rank: int) -> tuple[str, ...]:
    """Return the names of the factors' columns: ``f1``, ``f2``, ..."""
    return tuple(f"f{number}" for number in range(1, rank + 1))


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

    Examples
    --------
    >>> import recloak
    >>> str(recloak.Diversity(b=2, l=3)), recloak.Diversity.parse("all,3").b
    ('2,3', None)
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


@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Tabular):
    """What the verifier found in a released folder; numbers it could not derive are None, never a guess.

    Examples
    --------
    >>> import recloak
    >>> recloak.Verdict(k_required=5, k_found=4, n_users=9, n_groups=2, problems=("k must be at least 5",))
    <Verdict: fail, k required 5, found 4, 9 users in 2 groups, 1 problem>
    """

    k_required: int | None
    k_found: int | None
    n_users: int | None
    n_groups: int | None
    problems: tuple[str, ...]
    unchecked: tuple[str, ...] = ()  # what the release promises about its source, where none was given
    content: bool = False  # whether only the content was judged, and not how the files are written
    signed_by: str | None = None  # fingerprint of the owner's key, where a signature was checked and is right
    drawn: bool = False  # whether rows were drawn for groups: ``k_found`` then counts the rows of the smallest group
    measured: tuple[str, ...] = ()  # of drawn rows, what was compared with the source, in sentences

    def __repr__(self) -> str:
        told = [plural(len(self.problems), "problem")] if self.problems else []
        told += [f"not checked: {one}" for one in self.unchecked]
        told += ["content only"] if self.content else []
        told += ["signed"] if self.signed_by is not None else []
        if self.n_users is None:
            return counted(self, self.verdict, *told)
        groups = f"{plural(self.n_users, 'user')} in {plural(self.n_groups or 0, 'group')}"
        return counted(self, self.verdict, *self.counts, groups, *told)

    @property
    def counts(self) -> tuple[str, str]:
        """What was required and what was found, in words that say what the number counts."""
        if self.drawn:
            return f"rows drawn for groups of at least {self.k_required} required", f"smallest group {self.k_found}"
        return f"k required {self.k_required}", f"found {self.k_found}"

    @property
    def proved(self) -> str:
        """What the files prove, in a sentence; empty where they prove nothing."""
        if self.k_found is None or not self.passed:
            return ""
        if self.drawn:
            return (
                f"Every group of the files has at least {self.k_found} rows. That rows were drawn, and that none is a "
                "person's own, cannot be seen from the files. This is not k-anonymity: rows of a group may differ."
            )
        return f"Every row is shared by at least {self.k_found} people."

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
        found = {"verdict": self.verdict, **asdict(self), "problems": list(self.problems), "proved": self.proved}
        empty = {"signed_by": self.signed_by is None, "measured": not self.measured}
        left_out = ("unchecked", *(name for name, is_empty in empty.items() if is_empty))
        return {name: value for name, value in found.items() if name not in left_out}

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as ``recloak verify --json`` prints it; `to_mapping` is its older name."""
        return self.to_mapping()

    def _repr_html_(self) -> str:
        """Return the line and the problems for a notebook."""
        problems = "".join(f"<li>{html.escape(one)}</li>" for one in self.problems)
        return f"{html_line(self)}<ul>{problems}</ul>" if problems else html_line(self)

    def to_polars(self) -> pl.DataFrame:
        """Return the verdict as a table of one row."""
        return table_of(
            [
                {
                    **self.to_mapping(),
                    "problems": len(self.problems),
                    "unchecked": len(self.unchecked),
                    "measured": len(self.measured),
                }
            ]
        )
