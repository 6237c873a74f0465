"""Groups whose commands are the modules of a package, imported when they are needed."""

import difflib
import importlib
import pkgutil
from typing import Any

import click


class PackageGroup(click.Group):
    """A group whose commands are the modules of ``package``, each with a ``command``."""

    def __init__(self, *args: Any, package: str, **more: Any) -> None:
        super().__init__(*args, **more)
        self.package = package

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Return the command; raise UsageError with the nearest name if there is none."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(args[0], self.list_commands(ctx), 1)
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
