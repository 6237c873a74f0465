"""The manifest and the data card: what a stranger is told about a release.

Neither holds a source path, an id of a source user, a seed or a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recloak._core.files import sha256_of
from recloak._ratings.model import Scale
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import FORMAT, VERSION, Diversity, sealed


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of a release, whatever files it is written to."""

    k: int
    mode: str
    grid: float | None
    min_raters: int
    diversity: Diversity | None
    paper: bool
    n_users: int
    n_items: int
    n_ratings: int
    n_groups: int
    scale: Scale
    max_link: float | None = None

    @property
    def label_meaning(self) -> str:
        """What a label is, in one sentence."""
        mode = MODES[self.mode]
        of_few = mode.label_of_few.format(self.min_raters) if self.min_raters > 1 else ""
        grid = "" if self.grid is None else f", rounded to steps of {self.grid:g} from {self.scale.low:g}"
        return f"{mode.label}{of_few}{grid}."


def promised(facts: Facts) -> list[str]:
    """Return the sentences that a release promises; `recloak verify` checks each from the public files."""
    sentences = [
        f"Every user shares the whole row, items and ratings, with at least {facts.k - 1} other users "
        f"(k-anonymity, k = {facts.k}).",
        "Users and groups carry fresh random names that nothing here links to the source.",
    ]
    if facts.grid is not None:
        sentences.append(
            f"Every rating lies on the grid of step {facts.grid:g} from {facts.scale.low:g} to {facts.scale.high:g}."
        )
    if facts.max_link is not None:
        sentences.append(
            f"No item stands in a row of whose members more than {_percent(facts.max_link)} rated it (checked against "
            "the source by its owner)."
        )
    sentences.extend(MODES[facts.mode].promised)
    if facts.diversity is not None:
        sentences.append(
            f"In the rows of at least {facts.diversity.l} distinct groups stands {_sets(facts.diversity)} "
            f"((b, l)-diversity, {facts.diversity}; checked against the source by its owner)."
        )
    return sentences


def _percent(share: float) -> str:
    """Return a share as an exact percentage: 33 % would promise more than a third keeps."""
    return f"{100 * share:.6g} %"


def _sets(diversity: Diversity) -> str:
    """Return the words for the sets of items that stand in several rows."""
    if diversity.b == 1:
        return "every item that someone rated"
    return f"every set of {'' if diversity.b is None else f'{diversity.b} '}items that someone rated together"


def not_promised(facts: Facts) -> list[str]:
    """Return the sentences about what a release does not promise, so that nobody relies on it."""
    sentences = [
        "That nobody can tell which items a person rated: whoever knows a person's group learns that some of its "
        "members rated an item, with a confidence of raters divided by members, which can exceed 1/k.",
        "Safety together with another release of the same people: two different groupings can be intersected.",
        "Differential privacy: a rating depends on the data of the members of its group.",
    ]
    mode = MODES[facts.mode]
    unless = "" if facts.max_link is None else f", or by more than {_percent(facts.max_link)}, of its members"
    sentences.extend(sentence.format(unless_capped=unless) for sentence in mode.not_promised)
    if facts.paper:
        sentences.append(
            "Protection against exact averages: this is the literal method of the paper (no grid, one rater is "
            f"enough), so {mode.exact_averages}."
        )
    elif facts.grid is None or facts.min_raters < 2:
        sentences.append("Protection against exact averages: the grid or the minimum of raters was switched off.")
    return sentences


def make_manifest(
    facts: Facts,
    layout: str,
    file_format: str,
    folder: Path,
    rows: dict[str, int] | None = None,
    *,
    parts: dict[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """Return the sealed manifest of the files in a folder; ``rows`` holds the number of rows by file.

    ``parts`` describes tables that lie in folders of parts, as the tasks that wrote them did.
    """
    files = {file.name: _described(file, (rows or {}).get(file.name)) for file in folder.iterdir() if file.is_file()}
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "layout": layout,
        "file_format": file_format,
        "k": facts.k,
        "mode": facts.mode,
        "paper": facts.paper,
        "grid": facts.grid,
        "min_raters": facts.min_raters,
        "diversity": None if facts.diversity is None else str(facts.diversity),
        "max_link": facts.max_link,
        "n_users": facts.n_users,
        "n_items": facts.n_items,
        "n_ratings": facts.n_ratings,
        "n_groups": facts.n_groups,
        "scale": {"low": facts.scale.low, "high": facts.scale.high},
        "promised": promised(facts),
        "not_promised": not_promised(facts),
        "files": dict(sorted({**files, **(parts or {})}.items())),
    }
    return {**manifest, "seal": sealed(manifest)}


def _described(file: Path, n_rows: int | None) -> dict[str, Any]:
    described = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
    return described if n_rows is None else {"rows": n_rows, **described}
