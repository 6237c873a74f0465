"""A part of a released table is judged by itself, and its marks can be compared with those of any other part."""

import secrets

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from recloak._ratings.model import Ratings
from recloak._releases.verifier.claims import read_claims
from recloak._releases.verifier.item_numbers import ItemNumbers
from recloak._releases.verifier.part_findings import inspect_part
from recloak._releases.verifier.scan import CellBlock, allowed, codes_of, scan
from tests.releases.helpers import some_ratings, some_release

SECRET = b"s" * 32
LABELS = allowed(1.0, 5.0, 0.5)


@pytest.mark.parametrize("layout", ["long", "grouped"])
@pytest.mark.parametrize("text", [False, True])
def test_equal_rows_and_only_those_have_equal_marks(tmp_path, layout, text):
    ratings = some_ratings(30, 8)
    if text:
        ratings = Ratings.from_arrays(ratings.users(), [f"item {9 - item}" for item in ratings.items], ratings.values)
    folder = some_release(ratings, k=3, mode="pure", grid=0.5).write(tmp_path / "out", layout=layout)
    claims, _ = read_claims(folder)
    assert claims is not None
    items = ItemNumbers(secrets.token_bytes(32))
    summary, found = inspect_part(claims.cell_parts[0], claims, items)
    assert (summary.state, summary.problems) == ("read", [])
    rows: dict[int, list[tuple[object, float]]] = {}
    for name, item, rating in zip(*pq.read_table(claims.path(claims.cell_parts[0])).to_pydict().values(), strict=True):
        rows.setdefault(name, []).append((item, rating))
    assert found.names.tolist() == sorted(rows)
    assert found.counts.tolist() == [len(rows[name]) for name in sorted(rows)]
    marks = dict(zip(found.names.tolist(), map(tuple, found.marks.tolist()), strict=True))
    same = {(a, b) for a in rows for b in rows if rows[a] == rows[b]}
    assert same == {(a, b) for a in marks for b in marks if marks[a] == marks[b]}


def marks_of(ids, labels, secret=SECRET, before=()):
    """Mark one row; other items may have been met before."""
    items = ItemNumbers(secret)
    if before:
        items.encode(pa.array(before))
    numbers, ranks = items.encode(pa.array(ids))
    codes, wrong = codes_of(np.array(labels, np.float32), LABELS)
    cells = CellBlock(np.ones(1, np.int32), np.array([len(ids)]), numbers, ranks, codes)
    rows, faults = scan(cells, items.words(), 1)
    assert not wrong
    assert not faults
    return rows.marks[0].tolist()


@pytest.mark.parametrize(("ids", "before"), [([4, 7], [7, 5]), (["a", "c"], ["c", "b"])])
def test_a_mark_does_not_depend_on_where_it_was_made_but_on_the_secret(ids, before):
    mark = marks_of(ids, [3.0, 5.0])
    assert mark == marks_of(ids, [3.0, 5.0], before=before)
    other = marks_of(ids, [3.0, 5.0], secret=b"t" * 32)
    assert not set(mark) & set(other)


def test_items_and_labels_both_count_in_both_words_of_a_mark():
    rows = [([4, 7], [3.0, 5.0]), ([4, 7], [5.0, 3.0]), ([4, 8], [3.0, 5.0]), ([4], [3.0]), ([7], [5.0]), ([4], [5.0])]
    marks = np.array([marks_of(*row) for row in rows])
    assert all(len(np.unique(word)) == len(rows) for word in marks.T)


def test_marks_without_a_secret_are_not_made():
    with pytest.raises(AssertionError, match="without a secret"):
        marks_of([4], [3.0], secret=b"")


def test_the_numbers_of_items_stay_as_their_table_grows():
    items = ItemNumbers(SECRET)
    ids = np.arange(100_000) * 7 % 99_991
    numbers, _ = items.encode(pa.array(ids))
    assert len(items) == len(np.unique(ids))
    assert (np.array(items.ids())[numbers] == ids).all()
    assert items.words().shape == (2, len(items))


@pytest.mark.parametrize(
    ("change", "state", "problem"),
    [
        (lambda part, claims: (part._replace(sha256="0" * 64), claims), "changed", "its SHA-256"),
        (lambda part, claims: (part._replace(n_rows=part.n_rows + 1), claims), "unreadable", "holds at most"),
        (lambda part, claims: (part._replace(n_rows=part.n_rows - 1), claims), "read", "the manifest says"),
    ],
)
def test_a_part_that_is_not_what_the_manifest_says_is_told(tmp_path, change, state, problem):
    claims, _ = read_claims(some_release(some_ratings(30, 8), k=3, mode="pure").write(tmp_path / "out"))
    assert claims is not None
    part, claims = change(claims.cell_parts[0], claims)
    summary, _ = inspect_part(part, claims, ItemNumbers(SECRET))
    assert summary.state == state
    assert problem in summary.problems[0]


def test_items_whose_first_words_collide_are_told_apart_by_the_second():
    words = np.array([[5, 5], [1, 2]], np.uint64)  # of two items
    items, ones = np.array([0, 1], np.int32), np.full(2, 3, np.uint32)
    rows, _ = scan(CellBlock(np.array([1, 2], np.int32), np.array([1, 1]), items, items, ones), words, 2)
    assert rows.marks[0, 0] == rows.marks[1, 0]
    assert rows.marks[0, 1] != rows.marks[1, 1]
