"""What the manifest claims, and whether the folder's files are those it names."""

import hashlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from recloak._releases.model.card import data_card
from recloak._releases.model.manifest import as_text, facts_in, manifest_of
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import (
    CARD,
    FACTOR_TABLES,
    MANIFEST,
    TABLES,
    Diversity,
    stored_columns,
)
from recloak._releases.model.statistics import STATISTICS
from recloak._releases.verifier.factor_claims import row_problems
from recloak._releases.verifier.manifest_rules import form_problems, parts_of
from recloak._releases.verifier.scan import allowed

_MOST_MANIFEST_BYTES = 1_000_000


class Part(NamedTuple):
    """A file of a table as the manifest describes it: the whole table, or one of the parts in the table's folder."""

    table: str
    name: str
    sha256: str
    n_rows: int

    @property
    def label(self) -> str:
        """The name without its ending, as sentences use it."""
        return self.name.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class Claims:
    """The claims of a manifest whose form is right."""

    folder: Path
    layout: str
    file_format: str
    k: int
    mode: str
    grid: float | None
    diversity: Diversity | None
    max_link: float | None
    n_users: int
    n_items: int
    n_ratings: int
    n_groups: int
    low: float
    high: float
    content: bool  # whether to judge the parsed content only
    manifest: dict[str, Any]  # as it was read
    parts: tuple[Part, ...]  # by table, in the order of the layout

    @property
    def leaves_out(self) -> bool:
        """Whether an option of the release may leave an item out altogether."""
        return self.is_drawn or self.max_link is not None or self.manifest.get("min_shown") is not None

    @property
    def is_drawn(self) -> bool:
        """Whether every user has a row that was drawn for a group."""
        return MODES[self.mode].is_drawn

    @property
    def row_name(self) -> str:
        """What a row of cells belongs to: ``user`` or ``group``."""
        return "user" if "ratings" in TABLES[self.layout] else "group"

    @property
    def n_names(self) -> int:
        """How many users or groups have a row of cells."""
        return self.n_users if self.row_name == "user" else self.n_groups

    @property
    def has_factors(self) -> bool:
        """Whether ratings are not listed but follow from factors."""
        return "items" in TABLES[self.layout]

    @property
    def cell_parts(self) -> list[Part]:
        """The parts of the table that holds items and ratings."""
        return [part for part in self.parts if part.table not in ("members", *FACTOR_TABLES, *STATISTICS)]

    def stored(self, part: Part) -> dict[str, str]:
        """Return the columns that a part must have, and what each stores."""
        return stored_columns(part.table, self.manifest.get("rank"))

    def columns(self, part: Part) -> tuple[str, ...]:
        """Return the columns that a part must have."""
        return tuple(self.stored(part))

    def path(self, part: Part) -> Path:
        """Return where a part lies."""
        return self.folder / part.name


def read_claims(folder: Path, *, content: bool = False) -> tuple[Claims | None, list[str]]:
    """Read the manifest and compare it with the folder; claims are None where its form is wrong.

    The tables' SHA-256 are left to whoever opens them. ``content`` is for a release that another tool wrote: nothing
    is asked of the files but their names, sizes and hashes.
    """
    try:
        manifest = _load(folder / MANIFEST)
    except FileNotFoundError:
        return None, [f"there is no {MANIFEST}"]
    except (OSError, ValueError, RecursionError) as error:
        return None, [f"{MANIFEST} cannot be read: {error}"]
    problems = list(form_problems(manifest))
    if problems:
        return None, problems
    claims = _claims(folder, manifest, content)
    return claims, list(_folder_problems(folder, manifest, content)) or list(_size_problems(claims))


def _load(path: Path) -> dict[str, Any]:
    """Read a manifest and require the one way to write it, so that no byte can be changed unseen."""
    about = path.lstat()
    if not stat.S_ISREG(about.st_mode) or about.st_size > _MOST_MANIFEST_BYTES:
        raise ValueError("it must be a file of its own, of at most a megabyte")
    text = path.read_bytes().decode("utf-8")
    manifest = json.loads(text)
    if not isinstance(manifest, dict):
        raise ValueError("it must hold one JSON object")
    if as_text(manifest) != text:
        raise ValueError("it is not written as recloak writes it")
    return manifest


def _folder_problems(folder: Path, manifest: dict[str, Any], content: bool) -> Iterator[str]:
    """Compare every file with its size, and the card with its hash; refuse files that the manifest does not name."""
    expected = set(manifest["files"]) | {MANIFEST}
    tables = {name.partition("/")[0] for name in expected if "/" in name}
    present = _present(folder, tables)
    yield from (f"{name}: is not part of the release" for name in sorted(set(present) - expected))
    yield from (f"{name}: is missing" for name in sorted(expected - set(present)))
    if not content:
        yield from (problem for name in ("", *sorted(tables), *sorted(present)) for problem in _burdens(folder, name))
    for name, entry in manifest["files"].items():
        if name not in present:
            continue
        if present[name].is_symlink() or not present[name].is_file():
            yield f"{name}: must be a file of its own"
        elif present[name].stat().st_size != entry["bytes"]:
            yield f"{name}: has {present[name].stat().st_size} bytes, the manifest says {entry['bytes']}"
        elif name == CARD and digest_of(present[name]) != entry["sha256"]:
            yield f"{name}: its SHA-256 is not the one in the manifest"


def _burdens(folder: Path, name: str) -> Iterator[str]:
    """Say what a file or folder carries besides its content; copies made by a browser or an archive carry nothing."""
    path = folder / name if name else folder
    about, shown = path.lstat(), name or "the folder"
    if stat.S_ISREG(about.st_mode) and about.st_nlink > 1:
        yield f"{shown}: has further hard links; copy the release to a folder of its own"
    if about.st_mode & (stat.S_ISUID | stat.S_ISVTX) or (stat.S_ISREG(about.st_mode) and about.st_mode & stat.S_ISGID):
        yield f"{shown}: has special permissions"
    if notes := [one for one in _attributes(path) if one.startswith("user.")]:
        yield f"{shown}: carries the extended attributes {', '.join(notes)}"


def _attributes(path: Path) -> list[str]:
    try:
        return os.listxattr(path, follow_symlinks=False)
    except (AttributeError, OSError):  # neither every system nor every file system knows them
        return []


def _size_problems(claims: Claims) -> Iterator[str]:
    """Refuse counts that contradict each other."""
    n_cells = sum(part.n_rows for part in claims.cell_parts)
    if claims.has_factors:
        yield from row_problems(claims)
    elif max(claims.n_items, claims.n_names) > n_cells:
        yield "the manifest says more users, groups or items than there are rows"
    members = [part.n_rows for part in claims.parts if part.table == "members"]
    if members and sum(members) != claims.n_users:
        yield "the manifest says more or fewer users than there are members"


def _present(folder: Path, tables: set[str]) -> dict[str, Path]:
    """Return what lies in the folder, and in the folders of those tables that lie in parts."""
    found: dict[str, Path] = {}
    for entry in folder.iterdir():
        if entry.name in tables and entry.is_dir() and not entry.is_symlink():
            found |= {f"{entry.name}/{part.name}": part for part in entry.iterdir()}
        else:
            found[entry.name] = entry
    return found


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _claims(folder: Path, manifest: dict[str, Any], content: bool) -> Claims:
    files, facts = manifest["files"], facts_in(manifest)
    same = ("k", "mode", "grid", "diversity", "max_link", "n_users", "n_items", "n_ratings", "n_groups")
    return Claims(
        folder=folder,
        layout=manifest["layout"],
        file_format=manifest["file_format"],
        **{name: getattr(facts, name) for name in same},
        low=facts.scale.low,
        high=facts.scale.high,
        content=content,
        manifest=manifest,
        parts=tuple(
            Part(table, name, files[name]["sha256"], files[name]["rows"])
            for table, names in parts_of(manifest).items()
            for name in names
        ),
    )


def telling_problems(claims: Claims, **counts: int) -> Iterator[str]:
    """Compare manifest and data card with what they must say, given what was counted in the tables.

    The tables' names, sizes, hashes and rows were compared already; everything else is written again.
    """
    said = claims.manifest
    if claims.grid is not None and not _has_shortest_step(claims):
        yield "the manifest's grid has digits that do nothing"
    facts = replace(facts_in(said), **counts)  # type: ignore[arg-type]
    files = {name: _in_order(entry) for name, entry in said["files"].items()}
    wanted = manifest_of(facts, claims.layout, claims.file_format, files)
    if wrong := [name for name in wanted if name != "seal" and json.dumps(said.get(name)) != json.dumps(wanted[name])]:
        yield f"the manifest's {wrong[0]} is not what recloak writes for this release"
    elif (claims.folder / MANIFEST).read_bytes() != as_text(wanted).encode():
        yield "the manifest is not the one that recloak writes for this release"
    if (claims.folder / CARD).read_bytes() != data_card(facts, claims.layout, claims.file_format).encode():
        yield f"{CARD}: is not the data card that recloak writes for this release"


def _has_shortest_step(claims: Claims) -> bool:
    """Return whether no step with fewer decimals gives the same values; digits that do nothing could say anything."""
    assert claims.grid is not None
    values = allowed(claims.low, claims.high, claims.grid).values
    for digits in range(17):
        step = round(claims.grid, digits)
        if step == claims.grid:
            return True
        n = np.arange(len(values))
        if step > 0 and np.array_equal(np.round(claims.low + step * n, 6).astype(np.float32), values):
            return False
    return True


def _in_order(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: entry[name] for name in ("rows", "bytes", "sha256") if name in entry}
