import subprocess
import sys

import click
import pytest

from recloak._cli import main
from recloak._core.errors import InputError, RefusedError


@pytest.fixture
def failing(monkeypatch):
    """Install one command that fails in the given way."""

    def put(error: BaseException) -> None:
        @click.command()
        def command() -> None:
            raise error

        monkeypatch.setattr(main.MainGroup, "get_command", lambda *_: command)

    return put


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (InputError("k must be at least 2, got 1"), 2, "recloak: k must be at least 2, got 1\n"),
        (RefusedError("the release is not 5-anonymous"), 1, "recloak: the release is not 5-anonymous\n"),
        (KeyboardInterrupt(), 130, "recloak: stopped; nothing was left half-written\n"),
        (FileNotFoundError(2, "No such file or directory", "x.csv"), 2, "recloak: x.csv: no such file or directory\n"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "recloak: x.csv: permission denied\n"),
        (InputError("a\x1b[2J\nb\u202ec: is no file"), 2, "recloak: a\\x1b[2J\\nb\\u202ec: is no file\n"),
        (
            click.UsageError("choose from:\n\tone,\n\ttwo."),
            2,
            "recloak: choose from: one, two; see: recloak x --help\n",
        ),
        (MemoryError(), 2, "recloak: there is not enough memory for this source\n"),
    ],
)
def test_an_error_is_one_sentence_and_a_code(failing, capsys, error, code, sentence):
    failing(error)
    assert main.run(["x"]) == code
    seen = capsys.readouterr()
    assert seen.err.lstrip("\n") == sentence
    assert seen.out == ""


def test_a_bug_is_named_as_ours_and_shows_its_place_only_on_request(failing, capsys, monkeypatch):
    failing(ZeroDivisionError("division by zero"))
    assert main.run(["x"]) == 3
    quiet = capsys.readouterr().err
    assert "a bug in recloak, not your mistake: ZeroDivisionError" in quiet
    assert "Traceback" not in quiet
    main.run(["--debug", "x"])
    assert "Traceback" in capsys.readouterr().err
    monkeypatch.setenv("RECLOAK_DEBUG", "1")
    main.run(["x"])
    assert "Traceback" in capsys.readouterr().err


@pytest.mark.parametrize("line", [[], ["related"], ["mentions"]], ids=" ".join)
def test_without_a_command_the_help_is_shown_as_it_is_and_the_code_is_2(capsys, line):
    assert main.run(line) == 2
    seen = capsys.readouterr()
    assert seen.out == ""
    assert seen.err.startswith("Usage: recloak")
    assert "see:" not in seen.err


@pytest.mark.parametrize(
    ("line", "near"),
    [(["inpect"], "'inspect'"), (["related", "simulat"], "'simulate'")],
)
def test_a_mistyped_command_is_told_which_one_is_near(capsys, line, near):
    assert main.run(line) == 2
    assert f"(did you mean {near}?); see: recloak" in capsys.readouterr().err


def test_the_help_of_all_speaks_of_no_file_of_ours(capsys):
    assert main.run(["--help"]) == 0
    assert "recloak._cli" not in capsys.readouterr().out


def test_a_wrong_command_or_flag_leaves_with_2_and_points_to_help(capsys):
    assert main.run(["nonsense"]) == 2
    assert main.run(["inspect", "--nonsense"]) == 2
    assert "see: recloak" in capsys.readouterr().err


def test_help_names_every_command(capsys):
    assert main.run(["--help"]) == 0
    shown = capsys.readouterr().out
    for name in main.cli.list_commands(click.Context(main.cli)):
        assert name in shown


def test_every_command_and_every_flag_has_a_text():
    group = main.cli
    context = click.Context(main.cli)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        for one in [command, *getattr(command, "commands", {}).values()]:
            assert one.get_short_help_str(), name
            for parameter in one.params:
                assert isinstance(parameter, click.Argument) or getattr(parameter, "help", None), (name, parameter.name)


def test_help_stays_quick_by_importing_no_heavy_room():
    code = "import sys; from recloak._cli.main import run; run(['--help']); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numba", "polars", "scipy", "altair", "sqlalchemy"} & set(modules)


def test_python_with_the_package_runs_the_command_line():
    asked = [sys.executable, "-m", "recloak", "inspect", "--nonsense"]
    answer = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stdout) == (2, "")
    assert answer.stderr.endswith("see: recloak inspect --help\n")
