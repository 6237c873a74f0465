"""recloak demo: leaves a folder with a report, again and again, and touches nothing of anyone else's."""

import json

import pytest

from recloak._cli import demo_steps
from recloak._cli.main import run
from recloak._report.page import Chapter


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    assert run(["demo", "-o", str(out), "--json"]) == 0
    return out


def test_the_demo_leaves_ratings_a_release_and_a_report(made):
    assert {file.name for file in made.iterdir()} >= {"ratings.csv", "release", "private", "report.html", "demo.json"}
    text = (made / "report.html").read_text()
    for heading in ("How exposed the users are", "Can a person be found?", "What is it still good for?"):
        assert heading in text
    assert len(text.encode()) < 2_000_000


def test_the_same_seed_gives_the_same_bytes_into_the_same_folder(made, capsys):
    before = {file: file.read_bytes() for file in made.rglob("*") if file.is_file()}
    assert run(["demo", "-o", str(made), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["seed"], found["report"]) == (1, str(made / "report.html"))
    assert {file: file.read_bytes() for file in made.rglob("*") if file.is_file()} == before
    assert found["verify"]["verdict"] == "pass"
    assert found["audit"]["promise"] == "pass"


def test_a_folder_with_foreign_files_is_refused_and_kept(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("mine")
    assert run(["demo", "-o", str(tmp_path)]) == 2
    assert "'thesis.txt', which no demo wrote" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize("listing", ["", "[]", '{"files": ["thesis.txt"]}', "{}"])
def test_a_broken_list_of_files_claims_nothing(tmp_path, listing, capsys):
    (tmp_path / "demo.json").write_text(listing)
    assert run(["demo", "-o", str(tmp_path)]) == 2
    assert "which no demo wrote" in capsys.readouterr().err


def test_a_later_step_adds_its_part_to_the_same_report(tmp_path, monkeypatch, capsys):
    def greet(demo):
        (demo.folder / "part").mkdir()
        (demo.folder / "part" / "note.txt").write_text("hello")
        return demo.add(results={"greet": 1}, chapters=(Chapter("A later chapter"),), account=("Greeted.",))

    monkeypatch.setattr(demo_steps, "STEPS", (greet,))
    for _ in range(2):
        assert run(["demo", "-o", str(tmp_path / "out")]) == 0
    assert "A later chapter" in (tmp_path / "out" / "report.html").read_text()
    assert json.loads((tmp_path / "out" / "demo.json").read_text())["greet"] == 1
    assert f"The report is {tmp_path / 'out' / 'report.html'}" in capsys.readouterr().out


def test_a_step_that_fails_leaves_the_older_demo(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(demo_steps, "STEPS", ())
    assert run(["demo", "-o", str(tmp_path / "out")]) == 0
    before = (tmp_path / "out" / "report.html").read_text()

    def broken(demo):
        raise OSError(28, "No space left on device", str(demo.folder))

    monkeypatch.setattr(demo_steps, "STEPS", (broken,))
    assert run(["demo", "-o", str(tmp_path / "out")]) == 2
    assert (tmp_path / "out" / "report.html").read_text() == before
    assert [file.name for file in tmp_path.iterdir()] == ["out"]
    assert "no space left" in capsys.readouterr().err
