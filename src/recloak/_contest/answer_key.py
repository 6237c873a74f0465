"""Read the private folder of a contest."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import polars as pl

from recloak._contest.model import ANSWERS, RULES, Rules
from recloak._core.errors import SourceError


def read_key(private: Path) -> tuple[Rules, pl.DataFrame]:
    """Return the rules and the answers of a contest."""
    rules, answers = private / RULES, private / ANSWERS
    if not rules.is_file() or not answers.is_file():
        raise SourceError(f"there is no {RULES} with {ANSWERS}: not the private folder of a contest", file=private)
    try:
        return Rules(**json.loads(rules.read_text(encoding="utf-8"))), pl.read_parquet(answers)
    except (ValueError, TypeError, pl.exceptions.PolarsError):
        raise SourceError("the rules or answers of the contest cannot be read", file=private) from None


def mark_of(rules: Rules) -> str:
    """Return what a board knows its contest by: a digest of the secret, which cannot be computed back."""
    return hashlib.sha256(b"board of " + bytes.fromhex(rules.secret)).hexdigest()
