"""CSV and its kin: commas, semicolons, tabs, bars or blanks, with or without a header."""

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import is_known
from recloak._ratings.dialect import ALL_COMMENTS, Dialect, dialect_of, quoting_of, records_of
from recloak._ratings.opened_files import Sample, require_text
from recloak._ratings.options import ReadOptions
from recloak._ratings.reader import Reader

_SEPARATORS = (",", "\t", ";", "|", "")
_LOOKED_AT = 50


def _dialect(sample: Sample, options: ReadOptions) -> Dialect:
    """Recognise how a file is written."""
    return dialect_of(sample, _separator(sample), options)


def _separator(sample: Sample) -> str:
    """Find the separator: the one that shows known names in the header, else that splits most lines alike."""
    require_text(sample)
    scores = {separator: _score(sample, separator) for separator in _SEPARATORS}
    best = max(_SEPARATORS, key=lambda separator: scores[separator])
    if scores[best][2] < 2:
        raise SourceError(
            "no separator was found in its first line (comma, tab, semicolon, bar, '::' or blanks)",
            file=sample.path,
            value=next(iter(sample.lines()), "")[:60],
        )
    return best


def _score(sample: Sample, separator: str) -> tuple[int, float, int]:
    """Count the known names in the first line, the share of records with as many fields as most, and these fields."""
    found = records_of(sample, separator, quoting_of(separator), _LOOKED_AT)
    records = [record.fields for record in found if not record.is_comment]
    if not records:
        raise SourceError(ALL_COMMENTS, file=sample.path)
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
