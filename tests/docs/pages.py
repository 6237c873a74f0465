"""What the pages of the documentation hold: files to save, command lines and Python, in the order of the page."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = ("commands.md",)  # made from the help texts: examples of usage, not a walk
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_SAVE_AS = re.compile(r"[Ss]ave this as `([^`]+)`")


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, and the file name that the sentence before it gives, if any."""

    language: str
    text: str
    save_as: str | None


def pages() -> list[Path]:
    """Return every page that somebody writes, tutorials first."""
    found = [path for path in DOCS.rglob("*.md") if path.name not in MADE and "_build" not in path.parts]
    return sorted(found, key=lambda path: (path.parent.name != "tutorials", str(path)))


def blocks(path: Path) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    text = path.read_text()
    found, end = [], 0
    for match in _FENCE.finditer(text):
        name = _SAVE_AS.findall(text[end : match.start()])
        found.append(Block(match[1], match[2], name[-1] if name else None))
        end = match.end()
    return found


def command_lines(block: Block) -> list[list[str]]:
    """Return the words of each `$ recloak ...` line of a console block, comments left out."""
    joined = block.text.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line.strip()]
    strange = [line for line in lines if not line.startswith("$ recloak ")]
    assert not strange, f"a console block holds command lines of recloak alone, got {strange[0]!r}"
    return [shlex.split(line.removeprefix("$ recloak "), comments=True) for line in lines]
