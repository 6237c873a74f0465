"""The options of `recloak serve`, as flags or in a TOML file with the same names, and the checks at its start."""

import re
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from recloak._core.errors import InputError, OptionError
from recloak._core.extras import require_extra
from recloak._core.options import option
from recloak._ratings.options import ReadOptions
from recloak._service.signed_claims import read_keys
from recloak._service.tokens import TokenChecker

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, kw_only=True)
class ServeOptions(ReadOptions):
    """Options of the server, and how its ratings are read."""

    ratings: str | None = option(None, "ratings that advice is about (file or folder)")
    titles: str | None = option(None, "title list: CSV with id and title, movies.csv, movies.dat or .item")
    history: str | None = option(None, "store of published related lists (file or postgresql:// address)")
    mentions: str | None = option(None, "table of who named which item in public before (user, item)")
    tokens: str | None = option(None, "token store made by `recloak token create`")
    signing_key: str | None = option(None, "key file of `recloak token key`: users whose claims it signs may ask")
    host: str = option("127.0.0.1", "address to listen at")
    port: int = option(8000, "port to listen at; 0: any that is free", at_least=0, at_most=65535)
    workers: int = option(1, "processes that answer; each loads everything once", at_least=1, at_most=64)
    rate: float = option(5.0, "requests a second that one token may make in the long run", above=0)
    burst: int = option(30, "requests that one token may make at once after a rest", at_least=1)
    max_body: int = option(262_144, "bytes that a request may have", at_least=1024)
    timeout: float = option(10.0, "seconds after which a request is given up", above=0)
    refresh: float = option(1.0, "seconds between two looks for a new release in the history", above=0)
    cache: int = option(60, "seconds that others may keep a related list", at_least=0)
    allow_origin: str | None = option(
        None, "pages of this origin may call the API (https://forum.example); several: separated by commas"
    )

    def check(self) -> None:
        """Raise OptionError if options do not go together."""
        super().check()
        if self.ratings is None and self.reading != ReadOptions():
            raise OptionError("how ratings are read (--user, --item, --reader ...) needs --ratings")
        if self.ratings is not None and self.titles is None:
            raise OptionError("--ratings needs --titles: advice finds titles in a text")
        if self.mentions is not None and self.ratings is None:
            raise OptionError("--mentions needs --ratings")
        for origin in self.origins:
            if not re.fullmatch(r"https?://[A-Za-z0-9.\-]+(:\d+)?|https?://\[[0-9a-f:]+\](:\d+)?", origin):
                raise OptionError(f"an origin is a scheme and a host (https://forum.example), got {origin!r}")

    @property
    def reading(self) -> ReadOptions:
        """How the ratings are read."""
        return ReadOptions(**{declared.name: getattr(self, declared.name) for declared in fields(ReadOptions)})

    @property
    def origins(self) -> frozenset[str]:
        """The origins whose pages may call the API."""
        return frozenset(one.strip() for one in (self.allow_origin or "").split(",") if one.strip())


def require_servable(options: ServeOptions) -> None:
    """Raise InputError for what cannot be served, before anything that takes long is imported or read."""
    require_extra("web", "fastapi", "uvicorn", "prometheus_client", need="recloak serve")
    if options.ratings is None and options.history is None:
        raise InputError("there is nothing to serve: name --ratings and --titles, or --history, or all of them")
    closed = options.tokens is not None or options.signing_key is not None
    if not closed and options.ratings is not None:
        raise InputError(
            "advice needs --tokens FILE, made by `recloak token create --user ID`, or --signing-key FILE, made by "
            "`recloak token key`"
        )
    if not closed and options.host not in LOOPBACK:
        raise InputError(f"to listen at {options.host}, beyond this machine, name --tokens FILE or --signing-key FILE")
    if options.tokens is not None:
        TokenChecker(options.tokens).close()
    if options.signing_key is not None:
        read_keys(options.signing_key)
    for file in (options.titles, options.mentions, options.ratings):
        if file is not None and not Path(file).exists():
            raise InputError(f"{file}: there is no such file")


def read_config(path: str | Path) -> dict[str, Any]:
    """Read options from a TOML file; names may be written with dashes as flags are."""
    file = Path(path)
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{file}: there is no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: not TOML: {error}") from error
    return {name.replace("-", "_"): value for name, value in values.items()}
