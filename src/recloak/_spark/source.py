"""A source of ratings as a checked Spark table: ``user``, ``item``, ``rating``, ``time`` (where known), ``place``.

The layout is recognised as the local engine recognises it, by the first file. Spark reads Parquet itself, and the rules
for typed columns stand here; everything else is read by the readers' own code (`source_tasks`). A row that cannot be
right stops the work with the first example and how many there are, or is dropped and counted (``--skip-bad``).
``place`` puts the rows in the order of the files, so that of a repeated pair the last can be kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyspark.errors import AnalysisException
from pyspark.sql import functions as sf

from recloak._core.errors import InternalError, OptionError, SourceError
from recloak._ratings.column_roles import COUNT_NAMES, fold
from recloak._ratings.model import Scale
from recloak._ratings.options import ReadOptions
from recloak._ratings.reader import Reader, reader_named
from recloak._ratings.readers import first_of
from recloak._ratings.row_buffer import SKIPPING
from recloak._ratings.times import DATE_RULE, DAY_NUMBERS, DAY_RULE
from recloak._ratings.value_kinds import RATINGS
from recloak._ratings.value_meaning import Looks
from recloak._spark.source_paths import FILE, SourcePaths, SparkSource, file_column
from recloak._spark.source_tasks import read_in_tasks

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_WHOLE = ("byte", "short", "integer", "long")
_FRACTIONS = ("float", "double")


def open_source(
    spark: SparkSession, source: str | Iterable[str], options: ReadOptions | None = None, *, any_values: bool = False
) -> SparkSource:
    """Open and check a source: files and folders in any layout, by path or address.

    ``any_values`` takes purchases and plays too; without it a source holds ratings.
    """
    options = options or ReadOptions()
    if options.table is not None or options.query is not None:
        raise OptionError("table=... and query=... do not go with engine='spark'")
    if not any_values:
        if options.kind not in (None, RATINGS.name):
            raise OptionError(f"values must be {RATINGS.name} here with engine='spark', got {options.values!r}")
        options = options.replace(values=RATINGS.name)
    paths = SourcePaths.of([source] if isinstance(source, str) else [str(one) for one in source])
    try:
        first = first_of(paths.first_sample(spark), options)
        reader = reader_named(first.reader)
        if reader.spark is not None:
            return _read_by_spark(spark, paths, options, reader)
        return read_in_tasks(spark, paths, options, first)
    except AnalysisException as error:
        raise SourceError(f"Spark cannot read it ({str(error).splitlines()[0]})", file=paths.addresses[0]) from None


def _read_by_spark(spark: SparkSession, paths: SourcePaths, options: ReadOptions, reader: Reader) -> SparkSource:
    """Read tables by Spark's own data source, and check their columns."""
    frame = spark.read.format(reader.spark or "").load(list(paths.addresses))
    files = paths.in_order(frame.inputFiles())
    try:
        roles = options.find(frame.columns)
    except SourceError as error:
        raise SourceError(error.rule, file=paths.shown(files[0]), value=error.value) from None
    place = sf.col("_metadata.row_index").alias("place")
    ranks = spark.createDataFrame(list(enumerate(files)), "rank long, file string")
    placed = frame.select(*_columns(frame, roles), file_column(), place).join(sf.broadcast(ranks), "file", "left")
    checked = placed.withColumn("problem", _problem(placed.columns, options.bounds()))
    n_rows, n_bad, looks = _look_over(checked, paths, skip_bad=options.skip_bad)
    kept = ["user", "item", "rating", *(["time"] if "time" in roles else [])]
    good = checked.where(sf.col("problem").isNull())
    rows = good.select(*kept, (sf.col("rank") * sf.lit(FILE) + sf.col("place")).alias("place"))
    return SparkSource(rows, n_rows, n_bad, (), _value_column(roles), looks)


def _value_column(roles: dict[str, str]) -> str | None:
    """Return what the column of the values is called where that says that it holds counts, else ``rating``."""
    name = roles.get("rating")
    return name if name is None or fold(name) in COUNT_NAMES else "rating"


def _columns(frame: DataFrame, roles: dict[str, str]) -> list[Column]:
    """Return the columns of the roles; a rating or a time that cannot be read becomes nothing, its text is kept."""
    kinds = {role: frame.schema[name].dataType.typeName() for role, name in roles.items()}
    chosen = [_id(sf.col(roles[role]), role, kinds[role]) for role in ("user", "item")]
    rating = sf.col(roles["rating"]) if "rating" in roles else sf.lit(1)
    chosen += [rating.try_cast("float").alias("rating"), rating.cast("string").alias("said")]
    if "time" in roles:
        chosen.append(_seconds(sf.col(roles["time"]), kinds["time"]).alias("time"))
    return chosen


def _id(column: Column, role: str, kind: str) -> Column:
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


def _problem(columns: list[str], scale: Scale | None) -> Column:
    """Name the rule that a row breaks, or nothing."""
    rating, rules = sf.col("rating"), []
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


def _look_over(checked: DataFrame, paths: SourcePaths, *, skip_bad: bool) -> tuple[int, int, Looks]:
    """Count the rows and those that cannot be right, which are refused unless they are to be skipped."""
    rating = sf.when(sf.col("problem").isNull(), sf.col("rating"))
    seen = {
        "low": sf.min(rating), "high": sf.max(rating), "is_whole": sf.every(rating == sf.floor(rating)),
        "middle": sf.percentile_approx(rating, 0.5, 10_000),
    }  # fmt: skip
    shown = sf.when(sf.col("problem").startswith("a rating"), sf.col("said"))
    row = sf.struct("rank", "place", "file", "problem", shown.alias("shown"))
    first = sf.min(sf.when(sf.col("problem").isNotNull(), row)).alias("first")
    counts = {"n_rows": "*", "n_ranked": "rank", "n_bad": "problem"}
    found = checked.agg(
        *(sf.count(what).alias(name) for name, what in counts.items()), first, *_date_checks(checked.columns),
        *(figure.alias(name) for name, figure in seen.items()),
    ).collect()[0]  # fmt: skip
    if found.n_ranked < found.n_rows:
        raise InternalError("Spark names a file in two ways, so the order of the files is not known")
    if found.n_bad and not skip_bad:
        _refuse(found, paths)
    if found.all_dates or found.all_years:
        raise SourceError(DATE_RULE)
    if found.all_days:
        raise SourceError(DAY_RULE)
    if found.n_rows == found.n_bad:
        raise SourceError("there are no ratings" + (", every row was bad" if found.n_bad else ""))
    looks = Looks(found.n_rows - found.n_bad, found.low, found.high, bool(found.is_whole), found.middle)
    return found.n_rows, found.n_bad, looks


def _date_checks(columns: list[str]) -> list[Column]:
    """Return whether all times look like calendar dates written as numbers, see `recloak._ratings.times.odd_times`."""
    if "time" not in columns:
        return [sf.lit(False).alias(name) for name in ("all_dates", "all_years", "all_days")]
    time = sf.col("time")
    month, day = sf.floor(time / 100) % 100, time % 100
    dates = time.between(19000101, 21001231) & month.between(1, 12) & day.between(1, 31)
    found = {"all_dates": dates, "all_years": time.between(1900, 2100), "all_days": time.between(*DAY_NUMBERS)}
    return [sf.every(holds).alias(name) for name, holds in found.items()]


def _refuse(found: Any, paths: SourcePaths) -> None:
    first = found.first
    more = f" ({found.n_bad} rows cannot be right, this is the first)" if found.n_bad > 1 else ""
    where = f"{first.problem} (row {first.place + 1}){more}"
    raise SourceError(where, file=paths.shown(first.file), value=first.shown, hint=SKIPPING)
