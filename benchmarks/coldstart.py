"""First use: CPU seconds of commands on 10,000 ratings with an empty compile cache, and again with a full one."""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LAYOUTS = ("csv", "parquet")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks coldstart", description=__doc__)
    parser.add_argument("--layouts", default=",".join(LAYOUTS))
    parser.add_argument("--modes", default="padded,pure")
    parser.add_argument("--repeats", type=int, default=1)
    given = parser.parse_args(arguments)
    print("CPU seconds, start and imports included; audit finds the kernels of publish compiled")
    for layout in given.layouts.split(",") * given.repeats:
        with tempfile.TemporaryDirectory() as folder:
            measure_layout(layout, given.modes.split(","), Path(folder))


def measure_layout(layout: str, modes: list[str], folder: Path) -> None:
    """Make a source, run each command for its bytecode (an installed package has it), then twice on one new cache."""
    source, cache = folder / f"source.{layout}", folder / "cache"
    size = "--users", "500", "--items", "400", "--ratings", "10000"
    cpu_of(None, "synth", str(source), *size, "--seed", "1")
    cpu_of(None, "publish", str(source), "-o", str(folder / "before"), "--seed", "1")
    cpu_of(None, "audit", str(source), str(folder / "before"), "--seed", "1")
    for mode in modes:
        release = [str(folder / mode), str(folder / f"{mode}-again")]
        publish = [cpu_of(cache, "publish", str(source), "-o", out, "--mode", mode, "--seed", "1") for out in release]
        audit = [cpu_of(cache, "audit", str(source), release[0], "--seed", "1") for _ in release]
        for name, (cold, warm) in (("publish", publish), ("audit", audit)):
            print(f"  {layout:8} {name:8} {mode:7} first {cold:5.1f}, again {warm:4.1f}: compiling {cold - warm:5.1f}")
    print(f"  {layout:8} kernels kept {len(list(cache.rglob('*.nbc')))}")


def cpu_of(cache: Path | None, *command: str) -> float:
    """Run a command in a process of its own and give its CPU seconds; an audit that finds a breach exits with 1."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = {**os.environ, "PYTHONPYCACHEPREFIX": str(Path(tempfile.gettempdir(), "recloak-bytecode"))}
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    if cache is not None:
        env["NUMBA_CACHE_DIR"] = str(cache)
    done = subprocess.run([sys.executable, "-m", "recloak", *command], env=env, capture_output=True, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.decode())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
