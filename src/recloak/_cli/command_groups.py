"""Groups whose commands are the modules of a package, imported when they are needed."""

import difflib
import importlib
import pkgutil
from typing import Any

import click

# What people call a command before they know its name.
MEANT = {
    **dict.fromkeys(("anonymize", "anonymise", "anon", "release", "export", "make", "pseudonymize"), "publish"),
    **dict.fromkeys(("check", "validate", "prove", "certify", "certificate", "sign"), "verify"),
    **dict.fromkeys(("attack", "risk", "risks", "assess"), "audit"),
    **dict.fromkeys(("measure", "utility", "usefulness", "score", "eval"), "evaluate"),
    **dict.fromkeys(("describe", "summary", "info", "stats"), "inspect"),
    **dict.fromkeys(("synthesize", "synthetic", "generate"), "synth"),
    **dict.fromkeys(("server", "web", "start"), "serve"),
    **dict.fromkeys(("policy", "pipeline", "all"), "run"),
    **dict.fromkeys(("keygen", "keys"), "key"),
    **dict.fromkeys(("compare", "tradeoff", "sweep"), "frontier"),
    **dict.fromkeys(("example", "tutorial", "quickstart"), "demo"),
    **dict.fromkeys(("completions", "autocomplete"), "completion"),
}


class PackageGroup(click.Group):
    """A group whose commands are the modules of ``package``, each with a ``command``."""

    def __init__(self, *args: Any, package: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.package = package

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command; raise UsageError with the nearest name if there is none. ``help`` asks for help."""
        if args[0] == "help" and "help" not in self.list_commands(ctx):
            if not args[1:]:
                click.echo(ctx.get_help())
                ctx.exit(0)
            args = [*args[1:], "--help"]
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            known = self.list_commands(ctx)
            meant = MEANT.get(args[0].lower())
            near = [meant] if meant in known else difflib.get_close_matches(args[0], known, 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message.rstrip('.')} (did you mean {near[0]!r}?)", ctx) from error

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the names of the commands."""
        package = importlib.import_module(self.package)
        return sorted(
            module.name for module in pkgutil.iter_modules(package.__path__) if not module.name.startswith("_")
        )

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self.list_commands(ctx):
            return None
        command: click.Command = importlib.import_module(f"{self.package}.{cmd_name}").command
        command.name = cmd_name
        return command
