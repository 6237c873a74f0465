"""``recloak token``: who may use the server: make, list and revoke tokens."""

import csv
import sys
import time
from datetime import UTC, datetime
from typing import Any

import click

from recloak._cli.common import emit_json, json_option
from recloak._cli.path_types import NEW_TOKENS, TABLE
from recloak._core.errors import OptionError
from recloak._service.tokens import Token

_STORE: dict[str, Any] = {"default": "tokens.db", "show_default": True, "metavar": "FILE", "help": "Token store."}
_store_option = click.option("--store", **_STORE)
_new_store_option = click.option("--store", type=NEW_TOKENS, **_STORE)


@click.group()
def command() -> None:
    """Make, list and revoke the tokens of those who may use the server."""


@command.command()
@click.option("--user", help="The user the token belongs to, by the id used in the ratings.")
@click.option("--users", type=TABLE, help="A file of users, one per line or in a column 'user': a token for each.")
@click.option("--admin", is_flag=True, help="Make an administrator's token: operations, no advice.")
@click.option("--expires", default="30d", show_default=True, help="How long it is valid: 12h, 30d, 4w, 1y.")
@click.option("--label", default="", help="A note for the list.")
@_new_store_option
@json_option
def create(
    user: str | None, users: str | None, admin: bool, expires: str, label: str, store: str, as_json: bool
) -> None:
    """Make a token, or one for each of many users, and print it once: the store keeps only a hash."""
    from recloak._service.tokens import create as make

    if users is not None:
        if user is not None or admin:
            raise OptionError("give --users, --user or --admin, only one of them")
        _create_many(users, store, expires, label, as_json)
        return
    token, text = make(store, user=user, admin=admin, expires=expires, label=label)
    if as_json:
        emit_json({**_plain(token), "token": text})
        return
    click.echo(text)
    click.echo(f"Token {token.id}, valid until {_day(token.expires)}; it is not shown again.", err=True)


def _create_many(file: str, store: str, expires: str, label: str, as_json: bool) -> None:
    from recloak._service.tokens import create_many
    from recloak._service.user_lists import read_users

    made = create_many(store, read_users(file), expires=expires, label=label)
    if as_json:
        emit_json({"tokens": [{"user": user, "token": text} for user, text in made]})
        return
    write = csv.writer(sys.stdout, lineterminator="\n")
    write.writerow(("user", "token"))
    write.writerows(made)
    click.echo(f"{len(made):,} tokens; they are not shown again.", err=True)


@command.command()
@click.argument("file", metavar="FILE")
@click.option("--rotate", is_flag=True, help="Put a new key first in FILE.")
@click.option("--keep", type=click.IntRange(0, 7), default=1, show_default=True, help="Older keys that stay valid.")
@json_option
def key(file: str, rotate: bool, keep: int, as_json: bool) -> None:
    """Make the key FILE with which a forum signs who its users are, so that no token store is needed."""
    from recloak._service.signed_claims import create_keys, rotate_keys

    keys = rotate_keys(file, keep=keep) if rotate else create_keys(file)
    if as_json:
        emit_json({"file": file, "keys": list(keys.by_id), "newest": keys.newest})
    else:
        click.echo(f"{file}: key {keys.newest} signs; {len(keys.by_id)} valid. Keep it secret, as a password.")


@command.command()
@click.argument("file", metavar="FILE")
@click.option("--user", required=True, help="The user the claim is for, by the id used in the ratings.")
@click.option("--expires", default="1h", show_default=True, help="How long it is valid, a day at most.")
@json_option
def sign(file: str, user: str, expires: str, as_json: bool) -> None:
    """Sign a claim with the key FILE, as the forum's own code would; for trying it out."""
    from recloak._service.signed_claims import read_keys
    from recloak._service.signed_claims import sign as make

    text = make(read_keys(file), user, expires=expires)
    if as_json:
        emit_json({"user": user, "token": text})
    else:
        click.echo(text)


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
