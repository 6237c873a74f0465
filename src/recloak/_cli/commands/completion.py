"""``recloak completion``: the Tab key completes commands and options in your shell."""

import os
from pathlib import Path

import click

from recloak._core.errors import InputError

_SHELLS = ("bash", "zsh", "fish")
_MARK = "# recloak completion"


@click.command()
@click.option("--shell", type=click.Choice(_SHELLS), help="Which shell. [default: the one in SHELL]")
@click.option("--install", is_flag=True, help="Write it where the shell finds it; a second time changes nothing.")
@click.pass_context
def command(ctx: click.Context, shell: str | None, install: bool) -> None:
    """Print the completion script of your shell, or install it with --install."""
    name = shell or _own_shell()
    script = _script(ctx, name)
    if not install:
        click.echo(script)
        return
    changed = _install(name, script)
    click.echo(f"installed for {name}: {', '.join(map(str, changed))}; open a new terminal to use it")


def _own_shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in _SHELLS:
        raise InputError(f"the shell is not known; say which with --shell: {', '.join(_SHELLS)}")
    return name


def _script(ctx: click.Context, shell: str) -> str:
    """Return the script; click makes it from the names of the commands."""
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    return made(ctx.find_root().command, {}, "recloak", "_RECLOAK_COMPLETE").source()


def _install(shell: str, script: str) -> list[Path]:
    """Write the script, and for bash and zsh a line that reads it; return the files."""
    home = Path.home()
    if shell == "fish":
        target = home / ".config" / "fish" / "completions" / "recloak.fish"
        _write(target, script)
        return [target]
    target, start = home / ".config" / "recloak" / f"completion.{shell}", home / f".{shell}rc"
    _write(target, script)
    text = start.read_text(encoding="utf-8") if start.exists() else ""
    if _MARK not in text:
        with start.open("a", encoding="utf-8") as file:
            file.write(f'{"" if text.endswith(chr(10)) or not text else chr(10)}. "{target}"  {_MARK}\n')
    return [target, start]


def _write(target: Path, script: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(script + "\n", encoding="utf-8")
