"""``recloak key``: the owner's key, which signs certificates."""

import click

from recloak._cli.common import emit_json, json_option


@click.group()
def command() -> None:
    """Make the owner's key, which signs certificates, and show its fingerprint."""


@command.command()
@click.argument("file", metavar="FILE")
@json_option
def create(file: str, as_json: bool) -> None:
    """Write a new private key to FILE, which only you can read, and its public half to FILE.pub.

    Give FILE.pub or the fingerprint to whoever shall check your certificates. Keep FILE to yourself.
    """
    import recloak

    made = recloak.create_key(file)
    if as_json:
        emit_json({"private": file, "public": f"{file}.pub", "sha256": made})
        return
    click.echo(f"private key (keep it to yourself): {file}\npublic key (give it away): {file}.pub")
    click.echo(f"fingerprint: {made}")


@command.command()
@click.argument("file", metavar="FILE.pub")
def show(file: str) -> None:
    """Print the fingerprint of a public key."""
    from recloak._certificate.keys import public_fingerprint

    click.echo(public_fingerprint(file))
