"""Pages of Parquet files that other tools wrote: none may unpack to more than memory should hold.

A file of a few kilobytes can name pages of gigabytes. Rows are read in batches, but a page is unpacked whole, so the
headers of all pages are looked at first.
"""

from pathlib import Path
from typing import Any, BinaryIO

from recloak._releases.verifier.parquet_structure import WrongTableError, number_in, read_struct, struct_in

_MOST_BYTES = 1 << 28  # of a page when it is unpacked
_HEAD = 1 << 12
_LARGEST_HEAD = 1 << 20
_ENCODINGS = {
    0,
    2,
    3,
    4,
    5,
    8,
    9,
}  # those whose values are no longer than the page: plain, dictionaries, runs, differences


def require_small_pages(path: Path, metadata: Any) -> None:
    """Raise WrongTableError if a page is too large, or of an encoding that can make much of little."""
    with path.open("rb") as file:
        for group in range(metadata.num_row_groups):
            for column in range(metadata.num_columns):
                _walk(file, metadata.row_group(group).column(column))


def _walk(file: BinaryIO, chunk: Any) -> None:
    place = chunk.data_page_offset
    if chunk.has_dictionary_page:
        place = min(place, chunk.dictionary_page_offset)
    end = place + chunk.total_compressed_size
    while place < end:
        fields, size = _header(file, place)
        kept = number_in(fields, 3)
        if kept < 0 or not 0 <= number_in(fields, 2) <= _MOST_BYTES:
            raise WrongTableError(f"a page takes more than {_MOST_BYTES >> 20} MB when it is unpacked")
        if not {number_in(struct_in(fields, 5), 2), number_in(struct_in(fields, 8), 4)} - {-1} <= _ENCODINGS:
            raise WrongTableError("a page has an encoding that is not read here")
        place += size + kept


def _header(file: BinaryIO, place: int) -> tuple[dict[int, Any], int]:
    """Read a page's header; statistics in it may make it long."""
    size = _HEAD
    while True:
        file.seek(place)
        head = file.read(size)
        try:
            return read_struct(head)
        except WrongTableError:
            if len(head) < size or size >= _LARGEST_HEAD:
                raise
            size *= 16
