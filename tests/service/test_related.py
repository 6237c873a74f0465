"""Related lists over HTTP: published ones only, the latest, whole; on SQLite and on PostgreSQL."""

import asyncio

import numpy as np
import pytest
import sqlalchemy as sa

import recloak.related
from recloak._core.errors import InputError
from recloak._ratings.ids import IdMap
from recloak._ratings.model import Ratings
from recloak._related.history import History, newest
from recloak._related.history_writing import append
from recloak._related.model import ListRelease, Lists
from recloak._service.app import _refresh, keep_fresh
from recloak._service.published_lists import PublishedLists
from tests.related import test_history
from tests.service.helpers import World, advisor, problem

IDS = IdMap.of([1, 2, 3])
FIRST = Lists(np.array([[1, 2], [0, -1], [-1, 0]], np.int32))
SECOND = Lists(np.array([[2, 1], [0, -1], [-1, 1]], np.int32))


def publish(address, number, lists, ids=IDS):
    with History(address) as store:
        append(store, ListRelease(number, 100 * number, lists), ids, {})


postgres, address = test_history.postgres, test_history.address  # fixtures


@pytest.fixture
def serving(address, tmp_path):
    publish(address, 1, FIRST)
    world = World(tmp_path, history=address)
    world.address = address
    yield world
    world.close()


def entries(answer):
    return [(one["position"], one["item"]) for one in answer.json()["related"]]


def test_an_item_s_list_is_that_of_the_latest_release(serving):
    answer = serving.ask("GET", "/api/v1/items/3/related")
    assert entries(answer) == [(1, 1)]  # what is shown has no gaps
    assert {name: answer.json()[name] for name in ("item", "title", "release", "time")} == {
        "item": 3, "title": "Pulp Fiction (1994)", "release": 1, "time": 100,
    }  # fmt: skip


def test_a_new_release_is_picked_up_without_a_restart(serving):
    assert entries(serving.ask("GET", "/api/v1/items/1/related")) == [(1, 2), (2, 3)]
    publish(serving.address, 2, SECOND)
    assert serving.published.refresh()
    assert entries(serving.ask("GET", "/api/v1/items/1/related")) == [(1, 3), (2, 2)]
    assert not serving.published.refresh()


def test_the_history_says_what_moved_the_newest_first(serving):
    publish(serving.address, 2, SECOND)
    serving.published.refresh()
    past = serving.ask("GET", "/api/v1/items/3/history").json()["releases"]
    assert [(one["release"], one["time"]) for one in past] == [(2, 200), (1, 100)]
    moved = [(one["item"], one["change"], one["before"], one["now"]) for one in past[0]["changes"]]
    assert moved == [(2, "appeared", None, 1), (1, "vanished", 1, None)]
    assert past[1]["changes"] == []
    one = serving.ask("GET", "/api/v1/items/1/history", params={"last": 2}).json()["releases"][0]["changes"]
    assert [(move["item"], move["change"]) for move in one] == [(3, "rose"), (2, "sank")]
    assert len(serving.ask("GET", "/api/v1/items/1/history", params={"last": 1}).json()["releases"]) == 1


@pytest.mark.parametrize("path", ["related", "history"])
def test_what_has_not_changed_is_not_sent_again(serving, path):
    where = f"/api/v1/items/1/{path}"
    first = serving.ask("GET", where)
    assert not first.headers["etag"].startswith("W/")
    assert first.headers["cache-control"] == "public, max-age=60"
    for known in (first.headers["etag"], f'"x", {first.headers["etag"]}', f"W/{first.headers['etag']}", "*"):
        again = serving.ask("GET", where, headers={"if-none-match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert serving.ask("GET", where, headers={"if-none-match": '"x"'}).status_code == 200
    publish(serving.address, 2, SECOND)
    serving.published.refresh()
    assert serving.ask("GET", where, headers={"if-none-match": first.headers["etag"]}).status_code == 200


@pytest.mark.parametrize("item", ["4", "13", "01", " 1", "x", "1/2", "-1", "1.0", "9" * 30, "%00"])
def test_an_item_without_a_published_list_is_not_there(serving, item):
    for path in ("related", "history"):
        assert problem(serving.ask("GET", f"/api/v1/items/{item}/{path}")) == "no_such_item"


def test_only_published_lists_can_be_served(serving):
    """Ratings of the same items are loaded beside, and nothing of them shows: item 4 is rated and has no list."""
    assert 4 in advisor().index.ratings.item_ids.ids.to_list()
    assert problem(serving.ask("GET", "/api/v1/items/4/related")) == "no_such_item"


def test_ids_may_be_texts_with_slashes(tmp_path):
    ids = IdMap.of(["a/b", "c d", "é"])
    publish(str(tmp_path / "history.db"), 1, FIRST, ids)
    published = PublishedLists(str(tmp_path / "history.db"), None)
    world = World(tmp_path)
    object.__setattr__(world.resources, "published", published)
    assert entries(world.ask("GET", "/api/v1/items/a%2Fb/related")) == [(1, "c d"), (2, "é")]
    assert entries(world.ask("GET", "/api/v1/items/%C3%A9/related")) == [(1, "a/b")]
    world.close()


def test_an_empty_history_is_served_and_filled_later(tmp_path):
    address = str(tmp_path / "history.db")
    with History(address):
        pass
    world = World(tmp_path, history=address)
    assert problem(world.ask("GET", "/api/v1/items/1/related")) == "no_such_item"
    assert world.ask("GET", "/ready").json() == {"status": "ready", "advice": True, "related": True, "release": None}
    publish(address, 1, FIRST)
    assert world.published.refresh()
    assert entries(world.ask("GET", "/api/v1/items/1/related")) == [(1, 2), (2, 3)]
    assert world.ask("GET", "/ready").json()["release"] == 1
    world.close()


def test_a_history_that_cannot_be_read_leaves_the_last_release_and_is_told(tmp_path, monkeypatch):
    address = str(tmp_path / "history.db")
    publish(address, 1, FIRST)
    world = World(tmp_path, history=address)

    def broken(_):
        raise InputError("no answer")

    monkeypatch.setattr("recloak._service.published_lists.newest", broken)
    asyncio.run(_refresh(world.resources))
    assert entries(world.ask("GET", "/api/v1/items/1/related")) == [(1, 2), (2, 3)]
    assert problem(world.ask("GET", "/ready")) == "not_ready"
    world.close()


@pytest.mark.parametrize("kind", [InputError, sa.exc.TimeoutError, ValueError, KeyError])
def test_looking_goes_on_after_whatever_went_wrong(tmp_path, monkeypatch, kind):
    address = str(tmp_path / "history.db")
    publish(address, 1, FIRST)
    world = World(tmp_path, history=address, refresh=0.01)
    looks = iter([kind("no answer")])

    def broken(store):
        for error in looks:
            raise error
        return newest(store)

    async def looking():
        publish(address, 2, SECOND)
        task = asyncio.create_task(keep_fresh(world.resources))
        for _ in range(500):
            await asyncio.sleep(0.01)
            if world.published.release == 2:
                break
        task.cancel()

    monkeypatch.setattr("recloak._service.published_lists.newest", broken)
    asyncio.run(looking())
    assert (world.published.release, world.published.is_fresh) == (2, True)
    world.close()


def test_a_look_under_way_does_not_make_the_server_unready(tmp_path, monkeypatch):
    address = str(tmp_path / "history.db")
    publish(address, 1, FIRST)
    world = World(tmp_path, history=address)
    seen = []
    monkeypatch.setattr("recloak._service.published_lists.newest", lambda _: seen.append(world.published.is_fresh))
    world.published.refresh()
    assert seen == [True]
    world.close()


def test_a_history_that_cannot_be_read_now_is_no_mistake_of_ours(tmp_path, monkeypatch):
    publish(str(tmp_path / "history.db"), 1, FIRST)
    world = World(tmp_path, history=str(tmp_path / "history.db"))

    def broken(*_):
        raise InputError("no answer")

    monkeypatch.setattr("recloak._service.published_lists.lists_of", broken)
    answer = world.ask("GET", "/api/v1/items/1/history")
    assert (answer.status_code, problem(answer), answer.headers["retry-after"]) == (503, "not_ready", "5")
    assert entries(world.ask("GET", "/api/v1/items/1/related")) == [(1, 2), (2, 3)]
    world.close()


def test_a_history_of_other_items_than_the_titles_is_refused(tmp_path):
    publish(str(tmp_path / "history.db"), 1, FIRST, IdMap.of(["a", "b", "c"]))
    with pytest.raises(InputError, match="no item of the history is in the title list"):
        PublishedLists(str(tmp_path / "history.db"), advisor().catalogue)


def test_items_are_found_by_the_beginnings_of_their_words(world):
    def found(words, **more):
        return [one["title"] for one in world.ask("GET", "/api/v1/items", params={"q": words, **more}).json()["items"]]

    assert found("matr") == ["The Matrix (1999)"]
    assert found("SOLARIS") == ["Solaris (1972)", "Solaris (2002)"]
    assert found("atrix") == []
    assert found("!!") == []
    assert len(found("lure")) == 12
    assert len(found("lure", limit=5)) == 5


def test_the_operator_s_page_is_for_administrators(tmp_path):
    where = tmp_path / "lists.db"
    chance = np.random.default_rng(5)
    users, items = np.divmod(chance.choice(300, 200, replace=False), 10)
    ratings = Ratings.from_arrays(users.tolist(), (items + 1).tolist(), [4.0] * 200, list(range(1, 201)))
    for until in (100, 200):
        recloak.related.publish(where, ratings, until=until, min_support=1, delta=1.0)
    world = World(tmp_path, history=str(where))
    try:
        assert problem(world.ask("GET", "/report")) == "no_token"
        assert problem(world.ask("GET", "/report", world.token(3))) == "not_allowed"
        page = world.ask("GET", "/report", world.admin)
        assert page.status_code == 200
        assert page.headers["content-type"].startswith("text/html")
        assert page.headers["cache-control"] == "no-store"
        assert "Pulp Fiction (1994)" in page.text
    finally:
        world.close()
