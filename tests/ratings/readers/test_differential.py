"""Damaged files of every layout: we agree with other readers on what both accept, and refuse in one sentence."""

from pathlib import Path

import pytest
from tests.ratings.readers.differential import Findings, made_bases, run_cases

CASES, ALL_CASES = 400, 20_000
REAL = {  # a file of real data -> the layout it is in
    "ml-latest-small/ratings.csv": "ratings.csv",
    "movietweetings-2013/ratings.dat": "ratings.dat",
}


def judged(found: Findings) -> Findings:
    assert found.problems == [], "\n".join(found.problems[:20])
    return found


@pytest.mark.parametrize("part", range(4))
def test_a_few_damaged_files_are_read_right_or_refused(tmp_path, part):
    found = judged(run_cases(part * CASES // 4, CASES // 4, tmp_path, made_bases()))
    assert sum(n for what, n in found.counts.items() if what.endswith("compared")) > 15


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_very_many_damaged_files_are_read_right_or_refused(tmp_path, part):
    n = ALL_CASES // 8
    found = judged(run_cases(CASES + part * n, n, tmp_path, made_bases()))
    for kind in ("text", "netflix", "jsonl", "parquet"):
        for what in ("accepted", "refused", "compared"):
            least = 3 if kind == "jsonl" else n // 100  # a JSON object hardly ever survives
            assert found.counts[f"{kind}: {what}"] > least, (kind, what)


@pytest.mark.data
@pytest.mark.parametrize("name", REAL)
def test_damaged_real_files_are_read_right_or_refused(tmp_path, data: Path, name):
    path = data / name
    if not path.is_file():
        pytest.skip(f"there is no {name}")
    lines = path.read_bytes().split(b"\n")[:40]
    judged(run_cases(10**6, 300, tmp_path, {REAL[name]: b"\n".join([*lines, b""])}))
