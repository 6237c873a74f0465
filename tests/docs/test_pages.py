"""The commands of every page of the documentation run as they stand, and every link leads somewhere."""

import importlib
import inspect
import re
import shutil
from pathlib import Path

import pytest

from recloak._cli.main import run
from tests.docs.pages import DOCS, Block, blocks, command_lines, pages

CONSOLE_PAGES = [page for page in pages() if any(block.language == "console" for block in blocks(page))]
# Pages about somebody's own cluster, shop or real data set: their commands are read, and their tests are elsewhere.
ELSEWHERE = {
    "data-to-try.md": "the fixture below runs it",
    "shop.md": "tests/test_readme.py walks through it on orders of its own",
}
PLAIN = {"operator.md"}  # the rest is slow


def name(page: Path) -> str:
    return str(page.relative_to(DOCS))


def expected_codes(arguments: list[str]) -> tuple[int, ...]:
    """Return the exit codes of a command that did its work: an audit exits with 1 when it finds a breach."""
    return (0, 1) if arguments[0] == "audit" else (0,)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """Make the files of docs/data-to-try.md, by the commands of that page."""
    folder = tmp_path_factory.mktemp("world")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for block in blocks(DOCS / "data-to-try.md"):
            walk(block)
    return folder


def walk(block: Block) -> None:
    """Do what a block of a page says: save a file, run commands, run Python."""
    if block.save_as:
        Path(block.save_as).write_text(block.text)
    if block.language == "python":
        exec(compile(block.text, "docs", "exec"), {})
    if block.language == "console":
        for arguments in command_lines(block):
            assert run(arguments) in expected_codes(arguments), arguments


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=name(page), marks=[] if page.name in PLAIN else [pytest.mark.slow])
        for page in CONSOLE_PAGES
        if page.name not in ELSEWHERE
    ],
)
def test_the_commands_of_a_page_run_as_they_stand(page, made_once, tmp_path, monkeypatch):
    world = tmp_path / "world"
    if page.parent.name == "tutorials":
        world.mkdir()  # a tutorial makes all that it uses
    else:
        shutil.copytree(made_once, world)
    monkeypatch.chdir(world)
    for block in blocks(page):
        if block.language in ("console", "text", "csv", "toml") or page.parent.name == "tutorials":
            walk(block)


def test_no_page_shows_commands_that_no_test_runs():
    indented = re.compile(r"^ {4,}\$? ?recloak [a-z]+", re.MULTILINE)
    walked = (page for page in pages() if page.parent.name != "decisions")  # decisions name the commands of figures
    loose = {name(page) for page in walked if indented.search(page.read_text())}
    assert loose <= READ_ONLY, f"write the commands of {loose - READ_ONLY} as a console block"


# Commands that need a running server, a cluster or somebody's data.
READ_ONLY = {"embedding.md", "mentions.md", "reproduction.md", "service.md", "sources.md", "spark.md"}


@pytest.mark.parametrize("page", pages(), ids=name)
def test_every_link_of_a_page_leads_to_a_file(page):
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("namespace", ["recloak", "recloak.related", "recloak.mentions", "recloak.contest"])
def test_every_public_name_has_its_place_in_the_reference(namespace):
    page = (DOCS / "api" / f"{namespace.rpartition('.')[2]}.md").read_text()
    module = importlib.import_module(namespace)
    values = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name)) and name[0] != "_"}
    assert set(re.findall(r"^\.\. auto\w+:: recloak\.(?:\w+\.)*(\w+)$", page, re.MULTILINE)) == values


def test_every_page_is_in_the_table_of_contents():
    listed = set(re.findall(r"^([a-z][\w/-]+)$", (DOCS / "index.md").read_text(), re.MULTILINE))
    for page in pages():
        where = name(page).removesuffix(".md")
        assert where in listed or where == "index" or where.startswith("decisions/"), where
