"""The files of the pages: whole, without a foreign address, an inline script or a way from text to markup."""

import re
from pathlib import Path

import pytest

import recloak._service
from recloak._service.attacker_words import WORDS

STATIC = Path(recloak._service.__file__).parent / "static"
FILES = sorted(STATIC.iterdir())
SVG = "http://www.w3.org/2000/svg"  # a name, not an address


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_nothing_is_asked_of_another_host(path):
    assert "//" not in re.sub(r"^\s*//.*$|\s// .*$", "", path.read_text().replace(SVG, ""), flags=re.MULTILINE)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_text_can_become_markup(path):
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(", path.read_text()
    )


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.html")), ids=lambda path: path.name)
def test_a_page_brings_no_inline_script_or_style_and_names_files_that_are_there(path):
    text = path.read_text()
    assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)", text)
    named = re.findall(r'(?:src|href)="/static/([^"]+)"', text)
    assert named
    assert all((STATIC / name).is_file() for name in named)


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_a_script_imports_files_that_are_there(path):
    for name in re.findall(r'from "\./([^"]+)"', path.read_text()):
        assert (STATIC / name).is_file()


def test_the_meter_knows_the_bands_of_the_service_in_their_order():
    (bands,) = re.findall(r"const BANDS = \[(.*?)\];", (STATIC / "meter.js").read_text())
    assert re.findall(r'"([^"]+)"', bands) == list(WORDS)


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.html")), ids=lambda path: path.name)
def test_every_field_of_free_text_takes_its_direction_from_what_is_written(path):
    fields = re.findall(r'<textarea[^>]*>|<input[^>]*type="(?:text|search)"[^>]*>', path.read_text())
    assert fields
    assert all('dir="auto"' in field for field in fields)
