"""The demo: the main job on synthetic data, as a list of steps that fill one folder and one report.

A step takes the demo so far and returns it with its own part added: values for later steps, a chapter of the report,
sentences of the account, results for ``--json``. To add a step, write a function and name it in `STEPS`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import recloak
from recloak._core import progress
from recloak._core.errors import InputError
from recloak._core.files import sha256_of, written_folder
from recloak._core.randomness import Randomness
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, write_page
from recloak._report.provenance import versions

_LIST = "demo.json"  # names what the demo wrote, so that nothing else is replaced
REPORT = "report.html"
_NOTHING = PageVerdict("plain", "Nothing was done", "No step has run.")


@dataclass(frozen=True, slots=True)
class Demo:
    """What the steps have made so far."""

    folder: Path
    rng: Randomness
    made: Mapping[str, Any] = field(default_factory=dict)  # values that later steps need
    results: Mapping[str, Any] = field(default_factory=dict)  # what --json prints, by step
    facts: tuple[Fact, ...] = ()
    chapters: tuple[Chapter, ...] = ()
    account: tuple[str, ...] = ()
    verdict: PageVerdict = _NOTHING

    def add(
        self,
        *,
        made: Mapping[str, Any] | None = None,
        results: Mapping[str, Any] | None = None,
        chapters: tuple[Chapter, ...] = (),
        account: tuple[str, ...] = (),
        facts: tuple[Fact, ...] = (),
        verdict: PageVerdict | None = None,
    ) -> Demo:
        """Return the demo with one step's part added; the report starts with the last verdict."""
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
    """Make synthetic ratings and write them to a file."""
    ratings = recloak.synth(preset="tiny", rng=demo.rng.child("ratings"))
    ratings.to_polars().write_csv(demo.folder / "ratings.csv")
    step = f"Made {ratings.n_ratings:,} synthetic ratings with the shape of a real data set (ratings.csv)."
    return demo.add(made={"ratings": ratings}, account=(step,))


def inspect_ratings(demo: Demo) -> Demo:
    """Inspect the ratings and how exposed their users are."""
    from recloak._report import inspect_page

    inspection = recloak.inspect(demo.made["ratings"], rng=demo.rng.child("inspect"))
    summary, exposure = inspection.summary, inspection.exposure
    return demo.add(
        results={"inspect": {**summary.to_json(), "exposure": exposure.to_json()}},
        facts=inspect_page.key_facts(summary),
        chapters=(inspect_page.exposure_chapter(exposure), replace(inspect_page.summary_chapter(summary), folded=True)),
        account=inspect_page.inspect_account(summary, exposure)[1:],
        verdict=inspect_page.exposure_verdict(exposure),
    )


def publish_release(demo: Demo) -> Demo:
    """Hold some ratings out, publish the rest, and verify what was written."""
    from recloak._library.evaluate_release import hold_out

    rest, probe = hold_out(demo.made["ratings"], 0.1, rng=demo.rng.child("probe"))
    rest.to_polars().write_csv(demo.folder / "published.csv")
    probe.write_csv(demo.folder / "probe.csv")
    folder, private = demo.folder / "release", demo.folder / "private"
    recloak.publish(rest, folder, private=private, k=5, mode="padded", rng=demo.rng.child("publish"))
    _remove_timings(private / "account.json")
    steps = (
        f"Held {len(probe):,} ratings out (probe.csv), and published the other {rest.n_ratings:,} (published.csv) as a "
        "padded release with k = 5 (release); who is who is kept apart (private).",
        "Verified from the public files alone that every row is shared by at least 5 users.",
    )
    verified = {"verify": recloak.verify(folder).to_mapping()}
    return demo.add(made={"rest": rest, "probe": probe}, results=verified, account=steps)


def _remove_timings(account: Path) -> None:
    """Remove timings and the temporary folder from an account, so that the same seed gives the same bytes."""
    content = json.loads(account.read_text())
    for step in content["steps"]:
        for name in [name for name in step if "seconds" in name]:
            del step[name]
    content["release"]["folder"] = "release"
    account.write_text(json.dumps(content, indent=2) + "\n")


def attack_release(demo: Demo) -> Demo:
    """Attack the original and the release, side by side."""
    from recloak._report import audit_page

    found = recloak.audit(
        demo.made["rest"], demo.folder / "release", private=demo.folder / "private", targets=200, known=(1, 2, 4, 8),
        rng=demo.rng.child("audit"),
    )  # fmt: skip
    return demo.add(
        results={"audit": found.to_json()},
        chapters=(*audit_page.overview_chapters(found), *audit_page.detail_chapters(found)),
        account=audit_page.audit_account(found)[1:],
        verdict=audit_page.audit_verdict(found),
    )


def evaluate_release(demo: Demo) -> Demo:
    """Measure what the release is still good for."""
    from recloak._report import evaluate_page

    found = recloak.evaluate(
        demo.made["rest"], demo.folder / "release", private=demo.folder / "private", probe=demo.made["probe"],
        rng=demo.rng.child("evaluate"),
    )  # fmt: skip
    return demo.add(
        results={"evaluate": found.to_json()},
        chapters=evaluate_page.usefulness_chapters(found),
        account=evaluate_page.evaluate_account(found),
    )


STEPS: tuple[Step, ...] = (make_ratings, inspect_ratings, publish_release, attack_release, evaluate_release)


def run_demo(out: Path, *, seed: int) -> dict[str, Any]:
    """Run all steps into a folder, replacing what an earlier demo left there, and return the results."""
    _require_own(out)
    with written_folder(out, replace=True) as folder:
        demo = Demo(folder, Randomness(seed).child("demo"))
        with progress.task("demo", len(STEPS)) as advance:
            for step in STEPS:
                demo = step(demo)
                advance(1)
        write_page(_page(demo, seed), folder / REPORT)
        results = {"seed": seed, **demo.results}
        files = {file.relative_to(folder).as_posix(): sha256_of(file) for file in sorted(_files(folder))}
        (folder / _LIST).write_text(json.dumps({**results, "files": files}, indent=2, allow_nan=False) + "\n")
    return {"folder": str(out), "report": str(out / REPORT), **results}


def _page(demo: Demo, seed: int) -> Page:
    return Page(
        title="The recloak demo",
        subtitle="Synthetic ratings with the shape of real ones; nobody in them exists.",
        verdict=demo.verdict,
        facts=demo.facts,
        chapters=tuple(sorted(demo.chapters, key=lambda chapter: chapter.folded)),  # what suffices first
        account=Account(demo.account, (("Seed", str(seed)), ("Versions", versions())), folded=True),
    )


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in folder.rglob("*") if file.is_symlink() or not file.is_dir())


def _require_own(out: Path) -> None:
    """Raise InputError if a folder holds anything that an earlier demo did not write."""
    if not out.is_dir():
        return
    own = _own_files(out / _LIST)
    for file in _files(out):
        name = file.relative_to(out).as_posix()
        if name not in own:
            reason = f"the folder holds {name!r}, which no demo wrote; choose another folder or remove it first"
            raise InputError(f"{out}: {reason}")


def _own_files(listing: Path) -> set[str]:
    try:
        written = json.loads(listing.read_text())["files"]
    except (OSError, ValueError, KeyError, TypeError):
        return set()
    return {*written, _LIST} if isinstance(written, dict) else set()
