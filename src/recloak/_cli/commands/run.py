"""``recloak run``: from a source to a certificate in one go, by a policy."""

import logging
from pathlib import Path
from typing import Any

import click

import recloak
from recloak._cli.common import (
    emit_json,
    given_only,
    json_option,
    seed_option,
    source_of,
    source_options,
    with_progress,
)
from recloak._cli.path_types import SOURCE


@click.command()
@click.argument("policy", metavar="POLICY")
@click.argument("source", metavar="SOURCE", type=SOURCE)
@click.option("-o", "--out", metavar="DIR", type=click.Path(path_type=Path), required=True, help="The folder to fill.")
@click.option("--owner", metavar="NAME", help="Who answers for the release; named on the certificate.")
@click.option("--key", metavar="FILE", help="The owner's private key, to sign the certificate; see recloak key create.")
@source_options
@seed_option
@json_option
@with_progress
def command(policy: str, source: str, out: Path, as_json: bool, **given: Any) -> int:
    """Inspect, publish, verify, audit, evaluate and certify the ratings in SOURCE by a POLICY, into the folder DIR.

    POLICY is a TOML file or a preset: research, contest, open-data or strict. A run that was stopped goes on where it
    was when the same command is given again. Where a gate fails it stops and exits with 1; then there is no release and
    no certificate.

    DIR/release and DIR/certificate.html may be handed out; DIR/release-private and DIR/reports-private may not.
    """
    logging.getLogger("recloak").setLevel(logging.INFO)  # say what each step found
    found = recloak.run(policy, source_of(source, given), out, **given_only(given))
    if as_json:
        emit_json(found.to_json())
    elif found.passed:
        click.echo(f"pass: the release is in {found.release}, its certificate is {found.certificate}")
        click.echo(f"private, never hand out: {out / 'release-private'}, {out / 'reports-private'}")
    else:
        click.echo(f"fail: stopped at {found.stopped_at}: {found.reason}")
        click.echo(f"there is nothing to hand out; reports are in {out / 'reports-private'}")
    return 0 if found.passed else 1
