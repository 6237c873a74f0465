"""Tokens: proved by their secret alone, kept as hashes, revocable, expiring, and never anybody else's."""

import hmac
import re
import stat
import threading
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recloak._cli.main import run
from recloak._core.errors import InputError, OptionError
from recloak._service.tokens import TokenChecker, create, revoke, seconds_of, tokens


@pytest.fixture
def store(tmp_path):
    return tmp_path / "tokens.db"


def checked(store, text):
    checker = TokenChecker(store)
    try:
        return checker.check(text)
    finally:
        checker.close()


def test_a_token_proves_its_user_and_nobody_else(store):
    (one, first), (two, second) = create(store, user="ann"), create(store, user="ben")
    assert (checked(store, first).user, checked(store, second).user) == ("ann", "ben")
    mixed = f"recloak_{one.id}_{second.rsplit('_' + two.id + '_', 1)[1]}"
    assert checked(store, mixed) is None


def test_the_store_holds_no_secret_and_only_its_owner_reads_it(store):
    _, text = create(store, user="ann")
    secret = text.split("_", 2)[2]
    assert secret.encode() not in store.read_bytes()
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert [path.name for path in store.parent.iterdir()] == ["tokens.db"]


@pytest.mark.parametrize("mode", [0o640, 0o602, 0o644, 0o660])
def test_a_store_that_others_can_read_or_write_is_refused(store, mode):
    _, text = create(store, user="ann")
    store.chmod(mode)
    for use in (lambda: checked(store, text), lambda: tokens(store), lambda: create(store, user="ben")):
        with pytest.raises(InputError, match="others than its owner may read or write it; first run: chmod 600"):
            use()


def test_a_store_that_cannot_be_read_is_told(store, monkeypatch):
    create(store, user="ann")
    monkeypatch.setattr("os.access", lambda *_: False)  # whoever runs the tests may be allowed everything
    with pytest.raises(InputError, match="whoever runs this may not read it"):
        tokens(store)


def test_a_secret_has_256_bits_and_none_comes_twice(store):
    made = {create(store, user="ann")[1].split("_", 2)[2] for _ in range(20)}
    assert len(made) == 20
    assert {len(secret) for secret in made} == {43}  # 43 letters of 6 bits: 32 bytes


def test_a_revoked_token_is_refused_by_a_checker_that_is_already_open(store):
    token, text = create(store, user="ann")
    checker = TokenChecker(store)
    assert checker.check(text) is not None
    assert revoke(store, token.id).state(0) == "revoked"
    assert checker.check(text) is None
    checker.close()


def test_a_token_that_is_revoked_again_keeps_the_time_at_which_it_was(store, monkeypatch):
    token, _ = create(store, user="ann")
    first, now = revoke(store, token.id).revoked, time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1000)
    assert revoke(store, token.id).revoked == first


def test_an_expired_token_is_refused(store, monkeypatch):
    _, text = create(store, user="ann", expires="1h")
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 3590)  # a busy machine may take a second to get here
    assert checked(store, text) is not None
    monkeypatch.setattr(time, "time", lambda: now + 3601)
    assert checked(store, text) is None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.text(max_size=80))
def test_no_other_text_is_taken_for_a_token(tmp_path, text):
    store = tmp_path / "tokens.db"
    if not store.exists():
        create(store, user="ann")
    assert checked(store, text) is None


def test_secrets_are_compared_in_constant_time(store, monkeypatch):
    compared = []

    def compare(one, two):
        compared.append((len(one), len(two)))
        return False

    monkeypatch.setattr(hmac, "compare_digest", compare)
    _, text = create(store, user="ann")
    for asked in (text, "recloak_0000000000000000_" + "a" * 43, "nonsense"):
        assert checked(store, asked) is None
    assert compared == [(32, 32)] * 3  # also for an unknown id, so that time does not tell which ids exist


def test_makers_at_once_share_one_store(store):
    threads = [threading.Thread(target=create, args=(store,), kwargs={"user": str(n)}) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {one.user for one in tokens(store)} == {str(n) for n in range(8)}


@pytest.mark.parametrize(("span", "seconds"), [("12h", 43200), ("30d", 2592000), ("2w", 1209600), ("1y", 31536000)])
def test_spans_of_time(span, seconds):
    assert seconds_of(span) == seconds


@pytest.mark.parametrize("span", ["", "0d", "-1d", "30", "d", "1m", "9999999d", "101y", "36501d"])
def test_odd_spans_are_refused(span):
    with pytest.raises(OptionError, match="a span of time"):
        seconds_of(span)


def test_a_token_is_of_a_user_or_an_administrator(store):
    for odd in ({"user": None}, {"user": "ann", "admin": True}, {"user": ""}):
        with pytest.raises(OptionError):
            create(store, **odd)
    assert not store.exists()


def test_what_is_no_store_is_refused_in_one_sentence(tmp_path):
    for content, said in ((b"hello" * 500, "not a token store"), (b"", "format 0")):
        (tmp_path / "odd.db").write_bytes(content)
        (tmp_path / "odd.db").chmod(0o600)
        with pytest.raises(InputError, match=said):
            tokens(tmp_path / "odd.db")
    with pytest.raises(InputError, match="no token store"):
        TokenChecker(tmp_path / "none.db")


def test_the_command_prints_a_token_once_and_lists_without_it(tmp_path, capsys):
    store = str(tmp_path / "tokens.db")
    assert run(["token", "create", "--user", "ann", "--store", store, "--label", "laptop"]) == 0
    text = capsys.readouterr().out.strip()
    assert checked(store, text).user == "ann"
    assert run(["token", "list", "--store", store]) == 0
    listed = capsys.readouterr().out
    assert "user ann  laptop" in listed
    assert text.split("_", 2)[2] not in listed
    id_ = text.split("_")[1]
    assert run(["token", "revoke", id_, "--store", store]) == 0
    assert checked(store, text) is None
    assert run(["token", "revoke", "none", "--store", store]) == 2


def test_no_command_takes_a_token_on_the_command_line():
    reference = Path(__file__).parents[2] / "docs" / "commands.md"  # a test keeps it up to date
    flags = set(re.findall(r"--[a-z-]+", reference.read_text(encoding="utf-8")))
    assert "--tokens" in flags
    assert not flags & {"--token", "--secret", "--bearer", "--password"}
