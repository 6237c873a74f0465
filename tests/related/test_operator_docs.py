"""The timer, the unit and the cron line of docs/related.md: systemd accepts them, and every command in them parses."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from recloak._cli.main import run

PAGE = (Path(__file__).parents[2] / "docs" / "related.md").read_text(encoding="utf-8")
UNITS = dict(re.findall(r"```ini\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
CRON = next(line for line in PAGE.splitlines() if re.match(r"[\d*]+ [\d*]+ \* \* \* ", line))
BINARY = "/opt/recloak/bin/recloak"
LINES = [
    *re.findall(r"^ExecStart=(.*)$", UNITS["recloak-lists.service"], re.MULTILINE),
    *(part[part.index(BINARY) :] for part in CRON.split("&&") if BINARY in part),
]


def test_the_page_has_a_service_a_timer_and_a_cron_line():
    assert set(UNITS) == {"recloak-lists.service", "recloak-lists.timer"}
    assert len(LINES) == 6


@pytest.mark.parametrize("line", sorted(set(LINES)))
def test_every_command_runs_on_a_small_store(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{user},{item},4,{100 + 7 * user + item}" for user in range(30) for item in range(8) if (user + item) % 3]
    Path("ratings.csv").write_text("user,item,rating,time\n" + "\n".join(rows), encoding="utf-8")
    Path("movies.csv").write_text("id,title\n" + "\n".join(f"{n},Film {n}" for n in range(8)), encoding="utf-8")
    program, *arguments = shlex.split(line)
    assert program == BINARY
    assert run(shlex.split("related publish history.db ratings.csv --delta 0.1 --horizon 30d")) == 0
    assert run(arguments) == 0, capsys.readouterr().err


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_accepts_the_units(tmp_path):
    for name, text in UNITS.items():
        (tmp_path / name).write_text(text.replace(BINARY, sys.executable), encoding="utf-8")
    files = [str(tmp_path / name) for name in UNITS]
    program = str(shutil.which("systemd-analyze"))
    found = subprocess.run(
        [program, "verify", "--man=no", *files], capture_output=True, text=True, timeout=60, check=False
    )
    about_ours = [line for line in found.stderr.splitlines() if "recloak-lists" in line]
    assert about_ours == []
    calendar = re.search(r"OnCalendar=(.*)", UNITS["recloak-lists.timer"])
    assert calendar is not None
    assert (
        subprocess.run([program, "calendar", calendar[1]], capture_output=True, timeout=60, check=False).returncode == 0
    )
