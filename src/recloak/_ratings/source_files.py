"""The files that belong to a source: a file, a pipe, a folder, or several of them."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from recloak._core.errors import SourceError

STDIN = "-"


def files_of(source: str | Path | Iterable[str | Path]) -> list[Path]:
    """Return the files of a source; ``-`` is the standard input."""
    paths = [source] if isinstance(source, (str, Path)) else list(source)
    if not paths:
        raise SourceError("no source was given")
    return [file for path in paths for file in _files(Path(path))]


def _files(path: Path) -> list[Path]:
    if str(path) == STDIN:
        return [Path("/dev/stdin")]
    try:
        if not path.is_dir():
            return [path]
        files = sorted(_walk(path, {}))
    except PermissionError as error:
        raise SourceError("may not be read: permission denied", file=error.filename or path) from None
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot be read: {str(error).lower()}", file=path) from None
    if not files:
        raise SourceError("the folder holds no files", file=path)
    return _chosen(path, files)


def _walk(folder: Path, seen: dict[tuple[int, int], Path]) -> Iterator[Path]:
    """Yield the files below a folder, following links; hidden ones and the marks of big-data writers are no data."""
    found = folder.stat()
    known = seen.setdefault((found.st_dev, found.st_ino), folder)
    if known is not folder:
        raise SourceError(f"is the same folder as {known}, so its files would be read twice", file=folder)
    for path in sorted(folder.iterdir()):
        if path.name.startswith((".", "_")):
            continue
        if path.is_dir():
            yield from _walk(path, seen)
        elif path.is_file():
            yield path
        else:
            what = "is a link to nothing" if path.is_symlink() and not path.exists() else "is no regular file"
            raise SourceError(f"{what}; remove it from the folder, or name the files to read", file=path)


def _chosen(folder: Path, files: list[Path]) -> list[Path]:
    """Choose the files of a folder that hold the ratings: by name, else all if they are of one kind."""
    for holds in (_is_netflix, _is_ratings):
        chosen = [file for file in files if holds(_plain_name(file))]
        if chosen:
            return chosen
    kinds = {_plain_name(file).rpartition(".")[2] for file in files}
    if len(kinds) > 1:
        if any(file.name == "manifest.json" for file in files):
            raise SourceError("is a release or holds one, not a source of ratings", file=folder)
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
