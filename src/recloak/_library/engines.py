"""Where the work is done: on this machine or on a Spark cluster."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from recloak._core.errors import OptionError
from recloak._core.spelling import did_you_mean
from recloak._library.sources import Source, as_source

ENGINES = ("local", "spark")


def on_spark(engine: str, master: str | None, conf: Sequence[str]) -> bool:
    """Return whether Spark is asked for; raise for Spark's options without Spark."""
    if engine not in ENGINES:
        raise OptionError(f"engine must be one of {', '.join(ENGINES)}, got {engine!r}{did_you_mean(engine, ENGINES)}")
    if engine == "local" and (master is not None or conf):
        raise OptionError("master=... and conf=... are for engine='spark'")
    return engine == "spark"


@contextmanager
def spark_session(master: str | None, conf: Sequence[str]) -> Iterator[Any]:
    """Yield the session that is active, or one that is started here and stopped afterwards."""
    from recloak._spark.session import SparkOptions, session

    with session(SparkOptions(master=master, conf=tuple(conf))) as spark:
        yield spark


def require_files(given: object) -> Source:
    """Return the files that were given; a cluster cannot read what is in this process's memory."""
    source = as_source(given)
    if source is None:
        raise OptionError(f"engine='spark' reads files: pass paths or a recloak.Source, got {type(given).__name__}")
    return source
