"""A source on Spark: its files as Spark names them, in the order of the local engine, and what was made of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from pyspark.sql import functions as sf

from recloak._core.errors import SourceError
from recloak._ratings.opened_files import SAMPLE_BYTES, Sample, SourceFile, is_packed, sample_from
from recloak._ratings.source_files import files_of
from recloak._ratings.value_meaning import Looks
from recloak._spark.array_cells import address, as_pattern

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

FILE = 1 << 44  # no file has more rows or bytes
_LINES = 300


@dataclass(frozen=True, slots=True)
class SparkSource:
    """A checked source; ``frame`` reads it anew whenever it is used."""

    frame: DataFrame
    n_rows: int
    n_skipped: int
    notes: tuple[str, ...] = ()
    column: str | None = "rating"  # of the values, as it is called where that says what they are; None: there is none
    looks: Looks | None = None  # of the values

    @property
    def has_times(self) -> bool:
        """Whether every rating has a time."""
        return "time" in self.frame.columns

    def is_text(self, role: str) -> bool:
        """Return whether the ids of the users or items are texts, else they are whole numbers."""
        return self.frame.schema[role].dataType.typeName() == "string"


def file_column() -> Column:
    """Return the file of each row, named as ``inputFiles`` names it."""
    return sf.regexp_replace("_metadata.file_path", "^file:/+", "file:///").alias("file")


@dataclass(frozen=True, slots=True)
class SourcePaths:
    """Where a source lies: addresses to read, and the paths behind them where all are files of this machine."""

    addresses: tuple[str, ...]
    places: dict[str, int]  # of each file or address among those given
    local: tuple[Path, ...] | None  # these every worker must have as well

    @classmethod
    def of(cls, source: Sequence[str]) -> SourcePaths:
        """Find the files of a source; what an address holds is known to Spark only."""
        found = [one for path in source for one in ([path] if "://" in path else files_of(path))]
        local = tuple(one for one in found if isinstance(one, Path))
        for path in local:
            if path.exists() and not path.is_file():
                raise SourceError("is a pipe or device, which engine='spark' cannot read", file=path)
        return cls(
            tuple(address(one) if isinstance(one, Path) else one for one in found),
            {str(one.resolve() if isinstance(one, Path) else one): place for place, one in enumerate(found)},
            local if len(local) == len(found) else None,
        )

    def first_sample(self, spark: SparkSession) -> Sample:
        """Read the first lines of the first file."""
        if self.local is not None:
            with SourceFile(self.local[0]) as file:
                return file.sample()
        if self.addresses[0].rstrip("/").endswith(".parquet"):
            return Sample(Path(self.addresses[0]), b"PAR1", False)
        first = self.in_order(spark.read.text(self.addresses[0]).inputFiles())[0]
        lines = spark.read.option("lineSep", "\n").text(as_pattern(unquote(first)))
        rows = lines.select(sf.col("value").cast("binary").alias("line")).take(_LINES)
        head = b"\n".join([*(bytes(row.line) for row in rows), b""])
        return sample_from(Path(self.shown(first)), head[:SAMPLE_BYTES], is_whole=False)

    def some_packed(self) -> bool:
        """Return whether a file of this machine is packed; at an address Spark unpacks what its name says is packed."""
        return any(is_packed(path) for path in self.local or ())

    def in_order(self, files: Iterable[str]) -> list[str]:
        """Put files as Spark names them in the order of the source, those of one address by name."""
        return sorted(files, key=lambda file: (self._place(file), file))

    def _place(self, file: str) -> int:
        plain = unquote(file)
        known = self.places.get(plain.removeprefix("file://"))
        if known is not None:
            return known
        inside = (place for path, place in self.places.items() if "://" in path and plain.startswith(path))
        return next(inside, len(self.places))

    def shown(self, file: str) -> str:
        """Return the name of a file as the caller wrote it."""
        place = self.places.get(unquote(file).removeprefix("file://"))
        return unquote(file) if place is None or self.local is None else str(self.local[place])
