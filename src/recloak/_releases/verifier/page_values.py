"""The values in a page, read from its bytes; what could be spelled in two ways is written again and compared."""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._releases.verifier.parquet_structure import WrongTableError, as_varint

_BLOCK, _QUARTERS, _QUARTER = 128, 4, 32
Buffer = bytes | memoryview


def width_of(n_codes: int) -> int:
    """Return the bits of the largest of so many codes, at least one."""
    return max(1, int(n_codes - 1).bit_length())


def read_runs(data: Buffer, n_names: int) -> NDArray[np.int64]:
    """Return how often each of the names stands, one run each; raise WrongTableError for any other bytes."""
    width = width_of(n_names)
    n_bytes, place = (width + 7) // 8, 1
    counts: list[int] = []
    while place < len(data) and len(counts) < n_names:
        count = shift = 0
        while place < len(data) and shift < 63:
            byte = data[place]
            count |= (byte & 0x7F) << shift
            place, shift = place + 1, shift + 7
            if byte < 0x80:
                break
        counts.append(count >> 1)
        place += n_bytes
    wanted = [as_varint(2 * count) + place.to_bytes(n_bytes, "little") for place, count in enumerate(counts)]
    if len(counts) != n_names or min(counts, default=0) < 1 or bytes([width]) + b"".join(wanted) != data:
        raise WrongTableError("names are not written as one run each")
    return np.array(counts, np.int64)


def read_codes(data: Buffer, n_values: int, n_codes: int) -> NDArray[np.uint32]:
    """Return codes that are packed in as few bits as hold them; raise WrongTableError for any other bytes."""
    width, n_eights = width_of(n_codes), -(-n_values // 8)
    head = bytes([width]) + as_varint(2 * n_eights + 1)
    if data[: len(head)] != head or len(data) != len(head) + n_eights * width:
        raise WrongTableError("codes are not packed in as few bits as hold them")
    words = np.zeros(n_eights * width // 8 + 2, np.uint64)
    words.view(np.uint8)[: n_eights * width] = np.frombuffer(data, np.uint8, offset=len(head))
    codes = np.empty(8 * n_eights, np.uint32)
    _unpack(words, width, codes)
    if codes[n_values:].any() or (n_values and int(codes.max()) >= n_codes):
        raise WrongTableError("a code stands for no value")
    return codes[:n_values]


@njit(cache=True, nogil=True)
def _unpack(words, width, codes):  # type: ignore[no-untyped-def]
    mask, width = np.uint64((1 << width) - 1), np.uint64(width)
    for i in range(len(codes)):
        bit = np.uint64(i) * width
        word, off = bit >> np.uint64(6), bit & np.uint64(63)
        low = words[word] >> off
        high = (words[word + np.uint64(1)] << np.uint64(1)) << (np.uint64(63) - off)
        codes[i] = (low | high) & mask


def read_differences(data: Buffer, n_values: int, bits: int) -> NDArray[np.int64]:
    """Return whole numbers that are written as differences; raise WrongTableError for any other bytes."""
    content = np.frombuffer(data, np.uint8)
    if not 1 <= n_values <= 1 + len(content) // (1 + _QUARTERS) * _BLOCK:
        raise WrongTableError("numbers are not written as differences")
    values, head = np.zeros(n_values, np.int64), bytes([*as_varint(_BLOCK), _QUARTERS, *as_varint(n_values)])
    wide = np.concatenate((content, np.zeros(16, np.uint8)))
    read = content[: len(head)].tobytes() == head and _read_steps(wide, len(head), len(content), bits, values)
    if bits == 32:
        values = values.astype(np.int32).astype(np.int64)  # sums wrap around as those of the column do
    if not read or not np.array_equal(differences_of(values, bits), content[len(head) :]):
        raise WrongTableError("numbers are not written as differences")
    return values


@njit(cache=True, nogil=True)
def _zigzag(data, place):  # type: ignore[no-untyped-def]
    number, shift = np.uint64(0), np.uint64(0)
    while shift < np.uint64(70):
        byte = np.uint64(data[place])
        place += 1
        if shift < np.uint64(64):
            number |= (byte & np.uint64(0x7F)) << shift
        shift += np.uint64(7)
        if byte < np.uint64(0x80):
            break
    return np.int64((number >> np.uint64(1)) ^ (np.uint64(0) - (number & np.uint64(1)))), place


@njit(cache=True, nogil=True, inline="always")
def _bits_at(data, bit, width):  # type: ignore[no-untyped-def]
    """Return the number of so many bits (at most 64) at a bit."""
    number, done = np.uint64(0), 0
    while done < width:
        off = bit & 7
        taken = min(8 - off, width - done)
        piece = (np.uint64(data[bit >> 3]) >> np.uint64(off)) & np.uint64((1 << taken) - 1)
        number |= piece << np.uint64(done)
        bit, done = bit + taken, done + taken
    return number


@njit(cache=True, nogil=True)
def _read_steps(data, place, end, bits, values):  # type: ignore[no-untyped-def]
    """Fill in the values, and tell whether there were bytes for all; ``data`` goes on after the end."""
    values[0], place = _zigzag(data, place)
    for start in range(1, len(values), _BLOCK):
        if place + 1 + _QUARTERS > end:
            return False
        least, place = _zigzag(data, place)
        widths, place = place, place + _QUARTERS
        if place > end:
            return False
        for quarter in range(_QUARTERS):
            width, low = int(data[widths + quarter]), start + quarter * _QUARTER
            if low >= len(values):
                break
            if width > bits or place + _QUARTER // 8 * width > end:
                return False
            for i in range(low, min(low + _QUARTER, len(values))):
                step = np.int64(_bits_at(data, 8 * place + (i - low) * width, width)) + least
                values[i] = values[i - 1] + step
            place += _QUARTER // 8 * width
    return True


def differences_of(values: NDArray[np.int64], bits: int) -> NDArray[np.uint8]:
    """Write whole numbers as differences in their one form, after the head."""
    first = int(values[0])
    head = as_varint(2 * first if first >= 0 else -2 * first - 1)
    steps = np.diff(values)
    if bits == 32:
        steps = steps.astype(np.int32).astype(np.int64)
    room = np.zeros(-(-len(steps) // _BLOCK) * (10 + _QUARTERS + _BLOCK * bits // 8), np.uint8)
    return np.concatenate((np.frombuffer(head, np.uint8), room[: _write_steps(steps, room)]))


@njit(cache=True, nogil=True, inline="always")
def _put_bits(out, bit, number, width):  # type: ignore[no-untyped-def]
    """Put a number of so many bits at a bit, where all bits are 0."""
    last = bit + width
    while bit < last:
        off = bit & 7
        out[bit >> 3] |= np.uint8((number << np.uint64(off)) & np.uint64(0xFF))
        number, bit = number >> np.uint64(8 - off), bit + 8 - off


@njit(cache=True, nogil=True)
def _write_steps(steps, out):  # type: ignore[no-untyped-def]
    end = 0
    for start in range(0, len(steps), _BLOCK):
        stop = min(start + _BLOCK, len(steps))
        least = steps[start]
        for i in range(start, stop):
            least = min(least, steps[i])
        number = (np.uint64(least) << np.uint64(1)) ^ np.uint64(least >> 63)
        while number > np.uint64(0x7F):
            out[end], number, end = np.uint8(number & np.uint64(0x7F)) | np.uint8(0x80), number >> np.uint64(7), end + 1
        out[end] = np.uint8(number)
        widths, end = end + 1, end + 1 + _QUARTERS
        for first in range(start, stop, _QUARTER):
            union, width, last = np.uint64(0), 0, min(first + _QUARTER, stop)
            for i in range(first, last):
                union |= np.uint64(steps[i] - least)
            while width < 64 and union >> np.uint64(width):
                width += 1
            out[widths + (first - start) // _QUARTER] = width
            for i in range(first, last):
                _put_bits(out, 8 * end + (i - first) * width, np.uint64(steps[i] - least), width)
            end += _QUARTER // 8 * width
    return end
