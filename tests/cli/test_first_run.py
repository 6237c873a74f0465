"""The first run compiles: a terminal is told so, once, and nobody else is."""

import sys

import pytest

from recloak._cli import main

TOLD = "the first run compiles its code"


@pytest.fixture
def told(monkeypatch, capsys):
    """Run a command on a terminal, where nothing is compiled unless said, and return what is told."""

    def run(*arguments, terminal=True, compiled=False):
        monkeypatch.setattr(main, "_is_compiled", lambda: compiled)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
        main.run(list(arguments))
        return capsys.readouterr().err

    return run


def test_a_terminal_is_told_once_that_nothing_is_compiled_yet(told, tmp_path):
    command = "inspect", str(tmp_path / "nowhere.csv")
    assert told(*command).count(TOLD) == 1
    assert TOLD not in told(*command, compiled=True)
    assert TOLD not in told(*command, terminal=False)


@pytest.mark.parametrize("arguments", [("--help",), ("publish", "--help"), ("--version",), ()])
def test_what_compiles_nothing_tells_nothing(told, arguments):
    assert TOLD not in told(*arguments)


def test_compiled_code_beside_the_package_or_elsewhere_is_seen(monkeypatch, tmp_path):
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setattr(main, "__file__", str(tmp_path / "_cli" / "main.py"))
    assert not main._is_compiled()
    (tmp_path / "_core" / "__pycache__").mkdir(parents=True)
    (tmp_path / "_core" / "__pycache__" / "kernel.nbi").touch()
    assert main._is_compiled()
    (tmp_path / "_core" / "__pycache__" / "kernel.nbi").unlink()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert main._is_compiled()
