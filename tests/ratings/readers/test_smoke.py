"""A first look: each layout gives the same ratings."""

import gzip

import pytest

from recloak.ratings import read

ROWS = [(1, 10, 5, 100), (1, 20, 3, 200), (2, 10, 4, 300)]


def joined(separator: str) -> str:
    return "\n".join(separator.join(map(str, row)) for row in ROWS) + "\n"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ratings.csv", "userId,movieId,rating,timestamp\n" + joined(",")),
        ("bare.csv", joined(",")),
        ("ratings.dat", joined("::")),
        ("u.data", joined("\t")),
        ("x.inter", "user_id:token\titem_id:token\trating:float\ttimestamp:float\n" + joined("\t")),
        ("semi.csv", '"User-ID";"ISBN";"Book-Rating";"Timestamp"\r\n' + joined(";").replace("\n", "\r\n")),
        ("bars.txt", joined("|")),
        ("blanks.txt", joined("  ")),
    ],
)
def test_every_delimited_layout_gives_the_same_ratings(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    (tmp_path / f"{name}.gz").write_bytes(gzip.compress(text.encode()))
    for file in (name, f"{name}.gz"):
        table = read(tmp_path / file).to_polars()
        assert table.rows() == ROWS
