"""The service under load: advice and related lists a second beside a bare route of the same server, and its memory.

``python -m benchmarks service ML-1M [--seconds 60] [--workers 2] [--connections 8]`` reads MovieLens-1M from the folder
named by RECLOAK_DATA, starts the server on a free port of this machine, and asks it from a second process. The bare
route is ``/health``: the same server, the same headers, log and figures around it, and a constant answer.
``--arrivals 200`` asks for advice 200 times a second instead, whether or not the last answers are there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

_POSTS = 100  # of each user, so that hardly any is asked twice
_TALK = (
    "Last night we watched {}. I thought it was great, the acting was superb and so was the music; would you agree? "
    "My brother did not like it at all, but he never does."
)


def main(arguments: list[str]) -> None:
    options = _options(arguments)
    with tempfile.TemporaryDirectory() as folder:
        asked = _prepare(Path(folder), options.users)
        with _server(Path(folder), options) as (port, pid):
            _report(port, pid, asked, options, Path(folder))


def _options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks service")
    parser.add_argument("data", choices=["ML-1M"])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--arrivals", type=float, default=0.0, help="requests a second that arrive by chance")
    parser.add_argument("--users", type=int, default=300, help="users who ask, each with a token")
    return parser.parse_args(arguments)


def _sources() -> tuple[str, str]:
    folder = Path(os.environ.get("RECLOAK_DATA", "")) / "ml"
    if not (folder / "ml-1m.inter").is_file():
        sys.exit("RECLOAK_DATA does not name a folder with ml/ml-1m.inter and ml/ml-1m.item")
    return str(folder / "ml-1m.inter"), str(folder / "ml-1m.item")


def _prepare(folder: Path, n_users: int) -> dict[str, list[str]]:
    """Make tokens, a history and the requests: posts that each name another three films that their writer rated."""
    from recloak._mentions.post_files import read_titles
    from recloak._ratings.readers import read
    from recloak._service.tokens import create

    source, listed = _sources()
    ratings = read(source)
    _publish(folder, ratings)
    titles = {title.id: str(title) for title in read_titles(listed).titles}
    rng = np.random.default_rng(1)
    advice = []
    for user in rng.choice(ratings.n_users, n_users, replace=False).tolist():
        token = create(folder / "tokens.db", user=str(ratings.user_ids.ids[user]))[1]
        own = ratings.item_ids.decode(ratings.items[ratings.row(user)]).to_list()
        for _ in range(_POSTS):
            films = [titles.get(item, str(item)) for item in rng.permutation(own)[:3].tolist()]
            advice.append(_post(token, json.dumps({"text": _TALK.format(" and ".join(films))})))
    rng.shuffle(advice)
    items = ratings.item_ids.ids.to_list()
    related = [_get(f"/api/v1/items/{urllib.parse.quote(str(item), safe='')}/related") for item in items]
    return {"hello": [_get("/health")], "advice": advice, "related": related}


def _publish(folder: Path, ratings: Any) -> None:
    """Store lists of ten, drawn from the popular: what a list holds does not matter to its serving."""
    from recloak._related.history import History
    from recloak._related.history_writing import append
    from recloak._related.model import ListRelease, Lists

    rng, popular = np.random.default_rng(1), np.argsort(-ratings.popularity)[:200]
    lists = np.array([rng.choice(popular[popular != one], 10, replace=False) for one in range(ratings.n_items)])
    with History(folder / "history.db") as store:
        append(store, ListRelease(1, 1, Lists(lists.astype(np.int32))), ratings.item_ids, {})


def _get(path: str) -> str:
    return f"GET {path} HTTP/1.1\r\nhost: bench\r\n\r\n"


def _post(token: str, body: str) -> str:
    return (
        f"POST /api/v1/advice HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer {token}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body.encode())}\r\n\r\n{body}"
    )


@contextlib.contextmanager
def _server(folder: Path, options: argparse.Namespace) -> Iterator[tuple[int, int]]:
    """Run a server for a while; give its port and process."""
    source, titles = _sources()
    command = [
        sys.executable, "-c", "from recloak._cli.main import main; main()", "serve", "--port", "0",
        "--ratings", source, "--titles", titles, "--history", folder / "history.db", "--tokens", folder / "tokens.db",
        "--workers", options.workers, "--rate", "1e6", "--burst", "1000000",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([str(part) for part in command], stderr=log)
    try:
        yield _port(folder / "log", process), process.pid
    finally:
        process.terminate()
        process.wait(60)


def _port(log: Path, process: subprocess.Popen[bytes]) -> int:
    """Wait until every request is answered, and give the port."""
    while process.poll() is None:
        said = re.search(r"http://127.0.0.1:(\d+)", log.read_text())
        if said is not None:
            with urllib.request.urlopen(f"{said.group()}/ready", timeout=300):
                return int(said.group(1))
        time.sleep(0.2)
    sys.exit(f"the server did not start: {log.read_text()}")


def _report(port: int, pid: int, asked: dict[str, list[str]], options: argparse.Namespace, folder: Path) -> None:
    def load(kind: str, seconds: float, most: int = 10**9, rate: float = 0.0) -> dict[str, float]:
        spent = _cpu(pid)
        told = _load(folder, port, asked[kind], options.connections, seconds, most, rate)
        return {**told, "server": 1000 * (_cpu(pid) - spent) / told["n"]}

    load("advice", 20, 2_000)
    if options.arrivals:
        print(f"{options.workers} workers, {options.arrivals:g} questions a second, load {os.getloadavg()[0]:.1f}")
        print(f"  {_line(load('advice', options.seconds, rate=options.arrivals))}")
        return
    load("related", 20, len(asked["related"]))
    before = _memory(pid)
    print(f"{options.workers} workers, {options.connections} connections, load average {os.getloadavg()[0]:.1f}")
    runs = {}
    for name, kind, share in (("bare", "hello", 6), ("advice", "advice", 1), ("bare again", "hello", 6),
                              ("related", "related", 3)):  # fmt: skip
        runs[name] = load(kind, options.seconds / share)
        print(f"  {name:<11}{_line(runs[name])}", flush=True)
    bare = (runs["bare"]["rate"] + runs["bare again"]["rate"]) / 2
    shares = {name: runs[name]["rate"] / bare for name in ("advice", "related")}
    print(f"  advice at {shares['advice']:.2f} of the bare route's rate, related at {shares['related']:.2f}")
    total = sum(int(one["n"]) for one in runs.values())
    total += int(load("related", 120, max(50_000 - total, 1))["n"])
    print(f"  memory {before:.0f} MB before, {_memory(pid):.0f} MB after {total:,} requests more")


def _line(one: dict[str, float]) -> str:
    return (
        f"{one['rate']:7,.0f} a second, median {one['p50']:5.1f} ms, 99 % within {one['p99']:5.1f} ms, "
        f"{one['wrong']:.0f} of {one['n']:,.0f} wrong, {one['server']:.2f} ms CPU each, client {one['cpu']:.0%}"
    )


def _load(
    folder: Path, port: int, requests: list[str], connections: int, seconds: float, most: int, rate: float
) -> Any:
    """Ask from a second process; give its figures."""
    limits = {"connections": connections, "seconds": seconds, "most": most, "rate": rate}
    (folder / "task.json").write_text(json.dumps({"port": port, "requests": requests, **limits}))
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.load", folder / "task.json"], check=True, stdout=subprocess.PIPE
    )
    return json.loads(done.stdout)


def _family(pid: int) -> list[int]:
    return [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]


def _memory(pid: int) -> float:
    """Add up the memory of a process and those that it started, in MB."""
    told = [Path(f"/proc/{one}/status").read_text() for one in _family(pid)]
    return sum(int(line.split()[1]) for one in told for line in one.splitlines() if line.startswith("VmRSS")) / 1024


def _cpu(pid: int) -> float:
    """Add up the CPU seconds of a process and those that it started."""
    told = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split() for one in _family(pid)]
    return sum(int(one[11]) + int(one[12]) for one in told) / os.sysconf("SC_CLK_TCK")
