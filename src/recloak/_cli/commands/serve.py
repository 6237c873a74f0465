"""``recloak serve``: posting advice and related lists over HTTP."""

from typing import Any

import click

from recloak._cli.common import options_of, source_options
from recloak._ratings.options import ReadOptions
from recloak._service.options import ServeOptions, read_config, require_servable


@click.command()
@click.option("--config", help="TOML file with the same names; a flag wins over it.")
@options_of(ServeOptions, leave_out=tuple(ReadOptions().to_mapping()))
@source_options
def command(config: str | None, **given: Any) -> None:
    """Serve posting advice and related-item lists over HTTP until stopped."""
    named = {name: value for name, value in given.items() if value is not None}
    options = ServeOptions.from_mapping({**({} if config is None else read_config(config)), **named})
    require_servable(options)
    from recloak._service.server import serve

    serve(options)
