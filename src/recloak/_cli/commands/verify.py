"""``recloak verify``: check the guarantee of a release from its public files alone."""

from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import emit_json, given_only, output_options, source_of, source_options
from recloak._cli.engine import engine_options
from recloak._cli.path_types import FOLDER, PRIVATE_FOLDER, SOURCE
from recloak._core.terminal_text import printable


@click.command()
@click.argument("folder", metavar="DIR", type=FOLDER)
@click.option(
    "-k", "--k", type=click.IntRange(min=2), help="Demand at least this k; by default the one the release claims."
)
@click.option(
    "--original",
    metavar="SOURCE",
    type=SOURCE,
    help="The source, to check diversity, a cap on links, and drawn rows.",
)
@click.option("--diversity", metavar="B,L", help="Demand this diversity; by default the one the release claims.")
@click.option(
    "--private",
    metavar="DIR",
    type=PRIVATE_FOLDER,
    help="Who is who, to check a cap on links and drawn rows. [default: DIR-private]",
)
@click.option(
    "--content", is_flag=True, help="Judge only what the tables hold, not how every byte is written (for other tools')."
)
@click.option("--certificate", metavar="FILE", help="Write a certificate if the release passes: a page, .html or .pdf.")
@click.option("--audit", metavar="FILE", help="For the certificate: the JSON of recloak audit --json on this release.")
@click.option("--review", metavar="DATE", help='For the certificate: review by this date, or after "12 months".')
@click.option("--owner", metavar="NAME", help="For the certificate: who answers for the release.")
@click.option("--key", metavar="FILE", help="Sign the certificate with this private key; see recloak key create.")
@click.option("--signature", metavar="FILE", help="Check this signature of the certificate beside it.")
@click.option("--signer", metavar="KEY", help="Whose signature it must be: the owner's public key, or its fingerprint.")
@engine_options
@source_options
@output_options
def command(folder: Path, original: str | None, as_json: bool, **given: Any) -> int:
    """Check that every row of the release in DIR is shared by at least k users, and that nothing was changed.

    Reads the public files only, and accounts for every byte of them; what the release promises about its source,
    diversity and a cap on links, is checked where --original is given.
    Exits with 0 if the release keeps its promise, 1 if it does not.
    """
    source = source_of(original, given)
    verdict = recloak.verify(folder, original=source, **given_only(given))
    if as_json:
        emit_json(verdict.to_mapping())
    else:
        click.echo(_summary(verdict))
        if verdict.drawn and verdict.proved:
            click.echo(f"  {verdict.proved}")
        for problem in verdict.problems:
            click.echo(f"  - {printable(problem)}")
        for sentence in verdict.measured:
            click.echo(f"  {sentence}")
        for claim in verdict.unchecked:
            click.echo(f"  not checked without --original: {claim}")
        if verdict.signed_by is not None:
            click.echo(f"  signed by the owner's key {verdict.signed_by}")
        if verdict.passed and given["certificate"] is not None:
            click.echo(f"  certificate written to {given['certificate']}")
    return 0 if verdict.passed else 1


def _summary(verdict: "recloak.Verdict") -> str:
    """Return the verdict in one line; the counts of a release that was changed cannot be trusted."""
    if verdict.k_found is None:
        return f"{verdict.verdict}: nothing is known of its rows, because of this:"
    return (
        f"{verdict.verdict}: {', '.join(verdict.counts)}; "
        f"{verdict.n_users} users in {verdict.n_groups} groups"
        f"{' (content only: how the files are written was not judged)' if verdict.content else ''}"
    )
