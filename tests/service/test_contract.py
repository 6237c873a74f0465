"""Schemathesis against the API's own description: no server error, and every answer as described."""

import contextlib
import os
import threading
import warnings

import pytest
import uvicorn
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable

from recloak._service.app import create_app
from recloak._service.resources import Resources
from tests.service.helpers import World
from tests.service.test_related import FIRST, publish

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # its dependencies warn when they are imported
    import requests
    import schemathesis
    from schemathesis.specs.openapi.checks import negative_data_rejection


def _ok(found):
    return found.ok()


def _open():
    """Return the description without its security: every case here carries a valid token."""
    described = create_app(Resources()).openapi()
    for about in described["paths"].values():
        for one in about.values():
            one.pop("security", None)
    return described


SCHEMA = schemathesis.openapi.from_dict(_open())
OPERATIONS = {f"{one.method} {one.path}": one for one in map(_ok, SCHEMA.get_all_operations())}
_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """Return a client of an application that serves everything, over a socket."""
    folder = tmp_path_factory.mktemp("described")
    publish(str(folder / "history.db"), 1, FIRST)
    world = World(folder, history=str(folder / "history.db"))
    tokens = {"/metrics": world.admin}
    user = world.token(3)
    config = uvicorn.Config(world.app, port=0, log_config=None, access_log=False, server_header=False, ws="none")
    server, listening = uvicorn.Server(config), config.bind_socket()
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    session, url = requests.Session(), f"http://127.0.0.1:{listening.getsockname()[1]}"

    def ask(case):
        case.headers["authorization"] = f"Bearer {tokens.get(case.path, user)}"
        answer = case.call(base_url=url, session=session)
        # What is too large is refused unread; schemathesis does not count that among the ways to refuse what is unfit.
        unread = [negative_data_rejection] if answer.status_code == 413 else []
        case.validate_response(answer, excluded_checks=unread)

    yield ask
    session.close()
    server.should_exit = True
    thread.join()
    listening.close()


def cases(operation, asked, number):
    """Ask cases of one operation, as many as said that fit its description and as many that do not."""
    return sum(_cases(operation, asked, number, mode) for mode in schemathesis.GenerationMode)


def _cases(operation, asked, number, mode):
    n_asked = 0

    @settings(max_examples=number, phases=[Phase.generate], suppress_health_check=_QUIET, deadline=None, database=None)
    @given(case=OPERATIONS[operation].as_strategy(generation_mode=mode))
    def ask(case):
        nonlocal n_asked
        n_asked += 1
        asked(case)

    with contextlib.suppress(Unsatisfiable):  # an operation without parameters has nothing that does not fit
        ask()
    return n_asked


@pytest.mark.parametrize("operation", OPERATIONS)
def test_answers_are_as_described(operation, asked):
    assert cases(operation, asked, 15) > 0


@pytest.mark.slow
def test_two_thousand_cases_raise_no_server_error(asked):
    number = int(os.environ.get("RECLOAK_CASES", "2400")) // len(OPERATIONS)
    total = sum(cases(operation, asked, number) for operation in OPERATIONS)
    print(f"{total} cases")  # the figure of docs/benchmarks.md
    assert total >= 1
