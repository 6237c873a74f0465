"""Compiled kernels that an older version left behind are compiled again."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

SOURCE = """
from typing import NamedTuple
from recloak._core.compiling import njit

class {name}(NamedTuple):
    number: int

@njit(cache=True)
def double(pair):
    return 2 * pair.number

print(double({name}(4)), sum(double.stats.cache_misses.values()))
"""


def run(folder: Path, name: str) -> str:
    (folder / "old_kernels.py").write_text(SOURCE.format(name=name))
    told, env = [sys.executable, "-c", "import old_kernels"], {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    return subprocess.run(told, cwd=folder, env=env, capture_output=True, text=True, check=True).stdout.strip()


def test_a_type_that_was_renamed_since_does_no_harm(tmp_path):
    assert run(tmp_path, "Before") == "8 1"
    assert run(tmp_path, "Before") == "8 0"
    assert run(tmp_path, "After") == "8 1"
    (index,) = tmp_path.rglob("*.nbi")
    with index.open("rb") as file:
        pickle.load(file)
        assert b"After" in file.read()
