"""Measure a function in a fresh process: wall seconds, CPU seconds, peak memory.

A fresh process per measurement keeps peaks and caches apart. Shared machines are noisy: compare figures of one run, and
give the ratio.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Measured:
    """What one call cost, without the start of its process, and what it gave (must be JSON)."""

    wall: float
    cpu: float
    peak_mb: float
    result: Any

    def __str__(self) -> str:
        return f"{self.wall:8.2f} s wall {self.cpu:8.2f} s CPU {self.peak_mb:8.0f} MB peak"


def measure(function: str, *arguments: Any, threads: int | None = None) -> Measured:
    """Call ``module:function`` with JSON arguments in a fresh process."""
    env = {
        **os.environ,
        **({} if threads is None else {"NUMBA_NUM_THREADS": str(threads), "POLARS_MAX_THREADS": str(threads)}),
    }
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.measure", function, json.dumps(arguments)],
        check=True,
        stdout=subprocess.PIPE,
        env=env,
    )
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def _call(function: str, arguments: str) -> None:
    module, name = function.split(":")
    wanted = getattr(importlib.import_module(module), name)
    wall, cpu = time.perf_counter(), time.process_time()
    result = wanted(*json.loads(arguments))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = _peak_mb()
    print(json.dumps({"wall": wall, "cpu": cpu, "peak_mb": peak, "result": result}))


def _peak_mb() -> float:
    """Give the peak of this program alone; getrusage counts what the parent held when it started the process."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    _call(sys.argv[1], sys.argv[2])
