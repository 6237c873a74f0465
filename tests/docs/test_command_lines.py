"""Every command and option that a page names exists, also where no test runs the command."""

import re
import shlex
from pathlib import Path

import click
import pytest

from recloak._cli.main import cli
from tests.docs.pages import ROOT, pages

PAGES = [*pages(), ROOT / "README.md", ROOT / "PROMISE.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
_IN_TEXT = re.compile(r"`recloak ([a-z][^`]*)`")
_ON_A_LINE = re.compile(r"^(?:\s*(?:\$ )?|.*\s(?:exec |/usr/bin/env ))recloak ([a-z].*)$", re.MULTILINE)
_END = re.compile(r"[|;&>]")


def commands_of(page: Path) -> list[str]:
    """Return what follows the name of the program, in sentences and in blocks."""
    text = page.read_text().replace("\\\n", " ")
    fenced = "\n".join(re.findall(r"^```[^\n]*\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    indented = "\n".join(re.findall(r"^(?: {4}|\t).*$", text, re.MULTILINE))
    blocks = [found for part in (fenced, indented) for found in _ON_A_LINE.findall(part)]
    return [*(" ".join(found.split()) for found in _IN_TEXT.findall(text)), *blocks]


def words_of(line: str) -> list[str]:
    """Return the words of a command line up to a pipe; what is no shell, such as an apostrophe, ends them too."""
    line = _END.split(line.split(" #", maxsplit=1)[0])[0]
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def problem_in(line: str) -> str | None:
    """Return what does not exist in a command line; None if all does."""
    words, context = words_of(line), click.Context(cli)
    command: click.Command = cli
    while isinstance(command, click.Group):
        if not words or not re.fullmatch(r"[a-z]+(-[a-z]+)*", words[0]):
            return None  # `recloak related` alone names a group
        found = command.get_command(context, words[0])
        if found is None:
            return f"there is no command {words[0]!r}"
        command, words = found, words[1:]
    known = {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)} | {"--help", "-h"}
    flags = [word.split("=")[0].rstrip(".,:)") for word in words if re.match(r"--?[a-z]", word)]
    return next((f"{command.name} has no option {flag}" for flag in flags if flag not in known), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_and_option_on_a_page_exists(page):
    wrong = {line: problem for line in commands_of(page) if (problem := problem_in(line))}
    assert not wrong


def test_the_check_finds_what_does_not_exist():
    assert problem_in("publish x.csv -o out --k 5") is None
    assert problem_in("related publish store.db x.csv --deltaa 0.1") == "publish has no option --deltaa"
    assert problem_in("anonimise x.csv") == "there is no command 'anonimise'"
    assert len(commands_of(ROOT / "README.md")) > 8
