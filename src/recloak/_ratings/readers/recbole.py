"""RecBole's atomic files (``.inter``): tabs, no quotes, and a header of ``name:type``."""

import dataclasses
import re

from recloak._ratings.dialect import NO_QUOTES, Dialect, dialect_of
from recloak._ratings.opened_files import Sample
from recloak._ratings.options import ReadOptions
from recloak._ratings.reader import Reader

_FIELD = re.compile(r"[^\t:]+:(token|float|token_seq|float_seq)")


def _matches(sample: Sample) -> bool:
    """Return whether this is a file whose first line is made of ``name:type``."""
    return any(all(_FIELD.fullmatch(field) for field in line.split("\t")) for line in sample.lines()[:1])


def _dialect(sample: Sample, options: ReadOptions) -> Dialect:
    """Recognise how a file is written; columns may be named with or without their type."""
    header, feed, rest = sample.head.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    plain = re.sub(rb":(token_seq|float_seq|token|float)(?=\t|\r|$)", b"", header)
    return dialect_of(dataclasses.replace(sample, head=plain + feed + rest), "\t", options, quoting=NO_QUOTES)


READER = Reader(
    name="recbole",
    title="RecBole",
    text="atomic files (`.inter`): fields between tabs, no quotes, and a header of `name:type`",
    matches=_matches,
    dialect=_dialect,
)
