"""The entry point: finds the command, runs it, and turns every error into one sentence and an exit code."""

import ast
import importlib.util
import logging
import os
import re
import sys
import traceback
from pathlib import Path
from typing import NoReturn

import click

from recloak._cli import interrupts, memory_limit
from recloak._cli.command_groups import PackageGroup
from recloak._core import stopping
from recloak._core.errors import RecloakError
from recloak._core.logger import log
from recloak._core.terminal_text import printable

_COMMANDS = "recloak._cli.commands"
_BUG = 3


class MainGroup(PackageGroup):
    """The group of all commands."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands by the first line of their files, so that help imports none of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, _about(name)) for name in self.list_commands(ctx)])


def _about(name: str) -> str:
    """Return what a command is for: the first line of its file, after the colon."""
    spec = importlib.util.find_spec(f"{_COMMANDS}.{name}")
    text = ast.get_docstring(ast.parse(Path(str(spec and spec.origin)).read_text(encoding="utf-8"))) or ""
    about = text.splitlines()[0].partition(": ")[2].rstrip(".")
    return about[:1].upper() + about[1:] + "."


_SETTINGS = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


@click.command(cls=MainGroup, package=_COMMANDS, context_settings=_SETTINGS)
@click.version_option(package_name="recloak")
@click.option("--debug", is_flag=True, help="Show the traceback of whatever goes wrong.")
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Privacy of what a recommender shows the world.

    Publish ratings, related-item lists and public mentions safely; attack them; prove and measure the defence.
    """
    if debug and isinstance(ctx.obj, _TerminalHandler):
        ctx.obj.show_tracebacks()


class _TerminalHandler(logging.Handler):
    """Prints the library's warnings as one line each; with ``--debug`` or RECLOAK_DEBUG=1 tracebacks as well."""

    debug = False

    def show_tracebacks(self) -> None:
        self.debug = True
        log.setLevel(logging.INFO)

    def emit(self, record: logging.LogRecord) -> None:
        hint = "" if self.debug or not record.exc_info else " (recloak --debug shows where)"
        click.echo(f"recloak: {record.levelname.lower()}: {printable(as_flags(record.getMessage()))}{hint}", err=True)
        if self.debug and record.exc_info:
            click.echo("".join(traceback.format_exception(*record.exc_info)), err=True, nl=False)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with 0 (done, pass), 1 (verdict fail), 2 (bad input or usage) or 3 (our bug)."""
    given = sys.argv[1:] if arguments is None else arguments
    memory_limit.watch(given)
    interrupts.listen()
    interrupts.leave(run(given))


def run(arguments: list[str]) -> int:
    """Run the command line and return its exit code."""
    handler, level = _TerminalHandler(), log.level
    if os.environ.get("RECLOAK_DEBUG"):
        handler.show_tracebacks()
    log.addHandler(handler)
    try:
        return _run(arguments, handler)
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def _run(arguments: list[str], handler: _TerminalHandler) -> int:
    stopping.begin()
    _tell_first_run(arguments)
    try:
        result = cli.main(args=arguments, prog_name="recloak", standalone_mode=False, obj=handler)
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return 2
    except BaseException as error:  # whatever a library made of an interruption, panics included
        if stopping.asked() or isinstance(error, KeyboardInterrupt | click.Abort):
            return _fail(interrupts.STOPPED, interrupts.INTERRUPTED)
        if not isinstance(error, Exception):
            raise
        return _report(error, handler.debug)
    return result if isinstance(result, int) else 0


def _tell_first_run(arguments: list[str]) -> None:
    """Say on a terminal that the first run compiles, so that its wait is not taken for a hang."""
    asked = next((word for word in arguments if not word.startswith("-")), None)
    if asked is None or {"-h", "--help"} & set(arguments) or not sys.stderr.isatty() or _is_compiled():
        return
    click.echo("recloak: the first run compiles its code, for up to half a minute; later runs do not", err=True)


def _is_compiled() -> bool:
    """Return whether compiled code lies beside the package, or is kept where this cannot see it."""
    package = Path(__file__).parents[1]
    elsewhere = "NUMBA_CACHE_DIR" in os.environ or not os.access(package, os.W_OK)
    return elsewhere or next(package.glob("*/__pycache__/*.nbi"), None) is not None


def _report(error: Exception, debug: bool) -> int:
    """Print an error in one sentence and return its exit code."""
    match error:
        case click.UsageError():
            return _fail(f"{_one_line(error).rstrip('.')}; see: {_path(error)} --help", 2)
        case click.ClickException():
            return _fail(_one_line(error), 2)
        case RecloakError():
            return _fail(as_flags(str(error)), error.exit_code)
        case BrokenPipeError():
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        case OSError():
            return _fail(_system_sentence(error), 2)
        case MemoryError():
            return _fail(memory_limit.SENTENCE, 2)
        case RuntimeError() if str(error) == "can't start new thread":
            return _fail(memory_limit.SENTENCE, 2)
        case _:  # never a traceback
            return _bug(error, debug)


_KEYWORD = re.compile(r"\b([a-z][a-z_]*)=(\.\.\.|True|'[^' ]*'|\d+)")


def as_flags(sentence: str) -> str:
    """Return a sentence of the library with its keywords written as flags: ``user=...`` becomes ``--user``."""

    def flag(match: re.Match[str]) -> str:
        value = "" if match[2] in ("...", "True") else " " + match[2].strip("'")
        return f"--{match[1].replace('_', '-')}{value}"

    return _KEYWORD.sub(flag, sentence)


def _one_line(error: click.ClickException) -> str:
    """Return the message of an error of click, which lists choices on lines of their own."""
    return " ".join(error.format_message().split())


def _path(error: click.UsageError) -> str:
    return error.ctx.command_path if error.ctx else "recloak"


def _system_sentence(error: OSError) -> str:
    prefix = f"{error.filename}: " if error.filename else ""
    return f"{prefix}{(error.strerror or str(error)).lower()}"


def _bug(error: Exception, debug: bool) -> int:
    if debug:
        traceback.print_exception(error)
    sentence = f"a bug in recloak, not your mistake: {type(error).__name__}: {error} (recloak --debug shows where)"
    return _fail(sentence, _BUG)


def _fail(sentence: str, code: int) -> int:
    click.echo(f"recloak: {printable(sentence)}", err=True)
    return code
