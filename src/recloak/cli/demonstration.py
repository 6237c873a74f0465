"""The demo: the main job on synthetic data, as a list of steps that fill one folder and one report.

A step takes what the earlier ones made and gives it back with its own part added: values for later steps, a chapter of
the report, sentences of the account, figures for ``--json``. A new capability is one more function in `STEPS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from recloak import progress
from recloak.errors import InputError
from recloak.files import sha256_of, written_folder
from recloak.randomness import Randomness
from recloak.report import Account, Chapter, Fact, Page, Verdict, write_page
from recloak.report.provenance import versions

_LIST = "demo.json"  # names what the demo wrote, so that it replaces nothing else
REPORT = "report.html"
_NOTHING = Verdict("plain", "Nothing was done", "No step has run.")


@dataclass(frozen=True, slots=True)
class Demo:
    """What the steps have made so far."""

    folder: Path
    chance: Randomness
    made: Mapping[str, Any] = field(default_factory=dict)  # values that later steps need
    results: Mapping[str, Any] = field(default_factory=dict)  # what --json tells, by step
    facts: tuple[Fact, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    account: tuple[str, ...] = ()
    verdict: Verdict = _NOTHING

    def add(
        self,
        *,
        made: Mapping[str, Any] | None = None,
        results: Mapping[str, Any] | None = None,
        chapters: tuple[Chapter, ...] = (),
        account: tuple[str, ...] = (),
        facts: tuple[Fact, ...] = (),
        verdict: Verdict | None = None,
    ) -> Demo:
        """Give the demo with one step's part added; the last verdict given heads the report."""
        return replace(
            self,
            made={**self.made, **(made or {})},
            results={**self.results, **(results or {})},
            chapters=self.chapters + chapters,
            account=self.account + account,
            facts=self.facts + facts,
            verdict=verdict or self.verdict,
        )


Step = Callable[[Demo], Demo]


def make_ratings(demo: Demo) -> Demo:
    """Make synthetic ratings and leave them as a file to play with."""
    from recloak.ratings.synthetic import SynthOptions, synthesise

    ratings = synthesise(SynthOptions(preset="tiny"), rng=demo.chance.child("ratings"))
    ratings.to_polars().write_csv(demo.folder / "ratings.csv")
    step = f"Made {ratings.n_ratings:,} synthetic ratings with the shape of a real data set (ratings.csv)."
    return demo.add(made={"ratings": ratings}, account=(step,))


def inspect_ratings(demo: Demo) -> Demo:
    """Tell what is in them and how exposed their users are."""
    from recloak.ratings import expose, summarise
    from recloak.report import inspect_page

    ratings = demo.made["ratings"]
    summary, exposure = summarise(ratings), expose(ratings, rng=demo.chance.child("inspect"))
    return demo.add(
        results={"inspect": {**summary.to_json(), "exposure": exposure.to_json()}},
        facts=inspect_page.key_facts(summary),
        chapters=(inspect_page.exposure_chapter(exposure), inspect_page.summary_chapter(summary)),
        account=inspect_page.inspect_account(summary, exposure)[1:],
        verdict=inspect_page.exposure_verdict(exposure),
    )


STEPS: tuple[Step, ...] = (make_ratings, inspect_ratings)


def run_demo(out: Path, *, seed: int) -> dict[str, Any]:
    """Run all steps into a folder, replacing what an earlier demo left there, and tell what was found."""
    _refuse_foreign(out)
    with written_folder(out, replace=True) as folder:
        demo = Demo(folder, Randomness(seed).child("demo"))
        with progress.task("demo", len(STEPS)) as advance:
            for step in STEPS:
                demo = step(demo)
                advance(1)
        write_page(_page(demo, seed), folder / REPORT)
        found = {"seed": seed, **demo.results}
        files = {file.relative_to(folder).as_posix(): sha256_of(file) for file in sorted(_files(folder))}
        (folder / _LIST).write_text(json.dumps({**found, "files": files}, indent=2, allow_nan=False) + "\n")
    return {"folder": str(out), "report": str(out / REPORT), **found}


def _page(demo: Demo, seed: int) -> Page:
    return Page(
        title="The recloak demo",
        subtitle="Synthetic ratings with the shape of real ones; nobody in them exists.",
        verdict=demo.verdict,
        facts=demo.facts,
        chapters=demo.chapters,
        account=Account(demo.account, (("Seed", str(seed)), ("Versions", versions()))),
    )


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_symlink() or not file.is_dir())


def _refuse_foreign(out: Path) -> None:
    """Refuse a folder that holds anything an earlier demo did not write."""
    if not out.is_dir():
        return
    own = _own_files(out / _LIST)
    for file in _files(out):
        name = file.relative_to(out).as_posix()
        if name not in own:
            raise InputError(
                f"{out}: the folder holds {name!r}, which no demo wrote; choose another folder or remove it first"
            )


def _own_files(listing: Path) -> set[str]:
    try:
        written = json.loads(listing.read_text())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {*written, _LIST} if isinstance(written, dict) else set()
