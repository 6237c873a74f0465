"""How a delimited file is written: separator, quotes, header, and which column is what."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import NO_TIME, ROLES, find_columns, is_known
from recloak._ratings.opened_files import Sample, as_text, require_text
from recloak._ratings.options import ReadOptions
from recloak._ratings.times import number_of, seconds_of
from recloak._ratings.value_kinds import PRESENCE, RATINGS

NO_QUOTES, QUOTES_IN_LINE, QUOTES = range(3)
_COMMENTS = ("#", "%")
ALL_COMMENTS = "there is nothing but comments, lines that begin with '#' or '%'"
_LOOKED_AT = 200  # rows by which separator and columns are recognised
_AMAZON_ITEM, _AMAZON_USER = re.compile(r"B[0-9A-Z]{9}|\d{9}[\dX]"), re.compile(r"A[0-9A-Z]{9,}")


@dataclass(frozen=True, slots=True)
class Dialect:
    """How to split the lines of a file and what its columns mean."""

    separator: str  # "" for one or more blanks
    quoting: int
    n_head: int  # lines before the first row of data
    n_fields: int
    roles: tuple[int, int, int, int]  # columns of user, item, rating, time; -1 for none
    has_header: bool
    note: str | None = None
    value_name: str | None = None  # of the column of the values; None: there is none

    def like(self, first: Dialect) -> Dialect:
        """Return the dialect of a further file: a part without a header has the columns of the first file."""
        if first.has_header and not self.has_header and self.n_fields == first.n_fields:
            return replace(self, roles=first.roles, note=None, value_name=first.value_name)
        return self

    def splits_like(self, other: Dialect) -> bool:
        """Return whether rows of both are read in the same way."""
        ours, theirs = (
            replace(dialect, n_head=0, has_header=False, note=None, value_name=None) for dialect in (self, other)
        )
        return ours == theirs


def quoting_of(separator: str) -> int:
    """Return what quotes mean: in CSV a quoted field may span lines, between tabs a title may begin with a quote."""
    if len(separator) != 1:
        return NO_QUOTES
    return QUOTES_IN_LINE if separator == "\t" else QUOTES


def dialect_of(sample: Sample, separator: str, options: ReadOptions, *, quoting: int | None = None) -> Dialect:
    """Recognise header and columns of a file whose separator is known."""
    require_text(sample)
    quoting = quoting_of(separator) if quoting is None else quoting
    records = records_of(sample, separator, quoting)
    comments, records = _without_comments(records)
    if not records:
        raise SourceError(ALL_COMMENTS, file=sample.path)
    rows = [record.fields for record in records]
    header = _header_in_comment(comments, rows[0], separator, quoting, options)
    has_header = header is not None or _is_header(rows, options)
    n_head = records[0].line - 1 if header is not None or not has_header else records[0].next_line - 1
    try:
        if has_header:
            roles, note = _by_name(header or rows[0], options), None
        else:
            roles, note = _by_place(rows, options)
            _refuse_rows_in_comments(comments, rows[0], roles[2], separator, quoting)
    except SourceError as error:
        raise SourceError(error.rule, file=sample.path, line=error.line, value=error.value) from None
    names = (header or rows[0]) if has_header else ["rating"] * len(rows[0])
    value_name = names[roles[2]].strip() if roles[2] >= 0 else None
    return Dialect(separator, quoting, n_head, len(rows[0]), roles, has_header, note, value_name)


@dataclass(frozen=True, slots=True)
class Record:
    """The fields of a record of the sample, and the physical lines that it takes, from 1."""

    fields: list[str]
    line: int
    next_line: int
    text: str

    @property
    def is_comment(self) -> bool:
        """Whether the record begins with the mark of a comment."""
        return self.text.lstrip().startswith(_COMMENTS)


def records_of(sample: Sample, separator: str, quoting: int, most: int = _LOOKED_AT) -> list[Record]:
    """Split the first complete lines of a sample into records, as the compiled parser does."""
    lines = [as_text(line) for line in sample.head.removeprefix(b"\xef\xbb\xbf").split(b"\n")]
    if not sample.is_whole and len(lines) > 1:
        lines.pop()
    text = "\n".join(lines)
    records: list[Record] = []
    begin, line = 0, 1
    while begin < len(text) and len(records) < most:
        fields, end = _record(text, begin, separator, quoting)
        next_line = line + text.count("\n", begin, end) + 1
        if text[begin:end].strip():
            records.append(Record(fields, line, next_line, text[begin:end]))
        begin, line = end + 1, next_line
    return records


def _record(text: str, begin: int, separator: str, quoting: int) -> tuple[list[str], int]:
    """Return the fields of the record that begins at a place, and where it ends."""
    if not separator:
        feed = text.find("\n", begin)
        end = len(text) if feed < 0 else feed
        return re.split(r"[ \t]+", text[begin:end].strip(" \t\r")), end
    quoted, plain = _field_forms(separator, quoting == QUOTES)
    fields, p = [], begin
    while True:
        found = quoted.match(text, p) if quoting != NO_QUOTES else None
        if found is not None:
            fields.append(found[1].replace('""', '"'))
        else:
            found = plain.match(text, p)
            assert found is not None
            fields.append(found[1])
        p = found.end()
        if not text.startswith(separator, p):
            return fields, p
        p += len(separator)


@cache
def _field_forms(separator: str, many_lines: bool) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the forms of a field in quotes, which must close before a separator or a line's end, and of any other."""
    mark, inside = re.escape(separator), '[^"]' if many_lines else '[^"\n]'
    quoted = rf'"((?:{inside}|"")*)"(?:(?={mark})|\r?(?=\n|\Z))'
    return re.compile(quoted), re.compile(rf"((?:(?!{mark})[^\n])*?)(?:(?={mark})|\r?(?=\n|\Z))")


def _without_comments(records: list[Record]) -> tuple[list[Record], list[Record]]:
    """Return the comments before the data, and the records after them."""
    first = next((n for n, record in enumerate(records) if not record.is_comment), len(records))
    return records[:first], records[first:]


def _header_in_comment(
    comments: list[Record], row: list[str], separator: str, quoting: int, options: ReadOptions
) -> list[str] | None:
    """Return the names in the last comment, where it is a header behind a mark: ``# user,item,rating``."""
    if not comments or _is_header([row], options):
        return None
    for marks in (_COMMENTS[0] + _COMMENTS[1], ""):
        names, _ = _record(comments[-1].text.lstrip().lstrip(marks).lstrip(), 0, separator, quoting)
        given = [name for name in options.columns().values() if name not in (None, NO_TIME)]
        if len(names) == len(row) and (sum(map(is_known, names)) > 1 or any(name in names for name in given)):
            return names
    return None


def _refuse_rows_in_comments(comments: list[Record], row: list[str], rating: int, separator: str, quoting: int) -> None:
    """Refuse a comment that may be a row whose user begins with the mark of one: it has numbers where rows do."""
    numbers = [rating] if rating >= 0 else [place for place in range(1, len(row)) if number_of(row[place]) is not None]
    for comment in comments:
        fields, _ = _record(comment.text, 0, separator, quoting)
        alike = len(fields) == len(row) and bool(numbers)
        if alike and all(number_of(fields[place]) is not None for place in numbers):
            rule = f"a line that begins with {comment.text.lstrip()[0]!r} is a comment, but this one looks like a row"
            raise SourceError(rule, line=comment.line, value=comment.text[:60])


def _is_header(rows: list[list[str]], options: ReadOptions) -> bool:
    """Return whether a row is a header: it has a given or known name, or holds no number although the next row does."""
    first = [name.strip() for name in rows[0]]
    given = [name for name in options.columns().values() if name not in (None, NO_TIME)]
    if any(name in first and not name.isdigit() for name in given if name):
        return True
    if any(number_of(field) is not None for field in first):
        return False
    if any(is_known(name) for name in first):
        return True
    return len(rows) > 1 and any(number_of(field) is not None for field in rows[1])


def _by_name(header: Sequence[str], options: ReadOptions) -> tuple[int, int, int, int]:
    names = [name.strip() for name in header]
    given = {role: _named(name, names) for role, name in options.columns().items()}
    found = find_columns(names, **given, values=options.kind)
    user, item, rating, time = (names.index(found[role]) if role in found else -1 for role in ROLES)
    return user, item, rating, time


def _named(name: str | None, names: Sequence[str]) -> str | None:
    """Take a number from 1 for the name of that column, where no column has that name."""
    if name is None or name in names or not name.isdigit() or not 1 <= int(name) <= len(names):
        return name
    return names[int(name) - 1]


def _by_place(rows: list[list[str]], options: ReadOptions) -> tuple[tuple[int, int, int, int], str]:
    """Take user, item, rating, time in this order, unless columns were named or the values say otherwise."""
    n_fields = len(rows[0])
    roles = dict(zip(ROLES, _likely_order(rows, options.kind), strict=True))
    for role, name in options.columns().items():
        if name is not None:
            roles[role] = -1 if (role, name) == ("time", NO_TIME) else _place(role, name, n_fields)
    if roles["rating"] < 0 and options.kind == RATINGS.name:
        raise SourceError(
            f"there is no rating: without a header the columns are user, item, rating, but a row has {n_fields} of them"
        )
    _require_numbers(rows, roles["rating"])
    used = ", ".join(f"{role} in column {place + 1}" for role, place in roles.items() if place >= 0)
    return (roles["user"], roles["item"], roles["rating"], roles["time"]), f"no header: {used}"


def _require_numbers(rows: list[list[str]], rating: int) -> None:
    """Refuse a column taken for the rating that holds no number at all."""
    if rating >= 0 and all(_is_no_number(row, rating) for row in rows):
        raise SourceError(
            f"without a header column {rating + 1} is taken for the rating, which must be a number; "
            "name the columns with user=... item=... rating=... (numbers from 1), or say values='presence'",
            value=next((row[rating] for row in rows if len(row) > rating), None),
        )


def _is_no_number(row: list[str], place: int) -> bool:
    return len(row) > place and number_of(row[place]) is None


def _place(role: str, name: str, n_fields: int) -> int:
    if not name.isdigit() or not 1 <= int(name) <= n_fields:
        raise SourceError(f"there is no header, so the {role} must be a column number from 1 to {n_fields}", value=name)
    return int(name) - 1


def _likely_order(rows: list[list[str]], values: str | None) -> tuple[int, int, int, int]:
    """Return the places of user, item, rating and time: the first four columns, swapped where the values are plain.

    A third column that can only be times is the time of a source without ratings, unless a number stands beside it.
    """
    full = [row for row in rows if len(row) == len(rows[0])]
    n_fields = len(rows[0])
    user, item = (1, 0) if _are(full, 0, _AMAZON_ITEM) and _are(full, 1, _AMAZON_USER) else (0, 1)
    timed = n_fields > 2 and values != RATINGS.name and _all_times(full, 2)
    if values == PRESENCE.name or n_fields < 3:
        return user, item, -1, 2 if timed else -1
    if n_fields == 3:
        return (user, item, -1, 2) if timed else (user, item, 2, -1)
    if _all_times(full, 2) and not _all_times(full, 3):
        if all(number_of(row[3]) is not None for row in full):
            return user, item, 3, 2
        if timed:
            return user, item, -1, 2
    has_time = all(seconds_of(row[3]) is not None for row in full)
    return user, item, 2, 3 if has_time else -1


def _are(rows: list[list[str]], place: int, form: re.Pattern[str]) -> bool:
    return len(rows[0]) > place and all(form.fullmatch(row[place]) for row in rows)


def _all_times(rows: list[list[str]], place: int) -> bool:
    """Return whether a column can only be times: dates, or seconds after 1973."""
    return all((seconds_of(row[place]) or 0) >= 100_000_000 for row in rows)
