from pathlib import Path

from recloak._cli.reference import reference

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_of_commands_is_that_of_the_commands():
    assert PAGE.read_text(encoding="utf-8") == reference(), "run: python -m recloak._cli.reference docs/commands.md"
