"""A command that needs an extra says which, in one sentence."""

import importlib.util

import pytest

from recloak._cli.main import run
from recloak._core.errors import MissingExtraError
from recloak._core.extras import require_extra


@pytest.fixture
def without(monkeypatch):
    """Make some modules look as if they were not installed."""

    def hide(*names: str) -> None:
        found = importlib.util.find_spec
        monkeypatch.setattr(
            importlib.util, "find_spec", lambda name, *rest: None if name in names else found(name, *rest)
        )

    return hide


@pytest.mark.parametrize(
    ("hidden", "words", "extra"),
    [
        ("uvicorn", ["serve", "--ratings", "r.csv", "--titles", "t.csv"], "web"),
        ("prometheus_client", ["serve", "--history", "h.db"], "web"),
        ("pyspark", ["inspect", "r.csv", "--engine", "spark"], "spark"),
    ],
)
def test_a_command_without_its_extra_says_what_to_install(without, capsys, tmp_path, monkeypatch, hidden, words, extra):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("user,item,rating\n1,1,5\n")
    without(hidden)
    assert run(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith(f"needs the extra '{extra}', which is not installed: pip install 'recloak[{extra}]'\n")


def test_nothing_is_said_where_the_extra_is_there():
    require_extra("web", "json", need="this test")
    with pytest.raises(MissingExtraError, match=r"this test needs the extra 'web'"):
        require_extra("web", "json", "no_such_module", need="this test")
