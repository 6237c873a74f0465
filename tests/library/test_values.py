"""Values print as one line of counts, never as what they hold; and they become tables."""

import dataclasses
import sys

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recloak
from recloak._evaluation.holdout import hold_out
from recloak._library.sources import as_ratings
from recloak._releases.group import group
from recloak._releases.pad import pad

N_USERS, N_ITEMS = 24, 12


def some_ratings(seed: int) -> recloak.Ratings:
    """Draw ratings whose ids and values cannot be taken for a count."""
    stream = np.random.default_rng(seed)
    rated = stream.random((N_USERS, N_ITEMS)) < 0.5
    rated[np.arange(N_USERS), np.arange(N_USERS) % N_ITEMS] = True
    users, items = np.nonzero(rated)
    values = np.round(1 + 4 * stream.random(len(users)), 5)
    scale = recloak.Scale(1.0, 5.0, None)
    names = [f"Quidam{n:03d}" for n in users], [f"Opus{n:03d}" for n in items]
    return recloak.Ratings.from_arrays(*names, values, scale=scale)


def values_of(ratings: recloak.Ratings) -> dict[str, object]:
    padding = pad(ratings, rng=0)
    release = recloak.publish(ratings, k=3, mode="pure", seed=1)
    return {
        "ratings": ratings,
        "columns": ratings.by_item(),
        "padding": padding,
        "grouping": group(padding, ratings=ratings, rng=0),
        "probe": hold_out(ratings, 0.1, rng=0)[1],
        "release": release,
        "padded": recloak.publish(ratings, k=3, seed=1),
        "block": next(release.blocks()),
        "verdict": recloak.verify(release),
        "inspection": recloak.inspect(ratings, targets=9, seed=1),
        "audit": recloak.audit(ratings, release, targets=9, known=(2,), varied_at=2, seed=1),
    }


def shown(value: object) -> str:
    html = getattr(value, "_repr_html_", lambda: None)()
    return f"{value!r}\n{value}\n{html}"


def within(value: object, seen: set[int]) -> list[object]:
    """Return a value and every value of ours that it holds."""
    if id(value) in seen or not dataclasses.is_dataclass(value):
        return []
    seen.add(id(value))
    held = [getattr(value, field.name) for field in dataclasses.fields(value)]
    return [value, *(inner for one in held for inner in within(one, seen))]


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_no_value_shows_an_id_a_rating_or_a_group(seed):
    ratings = some_ratings(seed)
    secrets = [*ratings.user_ids.ids, *ratings.item_ids.ids, *(f"{value:.7f}"[:7] for value in ratings.values)]
    for name, value in values_of(ratings).items():
        for one in within(value, set()):
            text = shown(one)
            assert not [secret for secret in secrets if str(secret) in text], (name, type(one))
            if type(one).__name__ != "Grid":  # which is published
                assert "array(" not in text, (name, type(one))
            if type(one).__name__ in recloak.__all__ and name not in ("facts", "scale"):
                assert len(repr(one)) < 400, (name, type(one))


def test_reprs_are_one_line_of_counts():
    ratings = some_ratings(1)
    found = values_of(ratings)
    assert repr(ratings) == f"<Ratings: 24 users, 12 items, {len(ratings)} ratings>"
    assert repr(ratings.user_ids) == "<IdMap: 24 text ids>"
    assert repr(found["release"]) == "<Release: 24 users in 8 groups of at least 3, 12 items, pure>"
    assert repr(found["inspection"]).startswith("<Inspection: 24 users, 12 items,")
    assert all("\n" not in repr(value) for value in found.values())


def test_errors_do_not_show_who_is_in_the_data():
    ratings = some_ratings(2)
    with pytest.raises(recloak.InputError) as told:
        recloak.publish(ratings, k=N_USERS + 1)
    assert "Quidam" not in str(told.value)


def test_a_notebook_is_shown_the_head_of_the_page():
    found = recloak.inspect(some_ratings(3), targets=9, seed=1)
    html = str(found._repr_html_())
    assert "<th>Users</th><td>24</td>" in html
    assert "singles out" in html
    assert html.split("</b>", maxsplit=1)[0].removeprefix("<p><b>").rstrip(".") in found.to_html()


def test_values_become_tables_of_every_kind():
    for name, value in values_of(some_ratings(4)).items():
        if name in ("ratings", "release", "padded", "verdict", "inspection", "audit"):
            tables = value.to_polars(), value.to_arrow(), value.to_pandas()  # type: ignore[attr-defined]
            assert isinstance(tables[0], pl.DataFrame)
            assert isinstance(tables[1], pa.Table)
            assert {table.shape for table in tables} == {tables[0].shape}
            assert as_ratings(tables[2]).n_users == N_USERS if name in ("ratings", "release") else True


def test_the_table_of_a_release_holds_nothing_private():
    ratings = some_ratings(5)
    table = recloak.publish(ratings, k=3, seed=1).to_polars()
    assert table.columns == ["user", "item", "rating"]
    assert set(table["user"]) == set(range(1, N_USERS + 1))


def test_without_pandas_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        recloak.MissingExtraError, match=r"^to_pandas needs pandas: install it with pip install pandas$"
    ):
        some_ratings(6).to_pandas()


def test_lengths_are_those_one_expects():
    found = values_of(some_ratings(7))
    assert len(found["ratings"]) == found["ratings"].n_ratings  # type: ignore[arg-type, attr-defined]
    assert len(found["audit"]) == len(found["audit"].outcomes)  # type: ignore[arg-type, attr-defined]


def test_a_result_without_a_page_says_so():
    found = dataclasses.replace(recloak.inspect(some_ratings(8), targets=9, seed=1), draw=None)
    assert str(found._repr_html_()).startswith("<p><code>&lt;Inspection: ")
    with pytest.raises(recloak.InputError, match="has no page"):
        found.to_html()
