"""A released CSV file to the byte: what was read of it is written again in its one form and compared."""

from typing import BinaryIO

import numpy as np
import pyarrow as pa

from recloak._core.compiling import njit
from recloak._releases.verifier.parquet_structure import WrongTableError


class CsvEcho:
    """Writes the blocks that a reader made of a file again, and compares them with the file as it goes."""

    def __init__(self, file: BinaryIO, columns: tuple[str, ...]) -> None:
        self._file = file
        self._header = b",".join(b'"%b"' % name.encode() for name in columns) + b"\n"

    def take(self, block: list[pa.Array]) -> None:
        """Compare the next block."""
        self._require(self._header + as_csv(block))
        self._header = b""

    def close(self) -> None:
        """Require that nothing follows."""
        if self._file.read(1):
            raise WrongTableError("there are bytes after the last row")

    def _require(self, content: bytes) -> None:
        if self._file.read(len(content)) != content:
            raise WrongTableError("its rows are not written as recloak writes them")


def as_csv(block: list[pa.Array]) -> bytes:
    """Write rows in their one form: whole numbers in digits, the shortest decimals, every text in quotes."""
    words: list[bytes] = []
    places = np.empty((len(block[0]), len(block)), np.int64)
    for number, column in enumerate(block):
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        places[:, number] = coded.indices.to_numpy() + len(words)
        after = b"\n" if number == len(block) - 1 else b","
        words += [_cell(word) + after for word in _distinct(coded.dictionary)]
    sizes = np.array([len(word) for word in words], np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)))
    out = np.empty(int(sizes[places].sum()), np.uint8)
    _join(places.reshape(-1), starts, np.frombuffer(b"".join(words), np.uint8), out)
    return out.tobytes()


def _distinct(words: pa.Array) -> list[int] | list[str] | list[np.float32]:
    return list(words.to_numpy()) if pa.types.is_floating(words.type) else words.to_pylist()


def _cell(word: int | str | np.float32) -> bytes:
    if isinstance(word, str):
        return b'"%b"' % word.encode().replace(b'"', b'""')
    return (str(word) if isinstance(word, int) else np.format_float_positional(word + np.float32(0), trim="0")).encode()


@njit(cache=True, nogil=True)
def _join(places, starts, content, out):  # type: ignore[no-untyped-def]
    end = 0
    for place in places:
        for byte in range(starts[place], starts[place + 1]):
            out[end] = content[byte]
            end += 1
