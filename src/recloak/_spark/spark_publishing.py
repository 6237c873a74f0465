"""Publish on a cluster: read, pad, bin, group, homogenise, renumber, write, verify, and only then move into place.

Nothing that grows with users or ratings comes to the driver: what does are the items' factors, a bounded sample of
users as points, and counts. Between the steps the data are in a work folder beside the private one (mode 0700, removed
afterwards), so that a lost worker costs only its running tasks.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from recloak._core.files import scratch_folder
from recloak._core.progress import task
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.options import ReadOptions
from recloak._releases.folder_checks import MAPPING, both_or_none, check_folders
from recloak._releases.group import GroupOptions
from recloak._releases.model.manifest import Facts
from recloak._releases.model.release_format import Verdict
from recloak._releases.options import PadOptions, PublishOptions, WriteOptions
from recloak._releases.publishing import confidence_of, padding_for, require_enough
from recloak._releases.release import FolderRelease
from recloak._releases.release_folders import about_release, require_pass, write_account, write_card_and_manifest
from recloak._releases.release_size import SourceSize, announce
from recloak._releases.step_log import StepLog, facts_of
from recloak._spark.array_cells import address, array, row_batch, row_by_row, rows_of
from recloak._spark.bin_groups import Plan, group_bins
from recloak._spark.naming import secret_key
from recloak._spark.padding import pad_blocks
from recloak._spark.part_writing import PartFolders, n_distinct_rows
from recloak._spark.release_tables import Naming, write_tables
from recloak._spark.session import SparkOptions, plain_errors
from recloak._spark.source import open_source
from recloak._spark.source_paths import SparkSource
from recloak._spark.user_bins import BinLimits, bin_users
from recloak._spark.user_blocks import Blocks, added_up, make_blocks
from recloak._spark.verification import verify


def publish(
    spark: SparkSession,
    source: str | list[str] | SparkSource,
    folder: str | Path,
    *,
    private: str | Path | None = None,
    layout: str | None = None,
    writing: WriteOptions | None = None,
    options: PublishOptions | None = None,
    reading: ReadOptions | None = None,
    cutting: SparkOptions | None = None,
    pad_options: PadOptions | None = None,
    group_options: GroupOptions | None = None,
    rng: Rng = None,
) -> FolderRelease:
    """Publish a source on a cluster into a folder that driver and workers reach under the same path."""
    options = options or PublishOptions()
    writing = writing or WriteOptions(layout=layout)
    layout = writing.chosen_layout
    public, hidden = check_folders(folder, private)
    padding = padding_for(options, pad_options)
    options.require_spark()
    padding.require_spark()
    work = _Work(
        spark, options, cutting or SparkOptions(), padding, group_options or GroupOptions(),
        layout, randomness(rng), StepLog(),
    )  # fmt: skip
    with plain_errors(), scratch_folder(hidden) as scratch:
        blocks = work.read(source, reading or ReadOptions(), scratch)
        counts = SourceSize(blocks.n_users, blocks.n_items, blocks.n_ratings, blocks.scale)
        announce(counts, options, writing.replace(layout=layout), padding.n_factors, spark=True)
        with row_by_row(spark):
            plan, groups = work.group(blocks, scratch)
            with both_or_none(public, hidden) as (aside, hidden_aside):
                places = PartFolders(aside, hidden_aside, scratch)
                facts = work.write(blocks, plan, groups, places)
                require_pass(work.verify(places, facts, blocks))
                write_account(hidden_aside, work.account(blocks), about_release(public, aside, layout, "parquet"))
    return FolderRelease(facts, public, hidden)


@dataclass(frozen=True, slots=True)
class _Work:
    """One run: its options, and the log of its steps."""

    spark: SparkSession
    options: PublishOptions
    cutting: SparkOptions
    pad_options: PadOptions
    group_options: GroupOptions
    layout: str
    rng: Randomness
    log: StepLog

    def read(self, source: str | list[str] | SparkSource, reading: ReadOptions, scratch: Path) -> Blocks:
        """Read the source into blocks of users."""
        with self.log.step("read") as notes, task("reading", 1) as advance:
            opened = source if isinstance(source, SparkSource) else open_source(self.spark, source, reading)
            size, bounds = self.cutting.block_ratings, reading.bounds()
            blocks = make_blocks(self.spark, opened, scratch, block_ratings=size, bounds=bounds)
            n_repeated = opened.n_rows - opened.n_skipped - blocks.n_ratings
            counts = {"n_rows": opened.n_rows, "n_skipped": opened.n_skipped, "n_repeated": n_repeated}
            notes.update(counts, n_blocks=blocks.n_blocks)
            advance(1)
        require_enough(blocks.n_users, blocks.n_items, self.options)
        return blocks

    def group(self, blocks: Blocks, scratch: Path) -> tuple[Plan, DataFrame]:
        """Pad, bin, group and homogenise; return the groups in the work folder."""
        with self.log.step("pad") as notes:
            padding = pad_blocks(blocks, self.pad_options, self.rng.child("pad").child("pad"))
            notes["rank"] = padding.items.rank
        with self.log.step("bin") as notes, task("binning", 1) as advance:
            rng = self.rng.child("bins")
            binned, notes["n_bins"] = bin_users(self.spark, blocks, padding, scratch, self._limits(), rng)
            advance(1)
        with self.log.step("group and homogenise") as notes, task("grouping", 1) as advance:
            rng = self.rng.child("group")
            plan = Plan(padding, blocks.item_ids, self.options, self.group_options, rng, blocks.popularity)
            group_bins(binned, plan).write.parquet(address(scratch / "groups", reading=False))
            shutil.rmtree(scratch / "cells")
            groups = self.spark.read.parquet(address(scratch / "groups"))
            notes.update(self._about(groups))
            advance(1)
        return plan, groups

    def _limits(self) -> BinLimits:
        """Return what a bin may hold; it must hold as many users as its groups, and diversity, need."""
        k, wanted = self.options.k, self.options.wanted_diversity
        least = k if wanted is None else wanted.l * (2 * k - 1)
        return BinLimits(self.cutting.bin_users, self.cutting.bin_ratings, max(least, k))

    def _about(self, groups: DataFrame) -> dict[str, Any]:
        """Return how sure an adversary can be about a link, from counts by bin, and what was added or left out."""
        links = groups.where(sf.length("links") > 0).select("links", "n_fake").toArrow()
        counts = np.sum([array(cell, np.int64) for cell in links["links"]], axis=0)
        side = 2 * self.options.k
        about = confidence_of(counts.reshape(side, side))
        if self.options.diversity is not None or self.options.decoys is not None:
            about["fake_cells"] = int(np.sum(links["n_fake"].to_numpy()))
        n_groups, n_cells = groups.agg(sf.count("*"), sf.sum("n_cells")).collect()[0]
        if self.options.leaves_out:
            left_out = about["rated_cells"] - n_cells + about.get("fake_cells", 0)
            about.update(max_link=self.options.max_link, min_shown=self.options.min_shown, left_out=left_out)
        return {"n_groups": n_groups, **about}

    def write(self, blocks: Blocks, plan: Plan, groups: DataFrame, places: PartFolders) -> Facts:
        """Assign new numbers to everything and write the tables, the card and the manifest."""
        facts = _facts(blocks, plan, groups)
        stated = replace(facts, n_groups=n_distinct_rows(groups, plan)) if self.layout == "long" else facts
        with self.log.step("name afresh and write") as notes:
            secret = secret_key(blocks, [*self._recipe(), facts.recipe], self.rng.child("release"))
            naming = Naming(self.spark, plan, secret, facts, places, self.layout, self.cutting.part_cells)
            parts = write_tables(naming, groups)
            notes["n_parts"] = len(parts)
        entries = {part.file: part.entry() for part in parts}
        write_card_and_manifest(places.public, stated, self.layout, "parquet", parts=entries)
        return facts

    def _recipe(self) -> list[Any]:
        """Return every choice that made the release; the names depend on it."""
        cuts = self.cutting.block_ratings, self.cutting.bin_users, self.cutting.bin_ratings
        steps = self.pad_options.to_mapping(), self.group_options.to_mapping()
        return [self.layout, self.options.recipe, *steps, *cuts]

    def verify(self, places: PartFolders, facts: Facts, blocks: Blocks) -> Verdict:
        """Verify what was written, as a stranger would; diversity and a cap on links need the source."""
        original = None if facts.diversity is None and facts.max_link is None else blocks
        mapping, wanted = places.private / MAPPING, facts.diversity
        with self.log.step("verify"):
            return verify(self.spark, places.public, k=facts.k, original=original, diversity=wanted, mapping=mapping)

    def account(self, blocks: Blocks) -> dict[str, Any]:
        """Return the account of what was done."""
        counts = {"n_users": blocks.n_users, "n_items": blocks.n_items, "n_ratings": blocks.n_ratings}
        return {
            "seed": self.rng.seed,
            "options": self.options.to_mapping(),
            "padding": self.pad_options.to_mapping(),
            "engine": "spark",
            "counts": counts,
            "steps": self.log.steps,
        }


def _facts(blocks: Blocks, plan: Plan, groups: DataFrame) -> Facts:
    sums = groups.agg(sf.count("*"), sf.sum(sf.col("n_members") * sf.col("n_cells"))).collect()[0]
    n_items = _n_shown(groups, blocks.n_items) if plan.options.leaves_out else blocks.n_items
    counts = {"n_users": blocks.n_users, "n_items": n_items, "n_ratings": sums[1], "n_groups": sums[0]}
    return facts_of(plan.options, plan.grid, **counts)


def _n_shown(groups: DataFrame, n_items: int) -> int:
    """Count the items that are in some row; a cap on links can leave one out altogether."""

    def mark(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shown = np.zeros(n_items, np.int64)
        for row in rows_of(batches):
            shown[array(row["items"], np.int32)] = 1
        yield row_batch({"shown": shown}, {"shown": pa.binary()})

    return int(np.count_nonzero(added_up(groups.select("items").mapInArrow(mark, "shown binary"), "shown")))
