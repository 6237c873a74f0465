"""Advice over HTTP: what is found, what it gives away, what the writer corrects, and in which units places count."""

import polars as pl
import pytest

from recloak._service import advice
from tests.service.helpers import World, problem, ratings


def utf16_slice(text, start, end):
    """Cut a text as JavaScript's ``slice`` does."""
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_the_rare_mention_gives_most_and_leaving_it_out_hides(world):
    answer = world.advise(world.token(3), text="I love The Matrix and Mintaka (1953).", k=5).json()
    gives = {one["title"]: one["gives"] for one in answer["finds"]}
    assert gives == {"The Matrix (1999)": "little", "Mintaka (1953)": "most"}
    assert answer["after"] == {"band": "1 to 10", "words": "nearly alone"}
    assert not answer["hidden"]
    assert [one["title"] for one in answer["cheapest"]["drop"]] == ["Mintaka (1953)"]


def test_both_addresses_answer_the_same(world):
    token = world.token(3)
    answers = [world.ask("POST", path, token, json={"text": "Fargo"}) for path in ("/api/advice", "/api/v1/advice")]
    assert answers[0].status_code == 200
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize("before", ["", "😀 ", "é𝄞👩‍🚀 ", "中文 "])
def test_places_count_utf16_code_units(world, before):
    text = f"{before}I watched Toy Story 😀 and Mintaka (1953)."
    finds = world.advise(world.token(3), text=text).json()["finds"]
    assert [utf16_slice(text, one["start"], one["end"]) for one in finds] == ["Toy Story", "Mintaka"]
    assert [one["text"] for one in finds] == ["Toy Story", "Mintaka"]


def test_items_may_be_given_instead_of_text(world):
    answer = world.advise(world.token(3), items=[1, 13], k=5).json()
    assert answer["finds"] == []
    assert answer["after"]["band"] == "1 to 10"
    assert [one["drop"][0]["item"] for one in answer["drops"]] == [1, 13]


def test_the_writer_corrects_a_find(world):
    token, text = world.token(4), "Last night we saw Solaris at home."
    (find,) = world.advise(token, text=text).json()["finds"]
    other = find["alternatives"][0]
    assert {find["item"], other["item"]} == {80, 81}
    chosen = world.advise(token, text=text, choices=[{"start": find["start"], "item": other["item"]}]).json()["finds"]
    assert (chosen[0]["item"], chosen[0]["tier"]) == (other["item"], "sure")
    none = world.advise(token, text=text, choices=[{"start": find["start"], "item": None}]).json()
    assert (none["finds"][0]["item"], none["finds"][0]["counted"], none["drops"]) == (None, False, [])


def test_a_possible_find_that_the_writer_did_not_rate_is_no_part_of_the_draft(world, monkeypatch):
    rated = ratings().to_polars()
    raters = set(rated.filter(pl.col("item") == 4)["user"])
    stranger = next(user for user in rated["user"].unique().sort() if user not in raters)
    drafts, true = [], vars(advice)["advise"]

    def watched(index, user, earlier, draft, **options):
        drafts.append(draft)
        return true(index, user, earlier, draft, **options)

    monkeypatch.setattr(advice, "advise", watched)
    (find,) = world.advise(world.token(stranger), text="Fargo").json()["finds"]
    assert (find["item"], find["tier"], find["counted"], drafts) == (4, "possible", False, [[]])


def test_what_was_said_earlier_counts_before_and_is_no_news(world):
    answer = world.advise(world.token(3), text="Mintaka (1953) again", earlier=[13], k=5).json()
    assert answer["before"]["band"] == "1 to 10"
    assert [one["gives"] for one in answer["finds"]] == ["nothing"]


def test_a_user_without_ratings_is_told_so(world):
    assert problem(world.advise(world.token("nobody"), text="Fargo")) == "no_ratings"


def test_k_beyond_the_users_becomes_the_most_there_is(world):
    assert world.advise(world.token(3), text="Fargo", k=999).json()["k"] == ratings().n_users - 1


@pytest.mark.parametrize(
    "body",
    [
        b"{", b'"\xff"', b'{"text": "\\ud800"}', b"{}", b'{"text": "a", "items": []}',
        b'{"text": null}', b'{"text": 5}',
        b'{"text": "a", "user": 3}', b'{"items": [true]}', b'{"items": [1e400]}', b'{"items": [99999999999999999999]}',
        b'{"text": "a", "k": 0}', b'{"text": "a", "k": "5"}', b"[" * 5000, b'{"text": "' + b"a" * 20001 + b'"}',
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused_in_one_sentence(world, body):
    answer = world.ask(
        "POST", "/api/v1/advice", world.token(3), content=body, headers={"content-type": "application/json"}
    )
    assert (answer.status_code, problem(answer)) == (422, "invalid")


def test_a_server_without_ratings_says_so(tmp_path):
    world = World(tmp_path)
    object.__setattr__(world.resources, "advisor", None)
    assert problem(world.advise(world.token(3), text="Fargo")) == "not_served"
    world.close()


def test_exposure_tells_what_all_posts_give_away_and_what_deleting_brings(world):
    from dataclasses import replace

    from recloak._mentions.draft_question import Said

    told = replace(world.resources.advisor, earlier={3: [Said(1), Said(13)]})
    object.__setattr__(world.resources, "advisor", told)
    try:
        found = world.ask("GET", "/api/v1/exposure", world.token(3)).json()
    finally:
        object.__setattr__(world.resources, "advisor", replace(told, earlier={}))
    assert (found["n_mentions"], found["hidden"]) == (2, False)
    assert [one["item"] for one in found["mentions"]] == [13, 1]
    assert {one["band"]["words"] for one in found["mentions"]} <= {"nearly alone", "one of dozens"}
    assert found["without_all"]["band"] == "11 to 100"
    assert problem(world.ask("GET", "/api/v1/exposure", world.token("nobody"))) == "no_ratings"


def test_advice_names_every_attacker_why_and_what_was_looked_at(world):
    answer = world.advise(world.token(3), text="I love Mintaka (1953).", k=5).json()
    assert answer["why"]
    assert {one["name"] for one in answer["attackers"]} >= {"scoring", "likelihood_ratio", "learned"}
    assert answer["looked_at"][:2] == ["titles", "opinions"]
    assert "opinions" not in world.advise(world.token(3), text="Mintaka (1953)", voiced=False).json()["looked_at"]
    assert problem(world.advise(world.token(3), text="Mintaka", days=7)) == "invalid"
