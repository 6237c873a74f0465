"""``recloak frontier``: risk against usefulness of several releases, one chart."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import given_only, options_of, output_options, report, seed_option, source_of, source_options
from recloak._cli.path_types import PAGE, SOURCE_PATH
from recloak._core.errors import OptionError
from recloak._evaluation.options import FrontierOptions


@click.command()
@click.argument("source", metavar="SOURCE", type=SOURCE_PATH)
@click.option("-k", "--k", "ks", default="2,5,10,20,50", show_default=True, help="Values of k, with commas between.")
@click.option(
    "--mode", "modes", default=",".join(recloak.MODES), show_default=True, help="Modes, with a comma between."
)
@click.option(
    "--epsilon",
    "epsilons",
    default="1,10",
    show_default=True,
    help="Privacy budgets of the baselines with differential privacy, with commas between; empty for none.",
)
@click.option("-o", "--out", metavar="FILE", type=PAGE, required=True, help="Page to write (.html).")
@options_of(FrontierOptions)
@source_options
@seed_option
@output_options
def command(source: Path, ks: str, modes: str, epsilons: str, out: Path, as_json: bool, **given: Any) -> None:
    """Publish SOURCE in several ways and chart how risky and how useful each release is.

    Finished points are kept beside the page in FILE.points.json: a run that was stopped goes on where it was, and a
    later one with more values of k computes only what is new. Points made with other options, another seed or from
    another source are measured again, and a message says so.
    """
    keep, opened = out.with_name(f"{out.name}.points.json"), source_of(source, given)
    with _warnings_as_sentences():
        found = recloak.frontier(
            opened, k=_numbers(ks), mode=modes.split(","), epsilon=_budgets(epsilons), keep=keep, **given_only(given)
        )
    found.write_page(out)
    sentence = f"{len(found.points)} releases compared; the chart is in {out}."
    report(found, lambda _: click.echo(sentence), as_json=as_json)


@contextmanager
def _warnings_as_sentences() -> Iterator[None]:
    """Print each warning of the library on standard error as a sentence of the command line."""
    from recloak._cli.main import as_flags

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = lambda message, *_, **__: click.echo(f"recloak: {as_flags(str(message))}", err=True)
        yield


def _numbers(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"k must be whole numbers with commas between, got {text!r}") from None


def _budgets(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise OptionError(f"epsilon must be numbers with commas between, got {text!r}") from None
