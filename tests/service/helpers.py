"""Small test data (shared popular films, one rare film per user) and a client for the application in process."""

import asyncio
import json
from functools import cache
from typing import Any

import httpx

from recloak._mentions.oracle_guard import OracleGuard
from recloak._mentions.post_files import title_list
from recloak._ratings.model import Ratings
from recloak._service.advice import prepare
from recloak._service.app import create_app, with_middleware
from recloak._service.options import ServeOptions
from recloak._service.published_lists import PublishedLists
from recloak._service.rate_limits import RateLimiter
from recloak._service.resources import Resources
from recloak._service.tokens import TokenChecker, create

POPULAR = [(1, "The Matrix", 1999), (2, "Toy Story", 1995), (3, "Pulp Fiction", 1994), (4, "Fargo", 1996)]
NAMES = ("Zorgon", "Vexillum", "Quarbles", "Mintaka", "Oddvar", "Brumaire", "Falkor", "Grimsel", "Havbit", "Jokull")
RARE = [(10 + n, name, 1950 + n) for n, name in enumerate((*NAMES, "Kestrel", "Lumumba"))]
OTHERS = [(50 + n, f"Lure Number {n}", 2000) for n in range(12)]
TWINS = [(80, "Solaris", 1972), (81, "Solaris", 2002)]


@cache
def ratings() -> Ratings:
    """Twelve users rate the popular films and one rare film each; sixty others rate the rest."""
    rows = [(user, item) for user in range(12) for item, *_ in POPULAR]
    rows += [(user, 10 + user) for user in range(12)]
    rows += [(user, 80) for user in range(6)] + [(user, 81) for user in range(3, 12)]
    rows += [(100 + user, item) for user in range(60) for item, *_ in (*OTHERS[user % 6 :][:7], *POPULAR[:2])]
    users, items = zip(*rows, strict=True)
    return Ratings.from_arrays(list(users), list(items), [4.0] * len(rows))


@cache
def advisor():
    guard = OracleGuard(b"a secret of tests", sample_share=0.5)  # of 72 people a smaller crowd would hide nobody
    return prepare(ratings(), title_list([*POPULAR, *RARE, *OTHERS, *TWINS]), guard=guard)


class World:
    """An application in process with a store of tokens."""

    published: Any
    keys: Any
    address: Any

    def __init__(self, folder, *, history=None, **options):
        self.store = folder / "tokens.db"
        self.admin = create(self.store, user=None, admin=True)[1]
        self.options = ServeOptions(**{"rate": 1e6, "burst": 10**6, **options})
        self.tokens = TokenChecker(self.store)
        self.published = None if history is None else PublishedLists(history, advisor().catalogue)
        self.limiter = RateLimiter(folder / "buckets", self.options.rate, self.options.burst)
        self.resources = Resources(
            advisor=advisor(),
            catalogue=advisor().catalogue,
            published=self.published,
            tokens=self.tokens,
            limiter=self.limiter,
            options=self.options,
        )
        self.app = with_middleware(create_app(self.resources))

    def close(self):
        self.resources.close()

    def token(self, user, **more):
        return create(self.store, user=str(user), **more)[1]

    def ask(self, method, path, token=None, **more):
        headers = {**({} if token is None else {"authorization": f"Bearer {token}"}), **more.pop("headers", {})}

        async def asked():
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, path, headers=headers, **more)

        return asyncio.run(asked())

    def advise(self, token, /, **body):
        return self.ask("POST", "/api/v1/advice", token, json=body)


def problem(answer):
    """Return the code of an error, after checking its shape."""
    body = json.loads(answer.content)
    assert set(body) == {"error"}
    assert set(body["error"]) == {"code", "message"}
    return body["error"]["code"]
