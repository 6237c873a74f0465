"""``recloak token``: who may ask the server; make, list and revoke tokens."""

import time
from datetime import UTC, datetime
from typing import Any

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.path_types import NEW_TOKENS
from recloak._service.tokens import Token

_STORE: dict[str, Any] = {"default": "tokens.db", "show_default": True, "metavar": "FILE", "help": "Token store."}
_store_option = click.option("--store", **_STORE)
_new_store_option = click.option("--store", type=NEW_TOKENS, **_STORE)


@click.group()
def command() -> None:
    """Make, list and revoke the tokens of those who may ask the server."""


@command.command()
@click.option("--user", help="The user that the token speaks for, by the id of the ratings.")
@click.option("--admin", is_flag=True, help="Make an administrator's token: operations, no advice.")
@click.option("--expires", default="30d", show_default=True, help="How long it is valid: 12h, 30d, 4w, 1y.")
@click.option("--label", default="", help="A note for the list.")
@_new_store_option
@json_option
def create(user: str | None, admin: bool, expires: str, label: str, store: str, as_json: bool) -> None:
    """Make a token and print it, this once: the store keeps a hash of it."""
    from recloak._service.tokens import create as make

    token, text = make(store, user=user, admin=admin, expires=expires, label=label)
    if as_json:
        emit_json({**_plain(token), "token": text})
        return
    click.echo(text)
    click.echo(f"Token {token.id}, valid until {_day(token.expires)}; it is not shown again.", err=True)


@command.command(name="list")
@_store_option
@json_option
def list_(store: str, as_json: bool) -> None:
    """List the tokens of a store; none of them can be read from it."""
    from recloak._service.tokens import tokens

    found = tokens(store)
    if as_json:
        emit_json({"tokens": [_plain(one) for one in found]})
        return
    for one in found:
        whose = "administrator" if one.admin else f"user {one.user}"
        click.echo(f"{one.id}  {one.state(time.time()):<8}  until {_day(one.expires)}  {whose}  {one.label}".rstrip())


@command.command()
@click.argument("id_", metavar="ID")
@_store_option
@json_option
def revoke(id_: str, store: str, as_json: bool) -> None:
    """Revoke the token ID; servers refuse it from the next request on."""
    from recloak._service.tokens import revoke as withdraw

    token = withdraw(store, id_)
    if as_json:
        emit_json(_plain(token))
    else:
        click.echo(f"Token {token.id} is revoked.")


def _plain(token: Token) -> dict[str, Any]:
    names = ("id", "user", "admin", "label", "created", "expires", "revoked")
    return {**{name: getattr(token, name) for name in names}, "state": token.state(time.time())}


def _day(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
