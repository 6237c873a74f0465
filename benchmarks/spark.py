"""Publishing on Spark beside the local engine: time, processor time and memory of all processes, and how they grow.

``python -m benchmarks spark SOURCE ... [--master local[2]] [--conf KEY=VALUE] [--mode padded] [--local] [--mllib]``
publishes each source in a fresh process tree, in the order given. Processor time is added up over the driver, the Java
processes and all Python workers, for shared machines make wall time worthless. With ``local[2]`` the driver's Java
process is the worker, too; ``--master local-cluster[2,1,1536] --conf spark.driver.memory=1g
--conf spark.executor.memory=1536m`` takes them apart. ``--local`` runs the local engine beside each, ``--mllib`` the
ALS of Spark's own library (no biases).
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import measure

_DRIVER = ("spark.driver.memory=1536m", "spark.sql.shuffle.partitions=16")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks spark")
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--master", default="local[2]")
    parser.add_argument("--conf", action="append", default=[])
    parser.add_argument("--mode", default="padded")
    parser.add_argument("--local", action="store_true")
    parser.add_argument("--mllib", action="store_true")
    options = parser.parse_args(arguments)
    for source in options.sources:
        print(f"{source}", flush=True)
        if options.local:
            print(f"  local engine  {measure('benchmarks.spark:publish_here', source, options.mode)}", flush=True)
        asked = source, options.mode, options.master, options.conf
        _tell("spark engine", measure("benchmarks.spark:publish_on_spark", *asked).result)
        if options.mllib:
            _tell("MLlib's ALS", measure("benchmarks.spark:mllib_als", source, options.master).result)


def _tell(name: str, found: dict[str, Any]) -> None:
    print(
        f"  {name:13} {found['wall']:8.2f} s wall {found['cpu']:8.2f} s CPU; peak {found['all_mb']:.0f} MB in all, "
        f"driver: Python {found['driver_mb']:.0f} MB, Java {found['java_mb']:.0f} MB (heap {found['heap_mb']:.0f} MB)"
    )
    for step in found["steps"]:
        print(f"    {step['name']:24} {step['seconds']:8.1f} s {step['all_cpu']:8.1f} s CPU", flush=True)


def publish_here(source: str, mode: str) -> dict[str, Any]:
    """Publish with the local engine."""
    from recloak._ratings.readers import read
    from recloak._releases.publishing import publish

    with tempfile.TemporaryDirectory(prefix="recloak-") as folder:
        release = publish(read(source), mode=mode, rng=0)
        release.write(Path(folder) / "out")
        return {"steps": release.account["steps"]}


def publish_on_spark(source: str, mode: str, master: str, conf: list[str]) -> dict[str, Any]:
    """Publish on Spark, watching all processes of this tree."""
    from recloak._releases.options import PublishOptions
    from recloak._spark.session import SparkOptions, session

    folder = Path(tempfile.mkdtemp(prefix="recloak-"))
    try:
        with _Watch() as watch, session(SparkOptions(master=master, conf=(*_DRIVER, *conf))) as spark:
            from recloak._spark import spark_publishing as room

            watch.clock(room)
            room.publish(spark, source, folder / "out", options=PublishOptions(mode=mode), rng=0)
            watch.heap(spark)
        account = json.loads((folder / "out-private" / "account.json").read_text())
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    steps = [{**step, "all_cpu": cpu} for step, cpu in zip(account["steps"], watch.step_cpu, strict=True)]
    return {**watch.found(), "steps": steps}


def mllib_als(source: str, master: str) -> dict[str, Any]:
    """Factorise with Spark's own ALS: rank 22 as ours, 5 iterations."""
    from recloak._spark.session import SparkOptions, session

    with _Watch() as watch, session(SparkOptions(master=master, conf=("spark.driver.memory=6g",))) as spark:
        from pyspark.ml.recommendation import ALS

        from recloak._spark.source import open_source

        frame = open_source(spark, source).frame.selectExpr("int(user) user", "int(item) item", "rating")
        ALS(rank=22, maxIter=5, regParam=0.05, userCol="user", itemCol="item", ratingCol="rating").fit(frame)
        watch.heap(spark)
    return {**watch.found(), "steps": []}


class _Watch:
    """Looks at all processes below this one, four times a second."""

    def __init__(self) -> None:
        import psutil

        self.me = psutil.Process()
        self.cpus: dict[tuple[int, float], float] = {}
        self.all_mb = self.driver_mb = self.java_mb = self.heap_mb = 0.0
        self.step_cpu: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> _Watch:
        self.start = time.perf_counter()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._look()
        self._stop.set()
        self._thread.join()
        self.wall = time.perf_counter() - self.start

    def _run(self) -> None:
        while not self._stop.wait(0.25):
            self._look()

    def _look(self) -> None:
        import psutil

        total = 0.0
        for process in (self.me, *self.me.children(recursive=True)):
            try:
                times, memory = process.cpu_times(), process.memory_info().rss / 1e6
                self.cpus[process.pid, process.create_time()] = times.user + times.system
                is_java = process.name() == "java" and process.ppid() == self.me.pid
            except psutil.Error:
                continue
            total += memory
            if process.pid == self.me.pid:
                self.driver_mb = max(self.driver_mb, memory)
            elif is_java:
                self.java_mb = max(self.java_mb, memory)
        self.all_mb = max(self.all_mb, total)

    def clock(self, room: Any) -> None:
        """Let every step of the account also tell the processor time of all processes."""
        from contextlib import contextmanager

        watch, plain = self, room.Clock

        class Clock(plain):  # type: ignore[misc,valid-type]
            @contextmanager
            def step(self, name: str):
                watch._look()
                before = sum(watch.cpus.values())
                with super().step(name) as said:
                    yield said
                watch._look()
                watch.step_cpu.append(sum(watch.cpus.values()) - before)

        room.Clock = Clock

    def heap(self, spark: Any) -> None:
        """Ask Java for the most heap that was in use."""
        beans = spark._jvm.java.lang.management.ManagementFactory.getMemoryPoolMXBeans()
        self.heap_mb = sum(bean.getPeakUsage().getUsed() for bean in beans if bean.getType().name() == "HEAP") / 1e6

    def found(self) -> dict[str, Any]:
        """Give the figures."""
        names = ("all_mb", "driver_mb", "java_mb", "heap_mb", "wall")
        return {**{name: getattr(self, name) for name in names}, "cpu": sum(self.cpus.values())}
