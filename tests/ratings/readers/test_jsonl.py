"""JSON Lines: objects become rows, and what is no object is told by its line."""

import gzip
import json

import numpy as np
import pytest

import recloak
from recloak._core.errors import SourceError
from recloak._ratings.readers import detect

REVIEWS = [
    {"reviewerID": "A1", "asin": "B1", "overall": 5.0, "unixReviewTime": 1_300_000_000, "helpful": [2, 3], "text": "x"},
    {"reviewerID": "A2", "asin": "B1", "overall": 3.0, "unixReviewTime": 1_300_000_001, "text": 'a "{" b'},
    {"asin": "B2", "reviewerID": "A1", "overall": 4.5, "unixReviewTime": 1_300_000_002},
]


def written(path, records, *, between="\n"):
    path.write_text(between.join(json.dumps(record) for record in records) + "\n")
    return path


def test_reviews_as_the_large_public_sets_write_them_are_read(tmp_path):
    ratings = recloak.read(written(tmp_path / "reviews.json", REVIEWS))
    table = ratings.to_polars().sort("user", "item")
    assert table.rows() == [
        ("A1", "B1", 5.0, 1_300_000_000),
        ("A1", "B2", 4.5, 1_300_000_002),
        ("A2", "B1", 3.0, 1_300_000_001),
    ]
    assert detect(tmp_path / "reviews.json") == "jsonl"


def test_packed_lines_and_blank_lines_are_read(tmp_path):
    plain = written(tmp_path / "r.jsonl", REVIEWS, between="\n\n")
    (tmp_path / "r.jsonl.gz").write_bytes(gzip.compress(plain.read_bytes()))
    assert len(recloak.read(tmp_path / "r.jsonl.gz")) == 3


def test_ids_keep_their_type_and_ratings_may_be_written_as_texts(tmp_path):
    records = [{"user": 1, "item": "7", "rating": "4"}, {"user": 2, "item": "8", "rating": "2.5"}]
    ratings = recloak.read(written(tmp_path / "r.jsonl", records))
    assert ratings.user_ids.ids.to_list() == [1, 2]
    assert ratings.item_ids.ids.to_list() == ["7", "8"]
    np.testing.assert_array_equal(ratings.values, [4.0, 2.5])


def test_ids_that_turn_into_texts_late_are_texts(tmp_path):
    records = [{"user": n, "item": 1, "rating": 1 + n % 5} for n in range(300)] + [
        {"user": "x", "item": 1, "rating": 2}
    ]
    ratings = recloak.read(written(tmp_path / "r.jsonl", records))
    assert ratings.n_users == 301
    assert "299" in ratings.user_ids.ids.to_list()


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("not json", "one JSON object"),
        ('{"user": 1, "item": 2', "one JSON object"),
        ("[1, 2, 3]", "one JSON object"),
        ('{"user": {"id": 1}, "item": 2, "rating": 3}', "'user' must be a number or a text"),
        ('{"user": true, "item": 2, "rating": 3}', "'user' must be a number or a text"),
        ('{"user": 1, "item": 2, "rating": 3, "user": 9}', "'user' must stand once in an object"),
        ('{"user": 1, "item": 2, "rating": 3, "us\\u0065r": 9}', "'user' must stand once in an object"),
        ('{"user": "a\\ud800", "item": 2, "rating": 3}', "'user' must not hold a NUL or half a surrogate pair"),
        ('{"user": "\\ud83dx", "item": 2, "rating": 3}', "'user' must not hold a NUL or half a surrogate pair"),
        ('{"user": "\\u0000", "item": 2, "rating": 3}', "'user' must not hold a NUL or half a surrogate pair"),
    ],
)
def test_a_line_that_is_no_row_is_named(tmp_path, line, rule):
    path = written(tmp_path / "r.jsonl", [{"user": n, "item": 2, "rating": 1 + n % 5} for n in range(250)])
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(SourceError, match=rule) as error:
        recloak.read(path)
    assert "line 251" in str(error.value)


def test_a_truth_is_no_id_in_the_first_line_either_and_its_word_is_one(tmp_path):
    path = written(tmp_path / "r.jsonl", [{"user": True, "item": 2, "rating": 3}, {"user": 1, "item": 2, "rating": 3}])
    with pytest.raises(SourceError, match="line 1: 'user' must be a number or a text, got 'true'"):
        recloak.read(path)
    written(path, [{"user": "true", "item": 2, "rating": 3}, {"user": "b", "item": 2, "rating": 3}])
    assert recloak.read(path).user_ids.ids.to_list() == ["b", "true"]


def test_a_name_twice_in_one_object_and_missing_in_another_is_seen(tmp_path):
    path = written(tmp_path / "r.jsonl", [{"user": 1, "item": 2, "rating": 3}, {"item": 2, "rating": 4}])
    path.write_text(path.read_text() + '{"user": 5, "item": 2, "rating": 3, "user": 6}\n')
    with pytest.raises(SourceError, match="line 3: 'user' must stand once"):
        recloak.read(path, skip_bad=True)


def test_names_that_stand_twice_inside_other_values_do_no_harm(tmp_path):
    records = [{"user": "a", "item": "b", "rating": 3, "text": 'she said "user": \\"user\\"', "by": "user"}]
    assert len(recloak.read(written(tmp_path / "r.jsonl", [*records, {"user": "c", "item": "d", "rating": 4}]))) == 2


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 10**30])
def test_ids_that_64_bits_do_not_hold_are_texts(tmp_path, number):
    records = [{"user": n, "item": 1, "rating": 3} for n in (1, 2, number)]
    assert str(number) in recloak.read(written(tmp_path / "r.jsonl", records)).user_ids.ids.to_list()


@pytest.mark.parametrize("rating", [10**400, -(10**400)])
def test_a_rating_that_no_number_holds_is_refused(tmp_path, rating):
    records = [{"user": 1, "item": 1, "rating": 3.5}, {"user": 2, "item": 1, "rating": rating}]
    with pytest.raises(SourceError, match="rating must"):
        recloak.read(written(tmp_path / "r.jsonl", records))


def test_a_missing_value_is_an_empty_one(tmp_path):
    path = written(tmp_path / "r.jsonl", [{"user": 1, "item": 2, "rating": 3}, {"user": 2, "item": 2}])
    with pytest.raises(SourceError, match="rating must not be empty"):
        recloak.read(path)
    assert len(recloak.read(path, skip_bad=True)) == 1


def test_json_over_several_lines_is_refused(tmp_path):
    (tmp_path / "r.json").write_text(json.dumps(REVIEWS, indent=1))
    with pytest.raises(SourceError, match="list in JSON"):
        recloak.read(tmp_path / "r.json")


ORDERS = [
    {"order": 1, "customer": {"id": "c1", "name": "x"}, "product": {"id": "p1"}, "quantity": 2},
    {"order": 2, "product": {"id": "p2"}, "customer": {"name": "y", "id": "c1"}, "quantity": 1},
    {"order": 3, "customer": {"id": "c2"}, "product": {"id": "p1"}, "quantity": 3},
]


@pytest.mark.parametrize("extra", [{}, {"shop": {"id": 7}}])  # a third id makes the block be read line by line
def test_ids_inside_inner_objects_are_read(tmp_path, extra):
    path = written(tmp_path / "orders.jsonl", [{**order, **extra} for order in ORDERS])
    table = recloak.read(path, values="counts").to_polars().sort("user", "item")
    assert table.select("user", "item", "count").rows() == [("c1", "p1", 2), ("c1", "p2", 1), ("c2", "p1", 3)]
    named = recloak.read(path, user="customer.id", item="order", values="presence")
    assert named.shape == (2, 3)


def test_a_name_of_the_object_itself_comes_before_one_inside(tmp_path):
    path = written(tmp_path / "r.jsonl", [{"user_id": "u1", "user": {"id": "x"}, "item": "i1", "rating": 3}])
    assert recloak.read(path).user_ids.ids.to_list() == ["u1"]


def test_an_inner_name_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text('{"customer": {"id": 1, "id": 2}, "item": 1}\n')
    with pytest.raises(SourceError, match="must stand once"):
        recloak.read(path)


def test_an_inner_object_that_becomes_plain_is_refused(tmp_path):
    lines = [{"customer": {"id": "c1"}, "item": 1}, {"customer": "c2", "item": 1}]
    with pytest.raises(SourceError, match="row 2"):
        recloak.read(written(tmp_path / "r.jsonl", lines))
