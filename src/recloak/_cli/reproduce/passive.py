"""``recloak reproduce passive``: figures 4 to 7 of "Thwarting Passive Privacy Attacks" on your data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import fixed_seed_option, output_options, report, source_options
from recloak._cli.path_types import OWN_FOLDER
from recloak._cli.related._shared import ratings_of, source_argument

if TYPE_CHECKING:
    from recloak._ratings.model import Ratings


@click.command()
@source_argument
@click.option("-o", "--out", required=True, type=OWN_FOLDER, help="Folder to write; a run that was "
              "broken off goes on from there.")  # fmt: skip
@click.option("--literal/--no-literal", default=True, show_default=True, help="Also run the printed algorithm at the "
              "default setting.")  # fmt: skip
@fixed_seed_option
@source_options
@output_options
def command(source: tuple[str, ...], out: Path, literal: bool, seed: int, as_json: bool, **given: Any) -> None:
    """Repeat "Thwarting Passive Privacy Attacks" (Chen et al.) on SOURCE: window, gap, delta and length varied.

    OUT gets `report.html`, `figures.json`, and `outcomes.json`, from which a run that was broken off goes on.
    """
    from recloak._core.files import written_file
    from recloak._related.passive_experiments import reproduce_passive
    from recloak._report import write_page
    from recloak._report.passive_page import passive_page
    from recloak._report.provenance import of_source

    ratings = ratings_of(source, given)
    found = reproduce_passive(ratings, literal=literal, rng=seed, notes=_OutcomeFile(out, ratings, seed))
    provenance = (("Seed", str(seed)), *of_source(Path(source[0])))
    page = passive_page(found, source=Path(source[0]).absolute().name, provenance=provenance)
    write_page(page, out / "report.html")
    with written_file(out / "figures.json") as temporary:
        temporary.write_text(json.dumps(found.to_json(), indent=2, allow_nan=False), encoding="utf-8")
    report(found, lambda _: click.echo(f"The paper's figures lie at {out / 'report.html'}."), as_json=as_json)


class _OutcomeFile(dict[str, dict[str, float]]):
    """Outcomes that are saved as they come; raises InputError for a file of other ratings or another seed."""

    def __init__(self, folder: Path, ratings: Ratings, seed: int) -> None:
        from recloak._core.errors import InputError

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
        from recloak._core.files import written_file

        super().__setitem__(name, outcome)
        self.file.parent.mkdir(exist_ok=True)  # not before there is something to keep
        with written_file(self.file) as temporary:
            temporary.write_text(json.dumps({"about": self.about, "outcomes": self}, indent=1), encoding="utf-8")


def _fingerprint(ratings: Ratings) -> str:
    """Return a hash of the users, items, values and times of ratings."""
    import hashlib

    digest = hashlib.sha256()
    for array in (ratings.indptr, ratings.items, ratings.values, ratings.times):
        digest.update(b"" if array is None else array.tobytes())
    return digest.hexdigest()
