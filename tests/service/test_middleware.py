"""What is done for every request: headers, limits, one shape of errors, and logs without private values."""

import asyncio
import json
import logging
import math
import re
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from recloak._service import advice, attacker_words, logs
from recloak._service.api_errors import ERRORS, ApiError
from recloak._service.app import create_app
from recloak._service.middleware import HEADERS, POLICY
from recloak._service.rate_limits import RateLimiter
from recloak._service.schema import AdviceResponse, Band
from tests.service.helpers import World, problem
from tests.service.test_related import FIRST, publish


def test_every_answer_carries_the_security_headers(world):
    token = world.token(3)
    answers = [
        world.ask("GET", "/"), world.ask("GET", "/health"), world.ask("GET", "/nothing"), world.ask("PUT", "/health"),
        world.ask("GET", "/static/base.css"), world.advise(token, text="Fargo"), world.advise(token),
        world.ask("HEAD", "/"),
    ]  # fmt: skip
    for one in answers:
        assert {name.decode() for name, _ in HEADERS} <= set(one.headers)
        assert one.headers["content-security-policy"] == POLICY
        assert "server" not in one.headers
        assert not [name for name in one.headers if name.startswith("access-control")]


BAND = Band(band="1 to 10", words="nearly alone")
ANSWER = AdviceResponse(
    k=5, before=BAND, after=BAND, hidden=False, finds=[], drops=[], adds=[], cheapest=None, n_unknown=0,
    attackers=[], why="", looked_at=[], most_telling=[], unvoiced=None, small=False,
)  # fmt: skip
# By route: what its answer to everybody says; no other answer may be kept by anybody.
KEPT = {
    "/": "no-cache", "/items": "no-cache", "/items/{item:path}": "no-cache", "/static/{name}": "no-cache",
    "/docs": "no-cache", "/openapi.json": "no-cache", "/api/v1/items/{item:path}/related": "public, max-age=60",
    "/api/v1/items/{item:path}/history": "public, max-age=60",
}  # fmt: skip


def paths(app):
    """Yield the paths of an application's routes, also of the routers within it."""
    for one in app.routes:
        if hasattr(one, "original_router"):
            yield from paths(one.original_router)
        else:
            yield one.path


def test_only_what_everybody_may_see_may_be_kept_by_a_cache(tmp_path):
    publish(str(tmp_path / "history.db"), 1, FIRST)
    world = World(tmp_path, history=str(tmp_path / "history.db"), allow_origin="https://forum.example")
    routes = sorted(set(paths(create_app(world.resources))))
    assert set(routes) >= {*KEPT, "/api/v1/items", "/api/v1/advice", "/metrics", "/ready"}
    asking = {"origin": "https://forum.example", "access-control-request-method": "POST"}
    statuses = set()
    tokens = (None, world.token(3), world.admin)
    for route in routes:
        path = route.replace("{item:path}", "1").replace("{name}", "base.css")
        for method in ("GET", "HEAD", "POST", "OPTIONS"):
            for token in tokens:
                for more in ({}, {"params": {"q": "fargo"}}, {"json": {"text": "Fargo"}}, {"headers": asking}):
                    answer = world.ask(method, path, token, **more)
                    statuses.add(answer.status_code)
                    kept = KEPT.get(route, "no-store") if answer.status_code == 200 else "no-store"
                    assert answer.headers.get_list("cache-control") == [kept], (method, path, answer.status_code)
    assert statuses >= {200, 204, 401, 403, 405, 422}
    world.close()


def test_the_policy_lets_nothing_in_from_another_host():
    sources = {word for rule in POLICY.split(";") for word in rule.split()[1:]}
    assert sources == {"'none'", "'self'"}


def test_the_api_is_described_on_a_page_without_script_or_other_hosts(world):
    answer = world.ask("GET", "/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for part in ("POST /api/v1/advice", "choices", "too_many", "GET /api/v1/items/{item}/related"):
        assert part in answer.text
    assert not re.search(r"<script|https?://|style=", answer.text)


def test_a_head_is_a_get_without_its_body(world):
    whole, head = world.ask("GET", "/static/base.css"), world.ask("HEAD", "/static/base.css")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"] == str(len(whole.content))


@pytest.mark.parametrize(
    "path", ["/static/../schema.py", "/static/..%2fschema.py", "/static/.hidden.css", "/static/none.css"]
)
def test_only_files_of_the_folder_are_given(world, path):
    assert problem(world.ask("GET", path)) == "not_found"


def test_a_large_body_is_refused_whether_its_length_is_said_or_not(tmp_path):
    world = World(tmp_path, max_body=1024)
    token = world.token(3)

    async def chunks():
        for _ in range(5):
            yield b" " * 300

    said = world.ask("POST", "/api/v1/advice", token, content=b" " * 1500, headers={"content-type": "application/json"})
    unsaid = world.ask("POST", "/api/v1/advice", token, content=chunks(), headers={"content-type": "application/json"})
    assert "content-length" not in unsaid.request.headers
    for answer in (said, unsaid):
        assert (answer.status_code, problem(answer)) == (413, "too_large")
    world.close()


def test_an_answer_that_takes_too_long_is_given_up(tmp_path, monkeypatch):
    world = World(tmp_path, timeout=0.2)
    monkeypatch.setattr("recloak._service.routes.advice.answer", lambda *_: time.sleep(1))
    began = time.perf_counter()
    answer = world.advise(world.token(3), text="Fargo " * 400)
    assert (answer.status_code, problem(answer)) == (503, "timeout")
    assert time.perf_counter() - began < 1
    world.close()


def test_more_requests_at_once_than_can_be_answered_are_refused(world, monkeypatch):
    monkeypatch.setattr("recloak._service.middleware._MAX_OPEN", 2)

    def slow(*_):
        time.sleep(0.3)
        return ANSWER

    monkeypatch.setattr("recloak._service.routes.advice.answer", slow)
    token = world.token(3)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: world.advise(token, text="Fargo " * 400), range(4)))
    refused = [one for one in found if one.status_code == 503]
    assert [problem(one) for one in refused] == ["overloaded"] * 2
    assert world.advise(token, text="Fargo").status_code == 200


def test_a_body_that_never_comes_is_given_up(tmp_path):
    world = World(tmp_path, timeout=0.2)

    async def never():
        yield b"{"
        await asyncio.sleep(5)

    answer = world.ask(
        "POST", "/api/v1/advice", world.token(3), content=never(), headers={"content-type": "application/json"}
    )
    assert problem(answer) == "timeout"
    world.close()


def test_our_own_failure_is_one_sentence_and_its_log_has_no_values(world, monkeypatch, caplog):
    def broken(*_):
        raise RuntimeError("the secret draft")

    monkeypatch.setattr("recloak._service.routes.advice.answer", broken)
    logging.getLogger("recloak._service").propagate = True
    answer = world.advise(world.token(3), text="the secret draft")
    assert (answer.status_code, problem(answer)) == (500, "internal")
    lines = [logs.JsonLines().format(record) for record in caplog.records]
    assert any('"error": "RuntimeError"' in line for line in lines)
    assert not any("secret" in line for line in lines)


def test_only_json_is_read(world):
    answer = world.ask(
        "POST", "/api/v1/advice", world.token(3), content=b'{"text": "a"}', headers={"content-type": "text/plain"}
    )
    assert (answer.status_code, problem(answer)) == (415, "not_json")


def test_pages_of_another_origin_may_not_ask_unless_named(tmp_path):
    world = World(tmp_path, allow_origin="https://forum.example, https://two.example")
    token = world.token(3)
    named, other = ({"origin": one} for one in ("https://forum.example", "https://evil.example"))
    asked = {"access-control-request-method": "POST"}
    before = world.ask("OPTIONS", "/api/v1/advice", headers={**named, **asked})
    assert (before.status_code, before.headers["access-control-allow-origin"]) == (204, "https://forum.example")
    assert "authorization" in before.headers["access-control-allow-headers"]
    answer = world.ask("POST", "/api/v1/advice", token, json={"text": "Fargo"}, headers=named)
    assert answer.headers["access-control-allow-origin"] == "https://forum.example"
    for refused in (
        world.ask("OPTIONS", "/api/v1/advice", headers={**other, **asked}),
        world.ask("POST", "/api/v1/advice", token, json={"text": "Fargo"}, headers=other),
    ):
        assert "access-control-allow-origin" not in refused.headers
    for anybody in ({}, other, named):  # or a cache would give one of them what is meant for the other
        assert world.ask("GET", "/health", headers=anybody).headers["vary"] == "origin"
    world.close()


def test_the_log_of_a_request_names_its_route_and_nothing_that_was_asked(world, caplog):
    logging.getLogger("recloak._service").propagate = True
    token = world.token(3)
    with caplog.at_level(logging.INFO):
        world.advise(token, text="I love Mintaka (1953)", earlier=[13])
        world.ask("GET", "/api/v1/items", params={"q": "mintaka"})
        world.ask("GET", "/api/v1/items/13/related")
        world.ask("GET", "/secret-address")
    ours = [record for record in caplog.records if record.name == "recloak._service"]  # not those of the test's client
    lines = [json.loads(logs.JsonLines().format(record)) for record in ours]
    routes = [one["route"] for one in lines if one["event"] == "request"]
    assert routes == ["/api/v1/advice", "/api/v1/items", "/api/v1/items/{item:path}/related", "other"]
    for word in ("intaka", "1953", token, token.split("_", 2)[2], "13", "secret", "Bearer"):
        assert not any(
            word in json.dumps({k: v for k, v in one.items() if k not in ("time", "ms", "process")}) for one in lines
        )


def test_every_error_is_one_sentence():
    for code, (status, sentence) in ERRORS.items():
        assert 400 <= status < 600, code
        assert sentence[0].isupper(), code
        assert sentence.endswith("."), code
        assert json.loads(bytes(ApiError(code).response().body)) == {"error": {"code": code, "message": sentence}}


class Clock:
    now = 1000.0

    def __call__(self):
        return self.now


def test_a_bucket_fills_at_its_rate_and_never_beyond_its_burst(tmp_path):
    clock = Clock()
    one, two = (RateLimiter(tmp_path / "buckets", 2.0, 4, clock=clock) for _ in range(2))
    assert [one.take(7), two.take(7), one.take(7), two.take(7)] == [0, 0, 0, 0]  # two workers share it
    assert two.take(7) == pytest.approx(1 / 2.0)
    assert one.take(8) == 0  # another token's is its own
    clock.now += 0.5
    assert [one.take(7), two.take(7) > 0] == [0, True]
    clock.now += 1000
    assert [one.take(7, cost=99), two.take(7) > 0] == [0, True]
    one.close()
    two.close()


@pytest.mark.parametrize("burst", [1, 4, 10, 30])
def test_a_long_text_fits_after_the_waits_that_it_is_told(tmp_path, burst):
    clock = Clock()
    limiter = RateLimiter(tmp_path / "buckets", 0.5, burst, clock=clock)

    def asked():
        return limiter.take(7) or limiter.take(7, 10.0, paid=1.0)

    while not asked():
        pass
    waits = 0
    while wait := asked():
        clock.now, waits = clock.now + math.ceil(wait), waits + 1
    assert waits <= 2  # one for the request, and one for its length
    limiter.close()


def test_words_are_there_for_every_band():
    assert list(attacker_words.WORDS) == list(advice._ORDER)
