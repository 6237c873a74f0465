"""A PostgreSQL server of our own for the tests, which ends when they end, however they end."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
# Reads until whoever holds the other end of its pipe closes it or dies, were it by kill -9.
_WATCH = 'read -r _; "$0" -D "$1/data" -m immediate stop; rm -rf "$1"'


@contextmanager
def server() -> Iterator[str]:
    """Start a server on a socket in a temporary folder, as a user that is not root, and give its address."""
    if not BINARIES:
        pytest.skip("PostgreSQL's server is not installed")
    user = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
    home = Path(tempfile.mkdtemp(prefix="rc-pg-"))
    as_user: dict[str, Any] = {"user": user} if os.getuid() == 0 else {}
    if as_user:
        shutil.chown(home, user)
    run = lambda *command: subprocess.run(command, check=True, capture_output=True, cwd=home, **as_user)  # noqa: E731
    try:
        run(BINARIES[-1] / "initdb", "-D", home / "data", "-A", "trust", "-N")
    except (subprocess.CalledProcessError, OSError, LookupError) as error:
        shutil.rmtree(home, ignore_errors=True)
        pytest.skip(f"PostgreSQL cannot be started here: {error}")
    watch = subprocess.Popen(
        ["sh", "-c", _WATCH, BINARIES[-1] / "pg_ctl", home], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, cwd="/", start_new_session=True, **as_user,
    )  # fmt: skip
    try:
        settings = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off"
        run(BINARIES[-1] / "pg_ctl", "-D", home / "data", "-l", home / "log", "-o", settings, "-w", "start")
        yield f"postgresql://{user}@/postgres?host={home}"
    finally:
        watch.communicate()
