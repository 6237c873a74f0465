"""CSV, TSV and their kin: commas, semicolons, tabs, bars or blanks, with or without a header."""

from __future__ import annotations

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import is_known
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers.dialect import NO_QUOTES, QUOTES, QUOTES_IN_LINE, Dialect, dialect_of, split
from recloak._ratings.readers.source_files import Sample

_SEPARATORS = (",", "\t", ";", "|", "")
_LOOKED_AT = 50


def dialect(sample: Sample, options: ReadOptions) -> Dialect:
    """Recognise how a file is written."""
    separator = "\t" if options.reader == "tsv" else _separator(sample)
    return dialect_of(sample, separator, _quoting(separator), options)


def _quoting(separator: str) -> int:
    """Say what quotes mean: in CSV a quoted field may span lines, between tabs a title may simply begin with one."""
    if not separator:
        return NO_QUOTES
    return QUOTES_IN_LINE if separator == "\t" else QUOTES


def _separator(sample: Sample) -> str:
    """Find the separator: the one that shows known names in the header, else that splits most lines alike."""
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
    """Give the known names in the first line, the share of records with as many fields as most, and that number."""
    records = split(lines, separator, _quoting(separator))
    counts = [len(record) for record in records]
    usual = max(set(counts), key=lambda count: (counts.count(count), count))
    known = sum(is_known(name) for name in records[0]) if len(records[0]) > 1 else 0
    if known > 1:
        usual = len(records[0])
    return known if known > 1 else 0, round(counts.count(usual) / len(counts), 1) if usual > 1 else 0.0, usual
