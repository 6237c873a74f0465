"""A stop is heard wherever the run is, and leaves a complete release or nothing."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from recloak._cli import main
from recloak._core import progress, stopping
from recloak._core.files import written_folder
from recloak._releases.release import Release
from recloak._releases.verifier import verify

ROOT = Path(__file__).parents[2]
SENTENCE = "recloak: stopped; nothing was left half-written\n"
RUN = "import sys, recloak._cli.main as door; print('ready', flush=True); door.main(sys.argv[1:])"


@pytest.fixture(autouse=True)
def unasked():
    yield
    stopping.begin()


@pytest.fixture
def doing(monkeypatch):
    """Run one command that does what is asked for, and give its exit code."""

    def do(work) -> int:
        monkeypatch.setattr(main.MainGroup, "get_command", lambda *_: click.Command("x", callback=work))
        return main.run(["x"])

    return do


def lost() -> None:
    """Ask for a stop where what is raised is lost, as inside a callback of compiled code."""
    with pytest.raises(KeyboardInterrupt):
        stopping.ask()


def ticking() -> None:
    with progress.task("work", 2) as advance:
        lost()
        advance(1)
        pytest.fail("the lost stop was not raised at the next tick")


def test_a_stop_that_was_lost_is_raised_at_the_next_tick(doing, capsys):
    assert doing(ticking) == 130
    assert capsys.readouterr().err == f"\n{SENTENCE}"


def test_a_stop_that_was_lost_keeps_a_folder_from_its_place(doing, tmp_path):
    def write() -> None:
        with written_folder(tmp_path / "out") as aside:
            (aside / "file").write_text("whole")
            lost()

    assert doing(write) == 130
    assert list(tmp_path.iterdir()) == []


def test_what_a_library_made_of_a_stop_is_a_stop(doing, capsys):
    class PanicError(BaseException):
        pass

    for made in (RuntimeError("callback failed"), PanicError("callback panicked")):

        def fail(made=made) -> None:
            lost()
            raise made

        assert doing(fail) == 130
        assert SENTENCE in capsys.readouterr().err


def test_nobody_asks_without_the_command_line():
    code = "import signal, recloak; print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    assert started(["-c", code], stdout=subprocess.PIPE).communicate()[0] == "True\n"
    stopping.check()


def test_a_stop_that_comes_after_the_release_is_in_place_is_too_late(tmp_path, monkeypatch, capsys):
    write = Release.write

    def too_late(release, *args, **kwargs):
        write(release, *args, **kwargs)
        stopping.ask()

    monkeypatch.setattr(Release, "write", too_late)
    source = ratings_in(tmp_path)
    assert main.run(["publish", str(source), "-o", str(tmp_path / "out"), "--k", "3", "--predictor", "bias"]) == 0
    assert "verified" in capsys.readouterr().out
    stopping.begin()
    assert verify(tmp_path / "out").passed


def ratings_in(folder: Path) -> Path:
    chance = random.Random(0)
    rows = [f"u{user},i{item},{chance.randint(1, 5)}" for user in range(40) for item in chance.sample(range(30), 12)]
    (folder / "ratings.csv").write_text("\n".join(["user,item,rating", *rows]) + "\n")
    return folder / "ratings.csv"


def started(arguments: list[str], **kwargs) -> subprocess.Popen[str]:
    """Start Python so that it hears Ctrl-C, also where the tests run in the background of a shell."""
    env = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"}
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=env,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 (it touches nothing else)
        **kwargs,
    )


def ready(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Start a program and wait for the line in which it says that it is ready."""
    run = started(["-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert run.stdout is not None
    assert run.stdout.readline() == "ready\n"
    return run


def ended(run: subprocess.Popen[str]) -> tuple[str, str]:
    """Return what a program printed until its end, which must come soon."""
    try:
        return run.communicate(timeout=100)
    finally:
        run.kill()


STUCK = """
import hashlib, sys, time, click
from pathlib import Path
from recloak._core import progress
from recloak._cli import main
from recloak._core.files import written_folder

class Finaliser:
    def __del__(self):
        print("ready", flush=True)
        time.sleep({seconds})

def work():
    with written_folder(Path(sys.argv[1]) / "out") as aside, progress.task("work", 1) as advance:
        (aside / "file").write_text("half")
        kept = Finaliser()
        kept = None
        {then}

main.MainGroup.get_command = lambda *_: click.Command("x", callback=work)
main.main(["x"])
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_inside_a_finaliser_is_heard_afterwards(tmp_path, sign):
    run = ready(STUCK.format(seconds=60, then="advance(1)"), str(tmp_path))
    time.sleep(0.1)
    run.send_signal(sign)
    assert ended(run) == ("", f"\n{SENTENCE}")
    assert run.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_second_stop_ends_a_run_that_hears_none(tmp_path):
    run = ready(STUCK.format(seconds=0.2, then="hashlib.pbkdf2_hmac('sha256', b'', b'', 10**9)"), str(tmp_path))
    run.send_signal(signal.SIGINT)
    time.sleep(0.5)
    assert run.poll() is None
    run.send_signal(signal.SIGINT)
    assert ended(run) == ("", SENTENCE)
    assert run.returncode == 130
    assert list(tmp_path.iterdir()) == []


def test_a_stop_waits_for_no_compiled_work(tmp_path):
    work = "from recloak._core.threads import in_shares; in_shares(lambda *_: time.sleep(500), 4, little=2)"
    run = ready(STUCK.format(seconds=0, then=work), str(tmp_path))
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    assert ended(run)[1].endswith(SENTENCE)
    assert run.returncode == 130
    assert list(tmp_path.iterdir()) == []


def publish_and_stop(place: Path, source: Path, wait) -> int:
    """Publish, stop when ``wait`` is over, check what is left, and give the exit code."""
    run = ready(RUN, "publish", str(source), "-o", str(place / "out"), "--k", "3", "--seed", "1")
    wait(run)
    was_there, asked = (place / "out").exists(), time.time()
    run.send_signal(signal.SIGINT)
    _, err = ended(run)
    if run.returncode == 130:
        assert err.lstrip("\n") == SENTENCE
        assert list(place.iterdir()) == []
    else:
        assert (run.returncode, err) == (0, "")
        assert was_there or (place / "out").stat().st_ctime - asked < 0.3, "the stop was not heard"
        assert verify(place / "out").passed
        assert {entry.name for entry in place.iterdir()} == {"out", "out-private"}
    return run.returncode


@pytest.mark.slow
def test_a_stop_while_a_release_is_written_leaves_none(tmp_path):
    def wait(run: subprocess.Popen[str]) -> None:
        while run.poll() is None and not any(place.iterdir()):
            time.sleep(0.001)

    source = ratings_in(tmp_path)
    place = tmp_path / "place"
    place.mkdir()
    publish_and_stop(place, source, wait)


@pytest.mark.slow
def test_a_stop_at_any_moment_leaves_a_complete_release_or_nothing(tmp_path):
    source = tmp_path / "ratings.csv"
    assert main.run(["synth", str(source), "--preset", "tiny", "--seed", "1"]) == 0
    for name in ("first", "second"):  # the first compiles, the second tells how long a run takes
        run = ready(RUN, "publish", str(source), "-o", str(tmp_path / name), "--k", "3", "--seed", "1")
        start = time.perf_counter()
        run.communicate()
    seconds, chance = time.perf_counter() - start, random.Random(0)
    codes = []
    for n in range(12):
        place = tmp_path / str(n)
        place.mkdir()
        codes.append(publish_and_stop(place, source, lambda _: time.sleep(chance.uniform(0.02, 1) * seconds)))
    assert codes.count(130) > 5
