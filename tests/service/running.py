"""A real server on a free port of this machine, started and ended by the test."""

import contextlib
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

from tests.service.helpers import OTHERS, POPULAR, RARE, TWINS, ratings

ROOT = Path(__file__).parents[2]


def write_sources(folder):
    """Write the ratings and the titles of the small world as files."""
    data = ratings()
    rows = [f"{data.user_ids.ids[user]},{data.item_ids.ids[int(item)]},4" for user in range(data.n_users)
            for item in data.items[data.row(user)]]  # fmt: skip
    (folder / "ratings.csv").write_text("user,item,rating\n" + "\n".join(rows) + "\n")
    titles = [f'{id_},"{name} ({year})"' for id_, name, year in (*POPULAR, *RARE, *OTHERS, *TWINS)]
    (folder / "titles.csv").write_text("id,title\n" + "\n".join(titles) + "\n")


def command(*arguments):
    """Return the command line that runs recloak in a new process."""
    return [sys.executable, "-c", "from recloak._cli.main import main; main()", *map(str, arguments)]


class Server:
    """A server process; its log is a file."""

    def __init__(self, folder, *arguments):
        self.log = folder / "server.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                command("serve", "--port", "0", *arguments), cwd=folder, stderr=log, stdout=subprocess.DEVNULL
            )
        self.url = self._wait()

    def _wait(self):
        for _ in range(1200):
            said = re.search(r"http://[\d.]+:\d+", self.log.read_text())
            if said is not None:
                with contextlib.suppress(httpx.HTTPError):
                    if httpx.get(f"{said.group()}/ready", timeout=60).status_code == 200:
                        return said.group()
            assert self.process.poll() is None, self.log.read_text()
            time.sleep(0.1)
        raise AssertionError(f"the server did not become ready: {self.log.read_text()}")

    def stop(self, sign=signal.SIGTERM):
        """Stop it with a signal and return its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(sign)
        try:
            return self.process.wait(60)
        finally:
            self.process.kill()


@contextlib.contextmanager
def running(folder, *arguments):
    """Run a server for a while."""
    server = Server(folder, *arguments)
    try:
        yield server
    finally:
        server.stop()
