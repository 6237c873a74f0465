"""A source is opened once: what comes through a pipe is read whole, in every layout, packed or not."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from tests.ratings.readers.made_files import LAYOUTS, PACKERS, made_rows

import recloak
from recloak._core.errors import SourceError
from recloak._ratings import opened_files
from recloak._ratings.options import ReadOptions
from recloak._ratings.readers import detect, read

ROWS = made_rows(20_000)  # more than a pipe, a sample or a buffer holds
FILES = {name: make(ROWS) for name, make in LAYOUTS.items()}
ROOT = Path(__file__).parents[3]


@contextlib.contextmanager
def piped(data: bytes, *, pieces: tuple[int, ...] = (1, 2, 70_000)) -> Iterator[str]:
    """Yield the path of a pipe that data are sent through, the first bytes one at a time."""
    reader, writer = os.pipe()

    def send() -> None:
        at, left = 0, list(pieces)
        with contextlib.suppress(BrokenPipeError), os.fdopen(writer, "wb", buffering=0) as out:
            while at < len(data):
                at += out.write(data[at : at + (left.pop(0) if left else 1 << 16)])

    sender = threading.Thread(target=send)
    sender.start()
    try:
        yield f"/dev/fd/{reader}"
    finally:
        os.close(reader)
        sender.join()


@pytest.mark.parametrize("packed", PACKERS)
@pytest.mark.parametrize("name", FILES)
def test_rows_read_are_rows_sent(name, packed):
    with piped(PACKERS[packed](FILES[name])) as path:
        ratings = read(path)
    assert ratings.intake.n_rows == len(ROWS)
    assert ratings.to_polars().rows() == sorted(ROWS)


def test_several_pipes_and_files_are_one_source(tmp_path):
    (tmp_path / "c.csv").write_bytes(LAYOUTS["ratings.csv"](ROWS[14_000:]))
    with piped(LAYOUTS["ratings.csv"](ROWS[:7000])) as a, piped(LAYOUTS["bare.csv"](ROWS[7000:14_000])) as b:
        assert read([a, b, tmp_path / "c.csv"]).to_polars().rows() == sorted(ROWS)


@pytest.mark.parametrize("name", ["ratings.csv", "r.parquet", "combined_data_1.txt"])
def test_a_named_pipe_is_read_whole(tmp_path, name):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    sender = threading.Thread(target=path.write_bytes, args=(FILES[name],))
    sender.start()
    assert read(path).n_ratings == len(ROWS)
    sender.join()


def test_the_copy_of_a_pipe_goes_to_a_private_file_and_has_a_limit(monkeypatch):
    monkeypatch.setattr(opened_files, "_COPY_IN_MEMORY", 1000)
    with piped(FILES["r.parquet"]) as path:
        assert read(path).to_polars().rows() == sorted(ROWS)
    monkeypatch.setattr(opened_files, "_COPY_BYTES", 5000)
    with piped(FILES["r.parquet"]) as path, pytest.raises(SourceError, match="too much to copy; no_limit=True"):
        read(path)
    with piped(FILES["r.parquet"]) as path:
        assert read(path, options=ReadOptions(no_limit=True)).n_ratings == len(ROWS)


def test_an_empty_pipe_and_one_that_closes_early_are_told():
    with piped(b"") as path, pytest.raises(SourceError, match="the file is empty"):
        read(path)
    with piped(PACKERS[".gz"](FILES["ratings.csv"])[:50_000]) as path, pytest.raises(SourceError, match="cut short"):
        read(path)


def test_the_reader_of_another_package_may_open_a_pipe_more_than_once(monkeypatch):
    def tables(sample):
        for _ in range(2):
            with sample.open() as stream:
                assert stream.read() == FILES["ratings.csv"]
        with sample.open() as stream:
            yield pl.read_csv(stream.read())

    reader = recloak.Reader(name="twice", title="Twice", text="", matches=bool, tables=tables)
    monkeypatch.setattr("recloak._ratings.readers.reader_named", lambda _: reader)
    with piped(FILES["ratings.csv"]) as path:
        assert read(path, options=ReadOptions(reader="csv")).n_ratings == len(ROWS)


@pytest.mark.parametrize("argument", ["-", "/dev/stdin"])
def test_the_command_line_reads_the_standard_input(argument):
    command = [sys.executable, "-m", "recloak", "inspect", argument, "--json", "--seed", "1"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, input=FILES["ratings.csv"], capture_output=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert b'"n_ratings": 20000' in done.stdout


def test_looking_at_a_file_leaves_nothing_open(tmp_path):
    (tmp_path / "r.csv").write_bytes(FILES["ratings.csv"])
    before = len(list(Path("/proc/self/fd").iterdir()))
    assert detect(tmp_path / "r.csv") == "csv"
    read(tmp_path / "r.csv")
    assert len(list(Path("/proc/self/fd").iterdir())) == before


@pytest.mark.parametrize("name", ["ratings.csv", "r.parquet", "ratings.csv.gz"])
@pytest.mark.parametrize("change", ["grow", "shrink", "replace"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, name, change):
    plain = name.removesuffix(".gz")
    path = tmp_path / name
    path.write_bytes(PACKERS[".gz"](FILES[plain]) if plain != name else FILES[plain])
    look = opened_files.SourceFile.sample
    changed: list[object] = []

    def look_and_change(self):
        sample = look(self)
        if not changed:
            changed.append(True)
            if change == "grow":
                with path.open("ab") as file:
                    file.write(b"1,99,3,4\n")
            elif change == "shrink":
                os.truncate(path, path.stat().st_size // 2)
            else:
                (tmp_path / "new").write_bytes(FILES[plain])
                (tmp_path / "new").replace(path)
        return sample

    monkeypatch.setattr(opened_files.SourceFile, "sample", look_and_change)
    if change == "replace" and name != "r.parquet":  # the old file is still open, and read whole
        assert read(path).to_polars().rows() == sorted(ROWS)
        return
    with pytest.raises(SourceError, match=r"changed while it was read|cut short"):
        read(path)


def test_links_to_folders_are_followed_and_links_to_nothing_refused(tmp_path):
    data, outside = tmp_path / "data", tmp_path / "outside"
    data.mkdir()
    outside.mkdir()
    (data / "a.csv").write_bytes(LAYOUTS["ratings.csv"](ROWS[:10]))
    (outside / "b.csv").write_bytes(LAYOUTS["ratings.csv"](ROWS[10:20]))
    (data / "link").symlink_to(outside)
    (data / ".hidden").symlink_to(tmp_path / "nowhere")
    assert read(data).n_ratings == 20
    (data / "again").symlink_to(outside)
    with pytest.raises(SourceError, match=r"is the same folder as .*again, so its files would be read twice"):
        read(data)
    (data / "again").unlink()
    (data / "up").symlink_to(data)
    with pytest.raises(SourceError, match="is the same folder"):
        read(data)
    (data / "up").unlink()
    (data / "gone.csv").symlink_to(tmp_path / "nowhere")
    with pytest.raises(SourceError, match=r"gone.csv: is a link to nothing"):
        read(data)
    (data / "gone.csv").unlink()
    os.mkfifo(data / "pipe.csv")
    with pytest.raises(SourceError, match=r"pipe.csv: is no regular file"):
        read(data)
