"""How a delimited file is written: separator, quotes, header, and which column is what."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recloak._core.errors import SourceError
from recloak._ratings.column_roles import NO_TIME, ROLES, find_columns, is_known
from recloak._ratings.options import ReadOptions
from recloak._ratings.source_files import Sample, require_text
from recloak._ratings.times import number_of, seconds_of

NO_QUOTES, QUOTES_IN_LINE, QUOTES = range(3)
_COMMENTS = ("#", "%")
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

    def like(self, first: Dialect) -> Dialect:
        """Return the dialect of a further file: a part without a header has the columns of the first file."""
        if first.has_header and not self.has_header and self.n_fields == first.n_fields:
            return replace(self, roles=first.roles, note=None)
        return self

    def splits_like(self, other: Dialect) -> bool:
        """Tell whether rows of both are read in the same way."""
        return replace(self, n_head=0, has_header=False, note=None) == replace(
            other, n_head=0, has_header=False, note=None
        )


def quoting_of(separator: str) -> int:
    """Return what quotes mean: in CSV a quoted field may span lines, between tabs a title may begin with a quote."""
    if len(separator) != 1:
        return NO_QUOTES
    return QUOTES_IN_LINE if separator == "\t" else QUOTES


def dialect_of(sample: Sample, separator: str, options: ReadOptions, *, quoting: int | None = None) -> Dialect:
    """Recognise header and columns of a file whose separator is known."""
    require_text(sample)
    quoting = quoting_of(separator) if quoting is None else quoting
    n_comments, lines = _without_comments(sample)
    rows = split(lines[:_LOOKED_AT], separator, quoting)
    if not rows:
        raise SourceError("the file is empty", file=sample.path)
    has_header = _is_header(rows, options)
    try:
        if has_header:
            roles, note = _by_name(rows[0], options), None
        else:
            roles, note = _by_place(rows, options)
    except SourceError as error:
        raise SourceError(error.rule, file=sample.path, value=error.value) from None
    return Dialect(separator, quoting, n_comments + has_header, len(rows[0]), roles, has_header, note)


def split(lines: Sequence[str], separator: str, quoting: int) -> list[list[str]]:
    """Split the lines of a sample into records, and these into fields."""
    if not separator:
        return [line.split() for line in lines]
    if quoting == NO_QUOTES or len(separator) > 1:
        return [line.split(separator) for line in lines]
    if quoting == QUOTES_IN_LINE:
        return [next(csv.reader([line], delimiter=separator)) for line in lines]
    return list(csv.reader((f"{line}\n" for line in lines), delimiter=separator))


def _without_comments(sample: Sample) -> tuple[int, list[str]]:
    """Count the lines of comment and the blank ones before the data, and give the lines after them."""
    n_head = 0
    for raw in sample.head.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = raw.strip()
        if text and not text.startswith(tuple(mark.encode() for mark in _COMMENTS)):
            break
        n_head += 1
    lines = sample.lines()
    first = next((n for n, line in enumerate(lines) if not line.lstrip().startswith(_COMMENTS)), len(lines))
    return n_head, lines[first:]


def _is_header(rows: list[list[str]], options: ReadOptions) -> bool:
    """Tell a header: it has a name that was given or is known, or holds no number although the row after it does."""
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
    found = find_columns(names, **given)
    user, item, rating = (names.index(found[role]) for role in ROLES[:3])
    return user, item, rating, names.index(found["time"]) if "time" in found else -1


def _named(name: str | None, names: Sequence[str]) -> str | None:
    """Take a number from 1 for the name of that column, where no column has that name."""
    if name is None or name in names or not name.isdigit() or not 1 <= int(name) <= len(names):
        return name
    return names[int(name) - 1]


def _by_place(rows: list[list[str]], options: ReadOptions) -> tuple[tuple[int, int, int, int], str]:
    """Take user, item, rating, time in this order, unless columns were named or the values say otherwise."""
    n_fields = len(rows[0])
    roles = dict(zip(ROLES, _likely_order(rows), strict=True))
    for role, name in options.columns().items():
        if name is not None:
            roles[role] = -1 if (role, name) == ("time", NO_TIME) else _place(role, name, n_fields)
    if n_fields < 3 and options.rating is None:
        raise SourceError(
            f"there is no rating: without a header the columns are user, item, rating, but a row has {n_fields} of them"
        )
    wrong = next((row[roles["rating"]] for row in rows if _is_no_number(row, roles["rating"])), None)
    if wrong is not None and all(_is_no_number(row, roles["rating"]) for row in rows):
        raise SourceError(
            f"without a header column {roles['rating'] + 1} is taken for the rating, which must be a number; "
            "name the columns with user=... item=... rating=... (numbers from 1)",
            value=wrong,
        )
    used = ", ".join(f"{role} in column {place + 1}" for role, place in roles.items() if place >= 0)
    return (roles["user"], roles["item"], roles["rating"], roles["time"]), f"no header: {used}"


def _is_no_number(row: list[str], place: int) -> bool:
    return len(row) > place and number_of(row[place]) is None


def _place(role: str, name: str, n_fields: int) -> int:
    if not name.isdigit() or not 1 <= int(name) <= n_fields:
        raise SourceError(f"there is no header, so the {role} must be a column number from 1 to {n_fields}", value=name)
    return int(name) - 1


def _likely_order(rows: list[list[str]]) -> tuple[int, int, int, int]:
    """Give the places of user, item, rating and time: the first four columns, swapped where the values are plain."""
    full = [row for row in rows if len(row) == len(rows[0])]
    user, item = (1, 0) if _are(full, 0, _AMAZON_ITEM) and _are(full, 1, _AMAZON_USER) else (0, 1)
    if len(rows[0]) < 4:
        return user, item, 2, -1
    if _all_times(full, 2) and not _all_times(full, 3) and all(number_of(row[3]) is not None for row in full):
        return user, item, 3, 2
    has_time = all(seconds_of(row[3]) is not None for row in full)
    return user, item, 2, 3 if has_time else -1


def _are(rows: list[list[str]], place: int, form: re.Pattern[str]) -> bool:
    return len(rows[0]) > place and all(form.fullmatch(row[place]) for row in rows)


def _all_times(rows: list[list[str]], place: int) -> bool:
    """Tell whether a column can only be times: dates, or seconds after 1973."""
    return all((seconds_of(row[place]) or 0) >= 100_000_000 for row in rows)
