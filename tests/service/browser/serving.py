"""The real application on a loopback port, in a thread."""

import threading
import time
from contextlib import contextmanager

import uvicorn

from recloak._service.app import create_app, with_middleware
from recloak._service.options import ServeOptions
from recloak._service.published_lists import PublishedLists
from recloak._service.resources import Resources
from recloak._service.tokens import TokenChecker, create
from tests.service.browser.world import advisor, write_history


class Service:
    """A running service and keys for it."""

    def __init__(self, port, store):
        self.origin, self._store, self._keys = f"http://127.0.0.1:{port}", store, {}

    def token(self, user):
        if user not in self._keys:
            self._keys[user] = create(self._store, user=str(user))[1]
        return self._keys[user]


@contextmanager
def served(folder, **options):
    store = folder / "tokens.db"
    create(store, user="0")
    write_history(folder / "lists.db")
    catalogue = advisor().catalogue
    published = PublishedLists(folder / "lists.db", catalogue)
    resources = Resources(advisor(), catalogue, published, TokenChecker(store), options=ServeOptions(**options))
    with listening(with_middleware(create_app(resources))) as port:
        yield Service(port, store)
    resources.close()


@contextmanager
def listening(app):
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="critical", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(10)
