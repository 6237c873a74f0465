"""The two folders of a release: the public one, verified before it appears, and the private one.

Both are written aside. The public one is verified there; then the private one is put into place, and the public one
last. A kill at any moment therefore leaves both folders or no public one. A private folder without its public one is
what a killed run left, and the next run replaces it.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recloak._core import progress
from recloak._core.errors import RefusedError
from recloak._core.files import sha256_of
from recloak._core.threads import ahead
from recloak._releases.factor_layout import FactorProfiles
from recloak._releases.folder_checks import ACCOUNT, MAPPING, both_or_none, check_folders, mapping_digest
from recloak._releases.grid import make_grid
from recloak._releases.model.card import data_card
from recloak._releases.model.manifest import Facts, as_text, make_manifest
from recloak._releases.model.release_format import (
    BLOCK_CELLS,
    CARD,
    MANIFEST,
    TABLES,
    Verdict,
    factor_names,
    table_names,
)
from recloak._releases.options import WriteOptions
from recloak._releases.profiles import FullProfiles
from recloak._releases.release import Release
from recloak._releases.row_digests import row_digests
from recloak._releases.statistics.table_columns import statistics_columns
from recloak._releases.table_writing import (
    Column,
    Decimals,
    ItemColumn,
    Labels,
    Names,
    Numbers,
    rating_column,
    table_file,
)
from recloak._releases.verifier import verify

Block = tuple[dict[str, Column], int, int]  # columns, and how many names and cells they hold


def write_release(
    release: Release, folder: str | Path, *, private: str | Path | None = None, layout: str | None = None,
    file_format: str = "parquet",
) -> Path:  # fmt: skip
    """Write both folders of a release or neither; return the public one."""
    writing = WriteOptions(layout=layout or release.usual_layout, format=file_format)
    layout = writing.for_mode(release.facts.mode).chosen_layout
    release = release.named(layout, file_format)
    public, hidden = check_folders(folder, private)
    with both_or_none(public, hidden) as (aside, hidden_aside):
        write_public(release, aside, layout, file_format)
        require_pass(_verified(release, aside))
        write_private(release, hidden_aside, about_release(public, aside, layout, file_format))
    return public


def _verified(release: Release, folder: Path) -> Verdict:
    """Verify what was written, as a stranger would; diversity and a cap on links need the source."""
    facts = release.facts
    original = None if facts.diversity is None and facts.max_link is None else release.source
    mapping = None if facts.max_link is None else release.mapping()
    return verify(folder, k=facts.k, original=original, diversity=facts.diversity, mapping=mapping)


def require_pass(verdict: Verdict) -> None:
    """Refuse to publish what was not found to keep its promise."""
    if not verdict.passed:
        raise RefusedError(f"the release does not keep its promise, so nothing was published: {verdict.problems[0]}")


def write_public(release: Release, folder: Path, layout: str, file_format: str) -> None:
    """Write tables, data card and manifest into a folder."""
    names = table_names(layout, file_format)
    rows = {names[table]: _write_table(release, folder / names[table], layout, table, file_format) for table in names}
    rows |= write_statistics(release, folder, file_format)
    facts = replace(release.facts, n_groups=_n_distinct(release)) if layout == "long" else release.facts
    write_card_and_manifest(folder, facts, layout, file_format, rows=rows)


def write_statistics(release: Release, folder: Path, file_format: str) -> dict[str, int]:
    """Write the tables of statistics, where there are some; return the number of rows by file."""
    rows = {}
    for table, (columns, n_rows) in statistics_columns(release.statistics, release.item_ids).items():
        with table_file(folder / f"{table}.{file_format}", file_format) as sink:
            sink.write(columns)
        rows[f"{table}.{file_format}"] = n_rows
    return rows


def _n_distinct(release: Release) -> int:
    """Count the rows that differ: where no group is named, a stranger cannot tell groups with the same row apart."""
    return len({digest for block in release.blocks() for digest in row_digests(block.cells)})


def write_card_and_manifest(folder: Path, facts: Facts, layout: str, file_format: str, **tables: Any) -> None:
    """Write what a stranger is told about the tables, the rows or parts of which are ``tables`` of `make_manifest`.

    Every file carries the same fixed time of change.
    """
    (folder / CARD).write_text(data_card(facts, layout, file_format), encoding="utf-8")
    manifest = make_manifest(facts, layout, file_format, folder, **tables)
    (folder / MANIFEST).write_text(as_text(manifest), encoding="utf-8")
    for file in folder.iterdir():
        os.utime(file, (0, 0))


def _write_table(release: Release, path: Path, layout: str, table: str, file_format: str) -> int:
    """Write one table block by block, computing the next block while one is written; return the number of rows."""
    blocks = _TABLE_BLOCKS[table](release) if table in _TABLE_BLOCKS else _cell_blocks(release, layout, table)
    n_rows = 0
    with progress.task("writing", release.facts.n_users) as advance, table_file(path, file_format) as sink:
        for columns, n_names, n_cells in ahead(blocks):
            sink.write(columns)
            n_rows += n_cells
            advance(n_names)
    return n_rows


def _cell_blocks(release: Release, layout: str, table: str) -> Iterator[Block]:
    """Return the blocks of a table of cells; full profiles on a grid are by far the largest, and stay numbers."""
    name = TABLES[layout][table][0]
    items, facts, profiles = ItemColumn(release.item_ids), release.facts, release.profiles
    grid = make_grid(facts.scale, facts.mode, "none" if facts.grid is None else facts.grid)
    if layout == "grouped" and isinstance(profiles, FullProfiles) and profiles.coded:
        for names, codes in release.code_blocks(profiles):
            counts, labels = np.full(len(names), codes.shape[1]), Labels(grid.values, codes.reshape(-1))
            yield _block({name: Names(names, counts), "item": items.repeated(*codes.shape), "rating": labels}, counts)
        return
    for block in release.blocks(layout):
        counts, cells = np.diff(block.cells.indptr), block.cells
        whose, rated = Names(block.names.astype(np.int32), counts), rating_column(cells.labels, grid)
        yield _block({name: whose, "item": items.of(cells.items), "rating": rated}, counts)


def _block(columns: dict[str, Column], counts: NDArray[np.integer]) -> Block:
    return columns, len(counts), int(counts.sum())


def _member_blocks(release: Release) -> Iterator[Block]:
    users = np.arange(1, release.facts.n_users + 1, dtype=np.int32)
    for start in range(0, len(users), BLOCK_CELLS):
        part = slice(start, start + BLOCK_CELLS)
        groups = (release.groups[part] + 1).astype(np.int32)
        columns: dict[str, Column] = {"user": Numbers(users[part]), "group": Numbers(groups)}
        yield columns, 0, len(users[part])


def _group_blocks(release: Release) -> Iterator[Block]:
    """Return the bias and the factors of the groups."""
    assert isinstance(release.profiles, FactorProfiles)
    names, tables = np.arange(1, release.facts.n_groups + 1, dtype=np.int32), release.profiles.tables
    for start in range(0, len(names), BLOCK_CELLS):
        part, rows = slice(start, start + BLOCK_CELLS), release.group_order[start : start + BLOCK_CELLS]
        numbers = number_columns(tables.group_bias[rows], tables.group_factors[rows])
        yield {"group": Numbers(names[part]), **numbers}, 0, len(rows)


def _item_blocks(release: Release) -> Iterator[Block]:
    """Return the bias and the factors of the items."""
    assert isinstance(release.profiles, FactorProfiles)
    items, tables = ItemColumn(release.item_ids), release.profiles.tables
    for start in range(0, release.facts.n_items, BLOCK_CELLS):
        rows = np.arange(start, min(start + BLOCK_CELLS, release.facts.n_items), dtype=np.int32)
        numbers = number_columns(tables.item_bias[rows], tables.item_factors[rows])
        yield {"item": items.of(rows), **numbers}, 0, len(rows)


def number_columns(bias: NDArray[np.float32], factors: NDArray[np.float32]) -> dict[str, Column]:
    """Return the columns of a bias and of factors."""
    columns = zip(("bias", *factor_names(factors.shape[1])), (bias, *factors.T), strict=True)
    return {name: Decimals(values) for name, values in columns}


_TABLE_BLOCKS = {"members": _member_blocks, "groups": _group_blocks, "items": _item_blocks}


def about_release(public: Path, aside: Path, layout: str, file_format: str) -> dict[str, Any]:
    """Return what the private account says of the public folder, which is still written aside."""
    digest = sha256_of(aside / MANIFEST)
    return {"folder": str(public.resolve()), "layout": layout, "format": file_format, "manifest_sha256": digest}


def write_private(release: Release, folder: Path, about: dict[str, Any]) -> None:
    """Write who is who and the account of what was done; only the owner may read them."""
    release.mapping().write_parquet(folder / MAPPING)
    (folder / MAPPING).chmod(0o600)
    write_account(folder, release.account, about)


def write_account(folder: Path, account: dict[str, Any], about: dict[str, Any]) -> None:
    """Write the account of what was done; only the owner may read it."""
    about = {**about, "mapping_sha256": mapping_digest(folder)}
    text = json.dumps({**account, "release": about}, indent=2) + "\n"
    (folder / ACCOUNT).write_text(text, encoding="utf-8")
    (folder / ACCOUNT).chmod(0o600)
