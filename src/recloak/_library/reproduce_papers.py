"""The papers' experiments on other data, for ``recloak reproduce``: a page and a file of figures in a folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recloak._core.errors import InputError
from recloak._core.files import written_file, written_folder
from recloak._library.sources import Source, as_ratings

if TYPE_CHECKING:
    from recloak._evaluation.options import PredictiveOptions
    from recloak._evaluation.predictive_experiments import PredictiveReproduction
    from recloak._mentions.options import IdentifyOptions
    from recloak._ratings.model import Ratings
    from recloak._related.passive_experiments import PassiveReproduction
    from recloak._report.page import Page
    from recloak._report.reproduce_mentions_page import MentionsReproduction


def reproduce_mentions(source: Source, table: str, out: Path, options: IdentifyOptions) -> MentionsReproduction:
    """Repeat "You Are What You Say" (Frankowski et al. 2006) into a new folder."""
    from recloak._mentions.mention_tables import read_mentions
    from recloak._report import reproduce_mentions_page as paper
    from recloak._report.provenance import hashes_by_name, versions

    with written_folder(out) as folder:
        ratings = as_ratings(source)
        result = paper.reproduce_mentions(ratings, read_mentions(table, ratings), options)
        provenance = (*hashes_by_name((*source.paths, table)), ("Versions", versions()))
        page = paper.reproduction_page(result, source=_name(source), provenance=provenance)
        _write(folder, page, result.to_json())
    return result


def reproduce_predictive(
    source: Source, out: Path, options: PredictiveOptions, seed: int | None
) -> PredictiveReproduction:
    """Repeat "Predictive Anonymization" (Chang et al.) into a new folder."""
    from recloak._evaluation.predictive_experiments import reproduce_predictive as run
    from recloak._report.provenance import of_source
    from recloak._report.reproduce_predictive_page import predictive_page

    with written_folder(out) as folder:
        result = run(as_ratings(source), options, rng=seed)
        provenance = (("Seed", str(result.seed)), *of_source(source.paths[0]))
        _write(folder, predictive_page(result, source=_name(source), provenance=provenance), result.to_json())
    return result


def reproduce_passive(source: Source, out: Path, *, literal: bool, seed: int) -> PassiveReproduction:
    """Repeat "Thwarting Passive Privacy Attacks" (Chen et al.) into a folder that keeps each finished experiment."""
    from recloak._related.passive_experiments import reproduce_passive as run
    from recloak._report.provenance import of_source
    from recloak._report.reproduce_passive_page import passive_page

    ratings = as_ratings(source)
    result = run(ratings, literal=literal, rng=seed, saved=_OutcomeFile(out, ratings, seed))
    provenance = (("Seed", str(seed)), *of_source(source.paths[0]))
    _write(out, passive_page(result, source=_name(source), provenance=provenance), result.to_json())
    return result


def _name(source: Source) -> str:
    return Path(source.paths[0]).absolute().name


def _write(folder: Path, page: Page, figures: dict[str, Any]) -> None:
    from recloak._report.page import write_page

    write_page(page, folder / "report.html")
    with written_file(folder / "figures.json") as partial:
        partial.write_text(json.dumps(figures, indent=2, allow_nan=False), encoding="utf-8")


class _OutcomeFile(dict[str, dict[str, float]]):
    """Outcomes that are saved as they come; raises InputError for a file of other ratings or another seed."""

    def __init__(self, folder: Path, ratings: Ratings, seed: int) -> None:
        self.file = folder / "outcomes.json"
        self.about = {"format": 1, "ratings": _fingerprint(ratings), "seed": seed}
        if self.file.exists():
            saved = json.loads(self.file.read_text(encoding="utf-8"))
            if saved["about"] != self.about:
                raise InputError(f"{self.file}: holds outcomes of other ratings or another seed; choose another folder")
            super().__init__(saved["outcomes"])
            return
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: exists and is no folder of this command; choose another or remove it first")
        super().__init__()

    def __setitem__(self, name: str, outcome: dict[str, float]) -> None:
        """Set an outcome and save the file."""
        super().__setitem__(name, outcome)
        self.file.parent.mkdir(exist_ok=True)  # not before there is something to keep
        with written_file(self.file) as partial:
            partial.write_text(json.dumps({"about": self.about, "outcomes": self}, indent=1), encoding="utf-8")


def _fingerprint(ratings: Ratings) -> str:
    """Return a hash of the users, items, values and times of ratings."""
    digest = hashlib.sha256()
    for array in (ratings.indptr, ratings.items, ratings.values, ratings.times):
        digest.update(b"" if array is None else array.tobytes())
    return digest.hexdigest()
