"""``recloak audit``: every attack on the original and on the release, side by side."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recloak._attacks.options import AuditOptions
from recloak._cli.common import emit_json, gather, json_option, options_of, seed_option, source_options, with_progress
from recloak._cli.path_types import PAGE, RELEASE, SOURCE_PATH, private_of, require_private
from recloak._core.files import written_file

if TYPE_CHECKING:
    from recloak._attacks.audit_result import Audit
    from recloak._attacks.public_view import ReleaseView
    from recloak._evaluation.model import Evaluation
    from recloak._ratings.model import Ratings

_folder = click.Path(path_type=Path)


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE_PATH)
@click.argument("folder", metavar="DIR", type=RELEASE)
@click.option(
    "--private", metavar="DIR", type=_folder, help="The private folder of the release. [default: DIR-private]"
)
@click.option("-o", "--out", metavar="FILE", type=PAGE, help="Page to write (.html).")
@options_of(AuditOptions, leave_out=("known",))
@click.option(
    "--gate", "gates", multiple=True, metavar="NAME@KNOWN<SHARE", help='Must hold, else exit 1: "scoreboard@8<0.05".'
)
@click.option(
    "--probe", metavar="PROBE", type=SOURCE_PATH, help="Ratings left out of SOURCE: shows usefulness as well."
)
@click.option("--second", metavar="DIR", type=RELEASE, help="Another release of the same people, to intersect with.")
@click.option("--second-private", metavar="DIR", type=_folder, help="Its private folder. [default: DIR-private]")
@click.option("--again", is_flag=True, help="Make that other release now, with another seed, and throw it away.")
@source_options
@seed_option
@json_option
@with_progress
def command(
    source: Path,
    folder: Path,
    private: Path | None,
    out: Path | None,
    gates: tuple[str, ...],
    probe: Path | None,
    second: Path | None,
    second_private: Path | None,
    again: bool,
    seed: int | None,
    as_json: bool,
    **given: Any,
) -> int:
    """Attack the ratings in SOURCE and their release in DIR, side by side, and say how risky the release is.

    The release is verified first. Exits with 1 if an attack names people more often than the release promises, could
    not be run, or a gate is closed.
    """
    require_private(folder, private)
    from recloak._attacks.auditing import audit
    from recloak._attacks.gate import parse_gate
    from recloak._cli.open_release import open_release, open_second
    from recloak._ratings.options import ReadOptions
    from recloak._ratings.readers import read

    options, reading = gather(AuditOptions, given), gather(ReadOptions, given)
    wanted = [parse_gate(text) for text in gates]
    with nullcontext() if out is None else written_file(out) as aside:  # a place that cannot be written shows at once
        ratings = read(source, options=reading)
        release = open_release(folder, private, ratings)
        other = open_second(second, second_private, again, private_of(folder, private), ratings)
        found = audit(ratings, release, second=other, options=options, gates=wanted, rng=seed)
        useful = None if probe is None else _evaluated(ratings, release, read(probe, options=reading), found.seed)
        if aside is not None:
            aside.write_text(_page(found, useful, release, (source, folder, probe)), encoding="utf-8")
    _tell(found, useful, out, as_json)
    return 0 if found.verdict == "pass" else 1


def _evaluated(ratings: Ratings, release: ReleaseView, held_out: Ratings, seed: int) -> Evaluation:
    from recloak._evaluation.evaluating import evaluate
    from recloak._evaluation.probe import probe_from

    return evaluate(ratings, release, probe_from(ratings, held_out), rng=seed)


def _page(found: Audit, useful: Evaluation | None, release: ReleaseView, files: tuple[Path, Path, Path | None]) -> str:
    from recloak._report import render
    from recloak._report.audit_page import audit_page
    from recloak._report.provenance import of_source

    provenance = (("Seed", str(found.seed)), *of_source(*files))
    names = f"{files[0].absolute().name} and its release in the folder {files[1].absolute().name}"
    return render(audit_page(found, useful, manifest=release.manifest, source=names, provenance=provenance))


def _tell(found: Audit, useful: Evaluation | None, out: Path | None, as_json: bool) -> None:
    if as_json:
        emit_json({**found.to_json(), **({} if useful is None else {"evaluation": useful.to_json()})})
        return
    from recloak._cli.audit_tables import print_audit
    from recloak._cli.evaluate_tables import print_evaluation

    print_audit(found)
    if useful is not None:
        print_evaluation(useful)
    click.echo("" if out is None else f"Written to {out}.", nl=out is not None)
