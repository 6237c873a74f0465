"""Pad on a cluster: the local engine's factorisation (`_releases.factorise`), one pass over the blocks a round.

The items' beliefs are few and travel to every block. There the users are solved by the same kernel as on one machine,
and what their ratings add up to for each item (`sum_rows`) travels back instead of the users' numbers: a matrix of
(rank + 2)^2 / 2 floats for each item and block, where sending users to items would repeat each of them for nearly every
item that was rated. The sums of the blocks are added in the order of the blocks and solved (`solve_sums`), so that the
result does not depend on which worker did what.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from recloak._core.progress import Advance, task
from recloak._core.randomness import Randomness
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.model import Ratings, Scale
from recloak._releases.factor_kernel import TILE
from recloak._releases.factor_start import BIAS_RIDGE, inverse_fourth_root, orthonormal, residual_product, row_weights
from recloak._releases.factorise import (
    START_ROUNDS,
    Factorisation,
    Levels,
    SideSums,
    energy_of,
    first_guess,
    first_items,
    first_levels,
    next_levels,
    side_sums,
)
from recloak._releases.model.steps import Padding
from recloak._releases.options import PadOptions
from recloak._releases.row_solver import Beliefs, RatingRows, RowSums, solve_rows, solve_sums, sum_rows
from recloak._spark.array_cells import Row, array, joined, row_batch, rows_of, schema
from recloak._spark.user_blocks import Blocks, rows_in

CHUNK = 2048  # items whose sums travel together
FAN = 64  # blocks whose pieces are added at once
_USERS = -1  # the chunk in which the users' own sums travel
_PIECE = {"chunk": pa.int32(), "block": pa.int32(), "payload": pa.binary()}
_SOLVED = {"chunk": pa.int32(), "mean": pa.binary(), "variance": pa.binary(), "sums": pa.binary()}
Pieces = Iterator[tuple[int, NDArray[Any]]]  # chunk and payload


@dataclass(frozen=True, eq=False, slots=True)
class PaddedItems:
    """What the padding knows of the items, and what it takes to solve any user: small, and known to every worker."""

    items: Beliefs
    levels: Levels

    def solve(self, rows: RatingRows) -> Beliefs:
        """Return the beliefs about users, from their ratings."""
        levels = self.levels
        return solve_rows(rows, self.items, mu=levels.mu, noise=levels.noise, prior=levels.user_prior)[0]


@dataclass(frozen=True, eq=False, slots=True)
class ItemPadding:
    """The padding without its users, whom any block can solve for itself from their ratings.

    As on one machine the users of the last round were solved against the items of the round before; a predictor that
    knows nothing of users has none.
    """

    mu: float
    items: Beliefs
    scale: Scale
    before: PaddedItems | None

    def of(self, ratings: Ratings) -> Padding:
        """Return the padding of some users' ratings."""
        if self.before is None:
            nothing, mean = np.zeros((ratings.n_users, 1), np.float32), self.items.mean
            return Padding(self.mu, nothing[:, 0], mean[:, 0], nothing[:, 1:], mean[:, 1:], self.scale)
        users = self.before.solve(RatingRows(ratings.indptr, ratings.items, ratings.values))
        return Factorisation(users, self.items, self.before.levels, 0.0).padding(ratings)


class Sides(NamedTuple):
    """The ratings of a block by user and by item."""

    by_user: RatingRows
    by_item: RatingRows


def pad_blocks(blocks: Blocks, options: PadOptions, rng: Randomness) -> ItemPadding:
    """Predict every cell by the predictor that the options name, as `_releases.pad.pad` does."""
    fit = {"svd": _factors, "bias": _biases, "mean": _item_means}[options.predictor]
    return fit(blocks, options, rng)


def _biases(blocks: Blocks, options: PadOptions, rng: Randomness) -> ItemPadding:
    return _factors(blocks, options.replace(rank=0), rng)


def _item_means(blocks: Blocks, _options: PadOptions, _rng: Randomness) -> ItemPadding:
    """Predict a cell by its item's mean, as `_releases.pad.item_means` does."""
    sums = _summed(blocks, _bias_pieces(blocks.mean, None))
    bias = (sums / np.maximum(blocks.popularity, 1)[:, None]).astype(np.float32)
    return ItemPadding(blocks.mean, Beliefs(bias, np.zeros_like(bias)), blocks.scale, None)


def _factors(blocks: Blocks, options: PadOptions, rng: Randomness) -> ItemPadding:
    """Factorise as `_releases.factorise.factorise` does."""
    with task("padding", options.iterations + 2 * START_ROUNDS) as advance:
        side = _start(blocks, options.n_factors, rng, advance)
        previous = np.inf
        for n in range(1, options.iterations + 1):
            following, energy = _round(blocks, side)
            advance(1)
            if n == options.iterations or previous - energy < options.tolerance:
                break
            side, previous = following, energy
    return ItemPadding(side.levels.mu, following.items, blocks.scale, side)


def sides_of(row: Row, n_items: int) -> Sides:
    """Return a block's ratings by user and by item."""
    by_user = RatingRows(*rows_in(row))
    indptr, users, order = transpose_rows(by_user.indptr, by_user.others, n_items)
    return Sides(by_user, RatingRows(indptr, users, by_user.values[order]))


def _mapped(blocks: Blocks, pieces: Callable[[Sides], Pieces]) -> DataFrame:
    """Return the pieces that a function makes of both sides of every block, those of many blocks added up."""
    n_items = blocks.n_items

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            for chunk, payload in pieces(sides_of(row, n_items)):
                piece = {"chunk": chunk, "block": row["block"].as_py(), "payload": _marked(payload)}
                yield row_batch(piece, _PIECE)

    made = blocks.frame.select("block", "indptr", "items", "values").mapInArrow(run, schema(_PIECE))
    n_blocks = blocks.n_blocks
    while n_blocks > FAN:
        made = made.withColumn("block", sf.floor(sf.col("block") / FAN).cast("int"))
        made, n_blocks = made.groupBy("chunk", "block").applyInArrow(_adder, schema(_PIECE)), -(-n_blocks // FAN)
    return made


def _adder(table: pa.Table) -> pa.Table:
    """Add the pieces of neighbouring blocks, so that no task ever holds those of all."""
    row = {name: table[name][0].as_py() for name in ("chunk", "block")}
    return pa.Table.from_batches([row_batch({**row, "payload": _marked(_added(table))}, _PIECE)])


def _chunks(n_items: int) -> Iterator[tuple[int, int, int]]:
    """Yield number, first item and the one after the last of each chunk."""
    return ((chunk, first, min(first + CHUNK, n_items)) for chunk, first in enumerate(range(0, n_items, CHUNK)))


def _marked(payload: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the bytes of an array after the size of its numbers: pieces are float32, sums of pieces float64."""
    size = np.full(8, payload.itemsize, np.uint8)
    return np.concatenate((size, np.ascontiguousarray(payload).reshape(-1).view(np.uint8)))


def _unmarked(cell: pa.Scalar) -> NDArray[np.float64]:
    whole = array(cell, np.uint8)
    return whole[8:].view(np.float32 if whole[0] == 4 else np.float64).astype(np.float64)


def _added(table: pa.Table) -> NDArray[np.float64]:
    """Add the pieces of one chunk in the order of their blocks."""
    ordered = table.sort_by("block")["payload"]
    total: NDArray[np.float64] = sum((_unmarked(cell) for cell in ordered), np.zeros(1))
    return total


# --- the start: biases and main directions ---------------------------------------------------------------------------


def _start(blocks: Blocks, rank: int, rng: Randomness, advance: Advance) -> PaddedItems:
    """Return the first beliefs about the items, as `_releases.factor_start` does: three passes for each of the two."""
    mu, bias = blocks.mean, np.zeros(blocks.n_items, np.float32)
    for n in range(START_ROUNDS):
        sums = _summed(blocks, _bias_pieces(mu, bias if n else None))[:, 0]
        bias = (sums / (blocks.popularity + BIAS_RIDGE)).astype(np.float32)
        advance(1)
    directions = first_guess(blocks.n_items, rank, rng)
    weight = inverse_fourth_root(blocks.popularity)
    for _ in range(START_ROUNDS):
        if rank:
            per_item = _summed(blocks, _direction_pieces(mu, bias, weight * directions))
            directions = orthonormal(weight * per_item.astype(np.float32))
        advance(1)
    return PaddedItems(first_items(directions, bias, blocks.spread), first_levels(mu, blocks.spread, rank))


def _summed(blocks: Blocks, pieces: Callable[[Sides], Pieces]) -> NDArray[np.float64]:
    """Return the sums over all blocks for each item: (n_items, columns)."""
    kinds = {"chunk": pa.int32(), "payload": pa.binary()}

    def add(table: pa.Table) -> pa.Table:
        row = {"chunk": table["chunk"][0].as_py(), "payload": _added(table)}
        return pa.Table.from_batches([row_batch(row, kinds)])

    found = _mapped(blocks, pieces).groupBy("chunk").applyInArrow(add, schema(kinds)).toArrow().sort_by("chunk")
    return joined(found, "payload", np.float64).reshape(blocks.n_items, -1)


def _bias_pieces(mu: float, item_bias: NDArray[np.float32] | None) -> Callable[[Sides], Pieces]:
    """Sum up for each item the residuals of mean and users' biases; without item biases the users have none."""

    def pieces(sides: Sides) -> Pieces:
        no_bias = np.zeros(len(sides.by_user), np.float32)
        user_bias = no_bias if item_bias is None else _user_bias(sides, mu, item_bias)
        sums = residual_product(sides.by_item, mu, np.zeros(len(sides.by_item), np.float32), user_bias, None)
        return ((chunk, sums[first:stop]) for chunk, first, stop in _chunks(len(sums)))

    return pieces


def _user_bias(sides: Sides, mu: float, item_bias: NDArray[np.float32]) -> NDArray[np.float32]:
    sums = residual_product(sides.by_user, mu, np.zeros(len(sides.by_user), np.float32), item_bias, None)[:, 0]
    return (sums / (sides.by_user.counts + BIAS_RIDGE)).astype(np.float32)


def _direction_pieces(
    mu: float, item_bias: NDArray[np.float32], weighted: NDArray[np.float32]
) -> Callable[[Sides], Pieces]:
    """Multiply the residuals by the weighted directions, and by their transpose again."""

    def pieces(sides: Sides) -> Pieces:
        user_bias = _user_bias(sides, mu, item_bias)
        per_user = residual_product(sides.by_user, mu, user_bias, item_bias, weighted)
        weight = row_weights(sides.by_user)
        per_item = residual_product(sides.by_item, mu, item_bias, user_bias, weight**2 * per_user)
        return ((chunk, per_item[first:stop]) for chunk, first, stop in _chunks(len(per_item)))

    return pieces


# --- the rounds ------------------------------------------------------------------------------------------------------


def _round(blocks: Blocks, side: PaddedItems) -> tuple[PaddedItems, float]:
    """Solve the users and then the items; return the new side and its free energy."""
    solved = _mapped(blocks, _round_pieces(side)).groupBy("chunk").applyInArrow(_solver(side.levels), schema(_SOLVED))
    found = solved.toArrow().sort_by("chunk")
    n_known, logs, *squares = array(found["sums"][0], np.float64)  # the chunk of the users is the first
    users = SideSums(float(n_known), np.array(squares), float(logs))
    shape = blocks.n_items, len(side.levels.item_prior)
    items = Beliefs(*(joined(found.slice(1), name, np.float32).reshape(shape) for name in ("mean", "variance")))
    error = float(sum(array(cell, np.float64)[0] for cell in found["sums"][1:]))
    sums = users, side_sums(items)
    levels = next_levels(side.levels, *sums, error, blocks.n_ratings)
    return PaddedItems(items, levels), energy_of(levels, *sums, blocks.n_ratings)


def _round_pieces(side: PaddedItems) -> Callable[[Sides], Pieces]:
    """Solve a block's users; yield their sums, and the sums of their ratings for each item."""

    def pieces(sides: Sides) -> Pieces:
        users = side.solve(sides.by_user)
        known = side_sums(users)
        yield _USERS, np.concatenate(([known.n_known, known.logs], known.squares))
        for chunk, first, stop in _chunks(len(sides.by_item)):
            yield chunk, _packed(sum_rows(sides.by_item.block(first, stop), users, mu=side.levels.mu))

    return pieces


def _packed(sums: RowSums) -> NDArray[np.float32]:
    """Return the lower triangle of each item's sums and its variances side by side."""
    below = np.tril_indices(sums.outer.shape[1])
    return np.concatenate([sums.outer[:, below[0], below[1]], sums.spread], axis=1)


def _unpacked(packed: NDArray[np.float64], width: int) -> RowSums:
    below = np.tril_indices(width)
    table = packed.reshape(-1, len(below[0]) + width)
    outer = np.zeros((len(table), width, width), np.float32)
    outer[:, below[0], below[1]] = table[:, :-width]
    return RowSums(outer, table[:, -width:].astype(np.float32))


def _solver(levels: Levels) -> Callable[[pa.Table], pa.Table]:
    """Return the function that solves the items of a chunk from the sums of all blocks."""
    width = -(-(len(levels.item_prior) + 1) // TILE) * TILE

    def solve(table: pa.Table) -> pa.Table:
        chunk, nothing = table["chunk"][0].as_py(), np.empty(0, np.float32)
        mean, variance, sums = nothing, nothing, np.empty(0)
        if chunk == _USERS:
            sums = _added(table)
        else:
            beliefs, errors = solve_sums(_unpacked(_added(table), width), noise=levels.noise, prior=levels.item_prior)
            mean, variance, sums = beliefs.mean, beliefs.variance, errors.sum(dtype=np.float64, keepdims=True)
        row = {"chunk": chunk, "mean": mean, "variance": variance, "sums": sums}
        return pa.Table.from_batches([row_batch(row, _SOLVED)])

    return solve
