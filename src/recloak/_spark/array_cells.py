"""Arrays in the cells of Spark's tables: a block of users is one row whose cells hold whole numpy arrays as bytes.

Spark moves such a cell in one piece, where a row for every rating would cost a conversion for each.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame, SparkSession

Row = dict[str, pa.Scalar]
_ROWS_AT_ONCE = "spark.sql.parquet.columnarReaderBatchSize"
_GLOB = re.compile(r"[][{}*?\\]")  # what Hadoop would take for a pattern


def address(path: str | Path, *, reading: bool = True) -> str:
    """Return the address of a path of this machine, whatever the default storage is; only when read it is a pattern."""
    plain = str(Path(path).resolve())
    return "file://" + (as_pattern(plain) if reading else plain)


def as_pattern(path: str) -> str:
    """Return a path so that Hadoop, which takes what it reads for patterns, finds just this file."""
    return _GLOB.sub(r"\\\g<0>", path)


@contextmanager
def row_by_row(spark: SparkSession) -> Iterator[None]:
    """Make Spark read Parquet one row at a time: a batch of 4,096 rows whose cells are arrays outgrows any memory."""
    before = spark.conf.get(_ROWS_AT_ONCE)
    spark.conf.set(_ROWS_AT_ONCE, "1")
    try:
        yield
    finally:
        spark.conf.set(_ROWS_AT_ONCE, before or "4096")


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Yield the rows of batches, each a mapping of names to Arrow values."""
    for batch in batches:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        for place in range(batch.num_rows):
            yield {name: column[place] for name, column in columns.items()}


def array(cell: pa.Scalar, kind: Any) -> NDArray[Any]:
    """Return the array that a cell of bytes holds, without copying it."""
    return np.frombuffer(cell.as_buffer(), kind)


def joined(table: pa.Table, name: str, kind: Any) -> NDArray[Any]:
    """Return the arrays of a column of bytes as one."""
    return np.concatenate([array(cell, kind) for cell in table[name]])


def batch(columns: Mapping[str, Sequence[Any]], kinds: Mapping[str, pa.DataType]) -> pa.RecordBatch:
    """Return a batch of rows; a numpy array in a column of bytes becomes its bytes."""
    arrays = [pa.array([_plain(value) for value in columns[name]], kind) for name, kind in kinds.items()]
    return pa.RecordBatch.from_arrays(arrays, names=list(kinds))


def row_batch(row: Mapping[str, Any], kinds: Mapping[str, pa.DataType]) -> pa.RecordBatch:
    """Return a batch of one row."""
    return batch({name: [value] for name, value in row.items()}, kinds)


def map_rows(frame: DataFrame, make: Callable[[Row], Mapping[str, Any]], kinds: Mapping[str, pa.DataType]) -> DataFrame:
    """Return a table with a row for each row of another, made from it by a function that runs on the workers."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in rows_of(batches):
            yield row_batch(make(row), kinds)

    return frame.mapInArrow(run, schema(kinds))


def _plain(value: Any) -> Any:
    return np.ascontiguousarray(value).tobytes() if isinstance(value, np.ndarray) else value


def element_kind(frame: DataFrame) -> pa.DataType:
    """Return the type of the users' ids in a table that holds lists of them."""
    kind: Any = frame.schema["ids"].dataType
    return pa.string() if kind.elementType.typeName() == "string" else pa.int64()


def schema(kinds: Mapping[str, pa.DataType]) -> str:
    """Return the same columns as a schema of Spark."""
    return ", ".join(f"{name} {_NAMES[kind]}" for name, kind in kinds.items())


_NAMES = {
    pa.int32(): "int", pa.int64(): "bigint", pa.float64(): "double", pa.float32(): "float", pa.string(): "string",
    pa.binary(): "binary", pa.list_(pa.int64()): "array<bigint>", pa.list_(pa.string()): "array<string>",
}  # fmt: skip
