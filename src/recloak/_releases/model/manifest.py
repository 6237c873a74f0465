"""The manifest and the data card: what a stranger is told about a release.

Neither holds a source path, an id of a source user, a seed or a time.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from recloak._core.files import sha256_of
from recloak._ratings.model import Scale
from recloak._ratings.value_kinds import RATINGS
from recloak._releases.model.event_words import in_words, value_noun, words_of
from recloak._releases.model.modes import Mode
from recloak._releases.model.release_format import FORMAT, MANIFEST, VERSION, Diversity, sealed
from recloak._releases.model.statistics import StatisticsFacts
from recloak._releases.model.statistics import sentences as statistics_sentences

KNOWN_ITEMS = 8  # that the adversary of a `RowExposure` knows


class RowExposure(NamedTuple):
    """How far rows lead an adversary who compares likelihoods: shares from 0 to 1, in hundredths."""

    found: float  # of people whose own group is the likeliest given some of their ratings, ties split
    member: float  # chance that a member is held for one rather than somebody who is not in the data

    def sentence(self) -> str:
        """Return it in words for a stranger."""
        return (
            f"That a person cannot be found in this release. An attacker who knows {KNOWN_ITEMS} ratings of a person "
            f"finds the group for {100 * self.found:.0f} of 100 people. One who knows all of them tells a member from "
            f"somebody who is not in the data with an area under the curve of {self.member:.2f} (0.5 is a guess). Both "
            "were measured by the publisher on a sample; recloak verify does not check them, and a better attacker may "
            "do more."
        )


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of a release, whatever files it is written to."""

    k: int
    mode: str
    grid: float | None
    labels: str  # whose ratings a label holds: model or raters
    min_raters: int | None  # None: labels hold no one's rating
    diversity: Diversity | None
    paper: bool
    n_users: int
    n_items: int
    n_ratings: int
    n_groups: int
    scale: Scale
    max_link: float | None = None
    min_shown: int | None = None
    decoys: float | None = None
    exposure: RowExposure | None = None  # what its rows give away, measured on this very release
    mean: float | None = None  # of the layout factors: the mean, to which biases and factors add
    precision: float | None = None  # and the step of which all its numbers are multiples
    rank: int | None = None  # and the number of factors
    boost: float | None = None  # of drawn rows: the part of the near groups in a tally
    values: str = RATINGS.name  # what the source holds: ratings, presence or counts
    holders: int | None = None  # of drawn rows: the fewest people behind a tally of an item or a link between items
    statistics: StatisticsFacts | None = None  # of the tables of statistics beside it
    # Of propensities: the share of items that show their popularity alone.
    popular_alone: float | None = field(default=None, repr=False)
    # Of purchases and plays: how often the surest claims about rare items are right.
    surest: float | None = field(default=None, repr=False)

    @property
    def recipe(self) -> dict[str, Any]:
        """What is true of its rows in every layout: it decides the names."""
        left_out = (
            "mean",
            "precision",
            "rank",
            "statistics",
            "popular_alone",
            "surest",
            *(("values",) if self.values == RATINGS.name else ()),
        )
        return {name: value for name, value in asdict(self).items() if name not in left_out}

    def told(self, sentence: str) -> str:
        """Return a sentence in the words of what the source holds."""
        return in_words(sentence, self.mode, self.values)

    @property
    def words(self) -> Mode:
        """The words of the mode for what the source holds."""
        return words_of(self.mode, self.values)

    @property
    def label_meaning(self) -> str:
        """What a label is, in one sentence."""
        mode = self.words
        label = mode.label + (mode.label_of_few.format(self.min_raters) if (self.min_raters or 0) > 1 else "")
        grid = "" if self.grid is None else f", rounded to steps of {self.grid:g} from {self.scale.low:g}"
        grid = "" if self.values != RATINGS.name and not mode.is_complete else grid
        return f"{mode.label_of_model if self.min_raters is None else label}{grid}."


def promised(facts: Facts) -> list[str]:
    """Return the sentences that a release promises; `_certificate.promises` says which of them files can show."""
    sentences = [
        facts.words.guarantee.format(k=facts.k, others=facts.k - 1),
        "Users and groups carry fresh random names that nothing here links to the source.",
    ]
    if facts.grid is not None and facts.scale.span:
        noun = value_noun(facts.mode, facts.values)
        sentences.append(
            f"Every {noun} lies on the grid of step {facts.grid:g} from {facts.scale.low:g} to {facts.scale.high:g}."
        )
    if facts.precision is not None:
        sentences.append(
            f"Every number that stands for a group or an item is a multiple of {facts.precision:g}, and the members "
            "of a group have one and the same."
        )
    if facts.max_link is not None:
        sentences.append(
            f"No item stands in a row of whose members more than {_percent(facts.max_link)} rated it (checked against "
            "the source by its owner)."
        )
    sentences.extend(facts.words.promised)
    if facts.holders is not None:
        sentences.append(
            f"Every link between two items rests on at least {facts.holders} people, and an item that fewer rated is "
            "drawn for all groups alike (by the method; the verifier cannot see it)."
        )
    if facts.diversity is not None:
        sentences.append(
            f"In the rows of at least {facts.diversity.l} distinct groups stands {_sets(facts.diversity)} "
            f"((b, l)-diversity, {facts.diversity}; checked against the source by its owner)."
        )
    sentences.extend([] if facts.statistics is None else statistics_sentences(facts.statistics))
    return [facts.told(sentence) for sentence in sentences]


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
        facts.words.links,
        "Safety together with another release of the same people: two different groupings can be intersected.",
        f"Differential privacy{' of the rows' * (facts.statistics is not None)}: a rating depends on the data of the "
        "members of its group.",
    ]
    mode = facts.words
    none = "none" if facts.min_shown is None else f"fewer than {facts.min_shown} members"
    unless = "" if facts.max_link is None else f", or by more than {_percent(facts.max_link)}, of its members"
    sentences.extend(sentence.format(unless_capped=unless, none=none) for sentence in mode.not_promised)
    sentences.extend(mode.leaks[facts.labels])
    sentences.extend([facts.exposure.sentence()] if facts.exposure is not None else [])
    if facts.popular_alone:
        sentences.append(
            f"That every item can be recommended by it: {_percent(facts.popular_alone)} of the items were used by "
            "fewer people than two groups have, or mostly by people who are in groups together, and show their "
            "popularity alone, the same for every group."
        )
    if facts.surest is not None:
        sentences.append(
            "That nobody can tell who used a rare item. An attacker who picks the surest claims that all members of a "
            f"group used an item that less than a tenth of all people used is right of {100 * facts.surest:.0f} in 100 "
            "people. The publisher measured this; recloak verify does not check it, and a better attacker may do more."
        )
    if facts.paper:
        sentences.append(
            "Protection against exact averages: this is the literal method of the paper (no grid, one rater is "
            f"enough), so {mode.exact_averages}."
        )
    elif facts.min_raters is not None and (facts.grid is None or facts.min_raters < 2):
        sentences.append("Protection against exact averages: the grid or the minimum of raters was switched off.")
    return [facts.told(sentence) for sentence in sentences]


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
    files.pop(MANIFEST, None)
    return manifest_of(facts, layout, file_format, {**files, **(parts or {})})


def manifest_of(facts: Facts, layout: str, file_format: str, files: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the sealed manifest of files that are described by name: rows (of tables), bytes, SHA-256."""
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "layout": layout,
        "file_format": file_format,
        "k": facts.k,
        "mode": facts.mode,
        **({} if facts.values == RATINGS.name else {"values": facts.values}),
        "paper": facts.paper,
        "grid": _as_float(facts.grid),
        "labels": facts.labels,
        "min_raters": facts.min_raters,
        "diversity": None if facts.diversity is None else str(facts.diversity),
        "max_link": _as_float(facts.max_link),
        "min_shown": facts.min_shown,
        "decoys": _as_float(facts.decoys),
        "exposure": None if facts.exposure is None else facts.exposure._asdict(),
        "mean": _as_float(facts.mean),
        "precision": _as_float(facts.precision),
        "rank": facts.rank,
        **({} if facts.holders is None else {"boost": _as_float(facts.boost), "holders": facts.holders}),
        **({} if facts.statistics is None else {"statistics": facts.statistics.to_json()}),
        **({} if facts.popular_alone is None else {"popular_alone": facts.popular_alone}),
        **({} if facts.surest is None else {"surest": facts.surest}),
        "n_users": facts.n_users,
        "n_items": facts.n_items,
        "n_ratings": facts.n_ratings,
        "n_groups": facts.n_groups,
        "scale": {"low": facts.scale.low + 0.0, "high": facts.scale.high + 0.0},  # zero has no sign
        "promised": promised(facts),
        "not_promised": not_promised(facts),
        "files": dict(sorted(files.items())),
    }
    return {**manifest, "seal": sealed(manifest)}


def _as_float(number: float | None) -> float | None:
    """Return a number that is written with a point, even if it was given without one."""
    return None if number is None else float(number)


def facts_in(manifest: dict[str, Any]) -> Facts:
    """Return the facts that a manifest of the right form states."""
    said: dict[str, Any] = {field.name: manifest.get(field.name) for field in fields(Facts)}
    said["values"] = said["values"] or RATINGS.name
    low, high = (float(manifest["scale"][end]) for end in ("low", "high"))
    said["scale"] = Scale(low, high, None)
    said["diversity"] = None if said["diversity"] is None else Diversity.parse(said["diversity"])
    said["exposure"] = None if said["exposure"] is None else RowExposure(**said["exposure"])
    said["statistics"] = None if said["statistics"] is None else StatisticsFacts(**said["statistics"])
    floats = ("grid", "max_link", "decoys", "mean", "precision", "boost")
    said |= {name: _as_float(said[name]) for name in floats}
    return Facts(**said)


def as_text(manifest: dict[str, Any]) -> str:
    """Write a manifest in its one form."""
    return json.dumps(manifest, indent=2, allow_nan=False) + "\n"


def _described(file: Path, n_rows: int | None) -> dict[str, Any]:
    described = {"bytes": file.stat().st_size, "sha256": sha256_of(file)}
    return described if n_rows is None else {"rows": n_rows, **described}
