"""MovieLens layouts: ``ratings.dat`` (fields between ``::``) and ``u.data`` (tabs); neither has a header or quotes."""

from recloak._ratings.dialect import NO_QUOTES, Dialect, dialect_of
from recloak._ratings.opened_files import Sample
from recloak._ratings.options import ReadOptions
from recloak._ratings.reader import Reader


def _matches(sample: Sample) -> bool:
    """Return whether this is a file whose first line has three or more fields between ``::``."""
    return any(line.count("::") >= 2 for line in sample.lines()[:1])


def _dialect(sample: Sample, options: ReadOptions) -> Dialect:
    return dialect_of(sample, "::" if _matches(sample) else "\t", options, quoting=NO_QUOTES)


READER = Reader(
    name="movielens",
    title="MovieLens",
    text="`ratings.dat` with fields between `::`, or by its name `u.data` with tabs; no header, no quotes",
    matches=_matches,
    dialect=_dialect,
)
