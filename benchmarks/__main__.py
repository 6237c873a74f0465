"""Run the benchmarks: ``python -m benchmarks`` lists them, ``python -m benchmarks NAME [OPTIONS]`` runs one."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks


def main() -> None:
    names = [
        module.name
        for module in pkgutil.iter_modules(benchmarks.__path__)
        if module.name not in ("__main__", "measure", "load")
    ]
    if len(sys.argv) < 2 or sys.argv[1] not in names:
        for name in names:
            about = (importlib.import_module(f"benchmarks.{name}").__doc__ or "").splitlines()[0]
            print(f"  python -m benchmarks {name:12} {about}")
        return
    importlib.import_module(f"benchmarks.{sys.argv[1]}").main(sys.argv[2:])


main()
