"""What a run has done so far, so that one that was stopped goes on where it was.

The record lies among the private reports and names what the run belongs to: the policy, the ratings, the version. A
folder that holds another run is refused. A step counts as done when its result is recorded and every file that it left
still has the hash that was recorded.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from recloak._core.errors import InputError
from recloak._core.files import sha256_of, written_file
from recloak._ratings.model import Ratings

FILE = "run.json"
_NAMES = {"policy": "policy", "ratings": "source", "version": "version of recloak", "seed": "seed"}


@dataclass(frozen=True, slots=True)
class RunRecord:
    """The steps done, by name, in a folder of reports."""

    folder: Path
    about: Mapping[str, str]
    steps: Mapping[str, Mapping[str, Any]]

    @classmethod
    def open(cls, folder: Path, about: Mapping[str, str]) -> RunRecord:
        """Return the record in a folder, or an empty one; raise InputError for that of another run."""
        file = folder / FILE
        if not file.exists():
            return cls(folder, about, {})
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            steps, other = dict(found["steps"]), dict(found["about"])
        except (ValueError, LookupError, TypeError):
            raise InputError(f"{file}: is not the record of a run; choose another folder") from None
        for name, value in about.items():
            if other.get(name) != value and not (name == "seed" and value == ""):
                rule = f"holds a run with another {_NAMES[name]}; choose another folder, or remove this one"
                raise InputError(f"{folder.parent}: {rule}")
        return cls(folder, {**about, **other}, steps)

    def result(self, step: str) -> dict[str, Any] | None:
        """Return the result of a step that is done and whose files are as it left them, else None."""
        found = self.steps.get(step)
        if found is None:
            return None
        base = self.folder.parent
        intact = all(
            (base / name).is_file() and sha256_of(base / name) == made for name, made in found["files"].items()
        )
        return dict(found["result"]) if intact else None

    def with_step(self, step: str, result: Mapping[str, Any], files: Iterable[Path]) -> RunRecord:
        """Return the record with a step added, written to disk."""
        base = self.folder.parent
        made = {file.relative_to(base).as_posix(): sha256_of(file) for file in files}
        added = replace(self, steps={**self.steps, step: {"result": dict(result), "files": made}})
        added.write()
        return added

    def write(self) -> None:
        """Write the record, readable for its owner alone: the seed is in it."""
        content = {"about": dict(self.about), "steps": self.steps}
        with written_file(self.folder / FILE, mode=0o600) as aside:
            aside.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def hash_of_ratings(ratings: Ratings) -> str:
    """Return a hash of everything that ratings hold, whatever file they came from."""
    digest = hashlib.sha256(repr((ratings.shape, ratings.kind.name, ratings.scale)).encode())
    for ids in (ratings.user_ids.ids, ratings.item_ids.ids):
        digest.update(json.dumps(ids.to_list()).encode())
    for array in (ratings.indptr, ratings.items, ratings.values, ratings.times, ratings.first_times):
        digest.update(b"none" if array is None else array.tobytes())
    return digest.hexdigest()


def step_seed(seed: int, step: str) -> int:
    """Return the seed of a step; whoever sees one on a page learns nothing about the others."""
    return int.from_bytes(hashlib.sha256(f"{seed} {step}".encode()).digest()[:16], "big")
