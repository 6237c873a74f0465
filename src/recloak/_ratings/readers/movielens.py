"""MovieLens layouts: ``ratings.dat`` (fields between ``::``) and ``u.data`` (tabs); neither has a header or quotes."""

from __future__ import annotations

from recloak._ratings.options import ReadOptions
from recloak._ratings.readers.dialect import NO_QUOTES, Dialect, dialect_of
from recloak._ratings.readers.source_files import Sample


def matches(sample: Sample) -> bool:
    """Tell a file whose first line has three or more fields between ``::``."""
    return any(line.count("::") >= 2 for line in sample.lines()[:1])


def dialect(sample: Sample, options: ReadOptions) -> Dialect:
    """Recognise how a file is written."""
    return dialect_of(sample, "::" if matches(sample) else "\t", NO_QUOTES, options)
