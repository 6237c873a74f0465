"""What keeps the first run of a command short: compiled functions that compile quickly and are kept."""

import re
from pathlib import Path

SRC = Path(__file__).parents[1] / "src" / "recloak"
FLAGS = {
    f"{path.relative_to(SRC)}:{name}": flags
    for path in SRC.rglob("*.py")
    for flags, name in re.findall(r"^@njit(.*)\ndef (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
}


def test_every_kernel_is_found():
    assert len(FLAGS) == sum(path.read_text(encoding="utf-8").count("\n@njit") for path in SRC.rglob("*.py")) > 200


def test_every_kernel_is_kept_once_compiled():
    assert [name for name, flags in FLAGS.items() if "cache=True" not in flags] == []


def test_no_kernel_is_a_parallel_loop_of_numbas_which_compiles_for_seconds():
    assert [name for name, flags in FLAGS.items() if "parallel=" in flags] == []


def test_no_kernel_is_given_a_way_in_from_c_which_is_a_tenth_of_compiling():
    assert [path for path in SRC.rglob("*.py") if re.search(r"from numba import .*njit", path.read_text("utf-8"))] == []
