"""What a running service has loaded: the advisor, the catalogue, the published lists, the tokens and the limits."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from recloak._mentions.mention_tables import read_mentions
from recloak._mentions.oracle_guard import OracleGuard
from recloak._mentions.post_files import read_titles
from recloak._ratings.readers import read
from recloak._service.advice import AdvisorResources, prepare
from recloak._service.catalogue import Catalogue, build_catalogue
from recloak._service.options import ServeOptions, require_servable
from recloak._service.published_lists import PublishedLists
from recloak._service.rate_limits import RateLimiter
from recloak._service.secret_files import advisor_secret
from recloak._service.signed_claims import SigningKeys, read_keys
from recloak._service.tokens import TokenChecker

_THREADS = 4
_Pool = ThreadPoolExecutor


@dataclass(frozen=True, eq=False, slots=True)
class Resources:
    """The loaded resources; None for those that the server was started without."""

    advisor: AdvisorResources | None = None
    catalogue: Catalogue | None = None
    published: PublishedLists | None = None
    tokens: TokenChecker | None = None
    signing_keys: SigningKeys | None = None
    limiter: RateLimiter | None = None
    options: ServeOptions = field(default_factory=ServeOptions)
    pool: _Pool = field(default_factory=lambda: _Pool(_THREADS, "answer"))
    history_pool: _Pool = field(default_factory=lambda: _Pool(_THREADS, "history"))  # so that advice never waits for it

    def close(self) -> None:
        """Wait for the answers in progress, then close files and threads."""
        self.pool.shutdown()
        self.history_pool.shutdown()
        for resource in (self.published, self.tokens, self.limiter):
            if resource is not None:
                resource.close()


def load(options: ServeOptions, folder: str | Path) -> Resources:
    """Load everything that the options name; ``folder`` holds what the workers of one server share."""
    require_servable(options)
    advisor = _advisor(options)
    catalogue = _catalogue(options, advisor)
    return Resources(
        advisor=advisor,
        catalogue=catalogue,
        published=None if options.history is None else PublishedLists(options.history, catalogue),
        tokens=None if options.tokens is None else TokenChecker(options.tokens),
        signing_keys=None if options.signing_key is None else read_keys(options.signing_key),
        limiter=RateLimiter(Path(folder) / "buckets", options.rate, options.burst),
        options=options,
    )


def _advisor(options: ServeOptions) -> AdvisorResources | None:
    store = options.tokens or options.signing_key  # the secret of the crowd lies beside it
    if options.ratings is None or options.titles is None or store is None:
        return None
    titles = read_titles(options.titles)
    ratings = read(options.ratings, options=options.reading)
    mentions = None if options.mentions is None else read_mentions(options.mentions, ratings)
    return prepare(ratings, titles, mentions, guard=OracleGuard(advisor_secret(store)))


def _catalogue(options: ServeOptions, advisor: AdvisorResources | None) -> Catalogue | None:
    if advisor is not None:
        return advisor.catalogue
    return None if options.titles is None else build_catalogue(read_titles(options.titles), None)
