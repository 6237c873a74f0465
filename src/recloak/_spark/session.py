"""Start Spark, or raise an error that says in one sentence what is missing.

A setting of the caller (``--conf``) overrides the one given here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from recloak._core.errors import InputError, MissingExtraError, OptionError, RecloakError
from recloak._core.extras import install_hint, require_extra
from recloak._core.options import Options, option

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LEAST_SPARK = (4, 0)
_ABOUT_PANDAS = "PySpark does not yet fully support pandas"  # none is used here
_SETTINGS = {
    "spark.app.name": "recloak",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.compression.codec": "lz4_raw",  # of the work folder; the release is written by our own writer
    "spark.executorEnv.NUMBA_NUM_THREADS": "1",  # a task is one thread: the cluster counts its cores by tasks
    "spark.executorEnv.POLARS_MAX_THREADS": "1",
    "spark.executorEnv.OPENBLAS_NUM_THREADS": "1",
}


@dataclass(frozen=True, kw_only=True)
class SparkOptions(Options):
    """Where Spark runs, and how the work is cut."""

    master: str | None = option(None, "the cluster's address, such as spark://host:7077, yarn or local[4]")
    conf: tuple[str, ...] = option((), "a setting of Spark, as KEY=VALUE; may be given several times")
    block_ratings: int = option(4_000_000, "ratings of a block of users", at_least=1)
    bin_users: int = option(40_000, "users of a bin, which one task groups", at_least=2)
    bin_ratings: int = option(8_000_000, "ratings of a bin, at most about", at_least=1)
    part_cells: int = option(64_000_000, "cells of a part of a released table, about", at_least=1)

    def check(self) -> None:
        """Raise OptionError if a setting is not KEY=VALUE."""
        self.settings()

    def settings(self) -> dict[str, str]:
        """Return the settings by key."""
        pairs = [text.partition("=") for text in self.conf]
        wrong = next((text for text, pair in zip(self.conf, pairs, strict=True) if not (pair[0] and pair[1])), None)
        if wrong is not None:
            raise OptionError(f"a setting of Spark must be KEY=VALUE, got {wrong!r}")
        return {key.strip(): value.strip() for key, _, value in pairs}


@contextmanager
def session(options: SparkOptions | None = None) -> Iterator[SparkSession]:
    """Yield a running session: the active one, or one that is started here and stopped afterwards."""
    require_spark()
    from pyspark.sql import SparkSession  # noqa: PLC0415 (an extra)

    active = SparkSession.getActiveSession()
    if active is not None:
        yield active
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", _ABOUT_PANDAS, FutureWarning)
        spark = _start(options or SparkOptions())
        try:
            with plain_errors():
                yield spark
        finally:
            spark.stop()


@contextmanager
def plain_errors() -> Iterator[None]:
    """Raise RecloakError with one sentence if Spark gives up a job."""
    from py4j.protocol import Py4JError  # noqa: PLC0415 (comes with pyspark)
    from pyspark.errors import PySparkException  # noqa: PLC0415 (an extra)

    try:
        yield
    except (PySparkException, Py4JError) as error:
        reasons = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise RecloakError(f"Spark gave the work up, so nothing came of it: {_reason(reasons)}") from error


def _reason(lines: list[str]) -> str:
    """Return the line that says why: our own sentence from a worker, else the first."""
    ours = [line.partition("Error: ")[2] for line in lines if line.startswith("recloak._core.errors.")]
    return (ours or lines or ["no reason was given"])[0]


def require_spark() -> None:
    """Raise MissingExtraError, which says what to install, if pyspark or Java is missing."""
    require_extra("spark", "pyspark", need="--engine spark")
    import pyspark  # noqa: PLC0415 (an extra)

    numbers = tuple(int(number) for number in re.findall(r"\d+", pyspark.__version__)[:2])
    if numbers < _LEAST_SPARK:
        raise MissingExtraError(
            f"the Spark engine needs pyspark 4.0 or later, got {pyspark.__version__}: {install_hint('spark')}"
        )
    if not _has_java():
        raise MissingExtraError(
            "the Spark engine needs Java 17 or later: install a runtime (such as openjdk-17-jre-headless), or set "
            "JAVA_HOME"
        )


def _has_java() -> bool:
    home = os.environ.get("JAVA_HOME")
    return (Path(home) / "bin" / "java").exists() if home else shutil.which("java") is not None


def _passed_on() -> dict[str, str]:
    """Return the setting by which workers keep compiled kernels where the driver does."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return {} if folder is None else {"spark.executorEnv.NUMBA_CACHE_DIR": folder}


def workers_python(options: SparkOptions) -> str | None:
    """Return the Python that workers must run; None leaves it to the cluster.

    Pyspark reads it from the environment of a driver that was not started by spark-submit, and never from a setting.
    Workers of this machine need what is installed here, which the first python3 on the path need not have.
    """
    python = options.settings().get("spark.pyspark.python", os.environ.get("PYSPARK_PYTHON"))
    return python or (sys.executable if _is_here(options.master) else None)


def _is_here(master: str | None) -> bool:
    """Return whether workers are processes of this machine; where no master is named, Spark's settings may name one."""
    if master is None:
        return not os.environ.keys() & {"SPARK_HOME", "SPARK_CONF_DIR", "MASTER"}
    return master.startswith(("local", "spark://127.0.0.1:", "spark://[::1]:"))


def _start(options: SparkOptions) -> SparkSession:
    from pyspark.sql import SparkSession  # noqa: PLC0415 (an extra)

    python = workers_python(options)
    if python is not None:
        os.environ["PYSPARK_PYTHON"] = python
    builder = SparkSession.builder
    if options.master is not None:
        builder = builder.master(options.master)
    for key, value in {**_SETTINGS, **_passed_on(), **options.settings()}.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except Exception as error:  # py4j raises what Java raised
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        where = options.master or "its default master"
        raise InputError(f"Spark could not be started at {where}: {reason}") from error
