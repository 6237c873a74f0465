import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recloak._core.errors import InputError
from recloak._core.files import scratch_folder, sha256_of, written_file, written_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_whole(tmp_path):
    with written_file(tmp_path / "a.txt") as aside:
        aside.write_text("whole")
        assert names(tmp_path) == [aside.name]
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "whole"


def test_a_failed_write_leaves_the_old_file(tmp_path):
    (tmp_path / "a.txt").write_text("old")
    with pytest.raises(KeyError), written_file(tmp_path / "a.txt") as aside:
        aside.write_text("half")
        raise KeyError
    assert names(tmp_path) == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_folder_appears_whole_with_its_mode(tmp_path):
    with written_folder(tmp_path / "out", mode=0o700) as aside:
        (aside / "x").write_text("1")
        assert not (tmp_path / "out").exists()
    assert names(tmp_path) == ["out"]
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o700


def test_a_failed_folder_leaves_nothing(tmp_path):
    with pytest.raises(KeyError), written_folder(tmp_path / "out") as aside:
        (aside / "x").write_text("1")
        raise KeyError
    assert names(tmp_path) == []


def test_a_folder_with_something_in_it_is_refused(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("1")
    with pytest.raises(InputError, match="not empty"), written_folder(tmp_path / "out"):
        pass
    assert names(tmp_path / "out") == ["mine"]


def test_a_folder_can_be_swapped_out_whole(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    with written_folder(tmp_path / "out", replace=True) as aside:
        (aside / "new").write_text("1")
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["new"]


@pytest.mark.parametrize("stop", [OSError, KeyboardInterrupt])
def test_a_swap_that_is_stopped_in_the_middle_puts_the_old_folder_back(tmp_path, monkeypatch, stop):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "old").write_text("1")
    rename, left = Path.rename, [True, False, True]

    def stopped(path, target):
        if not left.pop(0):
            raise stop
        return rename(path, target)

    with pytest.raises(stop), written_folder(tmp_path / "out", replace=True) as aside:
        (aside / "new").write_text("1")
        monkeypatch.setattr(Path, "rename", stopped)
    assert left == []
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == ["old"]


def test_an_empty_folder_may_be_filled(tmp_path):
    (tmp_path / "out").mkdir()
    with written_folder(tmp_path / "out") as aside:
        (aside / "new").write_text("1")
    assert names(tmp_path / "out") == ["new"]


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_a_file_gets_the_mode_that_was_asked_for(tmp_path, mode):
    with written_file(tmp_path / "a", mode=mode) as aside:
        aside.touch(0o666)
    assert (tmp_path / "a").stat().st_mode & 0o777 == mode


def test_a_scratch_folder_is_for_its_owner_only_and_vanishes(tmp_path):
    with pytest.raises(KeyError), scratch_folder(tmp_path / "out") as scratch:
        assert scratch.stat().st_mode & 0o777 == 0o700
        (scratch / "x").write_text("1")
        raise KeyError
    assert names(tmp_path) == []


def test_a_folder_that_may_not_be_written_into_is_told_before_any_work(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)  # whoever runs the tests may be allowed everything
    with pytest.raises(InputError, match="permission denied"), written_file(tmp_path / "a"):
        pass


@pytest.mark.parametrize("writer", [written_file, written_folder])
def test_a_missing_parent_is_told(tmp_path, writer):
    with pytest.raises(InputError, match="there is no folder"), writer(tmp_path / "no" / "out"):
        pass


def test_a_folder_in_place_of_a_file_and_the_other_way_round_are_told(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "f").write_text("")
    with pytest.raises(InputError, match="is a folder"), written_file(tmp_path / "d"):
        pass
    with pytest.raises(InputError, match="is a file"), written_folder(tmp_path / "f"):
        pass


def test_what_a_killed_run_left_is_cleared_by_the_next(tmp_path):
    code = f"""
import time
from recloak._core.files import written_folder
with written_folder({str(tmp_path / "out")!r}) as aside:
    (aside / "half").write_text("1")
    print("ready", flush=True)
    time.sleep(60)
"""
    run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    assert run.stdout.readline().strip() == "ready"
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    run.stdout.close()
    assert not (tmp_path / "out").exists()
    assert len(names(tmp_path)) == 1
    with written_folder(tmp_path / "out") as aside:
        (aside / "x").write_text("1")
    assert names(tmp_path) == ["out"]


def test_the_partial_file_of_a_running_process_is_left_alone(tmp_path):
    with written_file(tmp_path / "a") as first:
        first.write_text("1")
        with written_file(tmp_path / "a") as second:
            second.write_text("2")
        assert first.exists()
        time.sleep(0)
    assert (tmp_path / "a").read_text() == "1"


def test_what_may_belong_to_somebody_else_is_left_alone(tmp_path, monkeypatch):
    def not_allowed(*_):
        raise PermissionError

    monkeypatch.setattr("os.kill", not_allowed)  # the process of another user, which runs
    for name in (".a.notes.partial", ".a.12345-abcdef.partial"):
        (tmp_path / name).write_text("theirs")
    with written_file(tmp_path / "a") as aside:
        aside.write_text("1")
    assert names(tmp_path) == [".a.12345-abcdef.partial", ".a.notes.partial", "a"]


def test_sha256_is_that_of_the_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert sha256_of(tmp_path / "a").startswith("ba7816bf8f01cfea")
