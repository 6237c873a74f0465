"""The operator's page of related lists: titles, reasons, every promise, and warnings that are due."""

import numpy as np
import pytest

import recloak.related
from recloak._core.errors import InputError
from recloak._ratings.model import Ratings
from recloak._related.operator_view import view_of

DAY = 86_400


@pytest.fixture(scope="module")
def ratings():
    chance = np.random.default_rng(5)
    users, items = np.divmod(chance.choice(60 * 25, 900, replace=False), 25)
    times = np.sort(chance.integers(1, 40 * DAY, 900))
    return Ratings.from_arrays(users.tolist(), items.tolist(), [4.0] * 900, times.tolist())


@pytest.fixture(scope="module")
def store(ratings, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "lists.db"
    for day, delta in ((20, 0.3), (25, 0.3), (30, 0.5)):
        recloak.related.publish(
            path, ratings, min_support=2, until=day * DAY, delta=delta, horizon="all", loosen=delta > 0.3
        )
    return path


def test_the_page_shows_tonight_with_titles_and_reasons(store, tmp_path):
    titles = tmp_path / "titles.csv"
    titles.write_text("id,title\n" + "\n".join(f"{item},Film <{item}> (1990)" for item in range(25)), encoding="utf-8")
    view = recloak.related.report(store, titles=titles)
    page = view.to_html()
    assert view.changes
    assert "Film &lt;" in page
    assert "Film <" not in page  # titles cannot become markup
    assert "as in the true list" in page
    assert "<script" not in page
    assert "https:" not in page


def test_every_promise_and_every_loosening_is_told(store):
    view = recloak.related.report(store)
    assert any("Release 3 promises less" in one and "delta 0.3 to 0.5" in one for one in view.warnings)
    assert any("fewer than 5" in one for one in view.warnings)
    assert "delta 0.3 to 0.5" in view.to_html()
    assert [one["delta"] for one in view.to_json()["releases"]] == [0.3, 0.3, 0.5]
    assert view.to_polars()["recall"].to_list() == [one["recall"] for one in view.to_json()["releases"]]


def test_a_night_that_is_overdue_is_warned_of_and_one_in_time_is_not(store):
    with recloak.related.History(store) as history:
        late, in_time = (view_of(history, now=now * DAY).warnings for now in (60, 32))
    assert any("days old" in one for one in late)
    assert not any("days old" in one for one in in_time)


def test_the_second_night_is_no_alarm(ratings, tmp_path):
    """The first release is always the true lists, and one gap says nothing about how often releases come."""
    path = tmp_path / "lists.db"
    for day in (20, 39):
        recloak.related.publish(path, ratings, min_support=2, until=day * DAY, delta=0.1, horizon="all")
    with recloak.related.History(path) as history:
        recalls = [one["recall"] for one in history.to_json()["releases"]]
        told = view_of(history, now=400 * DAY).warnings
    assert recalls[1] < recalls[0] - 0.05
    assert not [one for one in told if "fell" in one or "days old" in one]


def test_coverage_counts_lists_and_entries_of_the_last_release(store):
    view, shown = recloak.related.report(store), recloak.related.export(store, release="last").to_polars()
    assert (view.n_lists, view.n_entries) == (shown["item"].n_unique(), len(shown))


def test_with_ratings_the_learned_observer_is_on_the_page(store, ratings):
    view = recloak.related.report(store, ratings, seed=1)
    assert {one.lists for one in view.observers} == {"published"}
    assert "What a learned observer infers" in view.to_html()


def test_an_empty_history_is_refused(tmp_path):
    with recloak.related.History(tmp_path / "empty.db"):
        pass
    with pytest.raises(InputError, match="no release to report"):
        recloak.related.report(tmp_path / "empty.db")
