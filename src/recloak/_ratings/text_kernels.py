"""Compiled parsing of delimited text: from bytes to ids, ratings and times, with the line of each row.

First lines are split into fields, and the number that a field's digits make is read on the way; then each column is
converted by itself. What is plain is read here: whole numbers, decimals of up to 15 digits, seconds, ISO dates. What is
not is handed back as *odd* with its place, to be read or refused by slower code. Rows that cannot be right are handed
back as *bad*.
"""

import numpy as np

from recloak._core.compiling import njit

# Columns of the table of bad and odd places; COUNT is the number of fields found in a line.
KIND, LINE, START, END, ROW, COUNT = range(6)
# Fields of a row that are read.
USER, ITEM, RATED, TIMED = range(4)
# What is wrong with a row or not plain about a field.
FIELDS, RATING, TIME = range(3)
_UNKNOWN = 255  # how many bytes of a field are no digits, where that was not counted

LF, _CR, _QUOTE, _SPACE, _TAB, _DOT, _PLUS, _MINUS, _ZERO, _COLON = (ord(c) for c in '\n\r" \t.+-0:')
_MAX_INT64 = np.uint64(np.iinfo(np.int64).max)
_POWERS = 10.0 ** np.arange(16)


@njit(cache=True, nogil=True, inline="always")
def _mark(places, n_places, kind, line, start, end, row, count):  # type: ignore[no-untyped-def]
    """Write one bad or odd place down; field by field, for that compiles in a tenth of the time."""
    places[n_places, KIND] = kind
    places[n_places, LINE] = line
    places[n_places, START] = start
    places[n_places, END] = end
    places[n_places, ROW] = row
    places[n_places, COUNT] = count
    return n_places + 1


@njit(cache=True, nogil=True)
def _at_separator(buffer, p, stop, separator):  # type: ignore[no-untyped-def]
    if len(separator) == 0:
        return buffer[p] == _SPACE or buffer[p] == _TAB
    if buffer[p] != separator[0]:
        return False
    return len(separator) == 1 or (p + 1 < stop and buffer[p + 1] == separator[1])


@njit(cache=True, nogil=True)
def _skip_blanks(buffer, p, stop):  # type: ignore[no-untyped-def]
    while p < stop and (buffer[p] == _SPACE or buffer[p] == _TAB):
        p += 1
    return p


@njit(cache=True, nogil=True)
def _closing_quote(buffer, p, stop, separator, many_lines):  # type: ignore[no-untyped-def]
    """Find the quote that closes a field which opens at p; -1 if the field is no quoted one, -2 if it never closes."""
    q = p + 1
    while q < stop:
        if buffer[q] == LF and not many_lines:
            return -1
        if buffer[q] == _QUOTE:
            if q + 1 < stop and buffer[q + 1] == _QUOTE:
                q += 2
                continue
            after = q + 1
            if after < stop and buffer[after] == _CR:
                after += 1
            closes = after >= stop or buffer[after] == LF or _at_separator(buffer, q + 1, stop, separator)
            return q if closes else -1
        q += 1
    return -2 if many_lines else -1


@njit(cache=True, nogil=True)
def _unescape(buffer, start, end):  # type: ignore[no-untyped-def]
    """Make each pair of quotes one, in place; return the new end."""
    q = start
    p = start
    while p < end:
        buffer[q] = buffer[p]
        if buffer[p] == _QUOTE:
            p += 1
        p += 1
        q += 1
    return q


@njit(cache=True, nogil=True, inline="always")
def _whole_number(buffer, start, end):  # type: ignore[no-untyped-def]
    """Read a whole number that is written the one canonical way and fits 64 bits; else say no."""
    negative = end > start and buffer[start] == _MINUS
    first = start + 1 if negative else start
    n = end - first
    if n < 1 or n > 19 or (buffer[first] == _ZERO and (n > 1 or negative)):
        return False, np.int64(0)
    number = np.uint64(0)
    for p in range(first, end):
        digit = np.int64(buffer[p]) - _ZERO
        if digit < 0 or digit > 9:
            return False, np.int64(0)
        number = number * np.uint64(10) + np.uint64(digit)
    if number > _MAX_INT64:
        return False, np.int64(0)
    return True, -np.int64(number) if negative else np.int64(number)


@njit(cache=True, nogil=True, inline="always")
def _decimal(buffer, start, end):  # type: ignore[no-untyped-def]
    """Read digits with at most one point: exact, for both parts of the division are (15 digits); else say no."""
    negative = end > start and buffer[start] == _MINUS
    p = start + 1 if negative else start
    whole, n_digits, n_after, after = np.int64(0), 0, 0, False
    while p < end:
        digit = np.int64(buffer[p]) - _ZERO
        if 0 <= digit <= 9:
            whole = whole * 10 + digit
            n_digits += 1
            n_after += after
            if n_digits > 15:
                return False, 0.0
        elif buffer[p] == _DOT and not after:
            after = True
        else:
            return False, 0.0
        p += 1
    value = np.float64(whole) / _POWERS[n_after]
    return n_digits > 0, -value if negative else value


@njit(cache=True, nogil=True)
def _digits(buffer, start, n):  # type: ignore[no-untyped-def]
    """Read n digits; -1 if one of the characters is no digit."""
    number = np.int64(0)
    for p in range(start, start + n):
        digit = np.int64(buffer[p]) - _ZERO
        if digit < 0 or digit > 9:
            return -1
        number = number * 10 + digit
    return number


@njit(cache=True, nogil=True, inline="always")
def _days(year, month, day):  # type: ignore[no-untyped-def]
    """Count the days from 1970-01-01 to a date of the Gregorian calendar; years begin in March, leap days come last."""
    y = year - 1 if month <= 2 else year
    m = month + 9 if month <= 2 else month - 3
    return 365 * y + y // 4 - y // 100 + y // 400 + (153 * m + 2) // 5 + day - 719469


@njit(cache=True, nogil=True, inline="always")
def _month_length(year, month):  # type: ignore[no-untyped-def]
    if month == 2:
        return 29 if (year % 4 == 0 and year % 100 != 0) or year % 400 == 0 else 28
    return 30 if month in (4, 6, 9, 11) else 31


@njit(cache=True, nogil=True)
def _date(buffer, start, end):  # type: ignore[no-untyped-def]
    """Read YYYY-MM-DD, or that with HH:MM:SS after a space or T and perhaps a Z, as seconds; else say no."""
    if end - start not in (10, 19, 20) or buffer[start + 4] != _MINUS or buffer[start + 7] != _MINUS:
        return False, np.int64(0)
    year, month, day = _digits(buffer, start, 4), _digits(buffer, start + 5, 2), _digits(buffer, start + 8, 2)
    if year < 1 or month < 1 or month > 12 or day < 1 or day > _month_length(year, month):
        return False, np.int64(0)
    seconds = np.int64(_days(year, month, day)) * 86400
    if end - start == 10:
        return True, seconds
    p = start + 10
    if (buffer[p] != _SPACE and buffer[p] != ord("T")) or buffer[p + 3] != _COLON or buffer[p + 6] != _COLON:
        return False, np.int64(0)
    if end - start == 20 and buffer[start + 19] != ord("Z"):
        return False, np.int64(0)
    h, m, s = _digits(buffer, p + 1, 2), _digits(buffer, p + 4, 2), _digits(buffer, p + 7, 2)
    if h < 0 or h > 23 or m < 0 or m > 59 or s < 0 or s > 59:
        return False, np.int64(0)
    return True, seconds + 3600 * h + 60 * m + s


@njit(cache=True, nogil=True, inline="always")
def whole_seconds(time):  # type: ignore[no-untyped-def]
    """Bring seconds, milli-, micro- or nanoseconds to seconds: 10**11 seconds lie beyond the year 5000."""
    size = abs(time)
    if size < 10**11:
        return time
    if size < 10**14:
        return time // 1000
    if size < 10**17:
        return time // 10**6
    return time // 10**9


@njit(cache=True, nogil=True, inline="always")
def _time(buffer, start, end):  # type: ignore[no-untyped-def]
    ok, number = _whole_number(buffer, start, end)
    if ok:
        return True, whole_seconds(number)
    ok, seconds = _date(buffer, start, end)
    if ok:
        return True, seconds
    ok, value = _decimal(buffer, start, end)
    return ok, whole_seconds(np.int64(np.floor(value)))


@njit(cache=True, nogil=True)
def _split(buffer, p, stop, separator, quoting, starts, ends):  # type: ignore[no-untyped-def]  # noqa: C901,PLR0912 (one pass over a record)
    """Split one record into fields; return their number, where the next record begins, and how many lines it spans.

    -1 fields: a quote opens and never closes before the end of the buffer. The buffer is left as it is, for such a
    record is read again with what follows.
    """
    n, lines = 0, 1
    if len(separator) == 0:
        p = _skip_blanks(buffer, p, stop)
    while True:
        start, end = p, p
        close = -1
        if quoting > 0 and p < stop and buffer[p] == _QUOTE:
            close = _closing_quote(buffer, p, stop, separator, quoting > 1)
            if close == -2:
                return -1, p, lines
        if close >= 0:
            for q in range(p, close):
                lines += buffer[q] == LF
            start, end = p + 1, close
            p = close + 1
            if p < stop and buffer[p] == _CR and (p + 1 == stop or buffer[p + 1] == LF):
                p += 1
        else:
            while p < stop and buffer[p] != LF and not _at_separator(buffer, p, stop, separator):
                p += 1
            end = p
            if end > start and buffer[end - 1] == _CR and (p == stop or buffer[p] == LF):
                end -= 1
        if n < len(starts):
            starts[n], ends[n] = start, end
        n += 1
        if p >= stop or buffer[p] == LF:
            break
        if len(separator) == 0:
            p = _skip_blanks(buffer, p, stop)
            if p >= stop or buffer[p] == LF or buffer[p] == _CR:
                while p < stop and buffer[p] != LF:
                    p += 1
                break
        else:
            p += len(separator)
    return n, p + 1, lines


@njit(cache=True, nogil=True, inline="always")
def _is_blank(buffer, start, end):  # type: ignore[no-untyped-def]
    blank = True
    for p in range(start, end):
        blank &= buffer[p] == _SPACE or buffer[p] == _TAB or buffer[p] == _CR or buffer[p] == LF
    return blank


@njit(cache=True, nogil=True, inline="always")
def _strip(buffer, start, end):  # type: ignore[no-untyped-def]
    while start < end and buffer[start] == _SPACE:
        start += 1
    while start < end and buffer[end - 1] == _SPACE:
        end -= 1
    return start, end


@njit(cache=True, nogil=True)
def split_plain(buffer, stop, first, second, n_fields, role_of, starts, ends, wholes, odds, lines, places):  # type: ignore[no-untyped-def]
    """Split the lines of ``buffer[:stop]`` at a separator of one byte, or of two (``second`` not 0).

    ``role_of`` gives what a column is (USER ... TIMED, -1: nothing). Filled for each row with ``n_fields`` fields and
    each role: ``starts`` and ``ends`` (4, n), ``wholes`` the number that the field's digits make, ``odds`` how many
    other bytes it has; and ``lines``. Other lines, but for blank ones, go to ``places``. Gives the number of rows, of
    places and of lines.
    """
    p, line, n, n_places = np.int64(0), 0, 0, 0
    while p < stop:
        begin, count, at_end = p, 0, False
        line += 1
        while not at_end:
            start, whole, odd = p, np.uint64(0), 0
            while p < stop:
                c = buffer[p]
                digit = np.uint64(c) - np.uint64(_ZERO)
                if digit <= np.uint64(9):
                    whole = whole * np.uint64(10) + digit
                elif c == LF or (c == first and (second == 0 or (p + 1 < stop and buffer[p + 1] == second))):
                    break
                else:
                    odd += 1
                p += 1
            at_end = p >= stop or buffer[p] == LF
            returns = np.int64(at_end and p > start and buffer[p - 1] == _CR)
            role = role_of[min(count, n_fields)]
            if role >= 0:
                starts[role, n], ends[role, n] = start, p - returns
                wholes[role, n], odds[role, n] = whole, min(odd - returns, _UNKNOWN)
            count += 1
            p += 1 if at_end or second == 0 else 2
        lines[n] = line
        if count == n_fields:
            n += 1
        elif count > 1 or not _is_blank(buffer, begin, p - 1):
            n_places = _mark(places, n_places, FIELDS, line, begin, p - 1, n, count)
    return n, n_places, line


@njit(cache=True, nogil=True)
def split_quoted(buffer, stop, separator, quoting, n_fields, role_of, starts, ends, odds, lines, places):  # type: ignore[no-untyped-def]
    """Split records that may have quotes or blanks for separators; gives, last, where an unfinished record begins."""
    field_starts, field_ends = np.zeros(n_fields + 1, np.int64), np.zeros(n_fields + 1, np.int64)
    p, line, n, n_places = np.int64(0), 1, 0, 0
    while p < stop:
        begin = p
        count, p, n_lines = _split(buffer, p, stop, separator, quoting, field_starts, field_ends)
        if count < 0:
            p = begin
            break
        lines[n] = line
        if count == n_fields:
            for k in range(n_fields):
                if quoting > 0 and field_starts[k] > 0 and buffer[field_starts[k] - 1] == _QUOTE:
                    field_ends[k] = _unescape(buffer, field_starts[k], field_ends[k])
                if role_of[k] >= 0:
                    starts[role_of[k], n], ends[role_of[k], n] = field_starts[k], field_ends[k]
                    odds[role_of[k], n] = _UNKNOWN
            n += 1
        elif count > 1 or not _is_blank(buffer, begin, p - 1):
            n_places = _mark(places, n_places, FIELDS, line, begin, p - 1, n, count)
        line += n_lines
    return n, n_places, line - 1, p


@njit(cache=True, nogil=True)
def read_ids(buffer, starts, ends, wholes, odds, numbers):  # type: ignore[no-untyped-def]
    """Read ids as whole numbers; tell whether all of them are, and whether one is empty."""
    all_whole, one_empty = True, False
    for r in range(len(starts)):
        n = ends[r] - starts[r]
        one_empty |= n == 0
        if odds[r] == 0 and 0 < n <= 18 and (n == 1 or buffer[starts[r]] != _ZERO):
            numbers[r] = np.int64(wholes[r])
        else:
            ok, numbers[r] = _whole_number(buffer, starts[r], ends[r])
            all_whole &= ok
    return all_whole, one_empty


@njit(cache=True, nogil=True)
def read_ratings(buffer, starts, ends, wholes, odds, lines, values, places, n_places):  # type: ignore[no-untyped-def]
    """Read ratings, listing those that are no plain decimals; return the number of places."""
    for r in range(len(starts)):
        n = ends[r] - starts[r]
        if odds[r] == 0 and 0 < n <= 15:
            values[r] = np.float64(wholes[r])
        elif odds[r] == 1 and n == 3 and buffer[starts[r] + 1] == _DOT:
            values[r] = np.float64(wholes[r]) / 10.0
        else:
            a, b = _strip(buffer, starts[r], ends[r])
            ok, values[r] = _decimal(buffer, a, b)
            if not ok:
                n_places = _mark(places, n_places, RATING, lines[r], starts[r], ends[r], r, 0)
    return n_places


@njit(cache=True, nogil=True)
def read_times(buffer, starts, ends, wholes, odds, lines, times, places, n_places):  # type: ignore[no-untyped-def]
    """Read times, listing those that are neither plain seconds nor plain dates; return the number of places."""
    for r in range(len(starts)):
        n = ends[r] - starts[r]
        if odds[r] == 0 and 0 < n <= 11:
            times[r] = np.int64(wholes[r])
        else:
            a, b = _strip(buffer, starts[r], ends[r])
            ok, times[r] = _time(buffer, a, b)
            if not ok:
                n_places = _mark(places, n_places, TIME, lines[r], starts[r], ends[r], r, 0)
    return n_places
