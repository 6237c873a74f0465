"""A file of a source, opened once: its first bytes to look at, then all of its bytes, unpacked.

Nothing is taken twice from a pipe: what was looked at is handed out again, and what must be searched (Parquet, the
readers of other packages) is copied first, to memory and, from 64 MB on, to a private temporary file. A regular file
that changes between the first look and the last byte is refused.
"""

from __future__ import annotations

import io
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from recloak._core.errors import SourceError

SAMPLE_BYTES = 1 << 16
LONGEST_LINE = 1 << 20  # bytes
LONGEST_OF_OWNERS = 1 << 29  # with no_limit; the kernels count bytes of a block in 31 bits
MOST_TIMES = 200  # bytes that one packed byte may become
_FREE_BYTES = 1 << 26  # unpacked bytes of which no ratio is asked
_COPY_IN_MEMORY = 1 << 26
_COPY_BYTES = 1 << 34
_PIECE = 1 << 20
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_CHANGED = "the file changed while it was read; read it again when nothing writes to it"
_UNLESS = "no_limit=True reads it all the same"
_STORE = b"recloak_store"  # a table that every store of related lists begins with
STORE_RULE = "is a store of related lists, not a source of ratings; the store is named first, then the ratings"
_REFUSED = {
    b"PK\x03\x04": "is a zip archive (or an office document); unpack it first",
    b"BZh": "is compressed with bzip2; unpack it first, or use gzip or zstd",
    b"\xfd7zXZ\x00": "is compressed with xz; unpack it first, or use gzip or zstd",
    b"\x04\x22\x4d\x18": "is compressed with lz4; unpack it first, or use gzip or zstd",
    b"\x1f\x9d": "is compressed with compress; unpack it first, or use gzip or zstd",
    b"7z\xbc\xaf": "is a 7z archive; unpack it first",
    b"%PDF": "is a PDF, not a table of ratings",
    b"SQLite format 3": "is an SQLite database; name it as sqlite:///FILE",
    b"{": "its first line is no whole JSON object; write one object a line (JSON Lines), CSV or Parquet",
    b"[": "is a list in JSON; write one object a line (JSON Lines), CSV or Parquet",
    b"<": "is a web page or XML, not a table of ratings",
    b"\xff\xfe": "is UTF-16 text; save it as UTF-8",
    b"\xfe\xff": "is UTF-16 text; save it as UTF-8",
    **dict.fromkeys(_PACKED, "is packed twice; unpack it once first"),
}


@dataclass(frozen=True, slots=True)
class Sample:
    """The first bytes of a file, unpacked, by which its layout is recognised."""

    path: Path
    head: bytes
    is_whole: bool
    file: SourceFile | None = field(default=None, repr=False, compare=False)

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open the file for reading its bytes, unpacked, as often as needed."""
        file = self.file or SourceFile(self.path)
        file.keep()
        with file.stream() as stream:
            yield stream

    def lines(self) -> list[str]:
        """Return the complete lines that are not blank; bytes that are no UTF-8 are read as Latin-1."""
        raw = self.head.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        if not self.is_whole and len(raw) > 1:
            raw.pop()
        texts = (as_text(line.rstrip(b"\r")) for line in raw)
        return [text for text in texts if text.strip()]


def as_text(raw: bytes) -> str:
    """Return bytes as text: UTF-8, or Latin-1 where they are none."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def sample_from(path: Path, head: bytes, *, is_whole: bool, file: SourceFile | None = None) -> Sample:
    """Return the first bytes of a file as a sample, which must not be empty."""
    if not head.removeprefix(b"\xef\xbb\xbf").strip():
        raise SourceError("the file is empty", file=path)
    return Sample(path, head, is_whole, file)


def require_text(sample: Sample) -> None:
    """Refuse a file that is no table in text, naming what it is where that is known."""
    path, head = sample.path, sample.head
    for magic, reason in _REFUSED.items():
        if head.startswith(magic):
            raise SourceError(STORE_RULE if _STORE in head else reason, file=path)
    if head[257:262] == b"ustar":
        raise SourceError("is a tar archive; unpack it first", file=path)
    if b"\0" in head:
        raise SourceError("is a binary file, not a table of ratings", file=path)
    if b"\n" not in head and head.count(b"\r") > 1:
        raise SourceError("its lines end with a carriage return only; save it with line feeds", file=path)
    if b"\n" not in head and not sample.is_whole:
        raise SourceError(too_long(len(head)), file=path, line=1)


def too_long(longest: int) -> str:
    """Return the rule for a line that is longer than that."""
    return f"a line must not be longer than {longest:,} bytes; no_limit=True reads longer ones"


def is_packed(path: Path) -> bool:
    """Return whether a regular file is packed by gzip or zstd."""
    with path.open("rb") as raw:
        return raw.read(4).startswith(tuple(_PACKED))


class SourceFile:
    """One file of a source: a regular file, a pipe or a device. Close it when done."""

    def __init__(self, path: Path, *, no_limit: bool = False) -> None:
        self.path, self.no_limit = path, no_limit
        self._sample: Sample | None = None
        self._ahead = b""  # what was taken from the stream for the sample
        self._bytes: _UnpackedBytes | None = None
        self._copy: Any = None
        self._state: tuple[int, ...] | None = None  # of a regular file, when it was first opened

    @property
    def is_regular(self) -> bool:
        """Whether the file can be opened again, without opening it."""
        return self._state is not None or self.path.is_file()

    @property
    def megabytes(self) -> float:
        """The size of a regular file, else 0."""
        try:
            return self.path.stat().st_size / 1e6 if self.is_regular else 0.0
        except OSError:
            return 0.0

    @property
    def longest_line(self) -> int:
        """The most bytes that a line may have."""
        return LONGEST_OF_OWNERS if self.no_limit else LONGEST_LINE

    def sample(self) -> Sample:
        """Return the first bytes, at least a line of them; they are taken once."""
        if self._sample is None:
            stream = self._started()
            head = _read(stream, SAMPLE_BYTES + 1)
            wanted = SAMPLE_BYTES
            while len(head) > wanted and b"\n" not in head and wanted < self.longest_line:
                wanted = min(2 * wanted, self.longest_line)
                head += _read(stream, wanted + 1 - len(head))
            self._ahead = head
            self._sample = sample_from(self.path, head[:wanted], is_whole=len(head) <= wanted, file=self)
        return self._sample

    def stream(self) -> BinaryIO:
        """Return the bytes from the beginning, unpacked; closing it closes the file."""
        if self._copy is not None:
            self._copy.seek(0)
            return io.BufferedReader(_Joined(b"", cast("io.RawIOBase", _Uncloseable(self._copy))), SAMPLE_BYTES)
        if self._bytes is None or self._bytes.closed or self._sample is None or not self._ahead:
            self._ahead = b""
            self._started()
        ahead, self._ahead = self._ahead, b""
        assert self._bytes is not None
        return io.BufferedReader(_Joined(ahead, self._bytes), SAMPLE_BYTES)

    def keep(self) -> None:
        """Make sure that the bytes can be read more than once: copy those of a pipe."""
        if self._copy is None and not self.is_regular:
            self._copied()

    def seekable(self) -> str | io.BytesIO:
        """Return what can be searched: the path of the open file, or a copy of what is packed or comes from a pipe."""
        self.sample()
        if self._copy is None and self.is_regular and not self.is_packed:
            if self._bytes is None or self._bytes.closed:
                self._started()
            assert self._bytes is not None
            return f"/dev/fd/{self._bytes.fileno()}"
        copy = self._copy or self._copied()
        return io.BytesIO(copy.getvalue()) if isinstance(copy, io.BytesIO) else f"/dev/fd/{copy.fileno()}"

    @property
    def n_seekable(self) -> int:
        """The number of bytes that `seekable` stands for."""
        if self._copy is not None:
            return int(self._copy.seek(0, os.SEEK_END))
        return self._state[2] if self._state is not None else 0

    @property
    def is_packed(self) -> bool:
        """Whether the bytes are packed by gzip or zstd; opens the file."""
        self.sample()
        assert self._bytes is not None
        return self._bytes.packing is not None

    def require_unchanged(self) -> None:
        """Refuse a regular file that is not as it was when it was first opened."""
        if self._bytes is not None and not self._bytes.closed:
            self._bytes.require_unchanged()

    def close(self) -> None:
        """Close the file and drop what was copied of it."""
        for opened in (self._bytes, self._copy):
            if opened is not None:
                opened.close()

    def __enter__(self) -> SourceFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _started(self) -> _UnpackedBytes:
        """Open the file at its beginning."""
        if self._bytes is not None:
            if self._state is None:
                raise SourceError("is a pipe, which can be read only once", file=self.path)
            self._bytes.close()
        self._bytes = _UnpackedBytes(self.path, self._state, no_limit=self.no_limit)
        self._state = self._bytes.state
        return self._bytes

    def _copied(self) -> Any:
        """Copy the bytes, unpacked, to memory or a temporary file that nobody else can open."""
        copy: Any = io.BytesIO()
        n = 0
        try:
            with self.stream() as stream:
                while piece := stream.read(_PIECE):
                    n += len(piece)
                    if n > _COPY_BYTES and not self.no_limit:
                        raise SourceError(f"holds more than 16 GB, too much to copy; {_UNLESS}", file=self.path)
                    if n > _COPY_IN_MEMORY and isinstance(copy, io.BytesIO):
                        head, copy = copy, tempfile.TemporaryFile()  # noqa: SIM115 (closed by `close`)
                        copy.write(head.getbuffer())
                    copy.write(piece)
            copy.flush()
        except OSError as error:
            raise SourceError(f"cannot be copied for reading: {_reason(error)}", file=self.path) from None
        self._copy = copy
        return copy


class _UnpackedBytes(io.RawIOBase):
    """The bytes of an open file, unpacked a little at a time; whatever goes wrong is one sentence."""

    def __init__(self, path: Path, known: tuple[int, ...] | None, *, no_limit: bool) -> None:
        self._path, self._no_limit, self._n = path, no_limit, 0
        try:
            self._raw = path.open("rb", buffering=0)
        except OSError as error:
            raise SourceError(_reason(error), file=path) from None
        self.state = _state(self._raw)
        if known is not None and self.state != known:
            self.close()
            raise SourceError(_CHANGED, file=path)
        with self._telling():
            first = _read(self._raw, 4)
        self.packing = next((kind for magic, kind in _PACKED.items() if first.startswith(magic)), None)
        self._packed = _Joined(first, self._raw)
        self._source: Any = self._packed
        if self.packing is not None:
            self._source = pa.CompressedInputStream(pa.PythonFile(self._packed, mode="r"), self.packing)

    def readable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._raw.fileno()

    def readinto(self, buffer: Any) -> int:
        with self._telling():
            n = self._source.readinto(buffer) or 0
        self._n += n
        most = max(_FREE_BYTES, MOST_TIMES * self._packed.n)
        if self.packing is not None and self._n > most and not self._no_limit:
            rule = f"unpacks to more than {MOST_TIMES} times its size; unpack it first, or {_UNLESS}"
            raise SourceError(rule, file=self._path)
        if not n and len(buffer):
            self.require_unchanged()
        return n

    def require_unchanged(self) -> None:
        """Refuse a regular file that is not as it was when it was opened."""
        if _state(self._raw) != self.state:
            raise SourceError(_CHANGED, file=self._path)

    def close(self) -> None:
        if hasattr(self, "_raw"):
            self._raw.close()
        super().close()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            damaged = f"the {getattr(self, 'packing', None)} file is cut short or damaged"
            known = isinstance(error, OSError) and error.errno is not None
            raise SourceError(_reason(error) if known else damaged, file=self._path) from None


class _Joined(io.RawIOBase):
    """Bytes that were taken ahead, then the rest of a stream; ``n`` counts all that was handed out."""

    def __init__(self, first: bytes, rest: io.RawIOBase) -> None:
        self._first, self._rest, self.n = memoryview(first), rest, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        n = min(len(view), len(self._first))
        if n:
            view[:n], self._first = self._first[:n], self._first[n:]
        else:
            n = self._rest.readinto(buffer) or 0
        self.n += n
        return n

    def close(self) -> None:
        self._rest.close()
        super().close()


class _Uncloseable:
    """A copy that is read several times."""

    def __init__(self, copy: Any) -> None:
        self._copy = copy

    def readinto(self, buffer: Any) -> int:
        data = self._copy.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        """Leave the copy open; `SourceFile.close` closes it."""


def _state(raw: io.FileIO) -> tuple[int, ...] | None:
    """Return what tells whether a regular file is still the same; None for pipes and devices."""
    found = os.fstat(raw.fileno())
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns) if stat.S_ISREG(found.st_mode) else None


def _read(stream: io.RawIOBase, n: int) -> bytes:
    """Read n bytes, or all there are; pipes give less than they are asked for."""
    parts, missing = [], n
    while missing and (part := stream.read(missing)):
        parts.append(part)
        missing -= len(part)
    return b"".join(parts)


def _reason(error: BaseException) -> str:
    """Return the sentence for what the system refuses."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    if isinstance(error, PermissionError):
        return "may not be read: permission denied"
    if isinstance(error, IsADirectoryError):
        return "is a folder, a file was expected"
    return f"cannot be read: {str(getattr(error, 'strerror', None) or error).lower()}"
