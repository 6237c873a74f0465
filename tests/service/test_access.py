"""Who may ask what: a token sees advice about its own user, an administrator's sees figures, and nobody sees more."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recloak._mentions.draft_question import Said
from recloak._service.advice import answer
from recloak._service.schema import AdviceRequest
from tests.service.helpers import World, advisor, problem

ITEMS = st.lists(st.sampled_from([1, 2, 3, 4, *range(10, 22), 50, 51, 80, 81, 999]), max_size=6)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("world"))
    made.keys = {user: made.token(user) for user in range(12)}
    yield made
    made.close()


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 11), st.integers(0, 11), ITEMS, ITEMS)
def test_a_token_of_one_user_never_gets_anything_of_another(shared, mine, other, items, earlier):
    """Whatever names the other user, the answer is the one about the token's own user, or a refusal."""
    body = {"items": items, "earlier": earlier, "k": 5}
    own = answer(advisor(), mine, AdviceRequest(**body)).model_dump_json().encode()
    plain = shared.advise(shared.keys[mine], **body)
    assert plain.content == own
    naming = {"params": {"user": other}, "headers": {"x-user": str(other), "cookie": f"user={other}"}}
    assert shared.ask("POST", "/api/v1/advice", shared.keys[mine], json=body, **naming).content == own
    for field in ("user", "user_id", "token"):
        refused = shared.advise(shared.keys[mine], **body, **{field: other})
        assert (refused.status_code, problem(refused)) == (422, "invalid")


def test_known_mentions_are_those_of_the_token_s_user(tmp_path):
    world = World(tmp_path)
    earlier = dict(advisor().earlier)
    try:
        advisor().earlier.update({3: [Said(13)]})
        mine, other = (world.advise(world.token(user), items=[], k=5).json() for user in (3, 4))
    finally:
        advisor().earlier.clear()
        advisor().earlier.update(earlier)
        world.close()
    assert mine["before"]["band"] == "1 to 10"
    assert other["before"]["band"] != "1 to 10"


@pytest.mark.parametrize(
    ("header", "code"),
    [
        (None, "no_token"), ("", "no_token"), ("Bearer", "no_token"), ("Bearer  ", "no_token"),
        ("Basic YTpi", "no_token"), ("Bearer nonsense", "bad_token"),
        ("Bearer recloak_0000000000000000_" + "a" * 43, "bad_token"),
        ("Bearer " + "a" * 5000, "bad_token"),
    ],
)  # fmt: skip
def test_without_a_valid_token_there_is_no_advice(world, header, code):
    headers = {} if header is None else {"authorization": header}
    answer = world.ask("POST", "/api/v1/advice", json={"text": "Fargo"}, headers=headers)
    assert (answer.status_code, problem(answer)) == (401, code)
    assert answer.headers["www-authenticate"] == "Bearer"


def test_tokens_are_read_from_the_header_alone(world):
    token = world.token(3)
    for more in ({"params": {"token": token}}, {"headers": {"cookie": f"token={token}"}}):
        assert problem(world.ask("POST", "/api/v1/advice", json={"text": "Fargo"}, **more)) == "no_token"


def test_figures_are_for_administrators_and_advice_is_for_users(world):
    token = world.token(3)
    assert problem(world.ask("GET", "/metrics", token)) == "not_allowed"
    assert problem(world.ask("GET", "/metrics")) == "no_token"
    assert problem(world.advise(world.admin, text="Fargo")) == "not_allowed"
    figures = world.ask("GET", "/metrics", world.admin)
    assert figures.status_code == 200
    assert "recloak_requests_total" in figures.text


def test_a_token_that_asks_too_often_waits_and_others_do_not(tmp_path):
    world = World(tmp_path, rate=0.5, burst=3)
    hasty, calm = world.token(3), world.token(4)
    answers = [world.advise(hasty, text="Fargo") for _ in range(5)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429, 429]
    assert problem(answers[-1]) == "too_many"
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 2
    assert world.advise(calm, text="Fargo").status_code == 200
    world.close()


def test_a_long_text_counts_for_several_requests(tmp_path):
    world = World(tmp_path, rate=0.001, burst=8)
    token = world.token(3)
    assert world.advise(token, text="word " * 2000).status_code == 200  # 1 + 10000 / 2000 of 8
    assert [world.advise(token, text="a").status_code for _ in range(3)] == [200, 200, 429]
    world.close()


def test_no_answer_repeats_a_token_or_what_was_refused(world):
    token, odd = world.token(3), "<script>alert(1)</script>"
    asked = [
        world.ask("GET", f"/{odd}"),
        world.ask("GET", "/api/v1/items", params={"q": odd, "limit": odd}),
        world.ask("GET", f"/api/v1/items/{odd}/related"),
        world.advise(token, text=5, odd=odd),
        world.advise(token + odd, text="Fargo"),
        world.ask("POST", "/api/v1/advice", token, content=json.dumps({odd: 1}), headers={"content-type": odd}),
    ]
    for one in asked:
        assert one.status_code >= 400
        assert problem(one)
        assert "alert" not in one.text
        assert token not in one.text
