"""The page on files names every field and column that is written."""

import json
import re
from pathlib import Path

import pytest
from tests.cli.releases import write_release, write_source

from recloak._related.history_database import TABLES
from recloak._service import tokens

PAGE = (Path(__file__).parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
NAMED = set(re.findall(r"`([\w.-]+)`", PAGE))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return write_release(write_source(folder), folder / "out")


def test_every_field_of_a_manifest_and_of_an_account_is_described(made):
    manifest = json.loads((made / "manifest.json").read_text())
    account = json.loads((made.with_name("out-private") / "account.json").read_text())
    assert set(manifest) | set(account) <= NAMED


def test_every_file_of_a_release_is_described(made):
    private = made.with_name("out-private")
    stems = {path.stem for folder in (made, private) for path in folder.iterdir()}
    assert all(re.search(rf"DIR(-private)?/{stem}\.", PAGE) for stem in stems)


def test_every_table_and_column_of_a_history_is_described():
    for table in TABLES.tables.values():
        assert {table.name, *table.columns.keys()} <= NAMED


def test_every_column_of_a_token_store_is_described():
    columns = re.findall(r"(\w+) (?:INTEGER|TEXT|BLOB)", tokens._TABLE)
    assert columns
    assert set(columns) <= NAMED
