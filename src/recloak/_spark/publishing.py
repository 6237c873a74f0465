"""Publish on a cluster: read, pad, bin, group, homogenise, name afresh, write, verify, and only then put into place.

Nothing that grows with users or ratings comes to the driver: what does are the items' factors, a bounded sample of
users as points, and counts. Between the steps the data lie in a work folder beside the private one (mode 0700, removed
in the end), so that a lost worker costs only the tasks it was at.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import functions as sf

from recloak._core.errors import RefusedError
from recloak._core.files import scratch_folder, sha256_of
from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.options import ReadOptions
from recloak._releases.card import data_card
from recloak._releases.folder_checks import ACCOUNT, both_or_none, check_folders
from recloak._releases.group import GroupOptions
from recloak._releases.manifest import Facts, make_manifest
from recloak._releases.model.release_format import CARD, MANIFEST
from recloak._releases.options import PadOptions, PublishOptions, WriteOptions
from recloak._releases.publishing import StepLog, confidence_of, facts_of, require_enough
from recloak._spark.array_cells import address, array, row_by_row
from recloak._spark.bin_groups import Plan, group_bins
from recloak._spark.naming import secret_key
from recloak._spark.padding import pad_blocks
from recloak._spark.part_writing import Described, PartFolders
from recloak._spark.release_tables import Naming, write_tables
from recloak._spark.session import SparkOptions, told_plainly
from recloak._spark.source import open_source
from recloak._spark.user_bins import BinLimits, bin_users
from recloak._spark.user_blocks import Blocks, make_blocks
from recloak._spark.verification import verify

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class SparkRelease:
    """What was published, and where."""

    facts: Facts
    public: Path
    private: Path


def publish(
    spark: SparkSession,
    source: str | list[str],
    folder: str | Path,
    *,
    private: str | Path | None = None,
    layout: str | None = None,
    options: PublishOptions | None = None,
    reading: ReadOptions | None = None,
    cutting: SparkOptions | None = None,
    pad_options: PadOptions | None = None,
    group_options: GroupOptions | None = None,
    rng: Rng = None,
) -> SparkRelease:
    """Publish a source on a cluster into a folder that driver and workers reach under the same path."""
    options = options or PublishOptions()
    layout = WriteOptions(layout=layout).layout_of(options.mode)
    public, hidden = check_folders(folder, private)
    padding = (pad_options or PadOptions()).for_groups(options.k)
    options.require_spark()
    padding.require_spark()
    work = _Work(
        spark, options, cutting or SparkOptions(), padding, group_options or GroupOptions(),
        layout, randomness(rng), StepLog(),
    )  # fmt: skip
    with told_plainly(), scratch_folder(hidden) as scratch:
        blocks = work.read(source, reading or ReadOptions(), scratch)
        with row_by_row(spark):
            plan, groups = work.group(blocks, scratch)
            with both_or_none(public, hidden) as (aside, hidden_aside):
                facts = work.write(blocks, plan, groups, PartFolders(aside, hidden_aside, scratch))
                work.require_pass(aside, facts, blocks)
                work.write_account(hidden_aside, public, aside, blocks)
    return SparkRelease(facts, public, hidden)


@dataclass(frozen=True, slots=True)
class _Work:
    """One run: what was asked for, and the account of what is done."""

    spark: SparkSession
    options: PublishOptions
    cutting: SparkOptions
    pad_options: PadOptions
    group_options: GroupOptions
    layout: str
    chance: Randomness
    log: StepLog

    def read(self, source: str | list[str], reading: ReadOptions, scratch: Path) -> Blocks:
        """Read the source into blocks of users."""
        with self.log.step("read") as notes, task("reading", 1) as advance:
            opened = open_source(self.spark, source, reading)
            blocks = make_blocks(
                self.spark, opened, scratch, block_ratings=self.cutting.block_ratings, bounds=reading.bounds()
            )
            n_repeated = opened.n_rows - opened.n_skipped - blocks.n_ratings
            notes.update(n_rows=opened.n_rows, n_skipped=opened.n_skipped, n_repeated=n_repeated)
            notes.update(n_blocks=blocks.n_blocks)
            advance(1)
        require_enough(blocks.n_users, blocks.n_items, self.options)
        return blocks

    def group(self, blocks: Blocks, scratch: Path) -> tuple[Plan, DataFrame]:
        """Pad, bin, group and homogenise; give the groups as they lie in the work folder."""
        with self.log.step("pad") as notes:
            padding = pad_blocks(blocks, self.pad_options, self.chance.child("pad").child("pad"))
            notes["rank"] = padding.items.rank
        with self.log.step("bin") as notes, task("binning", 1) as advance:
            chance = self.chance.child("bins")
            binned, notes["n_bins"] = bin_users(self.spark, blocks, padding, scratch, self._limits(), chance)
            advance(1)
        with self.log.step("group and homogenise") as notes, task("grouping", 1) as advance:
            plan = Plan(padding, blocks.item_ids, self.options, self.group_options, self.chance.child("group"))
            group_bins(binned, plan).write.parquet(address(scratch / "groups", reading=False))
            shutil.rmtree(scratch / "cells")
            groups = self.spark.read.parquet(address(scratch / "groups"))
            notes.update(self._about(groups))
            advance(1)
        return plan, groups

    def _limits(self) -> BinLimits:
        """Give what a bin may hold; it must hold as many users as its groups, and diversity, need."""
        k, wanted = self.options.k, self.options.wanted_diversity
        least = k if wanted is None else wanted.l * (2 * k - 1)
        return BinLimits(self.cutting.bin_users, self.cutting.bin_ratings, max(least, k))

    def _about(self, groups: DataFrame) -> dict[str, Any]:
        """Say how sure an adversary can be about a link, from counts by bin."""
        links = groups.where(sf.length("links") > 0).select("links", "n_fake").toArrow()
        counts = np.sum([array(cell, np.int64) for cell in links["links"]], axis=0)
        side = 2 * self.options.k
        about = confidence_of(counts.reshape(side, side))
        fake = {} if self.options.diversity is None else {"fake_cells": int(np.sum(links["n_fake"].to_numpy()))}
        return {"n_groups": groups.count(), **about, **fake}

    def write(self, blocks: Blocks, plan: Plan, groups: DataFrame, places: PartFolders) -> Facts:
        """Name everything afresh and write the tables, the card and the manifest."""
        facts = _facts(blocks, plan, groups, self.options)
        with self.log.step("name afresh and write") as notes:
            secret = secret_key(blocks, self.chance.child("release"))
            naming = Naming(self.spark, plan, secret, facts, places, self.layout, self.cutting.part_cells)
            parts = write_tables(naming, groups)
            notes["n_parts"] = len(parts)
        _write_about(places.public, facts, self.layout, parts)
        return facts

    def require_pass(self, folder: Path, facts: Facts, blocks: Blocks) -> None:
        """Verify what was written, as a stranger would; diversity needs the source."""
        original = None if facts.diversity is None else blocks
        with self.log.step("verify"):
            verdict = verify(self.spark, folder, k=facts.k, original=original, diversity=facts.diversity)
        if not verdict.passed:
            raise RefusedError(
                f"the release does not keep its promise, so nothing was published: {verdict.problems[0]}"
            )

    def write_account(self, folder: Path, public: Path, aside: Path, blocks: Blocks) -> None:
        """Write the account of what was done; only the owner may read it."""
        about = {"folder": str(public.resolve()), "layout": self.layout, "format": "parquet"}
        about["manifest_sha256"] = sha256_of(aside / MANIFEST)
        counts = {"n_users": blocks.n_users, "n_items": blocks.n_items, "n_ratings": blocks.n_ratings}
        account = {
            "seed": self.chance.seed,
            "options": self.options.to_mapping(),
            "padding": self.pad_options.to_mapping(),
            "engine": "spark",
            "counts": counts,
            "steps": self.log.steps,
            "release": about,
        }
        (folder / ACCOUNT).write_text(json.dumps(account, indent=2) + "\n", encoding="utf-8")
        (folder / ACCOUNT).chmod(0o600)


def _facts(blocks: Blocks, plan: Plan, groups: DataFrame, options: PublishOptions) -> Facts:
    counted = groups.agg(sf.count("*").alias("n"), sf.sum(sf.col("n_members") * sf.col("n_cells")).alias("cells"))
    n_groups, n_ratings = counted.collect()[0]
    return facts_of(
        options, plan.grid, n_users=blocks.n_users, n_items=blocks.n_items, n_ratings=n_ratings, n_groups=n_groups
    )


def _write_about(folder: Path, facts: Facts, layout: str, parts: list[Described]) -> None:
    """Write the data card and the manifest; every file carries the same fixed time of change."""
    (folder / CARD).write_text(data_card(facts, layout, "parquet"), encoding="utf-8")
    manifest = make_manifest(facts, layout, "parquet", folder, parts={part.file: part.entry() for part in parts})
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    for entry in folder.iterdir():
        os.utime(entry, (0, 0))
