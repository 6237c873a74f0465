"""CSV and its kin: commas, semicolons, tabs, bars or blanks, with or without a header."""

from __future__ import annotations

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import is_known
from recloak._ratings.dialect import Dialect, dialect_of, quoting_of, split
from recloak._ratings.options import ReadOptions
from recloak._ratings.reader import Reader
from recloak._ratings.source_files import Sample, require_text

_SEPARATORS = (",", "\t", ";", "|", "")
_LOOKED_AT = 50


def _dialect(sample: Sample, options: ReadOptions) -> Dialect:
    """Recognise how a file is written."""
    return dialect_of(sample, _separator(sample), options)


def _separator(sample: Sample) -> str:
    """Find the separator: the one that shows known names in the header, else that splits most lines alike."""
    require_text(sample)
    lines = [line for line in sample.lines()[:_LOOKED_AT] if not line.lstrip().startswith(("#", "%"))]
    if not lines:
        raise SourceError("the file is empty", file=sample.path)
    scores = {separator: _score(lines, separator) for separator in _SEPARATORS}
    best = max(_SEPARATORS, key=lambda separator: scores[separator])
    if scores[best][2] < 2:
        raise SourceError(
            "no separator was found in its first line (comma, tab, semicolon, bar, '::' or blanks)",
            file=sample.path,
            value=lines[0][:60],
        )
    return best


def _score(lines: list[str], separator: str) -> tuple[int, float, int]:
    """Count the known names in the first line, the share of records with as many fields as most, and these fields."""
    records = split(lines, separator, quoting_of(separator))
    counts = [len(record) for record in records]
    usual = max(set(counts), key=lambda count: (counts.count(count), count))
    known = sum(is_known(name) for name in records[0]) if len(records[0]) > 1 else 0
    if known > 1:
        usual = len(records[0])
    return known if known > 1 else 0, round(counts.count(usual) / len(counts), 1) if usual > 1 else 0.0, usual


READER = Reader(
    name="csv",
    title="CSV",
    text="fields between commas, semicolons, tabs, bars or blanks, with or without a header; whatever no other reader "
    "recognises is read as this",
    matches=lambda _: False,
    dialect=_dialect,
)
