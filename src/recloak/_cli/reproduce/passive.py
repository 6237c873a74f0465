"""``recloak reproduce passive``: figures 4 to 7 of "Thwarting Passive Privacy Attacks" on your data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._cli.common import emit_json, fixed_seed_option, json_option, source_options, with_progress
from recloak._cli.path_types import OWN_FOLDER
from recloak._cli.related._shared import ratings_of, source_argument

if TYPE_CHECKING:
    from recloak._ratings.model import Ratings


@click.command()
@source_argument
@click.option("-o", "--out", required=True, type=OWN_FOLDER, help="Folder to write; a run that was "
              "broken off goes on from there.")  # fmt: skip
@click.option(
    "--literal/--no-literal",
    default=True,
    show_default=True,
    help="Also run the printed algorithm at the default setting.",
)
@fixed_seed_option
@source_options
@json_option
@with_progress
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
    found = reproduce_passive(ratings, literal=literal, rng=seed, notes=_Notebook(out, ratings, seed))
    provenance = (("Seed", str(seed)), *of_source(Path(source[0])))
    page = passive_page(found, source=Path(source[0]).absolute().name, provenance=provenance)
    write_page(page, out / "report.html")
    with written_file(out / "figures.json") as aside:
        aside.write_text(json.dumps(found.to_json(), indent=2, allow_nan=False), encoding="utf-8")
    if as_json:
        emit_json(found.to_json())
    else:
        click.echo(f"The paper's figures lie at {out / 'report.html'}.")


class _Notebook(dict[str, dict[str, float]]):
    """Outcomes that are written down as they come; those of other ratings or another seed are refused."""

    def __init__(self, folder: Path, ratings: Ratings, seed: int) -> None:
        from recloak._core.errors import InputError

        self.file = folder / "outcomes.json"
        self.about = {"format": 1, "ratings": _fingerprint(ratings), "seed": seed}
        if self.file.exists():
            told = json.loads(self.file.read_text(encoding="utf-8"))
            if told["about"] != self.about:
                raise InputError(f"{self.file}: holds outcomes of other ratings or another seed; choose another folder")
            super().__init__(told["outcomes"])
            return
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError(f"{folder}: exists and is no folder of this command; choose another or remove it first")
        super().__init__()

    def __setitem__(self, name: str, outcome: dict[str, float]) -> None:
        """Note an outcome, on disk as well."""
        from recloak._core.files import written_file

        super().__setitem__(name, outcome)
        self.file.parent.mkdir(exist_ok=True)  # not before there is something to keep
        with written_file(self.file) as aside:
            aside.write_text(json.dumps({"about": self.about, "outcomes": self}, indent=1), encoding="utf-8")


def _fingerprint(ratings: Ratings) -> str:
    """Tell ratings apart: the same users, items, values and times give the same text."""
    import hashlib

    told = hashlib.sha256()
    for array in (ratings.indptr, ratings.items, ratings.values, ratings.times):
        told.update(b"" if array is None else array.tobytes())
    return told.hexdigest()
