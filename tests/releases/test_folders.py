"""A stop at any moment leaves both folders or no public one."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recloak._core import files
from recloak._releases import release_folders
from recloak._releases.folder_checks import check_folders
from recloak._releases.verifier import verify
from tests.releases.helpers import some_ratings, some_release

ROOT = Path(__file__).parents[2]


class Stopper:
    """Raises Ctrl-C at the n-th of the moments it is put into."""

    def __init__(self, n: int) -> None:
        self.left = n

    def before(self, function):
        def stopped(*args, **kwargs):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return function(*args, **kwargs)

        return stopped


def test_ctrl_c_at_any_step_leaves_all_or_nothing(tmp_path, monkeypatch):
    release = some_release(some_ratings())
    for n in range(1, 100):
        place = tmp_path / str(n)
        place.mkdir()
        stopper = Stopper(n)
        with monkeypatch.context() as patch:
            for owner, name in (
                (files, "_flush"),
                (files, "_swap_in"),
                (os, "utime"),
                (release_folders, "verify"),
                (release_folders, "write_private"),
                (release_folders, "make_manifest"),
                (Path, "rename"),
                (Path, "chmod"),
            ):
                patch.setattr(owner, name, stopper.before(getattr(owner, name)))
            try:
                release.write(place / "out")
            except KeyboardInterrupt:
                assert [entry.name for entry in place.iterdir()] == [], f"stopped at moment {n}"
                continue
        break
    assert n > 15
    assert verify(place / "out").passed
    assert (place / "out-private" / "mapping.parquet").exists()


WRITER = """
import sys
import time
from pathlib import Path
from tests.releases.helpers import some_ratings, some_release
place = Path(sys.argv[1])
release = some_release(some_ratings(200, 40))
release.write(place / "warm")
start = time.perf_counter()
release.write(place / "timed")
print(time.perf_counter() - start, flush=True)
for n in range(10_000):
    release.write(place / str(n), private=place / f"{n}-private")
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_complete_verified_releases_only(tmp_path):
    chance = random.Random(0)
    seen = 0
    for n in range(6):
        place = tmp_path / str(n)
        place.mkdir()
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(place)], stdout=subprocess.PIPE, env=env)
        assert writer.stdout is not None
        one_write = float(writer.stdout.readline())
        time.sleep(chance.uniform(0.5, 4) * one_write)  # somewhere in the first few writes, however slow the machine
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        for public in place.glob("[0-9]*"):
            if public.name.endswith("-private"):
                continue
            assert verify(public).passed
            private = place / f"{public.name}-private"
            assert {file.name for file in private.iterdir()} == {"account.json", "mapping.parquet"}
            assert json.loads((private / "account.json").read_text())["release"]["manifest_sha256"] == files.sha256_of(
                public / "manifest.json"
            )
            seen += 1
    assert seen


def test_the_private_folder_lies_beside_the_public_one_and_is_named_as_it_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert check_folders("out", None) == (Path("out"), Path("out-private"))
    assert check_folders(tmp_path / "out", None)[1] == tmp_path / "out-private"
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert check_folders(".", None)[1] == tmp_path / "here-private"
