"""Signed claims: made by whoever holds the key, for one user, for a day at most, by one algorithm."""

import base64
import hashlib
import hmac
import json
import stat
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._cli.main import run
from recloak._core.errors import InputError, OptionError
from recloak._service.options import ServeOptions, require_servable
from recloak._service.signed_claims import LONGEST, SigningKeys, create_keys, read_keys, rotate_keys, sign
from recloak._service.tokens import TokenChecker

KEYS = SigningKeys({"0a0b0c0d": bytes(range(32)), "11111111": bytes(32)[::-1]})
NOW = 1_700_000_000


def part(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def forged(header=None, claims=None, key=bytes(range(32)), digest="sha256"):
    """Make a claim as an attacker or another library would."""
    header = {"alg": "HS256", "kid": "0a0b0c0d", "typ": "JWT"} if header is None else header
    claims = {"sub": "ann", "aud": "recloak", "exp": NOW + 60} if claims is None else claims
    signed = f"{part(header)}.{part(claims)}"
    signature = base64.urlsafe_b64encode(hmac.digest(key, signed.encode(), digest)).rstrip(b"=").decode()
    return f"{signed}.{signature}"


def proved(text, keys=KEYS, now=NOW):
    """Return the token that a text proves; it must prove one."""
    token = keys.check(text, now=now)
    assert token is not None
    return token


def test_a_claim_proves_its_user():
    assert proved(sign(KEYS, "ann", now=NOW)).user == "ann"
    assert proved(forged()).user == "ann", "a claim made by other code in the same form"


def test_a_claim_is_of_no_use_once_it_has_expired():
    text = sign(KEYS, "ann", expires="1h", now=NOW)
    assert KEYS.check(text, now=NOW + 3599) is not None
    assert KEYS.check(text, now=NOW + 3600) is None


@pytest.mark.parametrize(
    "text",
    [
        forged(key=b"another key of 32 bytes, guessed"),
        forged(key=hashlib.sha256(b"").digest()),
        forged(header={"alg": "none", "kid": "0a0b0c0d", "typ": "JWT"}),
        forged(header={"alg": "none", "kid": "0a0b0c0d", "typ": "JWT"}).rpartition(".")[0] + ".",
        forged(header={"alg": "HS512", "kid": "0a0b0c0d", "typ": "JWT"}, digest="sha512"),
        forged(header={"alg": "HS512", "kid": "0a0b0c0d", "typ": "JWT"}),
        forged(header={"alg": "RS256", "kid": "0a0b0c0d", "typ": "JWT"}),
        forged(header={"alg": "hs256", "kid": "0a0b0c0d", "typ": "JWT"}),
        forged(header={"alg": "HS256", "kid": "99999999", "typ": "JWT"}, key=bytes(32)),
        forged(header={"alg": "HS256", "kid": None, "typ": "JWT"}, key=bytes(32)),
        forged(header={"alg": "HS256", "kid": ["0a0b0c0d"], "typ": "JWT"}),
        forged(header={"alg": "HS256", "kid": "0a0b0c0d", "typ": "JWT", "crit": ["exp"]}),
        forged(header=["HS256"]),
        forged(claims={"sub": "ann", "aud": "recloak"}),
        forged(claims={"sub": "ann", "aud": "recloak", "exp": str(NOW + 60)}),
        forged(claims={"sub": "ann", "aud": "recloak", "exp": True}),
        forged(claims={"sub": "ann", "aud": "recloak", "exp": 1e99}),
        forged(claims={"sub": "ann", "aud": "recloak", "exp": NOW + LONGEST + 1}),
        forged(claims={"sub": "ann", "aud": "another", "exp": NOW + 60}),
        forged(claims={"sub": "", "aud": "recloak", "exp": NOW + 60}),
        forged(claims={"sub": 42, "aud": "recloak", "exp": NOW + 60}),
        forged() + "=",
        forged() + ".x",
        "..",
        "a.b.c",
        "é.é.é",
        "x" * 5000 + ".a.b",
    ],
)
def test_what_the_key_did_not_sign_in_this_form_proves_nothing(text):
    assert KEYS.check(text, now=NOW) is None


@given(st.integers(0, 200), st.sampled_from("abcXYZ019-_."))
def test_a_claim_with_any_sign_changed_proves_nothing(place, sign_):
    text = sign(KEYS, "ann", now=NOW)
    place %= len(text)
    changed = text[:place] + sign_ + text[place + 1 :]
    assert changed == text or KEYS.check(changed, now=NOW) is None


def test_the_claims_of_two_users_share_no_limit_and_those_of_one_user_do():
    numbers = [proved(sign(KEYS, user, now=NOW + n), now=NOW + n).number for user, n in (("a", 0), ("a", 5), ("b", 0))]
    assert numbers[0] == numbers[1] != numbers[2]


def test_a_new_key_signs_and_older_ones_stay_valid_until_they_are_dropped(tmp_path):
    file = tmp_path / "forum.key"
    old = sign(create_keys(file), "ann")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    keys = rotate_keys(file)
    assert keys.check(old) is not None
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert sign(keys, "ann").split(".")[0] != old.split(".")[0]
    assert rotate_keys(file, keep=0).check(old) is None
    assert [path.name for path in tmp_path.iterdir()] == ["forum.key"]


def test_a_key_file_that_others_can_read_or_that_is_none_is_refused(tmp_path):
    file = tmp_path / "forum.key"
    create_keys(file)
    with pytest.raises(InputError, match="there is a key file already"):
        create_keys(file)
    file.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        read_keys(file)
    file.chmod(0o600)
    for text in ("", "secret", "0a0b0c0d zz"):
        file.write_text(text)
        with pytest.raises(InputError, match="not a key file"):
            read_keys(file)
    with pytest.raises(InputError, match="there is no key file"):
        read_keys(tmp_path / "none")


def test_a_claim_for_longer_than_a_day_or_for_nobody_is_not_signed():
    with pytest.raises(OptionError, match="a day at most"):
        sign(KEYS, "ann", expires="2d")
    with pytest.raises(OptionError, match="must not be empty"):
        sign(KEYS, "")


def test_a_key_stands_in_for_a_token_store(tmp_path):
    for name in ("r.csv", "t.csv"):
        (tmp_path / name).write_text("x\n")
    options = ServeOptions(ratings=str(tmp_path / "r.csv"), titles=str(tmp_path / "t.csv"))
    with pytest.raises(InputError, match="--signing-key FILE"):
        require_servable(options)
    create_keys(tmp_path / "k")
    require_servable(replace(options, signing_key=str(tmp_path / "k")))


def test_the_commands_make_rotate_and_sign(tmp_path, capsys):
    file = str(tmp_path / "forum.key")
    assert run(["token", "key", file, "--json"]) == 0
    first = json.loads(capsys.readouterr().out)["newest"]
    assert run(["token", "key", file, "--rotate", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["keys"][1] == first != told["newest"]
    assert run(["token", "sign", file, "--user", "42"]) == 0
    assert proved(capsys.readouterr().out.strip(), read_keys(file), now=None).user == "42"
    assert run(["token", "key", file]) == 2


def test_tokens_for_many_users_are_made_all_or_none(tmp_path, capsys):
    users, store = tmp_path / "users.txt", tmp_path / "tokens.db"
    users.write_text("ann\nben\n\nann\n")
    command = ["token", "create", "--users", str(users), "--store", str(store)]
    assert run(command) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0] == "user,token"
    checker = TokenChecker(store)
    assert [getattr(checker.check(row.partition(",")[2]), "user", None) for row in rows[1:]] == ["ann", "ben"]
    checker.close()
    table = tmp_path / "users.csv"
    table.write_text("userId,n\n7,1\n8,2\n")
    assert run(["token", "create", "--users", str(table), "--store", str(store), "--json"]) == 0
    assert [one["user"] for one in json.loads(capsys.readouterr().out)["tokens"]] == ["7", "8"]
    assert run([*command, "--user", "x"]) == 2
    users.write_text("\n")
    assert run(command) == 2


def test_a_claim_of_the_present_is_checked_against_the_clock():
    assert proved(sign(KEYS, "ann"), now=None).expires > time.time()
