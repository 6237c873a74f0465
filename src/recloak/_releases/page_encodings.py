"""How the values of a page are encoded, each kind of column in one way only.

Names come in runs, whole numbers as differences (DELTA_BINARY_PACKED: blocks of 128 in four quarters), labels and texts
as places in a dictionary, packed in as few bits as hold them. Nothing is compressed: a compressor can spell the same
page in many ways, and its next version spells it in another.
"""

import numpy as np
from numpy.typing import NDArray

from recloak._core.compiling import njit

_BLOCK, _QUARTERS, _QUARTER = 128, 4, 32
_SMALL = 8  # so wide a code fits into a byte


def varint(number: int) -> bytes:
    """Write a number, seven bits a byte, the lowest first."""
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def bits_for(n_codes: int) -> int:
    """Return the bits that the numbers below ``n_codes`` need, at least one."""
    return max(1, (n_codes - 1).bit_length())


def runs_of(counts: NDArray[np.integer]) -> bytes:
    """Encode the numbers from 0 on, each repeated so many times."""
    width = bits_for(len(counts))
    n_bytes = -(-width // 8)
    runs = (varint(count << 1) + place.to_bytes(n_bytes, "little") for place, count in enumerate(counts.tolist()))
    return bytes([width]) + b"".join(runs)


def packed_codes(codes: NDArray[np.integer], n_codes: int) -> bytes:
    """Encode codes below ``n_codes`` in as few bits as hold them, eight codes at a time."""
    width, n_eights = bits_for(n_codes), -(-len(codes) // 8)
    packed = np.zeros((n_eights, width), np.uint8)
    if width <= _SMALL:
        _pack(codes.astype(np.uint8, copy=False), width, packed)
    else:
        _pack_wide(codes.astype(np.int64, copy=False), width, packed.reshape(-1))
    return bytes([width]) + varint(n_eights << 1 | 1) + packed.tobytes()


@njit(cache=True, nogil=True)
def _pack(codes, width, packed):  # type: ignore[no-untyped-def]
    for eight in range(len(packed)):
        word = np.uint64(0)
        for place in range(min(8, len(codes) - 8 * eight)):
            word |= np.uint64(codes[8 * eight + place]) << np.uint64(width * place)
        for byte in range(width):
            packed[eight, byte] = word & np.uint64(0xFF)
            word >>= np.uint64(8)


@njit(cache=True, nogil=True)
def _pack_wide(codes, width, packed):  # type: ignore[no-untyped-def]
    """Pack codes of up to 64 bits, the lowest bit first; the bytes must be zero."""
    bit = 0
    for code in codes:
        left, rest = width, np.uint64(code)
        while left > 0:
            taken = min(8 - (bit & 7), left)
            packed[bit >> 3] |= np.uint8((rest << np.uint64(bit & 7)) & np.uint64(0xFF))
            rest >>= np.uint64(taken)
            bit, left = bit + taken, left - taken


def differences(values: NDArray[np.int32] | NDArray[np.int64]) -> bytes:
    """Encode whole numbers by the differences of neighbours."""
    bits = 8 * values.dtype.itemsize
    room = np.zeros(-(-len(values) // _BLOCK) * (14 + _BLOCK * bits // 8), np.uint8)
    wide = values.astype(np.int64, copy=False)
    n_bytes = _write_differences(wide, bits, np.empty(_BLOCK, np.int64), room)
    first = int(wide[0])
    head = (
        varint(_BLOCK) + varint(_QUARTERS) + varint(len(values)) + varint(first << 1 if first >= 0 else ~(first << 1))
    )
    return head + room[:n_bytes].tobytes()


@njit(cache=True, nogil=True)
def _write_differences(values, bits, steps, out):  # type: ignore[no-untyped-def]
    """Write the blocks; differences wrap around where the column's type does. ``steps`` has room for a block."""
    top, end = np.int64(1) << np.int64(31), 0
    for start in range(0, len(values) - 1, _BLOCK):
        n = min(_BLOCK, len(values) - 1 - start)
        least = np.int64(2**63 - 1)
        for j in range(n):
            step = values[start + j + 1] - values[start + j]
            steps[j] = step if bits == 64 else ((step + top) & (2 * top - 1)) - top
            least = min(least, steps[j])
        zigzag = np.uint64((least << 1) ^ (least >> 63))
        while zigzag >= np.uint64(0x80):
            out[end] = zigzag & np.uint64(0x7F) | np.uint64(0x80)
            zigzag >>= np.uint64(7)
            end += 1
        out[end] = zigzag
        widths, end = end + 1, end + 1 + _QUARTERS
        for first in range(0, n, _QUARTER):
            widest = np.uint64(0)
            for j in range(first, min(first + _QUARTER, n)):
                steps[j] = steps[j] - least if bits == 64 else (steps[j] - least) & (2 * top - 1)
                widest |= np.uint64(steps[j])
            width = 0
            while widest:
                widest >>= np.uint64(1)
                width += 1
            out[widths + first // _QUARTER] = width
            _pack_wide(steps[first : min(first + _QUARTER, n)], width, out[end:])
            end += _QUARTER // 8 * width
    return end
