"""recloak inspect: the terminal, JSON, the page, the picture, and what it refuses."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from recloak._cli.main import run


@pytest.fixture
def source(tmp_path):
    stream = np.random.default_rng(4)
    pairs = sorted(
        {(int(u), int(i)) for u, i in zip(stream.integers(1, 60, 900), stream.integers(1, 90, 900), strict=True)}
    )
    rows = [f"{user},{item},{stream.integers(1, 6)},{978_300_000 + 86_400 * (user + item)}" for user, item in pairs]
    path = tmp_path / "films <b>.csv"
    path.write_text("\n".join(["userId,movieId,rating,timestamp", *rows, rows[-1]]) + "\n")
    return path


def test_json_tells_what_is_in_the_source(source, capsys):
    assert run(["inspect", str(source), "--json", "--seed", "3", "--targets", "20"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["source"], found["n_users"], found["n_repeated"]) == ("films <b>.csv", 59, 1)
    assert found["n_rows"] == found["n_ratings"] + 1
    assert (found["exposure"]["n_targets"], found["exposure"]["seed"]) == (20, 3)
    levels = found["exposure"]["levels"]
    assert [(level["known"], level["with_ratings"]) for level in levels] == [
        (n, r) for r in (False, True) for n in (1, 2, 4, 8)
    ]
    assert all(level["unique"]["low"] <= level["unique"]["rate"] <= level["unique"]["high"] for level in levels)


def test_the_terminal_shows_the_same_figures_within_80_columns(source, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["inspect", str(source), "--json", "--seed", "3"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert run(["inspect", str(source), "--seed", "3"]) == 0
    shown = capsys.readouterr().out.replace("\N{NO-BREAK SPACE}", " ")
    assert "films <b>.csv" in shown
    assert f"{100 * found['exposure']['levels'][5]['unique']['rate']:.1f} %" in shown
    assert "singles out" in shown
    assert "…" not in shown
    assert max(len(line) for line in shown.splitlines()) <= 80


def test_a_note_names_the_flag_of_the_command_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    path = tmp_path / "orders.csv"
    path.write_text("customer,product,quantity\n" + "".join(f"{n % 7},{n % 5},{n % 4 + 1}\n" for n in range(40)))
    assert run(["inspect", str(path)]) == 0
    assert "read as counts (--values overrides this)" in capsys.readouterr().out


def test_a_page_is_written_and_the_same_seed_gives_the_same_bytes(source, tmp_path, capsys):
    pages = [tmp_path / "one.html", tmp_path / "two.html"]
    for page in pages:
        assert run(["inspect", str(source), "--seed", "3", "-o", str(page)]) == 0
    text = pages[0].read_text()
    assert text == pages[1].read_text()
    assert "films &lt;b&gt;.csv" in text
    assert str(tmp_path) not in text
    assert "Written to" in capsys.readouterr().out


def test_a_picture_is_written(source, tmp_path):
    assert run(["inspect", str(source), "--seed", "3", "-o", str(tmp_path / "p.svg"), "--json"]) == 0
    assert (tmp_path / "p.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["-o", "page.pdf"], "--out must end in .html or .svg, got 'page.pdf'"),
        (["-o", "missing/page.html"], "there is no folder"),
        (["--targets", "0"], "targets must be at least 1, got 0"),
    ],
)
def test_bad_wishes_get_one_sentence_and_leave_nothing(source, tmp_path, capsys, monkeypatch, arguments, sentence):
    monkeypatch.chdir(tmp_path)
    assert run(["inspect", str(source), *arguments]) == 2
    said = capsys.readouterr()
    assert sentence in said.err
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert list(tmp_path.iterdir()) == [source]


def test_a_bad_source_leaves_an_older_page_untouched(tmp_path, capsys):
    bad, page = tmp_path / "bad.csv", tmp_path / "page.html"
    bad.write_text("user,item,rating\n1,2,many\n")
    page.write_text("older")
    assert run(["inspect", str(bad), "-o", str(page)]) == 2
    assert page.read_text() == "older"
    assert sorted(tmp_path.iterdir()) == [bad, page]
    assert "bad.csv" in capsys.readouterr().err


def names_in(value):
    """Return every field name of a JSON value, leaving out names that are numbers (percentiles, years)."""
    if isinstance(value, dict):
        inner = [name for one in value.values() for name in names_in(one)]
        return {name for name in [*value, *inner] if not name.replace(".", "").isdigit()}
    return {name for one in value for name in names_in(one)} if isinstance(value, list) else set()


def test_every_field_of_the_json_is_documented(source, capsys):
    assert run(["inspect", str(source), "--json", "--seed", "3"]) == 0
    fields = names_in(json.loads(capsys.readouterr().out))
    documented = set(re.findall(r"`(\w+)`", (Path(__file__).parents[2] / "docs" / "inspect.md").read_text()))
    assert fields <= documented


@pytest.mark.data
def test_movielens_1m_has_the_known_shape_and_exposure(data, capsys):
    assert run(["inspect", str(data / "ml" / "ml-1m.inter"), "--json", "--seed", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["n_users"], found["n_items"], found["n_ratings"]) == (6040, 3706, 1_000_209)
    assert found["activity"]["percentiles"]["50"] == 96
    rates = {(level["known"], level["with_ratings"]): level["unique"]["rate"] for level in found["exposure"]["levels"]}
    assert rates[8, True] > 0.95
    assert rates[1, False] < 0.01
