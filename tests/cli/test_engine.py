"""Options that Spark does not take: marked in the help, listed in the documentation, refused in one sentence."""

import dataclasses
import re
from pathlib import Path

import click
import pytest

from recloak._cli.engine import LocalOption
from recloak._cli.main import cli, run
from recloak._core.errors import OptionError
from recloak._core.options import Options, option
from recloak._releases.options import PadOptions, PublishOptions

PAGE = Path(__file__).parents[2] / "docs" / "spark.md"


def limited() -> dict[tuple[str, str], LocalOption]:
    """Return the options that Spark does not take as they are, by command and flag."""
    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    return {
        (name, max(one.opts, key=len)): one
        for name, command in commands.items()
        if command is not None
        for one in command.params
        if isinstance(one, LocalOption)
    }


def test_the_documentation_lists_what_spark_does_not_take():
    rows = re.findall(r"^\| `([a-z ]+)` \| `(--[a-z-]+)` \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    documented = {(command, flag): taken for command, flag, taken in rows}
    assert documented == {place: ", ".join(one.taken) or "not taken" for place, one in limited().items()}


def test_a_command_without_an_engine_has_no_such_option():
    context = click.Context(cli)
    for name, _ in limited():
        command = cli.get_command(context, name)
        assert command is not None
        assert "engine" in {one.name for one in command.params}


def test_the_help_says_so_before_the_default():
    helps = {place: str(one.help) for place, one in limited().items()}
    assert "Not with --engine spark." in helps["evaluate", "--users"].partition("[default")[0]
    assert helps["publish", "--format"].endswith("With --engine spark: parquet.  [default: parquet]")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["publish", "x.csv", "-o", "out", "--format", "csv"], "format must be parquet with --engine spark, got 'csv'"),
        (["evaluate", "x.csv", "--holdout", "0.1"], "--holdout does not go with --engine spark"),
        (["evaluate", "x.csv", "out", "--probe", "p.csv", "--users", "5"], "--users does not go with --engine spark"),
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["engine first", "engine last"])
def test_spark_refuses_them_in_one_sentence(tmp_path, monkeypatch, capsys, arguments, sentence, first):
    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "p.csv"):
        Path(name).write_text("user,item,rating\n1,1,1\n")
    Path("out").mkdir()
    engine = ["--engine", "spark"]
    given = [arguments[0], *engine, *arguments[1:]] if first else [*arguments, *engine]
    assert run(given) == 2
    assert capsys.readouterr().err == f"recloak: {sentence}\n"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tea(Options):
    cups: int = option(2, "how many", spark=False)
    kind: str = option("green", "which", choices=("green", "black"), spark=("green",))
    hot: bool = option(True, "how hot")


def test_a_value_says_what_spark_does_not_take():
    Tea(hot=False).require_spark()
    with pytest.raises(OptionError, match=r"^cups=\.\.\. does not go with engine='spark'$"):
        Tea(cups=3).require_spark()
    with pytest.raises(OptionError, match=r"^kind must be green with engine='spark', got 'black'$"):
        Tea(kind="black").require_spark()


def test_options_that_are_made_by_default_go_with_spark():
    PublishOptions().require_spark()
    PadOptions().for_groups(5).require_spark()


def test_an_option_that_spark_does_not_take_and_that_is_not_given_is_no_hindrance():
    command = click.Command("tea", params=[click.Option(["--engine"], is_eager=True), LocalOption(["--cups"], help="")])
    with command.make_context("tea", ["--engine", "spark"]) as context:
        assert context.params == {"engine": "spark", "cups": None}
