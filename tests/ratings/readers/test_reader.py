"""A reader is one value: this package's are found by their files, other packages' by their entry points."""

import json
import os
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest
from tests.plugins import install, lay_down

import recloak
from recloak._cli.main import as_flags
from recloak._core.errors import InputError
from recloak._ratings.options import READERS, ReadOptions
from recloak._ratings.reader import Reader, own_readers, reader_named
from recloak._ratings.readers import detect, read

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "readers.md").read_text(encoding="utf-8")
LINES = [{"user": "a", "item": 1, "stars": 4}, {"user": "b", "item": 1, "stars": 2.5}]


def nothing(_: object) -> bool:
    return False


@pytest.fixture
def json_list(tmp_path, monkeypatch) -> Path:
    """Install the example package and write a file for it."""
    monkeypatch.syspath_prepend(str(install("recloak_example_reader", tmp_path / "site")))
    path = tmp_path / "ratings.json"
    path.write_text(json.dumps(LINES))
    return path


def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, name: str = "odd") -> None:
    """Install a package whose reader is wrong in some way."""
    module = f"reader_{tmp_path.name}"
    entries = {"recloak.readers": {name: f"{module}:READER"}}
    project = {"name": "odd-package", "version": "1", "entry-points": entries}
    monkeypatch.syspath_prepend(str(lay_down(tmp_path / "site", project, {module: code})))


def test_a_reader_is_the_value_of_the_file_of_its_name():
    folder = ROOT / "src" / "recloak" / "_ratings" / "readers"
    files = sorted(path.stem for path in folder.glob("*.py") if path.stem != "__init__")
    assert [reader.name for reader in own_readers()] == files == list(READERS)
    with pytest.raises(FrozenInstanceError):
        own_readers()[0].name = "other"  # type: ignore[misc]


def test_the_page_tells_of_every_reader_in_its_own_words():
    rows = re.findall(r"^\| `(\w+)` \| (.+?) \| (.+?) \|$", PAGE, re.MULTILINE)
    assert rows == [(reader.name, reader.title, reader.text) for reader in own_readers()]


def test_the_example_on_the_page_is_the_package_that_the_tests_install():
    folder = ROOT / "tests" / "plugins" / "recloak_example_reader"
    blocks = re.findall(r"```(?:python|toml)\n(.*?)```", PAGE, re.DOTALL)
    assert (folder / "recloak_example_reader.py").read_text() in blocks
    assert any(block in (folder / "pyproject.toml").read_text() for block in blocks)


def test_a_reader_of_another_package_is_recognised_and_read(json_list):
    assert list(READERS)[-1] == "json_list"
    assert detect(json_list) == "json_list"
    assert recloak.read(json_list).to_polars().rows() == [("a", 1, 4.0), ("b", 1, 2.5)]
    assert read(json_list, options=ReadOptions(reader="json_list", user="item", item="user")).n_users == 1


def test_its_bad_rows_are_told_and_skipped_as_those_of_tables(json_list):
    json_list.write_text(json.dumps([*LINES, {"user": "c", "item": 1, "stars": None}]))
    with pytest.raises(InputError, match=rf"{json_list}: a rating must not be empty \(row 3\)"):
        read(json_list)
    assert read(json_list, options=ReadOptions(skip_bad=True)).intake.n_skipped == 1
    json_list.write_text('[{"user": 1, \n')
    with pytest.raises(InputError, match="the JSON list file is cut short, damaged or of a kind not supported"):
        read(json_list)


@pytest.mark.slow
def test_the_command_line_reads_and_names_it(json_list, tmp_path):
    more = [{"user": f"u{n}", "item": n % 3, "stars": 3} for n in range(9)]
    json_list.write_text(json.dumps([*LINES, *more]))
    path = os.pathsep.join([str(ROOT / "src"), str(tmp_path / "site")])

    def recloak_says(*arguments: str) -> str:
        command = [sys.executable, "-m", "recloak", *arguments]
        environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert not done.returncode, done.stderr
        return done.stdout

    assert "recbole|tsv|json_list]" in recloak_says("publish", "--help").replace("\n", "")
    recloak_says(
        "publish", str(json_list), "--reader", "json_list", "-o", str(tmp_path / "out"), "--k", "2", "--seed", "1"
    )
    assert (tmp_path / "out" / "manifest.json").exists()


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("import nowhere_to_be_found", "the reader 'odd' of the package odd-package cannot be loaded (ModuleNotFound"),
        ("READER = 7", "READER of the package odd-package must be a recloak.Reader named 'odd'"),
        ("import recloak\nREADER = recloak.Reader(name='x', title='', text='', matches=bool)", "must have one way"),
        (
            "import recloak\n"
            "READER = recloak.Reader(name='odd', title='', text='', matches=lambda sample: 1 / 0, dialect='^')",
            "the reader 'odd' failed (ZeroDivisionError: division by zero)",
        ),
        (
            "import recloak\n"
            "READER = recloak.Reader(name='odd', title='', text='', matches=bool, tables=lambda sample: iter([1 / 0]))",
            "the reader 'odd' failed (ZeroDivisionError: division by zero)",
        ),
        (
            "import recloak\n"
            "READER = recloak.Reader(name='odd', title='', text='', matches=bool, tables=lambda sample: ['x'])",
            "r.txt: the reader 'odd' failed: a table must be of polars, pandas or Arrow, got str",
        ),
    ],
    ids=["no import", "no reader", "no way to read", "a failing look", "a failing read", "no table"],
)
def test_a_broken_reader_of_another_package_is_one_sentence(tmp_path, monkeypatch, code, told):
    broken(tmp_path, monkeypatch, code)
    path = tmp_path / "r.txt"
    path.write_text("user,item,rating\n1,2,3\n")
    with pytest.raises(InputError) as caught:
        read(path)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert read(path, options=ReadOptions(reader="csv")).n_ratings == 1


@pytest.mark.parametrize(
    "code",
    [
        "import nowhere_to_be_found",
        "import recloak\n"
        "READER = recloak.Reader(name='odd', title='', text='', matches=lambda sample: 1 / 0, dialect='^')",
    ],
)
def test_a_broken_package_does_not_stop_files_named_csv(tmp_path, monkeypatch, caplog, code):
    broken(tmp_path, monkeypatch, code)
    (tmp_path / "r.csv").write_text("user,item,rating\n1,2,3\n")
    assert read(tmp_path / "r.csv").n_ratings == 1
    assert "the reader 'odd'" in caplog.text
    assert "files named .csv are read as CSV" in caplog.text


def test_a_name_that_is_taken_is_refused(tmp_path, monkeypatch):
    code = "import recloak\nREADER = recloak.Reader(name='csv', title='', text='', matches=bool, dialect='^')"
    broken(tmp_path, monkeypatch, code, name="csv")
    (tmp_path / "r.csv").write_text("user,item,rating\n1,2,3\n")
    with pytest.raises(InputError, match="the reader 'csv' of the package odd-package has a name that is taken"):
        read(tmp_path / "r.csv")
    assert reader_named("csv") in own_readers()
    assert list(READERS).count("csv") == 1


def test_two_readers_that_recognise_one_file_must_be_told_apart(json_list, tmp_path, monkeypatch):
    code = "import recloak\nREADER = recloak.Reader(name='odd', title='', text='', matches=bool, dialect='^')"
    (tmp_path / "more").mkdir()
    broken(tmp_path / "more", monkeypatch, code)
    with pytest.raises(
        InputError, match=r"the readers json_list and odd both recognise it; name one with reader=\.\.\."
    ) as caught:
        read(json_list)
    assert as_flags(str(caught.value)).endswith("name one with --reader")


def test_a_separator_is_all_that_a_reader_of_delimited_text_needs(tmp_path, monkeypatch):
    code = "import recloak\nREADER = recloak.Reader(name='odd', title='', text='', matches=bool, dialect='^')"
    broken(tmp_path, monkeypatch, code)
    (tmp_path / "r.txt").write_text("user^item^rating\n1^2^3\n1^3^x\n")
    with pytest.raises(InputError, match=r"r.txt, line 3: a rating must be a number, got 'x'"):
        read(tmp_path / "r.txt")


@pytest.mark.parametrize(
    "wrong",
    [{"name": "a b", "dialect": ","}, {"name": "a"}, {"name": "a", "dialect": ",", "tables": nothing}],
    ids=["blank", "nothing", "two ways"],
)
def test_a_reader_that_could_not_read_cannot_be_made(wrong):
    with pytest.raises(InputError, match=r"a reader.s name must be|must have one way to read"):
        Reader(title="", text="", matches=nothing, **wrong)
