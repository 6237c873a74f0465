"""Synthetic ratings into files, block by block, so that memory does not grow with their number.

OUT ends in ``.parquet``, ``.csv``, ``.csv.gz`` or ``.csv.zst``: one file of ratings, with titles and mentions beside
it (``OUT`` without its ending, then ``-titles.csv`` and ``-mentions`` with the same ending). Any other OUT is a folder
with ``ratings.parquet`` (or ``.csv``), ``titles.csv`` and ``mentions.parquet`` (or ``.csv``).
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from polars.io.plugins import register_io_source

from recloak._core.errors import OptionError
from recloak._core.files import written_file, written_folder
from recloak._core.randomness import Randomness, Rng, randomness
from recloak._ratings.synthetic.made_up_mentions import MENTIONS, draw_mentions, make_forum
from recloak._ratings.synthetic.made_up_titles import make_titles
from recloak._ratings.synthetic.options import FileOptions, MentionOptions, SynthOptions
from recloak._ratings.synthetic.rating_stream import RatingBlock, blocks, make_world, numbers_of
from recloak._ratings.value_kinds import ValueKind

_ENDINGS = (".csv.gz", ".csv.zst", ".csv", ".parquet")
_COMPRESSION: dict[str, Any] = {".csv": "uncompressed", ".csv.gz": "gzip", ".csv.zst": "zstd"}
_ROW_GROUP = 1 << 20
_VALUES: dict[str, Any] = {"ratings": {"rating": pl.UInt8}, "counts": {"plays": pl.Int64}, "presence": {}}


@dataclass(frozen=True, slots=True)
class SyntheticFiles:
    """What was written where, and the seed that makes it again."""

    seed: int
    n_users: int
    n_items: int
    n_ratings: int
    ratings: Path
    titles: Path | None
    mentions: Path | None
    n_mentions: int


class _Files(NamedTuple):
    """Where each table goes."""

    ratings: Path
    titles: Path
    mentions: Path


def write_synthetic(
    out: str | Path,
    options: SynthOptions | None = None,
    files: FileOptions | None = None,
    mentions: MentionOptions | None = None,
    *,
    rng: Rng = None,
) -> SyntheticFiles:
    """Write synthetic ratings, and titles and mentions where asked; nothing half-written stays behind."""
    options, files = options or SynthOptions(), files or FileOptions()
    ending, is_folder, final = _targets(Path(out), files.format)
    wanted = (True, files.titles, files.mentions)
    source = randomness(rng)
    with ExitStack() as stack:
        if is_folder:
            folder = stack.enter_context(written_folder(Path(out)))
            aside = _Files(*(folder / path.name for path in final))
        else:
            pairs = zip(final, wanted, strict=True)
            aside = _Files(*(stack.enter_context(written_file(path)) if asked else path for path, asked in pairs))
        if files.titles:
            _write_titles(aside.titles, options.sizes[1], source)
        n_mentions = _write_tables(aside, ending, options, files, mentions or MentionOptions(), source)
    titles, spoken = final.titles if files.titles else None, final.mentions if files.mentions else None
    return SyntheticFiles(source.seed, *options.sizes, final.ratings, titles, spoken, n_mentions)


def _targets(out: Path, wanted: str | None) -> tuple[str, bool, _Files]:
    """Return the ending of the tables, whether OUT is a folder, and where the tables go."""
    ending = next((ending for ending in _ENDINGS if out.name.endswith(ending)), None)
    if ending is None or out.is_dir():
        ending = f".{wanted or 'parquet'}"
        return ending, True, _Files(out / f"ratings{ending}", out / "titles.csv", out / f"mentions{ending}")
    if wanted is not None and not ending.startswith(f".{wanted}"):
        raise OptionError(f"format must agree with the ending of {out.name}, got {wanted}")
    stem = out.name.removesuffix(ending)
    return ending, False, _Files(out, out.with_name(f"{stem}-titles.csv"), out.with_name(f"{stem}-mentions{ending}"))


def _write_titles(path: Path, n_items: int, rng: Randomness) -> None:
    titles = make_titles(n_items, rng=rng)
    pl.DataFrame({"item": range(1, n_items + 1), "title": titles}).write_csv(path)


def _write_tables(
    aside: _Files, ending: str, options: SynthOptions, files: FileOptions, mentioning: MentionOptions, rng: Randomness
) -> int:
    """Write the ratings while they are drawn, and on the way gather the mentions, which are few."""
    rng = rng.child("synthetic")
    world, kind = make_world(options, rng), options.shape.kind
    forum = make_forum(mentioning, world.catalogue.popularity, world.histogram, rng)
    mentions = [pl.DataFrame(schema=MENTIONS)]

    def frames() -> Iterator[pl.DataFrame]:
        for block in blocks(world):
            if files.mentions:
                mentions.append(draw_mentions(forum, block.first, block.starts, block.items, block.values, block.times))
            yield _table(block, kind)

    _sink(_streamed(frames, _schema(kind)), aside.ratings, ending)
    if files.mentions:
        numbered = pl.concat(mentions).with_columns(pl.col("user", "item") + 1)
        _sink(numbered.lazy(), aside.mentions, ending)
    return sum(map(len, mentions))


def _schema(kind: ValueKind) -> dict[str, Any]:
    return {"user": pl.Int32, "item": pl.Int32, **_VALUES[kind.name], "timestamp": pl.Int64}


def _table(block: RatingBlock, kind: ValueKind) -> pl.DataFrame:
    """Return a block as a table; outside, users and items count from 1."""
    values = dict.fromkeys(_VALUES[kind.name], numbers_of(block, kind))
    columns = {"user": block.users + 1, "item": block.items + 1, **values, "timestamp": block.times}
    return pl.DataFrame(columns, schema=_schema(kind))


def _streamed(frames: Callable[[], Iterator[pl.DataFrame]], schema: dict[str, Any]) -> pl.LazyFrame:
    """Return a frame whose tables polars pulls one by one."""

    def source(*_: object) -> Iterator[pl.DataFrame]:
        return frames()

    return register_io_source(source, schema=schema)


def _sink(table: pl.LazyFrame, path: Path, ending: str) -> None:
    """Write a table as its ending says; row groups of a fixed size keep the bytes the same for the same rows."""
    if ending == ".parquet":
        table.sink_parquet(path, row_group_size=_ROW_GROUP)
    else:
        table.sink_csv(path, compression=_COMPRESSION[ending], check_extension=False)
