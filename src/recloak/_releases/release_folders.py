"""The two folders of a release: the public one, verified before it appears, and the private one.

Both are written aside. The public one is verified there; then the private one is put into place, and the public one
last. A kill at any moment therefore leaves both folders or no public one. A private folder without its public one is
what a killed run left, and the next run replaces it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from recloak._core import progress
from recloak._core.errors import RefusedError
from recloak._core.files import sha256_of
from recloak._core.threads import workers
from recloak._releases.card import data_card
from recloak._releases.folder_checks import ACCOUNT, MAPPING, both_or_none, check_folders
from recloak._releases.manifest import make_manifest
from recloak._releases.model.release_format import CARD, MANIFEST, TABLES, table_names
from recloak._releases.options import WriteOptions
from recloak._releases.packed_table import packed_file
from recloak._releases.profiles import FullProfiles
from recloak._releases.release import ProfileBlock, Release
from recloak._releases.table_writing import Column, ItemColumn, table_file
from recloak._releases.verifier import verify

T = TypeVar("T")


def write_release(
    release: Release, folder: str | Path, *, private: str | Path | None = None, layout: str | None = None,
    file_format: str = "parquet",
) -> Path:  # fmt: skip
    """Write both folders of a release or neither; return the public one."""
    layout = WriteOptions(layout=layout, format=file_format).layout_of(release.facts.mode)
    public, hidden = check_folders(folder, private)
    with both_or_none(public, hidden) as (aside, hidden_aside):
        write_public(release, aside, layout, file_format)
        _require_pass(release, aside)
        about = {"folder": str(public.resolve()), "layout": layout, "format": file_format}
        about["manifest_sha256"] = sha256_of(aside / MANIFEST)
        write_private(release, hidden_aside, about)
    return public


def _require_pass(release: Release, folder: Path) -> None:
    """Verify what was written, as a stranger would; diversity and a cap on links need the source."""
    facts = release.facts
    original = None if facts.diversity is None and facts.max_link is None else release.source
    mapping = None if facts.max_link is None else release.mapping()
    verdict = verify(folder, k=facts.k, original=original, diversity=facts.diversity, mapping=mapping)
    if not verdict.passed:
        raise RefusedError(f"the release does not keep its promise, so nothing was published: {verdict.problems[0]}")


def write_public(release: Release, folder: Path, layout: str, file_format: str) -> None:
    """Write tables, data card and manifest into a folder; every file carries the same fixed time of change."""
    names = table_names(layout, file_format)
    rows = {names[table]: _write_table(release, folder / names[table], layout, table, file_format) for table in names}
    (folder / CARD).write_text(data_card(release.facts, layout, file_format), encoding="utf-8")
    manifest = make_manifest(release.facts, layout, file_format, folder, rows)
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    for file in folder.iterdir():
        os.utime(file, (0, 0))


def _write_table(release: Release, path: Path, layout: str, table: str, file_format: str) -> int:
    """Write one table block by block, computing the next block while one is written; give the number of rows."""
    if table == "members":
        return _write_members(release, path, file_format)
    name = TABLES[layout][table][0]
    items = ItemColumn(release.item_ids)
    profiles = release.profiles
    if layout == "grouped" and file_format == "parquet" and isinstance(profiles, FullProfiles) and profiles.coded:
        return _write_packed(release, profiles, path, name, items)
    types = {name: pa.int32(), "item": items.type, "rating": pa.float32()}
    n_rows, gridded = 0, release.facts.grid is not None
    total = release.facts.n_groups if layout == "grouped" else release.facts.n_users
    with progress.task("writing", total) as advance, table_file(path, types, file_format, gridded=gridded) as sink:
        for block in _ahead(release.blocks(layout)):
            sink.write(_columns(name, block, items))
            n_rows += len(block.cells.items)
            advance(len(block.names))
    return n_rows


def _write_packed(release: Release, profiles: FullProfiles, path: Path, name: str, items: ItemColumn) -> int:
    """Write full profiles on a grid, by far the largest table there is, in pages of our own."""
    with (
        progress.task("writing", release.facts.n_groups) as advance,
        packed_file(path, name, items, profiles.grid.values) as sink,
    ):
        for names, codes in _ahead(release.code_blocks(profiles)):
            sink.write(names, codes)
            advance(len(names))
    return len(profiles.counts) * profiles.n_items


def _columns(name: str, block: ProfileBlock, items: ItemColumn) -> dict[str, Column]:
    repeated = np.repeat(block.names.astype(np.int32), np.diff(block.cells.indptr))
    return {name: repeated, "item": items.of(block.cells.items), "rating": block.cells.labels}


def _ahead(blocks: Iterator[T]) -> Iterator[T]:
    """Yield the blocks in order while one thread prepares the next."""
    with workers(1) as worker:
        waiting = worker.submit(next, blocks, None)
        while (block := waiting.result()) is not None:
            waiting = worker.submit(next, blocks, None)
            yield block


def _write_members(release: Release, path: Path, file_format: str) -> int:
    users = np.arange(1, release.facts.n_users + 1, dtype=np.int32)
    types = {"user": pa.int32(), "group": pa.int32()}
    with table_file(path, types, file_format, gridded=True) as sink:
        sink.write({"user": users, "group": (release.groups + 1).astype(np.int32)})
    return len(users)


def write_private(release: Release, folder: Path, about: dict[str, Any]) -> None:
    """Write who is who and the account of what was done; only the owner may read them."""
    release.mapping().write_parquet(folder / MAPPING)
    account = {**release.account, "release": about}
    (folder / ACCOUNT).write_text(json.dumps(account, indent=2) + "\n", encoding="utf-8")
    for file in folder.iterdir():
        file.chmod(0o600)
