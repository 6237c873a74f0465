"""Files and folders as streams of bytes: what belongs to a source, and the bytes of a file, plain or compressed."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import zstandard

from recloak._core.errors import SourceError

SAMPLE_BYTES = 1 << 16
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_REFUSED = {
    b"PK\x03\x04": "is a zip archive (or an office document); unpack it first",
    b"BZh": "is compressed with bzip2; unpack it first, or use gzip or zstd",
    b"\xfd7zXZ\x00": "is compressed with xz; unpack it first, or use gzip or zstd",
    b"7z\xbc\xaf": "is a 7z archive; unpack it first",
    b"%PDF": "is a PDF, not a table of ratings",
    b"SQLite format 3": "is an SQLite database, not a table of ratings; export the table as CSV",
    b"{": "is JSON; export it as CSV or Parquet",
    b"[": "is JSON; export it as CSV or Parquet",
    b"<": "is a web page or XML, not a table of ratings",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """The first bytes of a file, unpacked, by which its layout is recognised."""

    path: Path
    head: bytes
    is_whole: bool

    def open(self) -> AbstractContextManager[BinaryIO]:
        """Open the file for reading its bytes, unpacked."""
        return unpacked(self.path)

    def lines(self) -> list[str]:
        """Return the complete lines that are not blank; bytes that are no UTF-8 are read as Latin-1."""
        raw = self.head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if not self.is_whole and len(raw) > 1:
            raw.pop()
        texts = (_text(line.rstrip(b"\r")) for line in raw)
        return [text for text in texts if text.strip()]


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def sample_of(path: Path) -> Sample:
    """Read the first bytes of a file."""
    with unpacked(path) as stream:
        head = stream.read(SAMPLE_BYTES)
        return sample_from(path, head, is_whole=not stream.read(1))


def sample_from(path: Path, head: bytes, *, is_whole: bool) -> Sample:
    """Return the first bytes of a file as a sample, which must not be empty."""
    if not head.strip():
        raise SourceError("the file is empty", file=path)
    return Sample(path, head, is_whole)


def require_text(sample: Sample) -> None:
    """Refuse a file that is no table in text, naming what it is where that is known."""
    path, head = sample.path, sample.head
    for magic, reason in _REFUSED.items():
        if head.startswith(magic):
            raise SourceError(reason, file=path)
    if b"\0" in head:
        raise SourceError("is a binary file, not a table of ratings", file=path)
    if b"\n" not in head and head.count(b"\r") > 1:
        raise SourceError("its lines end with a carriage return only; save it with line feeds", file=path)


@contextmanager
def unpacked(path: Path) -> Iterator[BinaryIO]:
    """Open a file for reading its bytes, unpacked, with one clear sentence for whatever goes wrong."""
    try:
        with path.open("rb") as raw:
            magic = raw.peek(4)[:4]
            yield _stream(raw, magic)
    except (EOFError, zlib.error, gzip.BadGzipFile):
        raise SourceError("the gzip file is cut short or damaged", file=path) from None
    except zstandard.ZstdError:
        raise SourceError("the zstd file is cut short or damaged", file=path) from None
    except FileNotFoundError:
        raise SourceError("there is no such file or folder", file=path) from None
    except PermissionError:
        raise SourceError("may not be read: permission denied", file=path) from None
    except IsADirectoryError:
        raise SourceError("is a folder, a file was expected", file=path) from None


def is_packed(path: Path) -> bool:
    """Tell whether a file's bytes are packed by gzip or zstd."""
    with path.open("rb") as raw:
        return raw.read(4).startswith((_GZIP, _ZSTD))


def _stream(raw: io.BufferedReader, magic: bytes) -> BinaryIO:
    if magic.startswith(_GZIP):
        return gzip.GzipFile(fileobj=raw)  # type: ignore[return-value]
    if magic.startswith(_ZSTD):
        return io.BufferedReader(_ZstdStream(raw), 1 << 20)
    return raw


class _ZstdStream(io.RawIOBase):
    """Unpacks zstd frames one after the other; unlike the library's own reader it tells a file that is cut short."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self._frame = self._new_frame()
        self._ready = b""
        self._in_frame = False

    @staticmethod
    def _new_frame() -> zstandard.ZstdDecompressionObj:
        return zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        while not self._ready:
            packed = self._raw.read(1 << 18)
            if not packed:
                if self._in_frame:
                    raise zstandard.ZstdError("cut short")
                return 0
            self._ready = self._unpack(packed)
        n = min(len(view), len(self._ready))
        view[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def _unpack(self, packed: bytes) -> bytes:
        parts = []
        while packed:
            parts.append(self._frame.decompress(packed))
            self._in_frame = not self._frame.eof
            packed = b""
            if self._frame.eof:
                packed, self._frame = self._frame.unused_data, self._new_frame()
        return b"".join(parts)


def files_of(source: str | Path | Iterable[str | Path]) -> list[Path]:
    """Give the files of a source: a file, a folder, or several of them."""
    paths = [source] if isinstance(source, (str, Path)) else list(source)
    if not paths:
        raise SourceError("no source was given")
    return [file for path in paths for file in _files(Path(path))]


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    try:
        files = sorted(file for file in path.rglob("*") if file.is_file() and not _is_hidden(file, path))
    except PermissionError:
        raise SourceError("may not be read: permission denied", file=path) from None
    if not files:
        raise SourceError("the folder holds no files", file=path)
    return _chosen(path, files)


def _is_hidden(file: Path, folder: Path) -> bool:
    """Tell files that are no data: hidden ones, and the marks that big-data writers leave (``_SUCCESS``)."""
    return any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _chosen(folder: Path, files: list[Path]) -> list[Path]:
    """Choose the files of a folder that hold the ratings: by name, else all if they are of one kind."""
    for holds in (_is_netflix, _is_ratings):
        chosen = [file for file in files if holds(_plain_name(file))]
        if chosen:
            return chosen
    kinds = {_plain_name(file).rpartition(".")[2] for file in files}
    if len(kinds) > 1:
        names = ", ".join(file.name for file in files[:5]) + (" ..." if len(files) > 5 else "")
        raise SourceError(
            f"it is not clear which files of the folder hold the ratings ({names}); name them", file=folder
        )
    return files


def _plain_name(file: Path) -> str:
    return file.name.lower().removesuffix(".gz").removesuffix(".zst")


def _is_netflix(name: str) -> bool:
    return name.endswith(".txt") and name.startswith(("mv_", "combined_data_"))


def _is_ratings(name: str) -> bool:
    return name == "u.data" or name.endswith(".inter") or name.partition(".")[0] == "ratings"
