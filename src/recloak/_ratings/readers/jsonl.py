"""JSON Lines: one object a line, as the large public sets of reviews are written.

Polars parses whole blocks of lines into the columns that are needed, with the types that the first lines show. A block
that does not fit is read again line by line, by Python: that finds other spellings, or the words for a bad line. So is
a block in which a name may stand twice in one object (polars takes the first value, Python the last) or not at all, and
one in which a text holds a NUL, as which polars reads half a surrogate pair.

What lies in an object inside the object is named by both names, as in ``customer.id``, one level deep.
"""

import io
import json
import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import NAMES, fold
from recloak._ratings.delimited import text_blocks
from recloak._ratings.opened_files import Sample, as_text
from recloak._ratings.reader import Reader
from recloak._ratings.table_input import LazyTable
from recloak._ratings.times import number_of

_LOOKED_AT = 200  # lines by which columns and their types are recognised
_RULE = "a line must be one JSON object"
_ESCAPED_LETTER = re.compile(rb"\\u00(?:3[0-9]|[4-7])")  # by which a name can be written in another way
_INT64 = range(-(2**63), 2**63)


def _matches(sample: Sample) -> bool:
    """Return whether this is a file whose first line is a JSON object."""
    first = next(iter(sample.lines()), "")
    return first.lstrip().startswith("{") and _object(first) is not None


class _Record(dict[str, Any]):
    """An object that knows which of its names stand in it twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        names = [name for name, _ in pairs] if len(self) < len(pairs) else []
        self.twice = {name for name in names if names.count(name) > 1}


def _object(line: str) -> _Record | None:
    try:
        found = json.loads(line, object_pairs_hook=_Record)
    except (ValueError, RecursionError):
        return None
    return _with_inner(found) if isinstance(found, _Record) else None


def _with_inner(record: _Record) -> _Record:
    """Add the values of objects inside the object, unless their names are taken."""
    for outer, inside in [(name, value) for name, value in record.items() if isinstance(value, _Record)]:
        for name, value in inside.items():
            record.setdefault(f"{outer}.{name}", value)
        record.twice |= {f"{outer}.{name}" for name in (inside if outer in record.twice else inside.twice)}
    return record


def _tables(sample: Sample) -> Iterator[LazyTable]:
    """Yield the file as a table whose columns are the names that the first objects have."""
    records = [_object(line) for line in sample.lines()[:_LOOKED_AT]]
    seen = [record for record in records if record is not None]
    if not seen:
        raise SourceError(_RULE, file=sample.path, line=1, value=sample.lines()[0][:60])
    names = {name: None for record in seen for name, value in record.items() if not isinstance(value, _Record)}
    plain = {fold(name) for name in names if "." not in name}
    types = {name: _type_of(name, seen) for name in names if "." not in name or fold(name) not in plain}
    yield LazyTable(list(types), partial(_frames, sample, types))


def _type_of(name: str, records: Sequence[dict[str, Any]]) -> pl.DataType:
    values = [record[name] for record in records if record.get(name) is not None]
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return pl.Int64()
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    written = fold(name) in NAMES["rating"] and all(
        isinstance(value, str) and number_of(value) is not None for value in values
    )
    return pl.Float64() if values and (numbers or written) else pl.String()


def _frames(sample: Sample, types: dict[str, pl.DataType], columns: Sequence[str]) -> Iterator[pl.DataFrame]:
    """Yield the columns of each block of lines."""
    assert sample.file is not None
    schema = {name: types[name] for name in columns}
    first_line = 1
    with sample.file.stream() as stream:
        for block in text_blocks(stream, 0, sample.file.longest_line):
            lines = bytes(block.data[: block.stop])
            if lines.strip():
                yield _parsed(lines, schema, sample.path, first_line)
            first_line += lines.count(b"\n")
            if block.refused:
                raise SourceError(block.refused, file=sample.path, line=first_line)


def _parsed(lines: bytes, schema: dict[str, pl.DataType], path: Path, first_line: int) -> pl.DataFrame:
    try:
        # Text that stands for a whole object, list or truth is no id: such a block is looked at line by line.
        frame = _opened(pl.read_ndjson(io.BytesIO(lines), schema=_nested(schema)), schema)
        texts = [name for name, kind in schema.items() if kind == pl.String]
        odd = any(frame[name].str.contains(r"^[\[{]|^(true|false)$|\x00").any() for name in texts)
        whole = not odd and sum(frame.null_count().row(0)) == 0
        if whole and _names_stand_once(lines, schema, frame.height):
            return frame
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        pass
    return _line_by_line(lines, schema, path, first_line)


def _nested(schema: dict[str, pl.DataType]) -> dict[str, pl.DataType]:
    """Return the schema of the lines: columns of inner objects stand in structs."""
    found: dict[str, pl.DataType] = {}
    for name, kind in schema.items():
        outer, _, inner = name.partition(".")
        if inner:
            before = found.get(outer)
            fields = before.fields if isinstance(before, pl.Struct) else []
            found[outer] = pl.Struct([*fields, pl.Field(inner, kind)])
        else:
            found[name] = kind
    return found


def _opened(frame: pl.DataFrame, schema: dict[str, pl.DataType]) -> pl.DataFrame:
    """Return the columns that are asked for, those of inner objects taken out of their structs."""
    parts = {name: name.partition(".") for name in schema}
    return frame.select(
        pl.col(outer).struct.field(inner).alias(name) if inner else pl.col(name)
        for name, (outer, _, inner) in parts.items()
    )


def _names_stand_once(lines: bytes, names: Collection[str], n_rows: int) -> bool:
    """Return whether each name, which no object lacks, stands once in all of them; an escape may hide a second one."""
    if _ESCAPED_LETTER.search(lines) or (b"\\u" in lines and not all(map(str.isascii, names))):
        return False
    inner = Counter(name.partition(".")[2] or name for name in names)
    wanted = inner + Counter({name.partition(".")[0] for name in names if "." in name})
    return all(lines.count(json.dumps(name, ensure_ascii=False).encode()) == n * n_rows for name, n in wanted.items())


def _line_by_line(lines: bytes, schema: dict[str, pl.DataType], path: Path, first_line: int) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(lines.split(b"\n"), first_line):
        if not line.strip():
            continue
        record = _object(as_text(line))
        if record is None:
            raise SourceError(_RULE, file=path, line=number, value=as_text(line)[:60])
        row = {name: record.get(name) for name in schema}
        for name, value in row.items():
            if rule := _broken_rule(name, value, record):
                raise SourceError(rule, file=path, line=number, value=json.dumps(value)[:60])
        rows.append(row)
    return pl.DataFrame([_column(name, kind, [row[name] for row in rows]) for name, kind in schema.items()])


def _broken_rule(name: str, value: Any, record: _Record) -> str | None:
    if name in record.twice:
        return f"{name!r} must stand once in an object"
    if isinstance(value, dict | list | bool):
        return f"{name!r} must be a number or a text"
    if isinstance(value, str) and not _is_proper(value):
        return f"{name!r} must not hold a NUL or half a surrogate pair"
    return None


def _is_proper(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _column(name: str, kind: pl.DataType, values: list[Any]) -> pl.Series:
    """Return a column of numbers, or of texts where one value is no number, or a whole one that 64 bits do not hold."""
    if kind == pl.Float64:
        values = [_as_float(value) for value in values]
    if any(isinstance(value, str) or (isinstance(value, int) and value not in _INT64) for value in values):
        return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)
    return pl.Series(name, values, strict=False)


def _as_float(value: Any) -> Any:
    """Return a number, or a text that stands for one, as a float; anything else as it is."""
    if value is None or (isinstance(value, str) and number_of(value) is None):
        return value
    try:
        return float(value)
    except OverflowError:
        return math.inf


READER = Reader(
    name="jsonl",
    title="JSON Lines",
    text="one JSON object a line (`.jsonl`, `.ndjson`, `.json` of the large public sets of reviews) with names for "
    "user, item and perhaps value and time",
    matches=_matches,
    tables=_tables,
)
