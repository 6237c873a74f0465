"""``recloak evaluate --fidelity``: whether a contest on a release ends as on the original."""

from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import given_only, report
from recloak._core.errors import OptionError
from recloak._evaluation.options import EvaluateOptions, FidelityOptions


def run_fidelity(
    source: Any, folder: Path | None, out: Path | None, probe: Any, as_json: bool, given: dict[str, Any]
) -> None:
    """Measure and show; flags of the plain evaluation are refused."""
    if given.pop("engine", None) == "spark":
        raise OptionError("--fidelity trains algorithms on this machine; leave --engine spark out")
    for name in EvaluateOptions().to_mapping():
        if given.pop(name, None) is not None:
            raise OptionError(f"--{name} is not for --fidelity; --most-people says how many take part")
    wanted = {name: value for name, value in given_only(given).items() if name not in ("master", "conf")}
    found = recloak.fidelity(source, folder, probe=probe, **wanted)
    report(found, _print, as_json=as_json, page=out)


def refuse_flags(given: dict[str, Any]) -> None:
    """Raise OptionError for flags of --fidelity without it, and take them out of the arguments."""
    for name in FidelityOptions().to_mapping():
        if given.pop(name) is not None:
            raise OptionError(f"--{name.replace('_', '-')} is for --fidelity")


def _print(found: "recloak.Fidelity") -> None:
    click.echo(found.verdict)
    for name, protocol in (("A", found.outsider), ("B", found.owner)):
        for contest, one in (protocol or {}).items():
            if one is None:
                click.echo(f"  {name} {contest}: not measured")
                continue
            noise = "-" if one.tau_noise is None else f"{one.tau_noise:.2f}"
            click.echo(
                f"  {name} {contest}: tau {one.tau:.2f} (original with itself {noise}), winner {one.winner}, "
                f"regret {one.regret:.1f} %"
            )
    if found.not_applicable:
        click.echo(f"  not applicable without ratings: {', '.join(found.not_applicable)}")
    for label, statistic in found.statistics.items():
        error = "-" if statistic.error is None else f"{statistic.error:.3f}"
        click.echo(f"  {label}: error {error} ({statistic.meaning})")
