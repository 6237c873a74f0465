"""Statistics beside a release: what each person can add is bounded, and what is written is verified."""

import importlib.util
import json
import math
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import scipy.sparse

import recloak
from recloak._attacks.statistics_membership import evidence, leftover
from recloak._core.errors import MissingExtraError, OptionError
from recloak._core.files import sha256_of
from recloak._releases.model.manifest import as_text
from recloak._releases.model.release_format import sealed
from recloak._releases.model.statistics import ACTIVITY_FROM, delta_for, levels_of
from recloak._releases.statistics.bounded_sums import Classes, _class_part, bounded_sums
from recloak._releases.statistics.making import expected_items, make_statistics, pairs_held
from recloak._releases.statistics.privacy_budget import budget_for, with_noise
from recloak._releases.statistics.whole_counts import summing_to

UNIT = 1 << 12


@pytest.fixture(scope="module")
def ratings():
    return recloak.synth(users=200, items=30, ratings=2500, seed=1)


@pytest.fixture(scope="module")
def texts(ratings):
    table = ratings.to_polars().with_columns(item="the " + pl.col("item").cast(pl.String) + ' "one", é')
    return recloak.read(table)


@pytest.fixture(scope="module")
def published(ratings, tmp_path_factory):
    folder = tmp_path_factory.mktemp("published") / "out"
    recloak.publish(ratings, folder, mode="pure", format="csv", seed=1, statistics=1.0)
    return folder


@pytest.fixture
def copy(published, tmp_path):
    return Path(shutil.copytree(published, tmp_path / "out"))


def some_rows(n_people: int, n_columns: int, seed: int) -> scipy.sparse.csr_array:
    held = np.random.default_rng(seed).random((n_people, n_columns)) < 0.4
    return scipy.sparse.csr_array(held.astype(np.int64))


LAYOUTS = [
    ("padded", "grouped", "parquet"),
    ("padded", "long", "csv"),
    ("padded", "factors", "parquet"),
    ("pure", "grouped", "csv"),
    ("pure", "long", "parquet"),
    ("sampled", "drawn", "parquet"),
]


@pytest.mark.parametrize(("mode", "layout", "file_format"), LAYOUTS)
def test_statistics_go_with_every_mode_layout_and_kind_of_ids(texts, tmp_path, mode, layout, file_format):
    recloak.publish(texts, tmp_path / "out", mode=mode, layout=layout, format=file_format, seed=1, statistics=1.0)
    assert recloak.verify(tmp_path / "out").passed
    assert recloak.verify(tmp_path / "out", content=True).passed
    read = pl.read_parquet if file_format == "parquet" else pl.read_csv
    counts = read(tmp_path / "out" / f"statistics_items.{file_format}")
    assert counts["item"].to_list() == sorted(texts.item_ids.ids.to_list())
    card = (tmp_path / "out" / "README.md").read_text()
    assert "epsilon 1 and delta 0.0005" in card


@pytest.mark.parametrize("scale", [None, (0, 7)])
def test_what_the_promise_leaves_out_is_said(ratings, tmp_path, caplog, scale):
    table = ratings.to_polars().select("user", "item", pl.col("rating").cast(pl.Float64))
    odd = table.with_columns(rating=pl.when(pl.int_range(pl.len()) == 0).then(6.5).otherwise("rating"))
    odd.write_csv(tmp_path / "odd.csv")
    caplog.set_level("INFO", logger="recloak")
    source = recloak.Source(tmp_path / "odd.csv", scale=scale)
    recloak.publish(source, tmp_path / "out", mode="pure", format="csv", seed=1, statistics=0.1)
    levels = pl.read_csv(tmp_path / "out" / "statistics_ratings.csv")["rating"].unique().sort()
    assert levels[-1] == (6.5 if scale is None else 7)  # whatever epsilon is
    assert (levels[1] - levels[0]) == 0.5  # a scale that is given has its ends, not its steps
    assert ("(scale=...)" in caplog.text) == (scale is None)
    assert "one rating between the steps shows" in caplog.text
    assert "Publishing statistics of the same people again spends epsilon again." in caplog.text
    for file in ("README.md", "manifest.json"):
        said = " ".join((tmp_path / "out" / file).read_text().split())
        assert "the ends and steps of the scale of ratings, which one rating can change" in said


def test_a_seed_repeats_the_rows_and_never_the_noise(ratings, tmp_path):
    for name in ("one", "two"):
        recloak.publish(ratings, tmp_path / name, mode="pure", seed=1, statistics=1.0)
    recloak.publish(ratings, tmp_path / "bare", mode="pure", seed=1)
    rows, counts = (
        {(tmp_path / name / file).read_bytes() for name in ("one", "two")}
        for file in ("profiles.parquet", "statistics_items.parquet")
    )
    assert rows == {(tmp_path / "bare" / "profiles.parquet").read_bytes()}
    assert len(counts) == 2


def test_one_release_has_the_same_statistics_in_every_copy(ratings, tmp_path):
    release = recloak.publish(ratings, k=5, seed=1, statistics=1.0)
    for layout in ("grouped", "long"):
        release.write(tmp_path / layout, layout=layout)
    one, two = ((tmp_path / layout / "statistics_pairs.parquet").read_bytes() for layout in ("grouped", "long"))
    assert one == two


@pytest.mark.parametrize("bound", [0.5, 1.0, 2.0, 50.0])
def test_no_person_adds_more_than_the_bound(bound):
    rows, scale = some_rows(50, 12, 1), np.array([UNIT, UNIT // 3, 5] * 4)
    wanted = np.rint(np.random.default_rng(2).random(12) * scale).astype(np.int64)
    for person in range(50):
        part = _class_part(rows[[person]], scale, wanted, bound)
        assert np.sqrt((part.astype(float) ** 2).sum()) <= bound * UNIT * UNIT
    whole = sum(_class_part(rows[[person]], scale, wanted, bound) for person in range(50))
    assert np.array_equal(whole, _class_part(rows, scale, wanted, bound))  # so one more person changes it by one part


def test_sums_are_those_of_the_columns_where_nothing_is_cut():
    rows, sizes = some_rows(400, 6, 3), np.array([150.0, 250.0])
    classes = Classes(np.repeat([0, 1], [150, 250]), sizes)
    expected = np.random.default_rng(4).random((2, 6))
    found = bounded_sums(rows, classes, expected, np.ones(6), bound=10.0, rho=1e6)
    assert found.sums == pytest.approx(rows.sum(axis=0), abs=0.2)


def test_noise_has_the_size_that_its_price_says():
    noisy = with_noise(np.zeros(4000, np.int64), sensitivity=300.0, rho=0.5)
    assert noisy.std() == pytest.approx(300 / math.sqrt(2 * 0.5), rel=0.06)  # sensitivity / sqrt(2 rho)


def test_a_budget_is_at_least_the_one_of_the_simple_formula_and_grows():
    delta = 1e-5
    rhos = [budget_for(epsilon, delta) for epsilon in (0.1, 1.0, 5.0)]
    simple = (math.sqrt(math.log(1 / delta) + 1) - math.sqrt(math.log(1 / delta))) ** 2  # of epsilon 1
    assert rhos == sorted(rhos)
    assert simple < rhos[1] < 1.5 * simple


def test_delta_is_below_one_in_all():
    assert delta_for(6040) == 1.6e-05
    assert all(0.09 / n < delta_for(n) <= 0.1 / n for n in (2, 7, 200, 480_189))


def test_levels_are_those_of_the_scale_or_ten_classes():
    assert levels_of(0.5, 5.0, 0.5) == [0.5 * n for n in range(1, 11)]
    assert levels_of(-10, 10, None) == [-9.0 + 2 * n for n in range(10)]
    assert levels_of(3, 3, 1.0) == [3.0]


def test_pairs_held_is_the_product_of_two_columns():
    rows = some_rows(30, 5, 6)
    dense, (first, second) = rows.toarray(), np.triu_indices(5, 1)
    assert (pairs_held(rows).toarray() == dense[:, first] * dense[:, second]).all()


def test_expected_items_have_the_activity_of_their_class_and_the_popularity_of_the_whole():
    sums = np.geomspace(5, 900, 60)
    sizes = np.zeros(len(ACTIVITY_FROM))
    sizes[4:6] = (700, 300)  # of at least 8 and at least 16
    expected = expected_items(sums * (0.98 * 15680 / sums.sum()), Classes(np.zeros(1000, int), sizes))
    assert expected[4].sum() == pytest.approx(1.4 * 8, rel=0.01)
    assert expected.max() <= 1
    assert np.corrcoef(sizes @ expected, sums)[0, 1] > 0.99


def test_whole_counts_add_up():
    counts = np.array([[1.6, -3.0, 1.7], [0.0, 0.0, 0.0], [5.0, 5.0, 5.0]])
    made = summing_to(counts, np.array([3, 4, 16]))
    assert made.tolist() == [[1, 0, 2], [2, 1, 1], [6, 5, 5]]


def test_counts_are_near_the_truth_at_a_large_epsilon(ratings):
    found = make_statistics(ratings, ratings.popularity > 0, 10.0)
    assert np.median(np.abs(found.raters - ratings.popularity)) < 20
    assert np.corrcoef(found.raters, ratings.popularity)[0, 1] > 0.9
    assert found.ratings.sum(axis=1).tolist() == found.raters.tolist()
    assert found.people.sum() == ratings.n_users


def test_items_that_are_not_shown_are_not_counted(ratings):
    shown = np.arange(ratings.n_items) % 2 == 0
    assert make_statistics(ratings, shown, 1.0).items.tolist() == np.flatnonzero(shown).tolist()


def test_data_without_ratings_have_counts_only(ratings):
    purchases = recloak.read(ratings.to_polars().select("user", "item"), values="presence")
    assert not purchases.kind.varies
    found = make_statistics(purchases, purchases.popularity > 0, 1.0)
    assert found.facts.tables == ("statistics_items", "statistics_activity", "statistics_pairs")


def test_two_items_and_few_people_are_counted_too():
    tiny = recloak.read(pl.DataFrame({"user": [1, 1, 2, 3, 4], "item": [1, 2, 1, 2, 1], "rating": [1.0, 2, 1, 1, 2]}))
    assert len(make_statistics(tiny, tiny.popularity > 0, 0.1).pairs) == 1


def resealed(folder, table, change):
    """Change a CSV table, and make hashes and seal right again."""
    path = folder / f"{table}.csv"
    rows = [line.split(",") for line in path.read_text().splitlines()]
    change(rows)
    path.write_text("\n".join(",".join(row) for row in rows) + "\n")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][path.name] |= {"bytes": path.stat().st_size, "sha256": sha256_of(path), "rows": len(rows) - 1}
    manifest["seal"] = sealed(manifest)
    (folder / "manifest.json").write_text(as_text(manifest))


def swap(rows):
    rows[1], rows[2] = rows[2], rows[1]


def count_of(row, value):
    def change(rows):
        rows[row][-1] = value

    return change


TAMPERED = [
    ("statistics_items", swap, "in order, each once"),
    ("statistics_items", lambda rows: rows.pop(), "statistics_items must name the items"),
    ("statistics_items", count_of(1, "-1"), "not in 0 to 200"),
    ("statistics_items", count_of(1, "201"), "not in 0 to 200"),
    ("statistics_items", count_of(1, "07"), "not written as recloak writes them"),
    ("statistics_items", lambda rows: rows[-1].__setitem__(0, "9999"), "items, the manifest says 30"),
    ("statistics_ratings", count_of(1, "190"), "as many ratings of an item"),
    ("statistics_ratings", lambda rows: rows[1].__setitem__(1, "1.5"), "the same ratings for every item"),
    ("statistics_activity", count_of(1, "77"), "must count 200 people"),
    ("statistics_activity", lambda rows: rows[2].__setitem__(0, "3"), "classes in order"),
    ("statistics_pairs", count_of(1, "200"), "more raters than one of its items"),
    ("statistics_pairs", lambda rows: rows.pop(), "all pairs of 2 to 45 items"),
]


@pytest.mark.parametrize(("table", "change", "told"), TAMPERED)
def test_changed_statistics_are_refused(copy, table, change, told):
    resealed(copy, table, change)
    verdict = recloak.verify(copy)
    assert not verdict.passed
    assert told in " ".join(verdict.problems)


@pytest.mark.parametrize(
    "changes", [{"epsilon": 0.5}, {"epsilon": 1.0000001}, {"delta": 0.1}, {"noise": {}}, {"more": 1}, {"epsilon": 1}]
)
def test_a_manifest_that_says_something_else_is_refused(copy, changes):
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["statistics"] |= changes
    manifest["seal"] = sealed(manifest)
    (copy / "manifest.json").write_text(as_text(manifest))
    assert not recloak.verify(copy).passed


def test_without_the_library_one_sentence_says_what_to_install(ratings, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "opendp" else found(name))
    with pytest.raises(MissingExtraError, match=r"needs the extra 'statistics'.*pip install 'recloak\[statistics\]'"):
        recloak.publish(ratings, statistics=1.0)


def test_impossible_epsilons_are_refused(ratings):
    for epsilon in (0.0, -1.0, 11.0):
        with pytest.raises(OptionError, match="statistics must be"):
            recloak.publish(ratings, statistics=epsilon)


def attacked(ratings, found, noise):
    """Return by how much the evidence of being counted exceeds that of not, over people."""
    ids = ratings.item_ids.ids
    tables = {
        "statistics_items": pl.DataFrame({"item": ids[found.items], "raters": found.raters}),
        "statistics_pairs": pl.DataFrame(
            {"item": ids[found.pairs[:, 0]], "other": ids[found.pairs[:, 1]], "raters": found.pair_raters}
        ),
    }
    left = leftover(tables, noise, ratings)
    rows = [ratings.items[ratings.row(user)] for user in range(ratings.n_users) if ratings.activity[user]]
    counted, absent = np.array([evidence(left, items) for items in rows]).T
    return float((counted[:, None] > absent[None, :]).mean())


def test_the_membership_attack_finds_people_in_exact_counts_and_few_in_noisy_ones(ratings):
    found = make_statistics(ratings, ratings.popularity > 0, 1.0)
    noisy = attacked(ratings, found, found.facts.noise)
    exact = make_statistics(ratings, ratings.popularity > 0, 1.0)
    held = scipy.sparse.csr_array((np.ones(ratings.n_ratings), ratings.items, ratings.indptr))
    both = (held.T @ held).toarray()
    for counts, true in ((exact.raters, ratings.popularity), (exact.pair_raters, both[tuple(exact.pairs.T)])):
        counts.setflags(write=True)
        counts[:] = true
    sharp = attacked(ratings, exact, {"statistics_items": [0.3], "statistics_pairs": [0.3]})
    assert sharp > 0.99
    assert noisy < 0.65


@pytest.mark.data
def test_counts_of_movielens_are_within_five_percent(data):
    movielens_1m = recloak.read(data / "ml" / "ml-1m.inter")
    popularity = movielens_1m.popularity
    often = popularity >= 500
    errors = []
    for _ in range(5):
        found = make_statistics(movielens_1m, popularity > 0, 1.0)
        errors.append(np.median(np.abs(found.raters - popularity)[often] / popularity[often]))
    assert np.mean(errors) < 0.05
