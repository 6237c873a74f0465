"""A source of ratings as a checked Spark table: ``user``, ``item``, ``rating``, ``time`` (where known), ``place``.

Columns are recognised as the local readers recognise them, from the schema or from the first lines of the first file. A
row that cannot be right stops the work with the first example and how many there are, or is dropped and counted
(``--skip-bad``). ``place`` puts the rows in the order of the files, so that of a repeated pair the last can be kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as sf

from recloak._core.errors import SourceError
from recloak._ratings.model import Scale
from recloak._ratings.options import ReadOptions
from recloak._spark.source_layouts import SourceLayout, open_layout

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_WHOLE = ("byte", "short", "integer", "long")
_FRACTIONS = ("float", "double")
_FILE = 1 << 44  # no file has more rows or bytes


@dataclass(frozen=True, slots=True)
class Source:
    """A checked source; ``frame`` reads it anew whenever it is used."""

    frame: DataFrame
    n_rows: int
    n_skipped: int
    notes: tuple[str, ...]

    @property
    def has_times(self) -> bool:
        """Whether every rating has a time."""
        return "time" in self.frame.columns

    def is_text(self, role: str) -> bool:
        """Tell whether the ids of the users or items are texts, else they are whole numbers."""
        return self.frame.schema[role].dataType.typeName() == "string"


def open_source(spark: SparkSession, source: str | Iterable[str], options: ReadOptions | None = None) -> Source:
    """Open and check a source: files and folders of Parquet or delimited text, by path or address."""
    options = options or ReadOptions()
    layout = open_layout(spark, [source] if isinstance(source, str) else [str(one) for one in source], options)
    ranks = (
        [sf.coalesce("rank", sf.lit(0)).alias("rank")] if "rank" in layout.frame.columns else [sf.lit(0).alias("rank")]
    )
    rows = layout.frame.select(*_columns(layout), "file", "place", *ranks)
    checked = rows.withColumn("problem", _problem(rows.columns, layout, options.bounds()))
    n_rows, n_bad, whole = _look_over(checked, layout, skip_bad=options.skip_bad)
    return Source(_finished(checked, whole), n_rows, n_bad, layout.notes)


def _columns(layout: SourceLayout) -> list[Column]:
    """Give the columns of the roles; a rating or a time that cannot be read becomes nothing, its text is kept."""
    kinds = {role: layout.frame.schema[name].dataType.typeName() for role, name in layout.roles.items()}
    chosen = [_id(layout, role, kinds[role]) for role in ("user", "item")]
    rating = sf.col(layout.roles["rating"])
    chosen += [rating.try_cast("float").alias("rating"), rating.cast("string").alias("said")]
    if "time" in layout.roles:
        chosen.append(_seconds(sf.col(layout.roles["time"]), kinds["time"]).alias("time"))
    return [*chosen, *([sf.col("broken")] if layout.is_text else [])]


def _id(layout: SourceLayout, role: str, kind: str) -> Column:
    column = sf.col(layout.roles[role])
    if kind == "string":
        return column.alias(role)
    if kind in (*_WHOLE, *_FRACTIONS) or kind.startswith("decimal"):
        return sf.when(column == sf.floor(column), column.try_cast("long")).alias(role)
    raise SourceError(f"the {role}'s ids must be whole numbers or texts, but their type is {kind}")


def _seconds(column: Column, kind: str) -> Column:
    """Bring times of any kind to whole seconds since 1970, as the local readers do."""
    if kind in ("timestamp", "timestamp_ntz", "date"):
        return sf.unix_timestamp(column.cast("timestamp"))
    if kind != "string":
        return _whole_seconds(sf.floor(column).try_cast("long"))
    number = sf.floor(column.try_cast("double")).try_cast("long")
    return sf.coalesce(_whole_seconds(number), sf.unix_timestamp(column.try_cast("timestamp")))


def _whole_seconds(time: Column) -> Column:
    size, seconds = sf.abs(time), time
    for bound, per_second in ((10**11, 10**3), (10**14, 10**6), (10**17, 10**9)):
        seconds = sf.when(size >= bound, sf.floor(time / sf.lit(per_second)).cast("long")).otherwise(seconds)
    return seconds


def _problem(columns: list[str], layout: SourceLayout, scale: Scale | None) -> Column:
    """Name the rule that a row breaks, or nothing."""
    rating = sf.col("rating")
    rules = (
        [] if "broken" not in columns else [(sf.col("broken").isNotNull(), f"a row must have {layout.n_fields} fields")]
    )
    for role in ("user", "item"):
        empty = sf.col(role).isNull() | (sf.col(role).cast("string") == "")
        rules.append((empty, f"the {role}'s id must not be empty"))
    rules.append((sf.coalesce(sf.trim("said"), sf.lit("")) == "", "a rating must not be empty"))
    rules.append((rating.isNull(), "a rating must be a number"))
    rules.append((sf.isnan(rating) | (sf.abs(rating) == float("inf")), "a rating must be a finite number"))
    if scale is not None:
        within = f"a rating must lie between {scale.low:g} and {scale.high:g}"
        rules.append(((rating < scale.low) | (rating > scale.high), within))
    if "time" in columns:
        rules.append((sf.col("time").isNull(), "a time must be readable and not empty (time='none' leaves times out)"))
    return sf.coalesce(*(sf.when(holds, sf.lit(rule)) for holds, rule in rules))


def _look_over(checked: DataFrame, layout: SourceLayout, *, skip_bad: bool) -> tuple[int, int, list[str]]:
    """Count the rows and those that cannot be right; give also the columns of ids that are all whole numbers."""
    good = sf.col("problem").isNull()
    wanted = [sf.count("*").alias("n_rows"), sf.count("problem").alias("n_bad"), _first(checked)]
    for role in ("user", "item"):
        text = sf.col(role)
        whole = (text.try_cast("long").cast("string") == text) if layout.is_text else sf.lit(False)
        wanted.append(
            sf.coalesce(sf.bool_and(sf.when(good, sf.coalesce(whole, sf.lit(False)))), sf.lit(False)).alias(role)
        )
    found = checked.agg(*wanted).collect()[0]
    if found.n_bad and not skip_bad:
        _refuse(found, is_text=layout.is_text)
    if found.n_rows == found.n_bad:
        raise SourceError("there are no ratings" + (", every row was bad" if found.n_bad else ""))
    return found.n_rows, found.n_bad, [role for role in ("user", "item") if found[role]]


def _first(checked: DataFrame) -> Column:
    shown = sf.when(sf.col("problem").startswith("a rating"), sf.col("said"))
    if "broken" in checked.columns:
        shown = sf.coalesce(sf.substring("broken", 1, 60), shown)
    row = sf.struct("file", "place", "problem", shown.alias("shown"))
    return sf.min(sf.when(sf.col("problem").isNotNull(), row)).alias("first")


def _refuse(found: Any, *, is_text: bool) -> None:
    first = found.first
    more = f" ({found.n_bad} rows cannot be right, this is the first)" if found.n_bad > 1 else ""
    line = None if is_text else first.place + 1
    raise SourceError(first.problem + more, file=first.file, line=line, value=first.shown)


def _finished(checked: DataFrame, whole: list[str]) -> DataFrame:
    """Drop the bad rows, make whole numbers of ids that are, and number the places over all files."""
    rows = checked.where(sf.col("problem").isNull())
    for role in whole:
        rows = rows.withColumn(role, sf.col(role).cast("long"))
    kept = ["user", "item", "rating", *(["time"] if "time" in rows.columns else [])]
    return rows.select(*kept, (sf.col("rank") * sf.lit(_FILE) + sf.col("place")).alias("place"))
