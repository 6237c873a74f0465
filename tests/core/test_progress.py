import builtins
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType

import pytest

import recloak
from recloak._core import progress


class Ear:
    def __init__(self) -> None:
        self.heard: list[tuple[str, object]] = []

    def start(self, label, total):
        self.heard.append((label, total))
        return (lambda n: self.heard.append(("advance", n))), (lambda: self.heard.append(("end", label)))


def test_without_a_listener_work_is_silent(capfd):
    with progress.task("padding", 2) as advance:
        advance(1)
    assert capfd.readouterr() == ("", "")


def test_a_listener_hears_start_advance_and_end():
    ear = Ear()
    with progress.listening(ear), progress.task("padding", 2) as advance:
        advance(1)
    assert ear.heard == [("padding", 2), ("advance", 1), ("end", "padding")]


def test_a_task_ends_even_when_its_work_fails():
    ear = Ear()
    try:
        with progress.listening(ear), progress.task("padding"):
            raise KeyError
    except KeyError:
        pass
    assert ear.heard[-1] == ("end", "padding")


def test_off_a_terminal_nothing_is_shown(capfd):
    with progress.progress(), progress.task("padding", 1) as advance:
        advance(1)
    assert capfd.readouterr() == ("", "")


def test_on_a_terminal_a_bar_is_shown(capfd, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with progress.progress(), progress.task("padding", 1) as advance:
        advance(1)
    assert "padding" in capfd.readouterr().err


class ZMQInteractiveShell:
    """What ``get_ipython`` returns in the kernel of a notebook."""


@pytest.fixture
def displayed(monkeypatch):
    """Pretend to be a notebook with ipywidgets; give what is shown there."""
    shown: list[object] = []

    class Output:
        def __enter__(self) -> None: ...
        def __exit__(self, *_: object) -> None: ...
        def clear_output(self, **_: object) -> None: ...
        def close(self) -> None: ...

    widgets, display = ModuleType("ipywidgets"), ModuleType("IPython.display")
    widgets.Output, widgets.__spec__ = Output, ModuleSpec("ipywidgets", None)  # type: ignore[attr-defined]
    display.display = shown.append  # type: ignore[attr-defined]
    for name, module in {"ipywidgets": widgets, "IPython": ModuleType("IPython"), "IPython.display": display}.items():
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(builtins, "get_ipython", ZMQInteractiveShell, raising=False)
    return shown


def test_in_a_notebook_bars_are_shown_without_asking(displayed, capfd):
    with progress.task("padding", 1) as advance, progress.task("inside", 1):
        advance(1)
    assert displayed
    assert capfd.readouterr().err == ""


def test_in_a_notebook_a_function_of_the_library_shows_its_bars(displayed):
    recloak.synth(users=9, items=9, ratings=30, seed=1)
    recloak.publish(recloak.synth(users=9, items=9, ratings=30, seed=1), k=2, seed=1)
    assert displayed


def test_in_a_notebook_without_ipywidgets_nothing_is_shown(displayed, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with progress.task("padding", 1) as advance:
        advance(1)
    assert not displayed
