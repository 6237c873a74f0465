"""The library speaks of keywords, the command line of flags; what people type first is understood."""

import pytest
from tests.cli.releases import write_source

from recloak._cli.main import as_flags, run


@pytest.mark.parametrize(
    ("sentence", "shown"),
    [
        ("pass original=... as well", "pass --original as well"),
        ("leave max_link=... out", "leave --max-link out"),
        ("pass window='all'", "pass --window all"),
        ("literal=True needs evidence='total'", "--literal needs --evidence total"),
        ("there must be at least k = 5 users", "there must be at least k = 5 users"),
    ],
)
def test_keywords_of_a_sentence_become_flags(sentence, shown):
    assert as_flags(sentence) == shown


def test_k_has_a_short_flag(tmp_path, capsys):
    source = write_source(tmp_path)
    assert run(["publish", str(source), "-o", str(tmp_path / "out"), "-k", "6", "--seed", "1"]) == 0
    assert run(["verify", str(tmp_path / "out"), "-k", "6"]) == 0
    assert "k required 6" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["out.csv", "out.Parquet"])
def test_a_folder_named_like_a_file_is_asked_about(tmp_path, capsys, name):
    source = write_source(tmp_path)
    assert run(["publish", str(source), "-o", str(tmp_path / name)]) == 2
    told = capsys.readouterr().err
    assert "this will be a folder of several files" in told
    assert f"choose a name such as {tmp_path / 'out'}" in told
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("typed", "meant"), [("anonymize", "publish"), ("check", "verify"), ("attack", "audit"), ("publsih", "publish")]
)
def test_near_names_are_told(capsys, typed, meant):
    assert run([typed]) == 2
    assert f"did you mean '{meant}'?" in capsys.readouterr().err


def test_help_is_understood(capsys):
    assert run(["help"]) == 0
    assert "Commands:" in capsys.readouterr().out
    assert run(["help", "publish"]) == 0
    assert "Usage: recloak publish" in capsys.readouterr().out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_installed_once(tmp_path, monkeypatch, capsys, shell):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SHELL", f"/bin/{shell}")
    for _ in range(2):
        assert run(["completion", "--install"]) == 0
    assert "installed for" in capsys.readouterr().out
    written = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert any("_RECLOAK_COMPLETE" in file.read_text() for file in written)
    if shell != "fish":
        assert (tmp_path / f".{shell}rc").read_text().count("recloak completion") == 1
