"""Drawn rows (mode sampled): nobody's own, exchangeable within groups, in step with the source."""

import hashlib
import json

import numba
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recloak
from recloak._core.errors import OptionError
from recloak._core.randomness import Randomness
from recloak._ratings.synthetic.kernel_random import normal, uniform, walk
from recloak._releases.drawn_rows import item_draws, item_links, label_draws
from recloak._releases.drawn_rows.balance import count_rows
from recloak._releases.drawn_rows.canonical_users import canonical_order, in_order
from recloak._releases.drawn_rows.item_draws import DrawKey, Pull, Tallies, draw_items
from recloak._releases.drawn_rows.item_links import Links, PlaceRows, presence_links, rating_links
from recloak._releases.drawn_rows.near_groups import NEAR, nearest_groups
from recloak._releases.drawn_rows.presence_axes import find_axes
from recloak._releases.drawn_rows.row_lengths import draw_lengths
from recloak._releases.model.release_format import sealed
from recloak._releases.options import PublishOptions
from tests.releases.helpers import some_grouping, some_ratings

SEED = 3


@pytest.fixture(scope="module")
def ratings():
    return recloak.synth(users=150, items=60, ratings=2400, seed=SEED)


def public_bytes(folder):
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def with_ids_exchanged(ratings, mapping, seed):
    """Let the members of each group change places: every one gets the ratings of another member."""
    new: dict[int, int] = {}
    rng = np.random.default_rng(seed)
    for _, part in mapping.group_by("group"):
        ids = part["user_id"].to_list()
        new |= dict(zip(ids, rng.permutation(ids).tolist(), strict=True))
    return ratings.to_polars().with_columns(pl.col("user").replace_strict(new))


@pytest.mark.parametrize("seed", [0, 1])
def test_members_of_a_group_who_change_places_leave_every_byte_as_it_was(ratings, tmp_path, seed):
    recloak.publish(ratings, tmp_path / "one", k=4, mode="sampled", seed=SEED)
    mapping = pl.read_parquet(tmp_path / "one-private" / "mapping.parquet")
    changed = with_ids_exchanged(ratings, mapping, seed)
    assert not changed.equals(ratings.to_polars())
    recloak.publish(changed, tmp_path / "two", k=4, mode="sampled", seed=SEED)
    assert public_bytes(tmp_path / "one") == public_bytes(tmp_path / "two")
    again = pl.read_parquet(tmp_path / "two-private" / "mapping.parquet")
    assert dict(mapping.select("user_id", "group").iter_rows()) == dict(again.select("user_id", "group").iter_rows())


def test_one_and_two_threads_give_the_same_bytes(ratings, tmp_path, monkeypatch):
    for threads in (1, 2):
        monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", threads)
        recloak.publish(ratings, tmp_path / str(threads), k=4, mode="sampled", seed=SEED)
    assert public_bytes(tmp_path / "1") == public_bytes(tmp_path / "2")
    recloak.publish(ratings, tmp_path / "other", k=4, mode="sampled", seed=SEED + 1)
    assert public_bytes(tmp_path / "1") != public_bytes(tmp_path / "other")


@settings(max_examples=12, deadline=None)
@given(
    st.integers(0, 1000), st.integers(2, 5), st.sampled_from(["taste", "items", "both"]), st.sampled_from([0, 0.5, 1])
)
def test_any_source_gives_a_release_that_its_verifier_passes(tmp_path_factory, seed, k, by, boost):
    ratings = some_ratings(n_users=17, n_items=9, seed=seed)
    folder = tmp_path_factory.mktemp("drawn") / "out"
    release = recloak.publish(ratings, folder, k=k, mode="sampled", grouping_by=by, boost=boost, seed=seed)
    verdict = recloak.verify(folder, original=ratings)
    assert verdict.passed, verdict.problems
    rows, members = pl.read_parquet(folder / "ratings.parquet"), pl.read_parquet(folder / "members.parquet")
    assert members.group_by("group").len()["len"].min() == verdict.k_found >= k
    assert rows["user"].n_unique() == release.facts.n_users == len(members)
    assert len(rows) == len(rows.unique(["user", "item"])) == release.facts.n_ratings
    assert set(rows["rating"].unique()) <= set(ratings.values.tolist())


def test_the_verdict_says_that_drawn_rows_are_not_shared(ratings, tmp_path, capsys):
    from recloak._cli.main import run

    folder = tmp_path / "out"
    recloak.publish(ratings, folder, k=3, mode="sampled", seed=1)
    verdict = recloak.verify(folder)
    assert verdict.drawn
    assert "k required" not in repr(verdict)
    assert "not k-anonymity" in verdict.proved == verdict.to_json()["proved"]
    assert run(["verify", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "groups of at least 3 required" in told
    assert verdict.proved in told
    assert "k required" not in told


def test_the_verifier_refuses_groups_that_are_too_small_or_empty(ratings, tmp_path):
    folder = tmp_path / "out"
    recloak.publish(ratings, folder, k=4, mode="sampled", seed=SEED, format="csv")
    assert recloak.verify(folder, k=5).problems == ("k must be at least 5, but a group has only 4 users",)
    members = (folder / "members.csv").read_text().splitlines()
    moved = "\n".join([members[0], *(f"{line.split(',')[0]},1" for line in members[1:])]) + "\n"
    (folder / "members.csv").write_text(moved)
    manifest = json.loads((folder / "manifest.json").read_text())
    data = moved.encode()
    manifest["files"]["members.csv"] |= {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    (folder / "manifest.json").write_text(json.dumps({**manifest, "seal": sealed(manifest)}, indent=2) + "\n")
    assert "group 2 has no members" in recloak.verify(folder).problems


def test_popularity_lengths_and_histogram_are_those_of_the_source(ratings):
    drawn = recloak.publish(ratings, k=4, mode="sampled", seed=SEED).to_polars()
    true = ratings.to_polars()
    assert abs(len(drawn) - len(true)) <= 0.01 * len(true)
    counts = true.group_by("item").len().join(drawn.group_by("item").len(), on="item", suffix="_drawn")
    popular = counts.filter(pl.col("len") >= 20)
    assert ((popular["len_drawn"] - popular["len"]).abs() / popular["len"]).median() <= 0.1
    shares = [table["rating"].value_counts().sort("rating")["count"].to_numpy() / len(table) for table in (true, drawn)]
    assert np.abs(shares[0] - shares[1]).max() <= 0.02


def test_series_stay_together():
    """Two items that everybody takes together or not at all, in tastes of chance, are still together in drawn rows."""
    rng = np.random.default_rng(0)
    table = rng.random((200, 40)) < 0.2
    table[:, 1], table[:, 3] = table[:, 0], table[:, 2]
    users, items = np.nonzero(table)
    ratings = recloak.Ratings.from_arrays(users, items, rng.integers(1, 6, len(users)))
    drawn = recloak.publish(ratings, k=5, mode="sampled", boost=1, grouping_by="taste", seed=0)
    rows = drawn.to_polars().group_by("user").agg("item")["item"].to_list()
    both = sum({0, 1} <= set(row) for row in rows)
    assert both >= 0.45 * table[:, 0].sum()  # by chance 0.2


def test_options_of_other_modes_are_refused():
    for name, value in {"max_link": 0.5, "decoys": 1, "diversity": "2,2", "paper": True, "labels": "model"}.items():
        with pytest.raises(OptionError, match=f"{name} is for mode"):
            PublishOptions.from_mapping({"mode": "sampled", name: value})
    for name, value in {"boost": 0.5, "grouping_by": "taste"}.items():
        with pytest.raises(OptionError, match=f"{name} is for mode sampled"):
            PublishOptions.from_mapping({"mode": "pure", name: value})
    with pytest.raises(OptionError, match="layout must be drawn for mode sampled"):
        recloak.publish(some_ratings(), "nowhere", mode="sampled", layout="long")


def test_the_order_of_users_is_free_of_their_ids(ratings):
    order = canonical_order(ratings)
    shuffled = np.random.default_rng(0).permutation(ratings.n_users)
    other = in_order(ratings, shuffled)
    one, two = in_order(ratings, order), in_order(other, canonical_order(other))
    assert np.array_equal(one.items, two.items)
    assert np.array_equal(one.values, two.values)


def test_nearest_groups_are_those_of_all_distances():
    centres = np.random.default_rng(0).normal(size=(57, 5)).astype(np.float32)
    gaps = np.square(centres[:, None] - centres[None]).sum(2)
    np.fill_diagonal(gaps, np.inf)
    found = nearest_groups(centres, np.random.default_rng(0))
    assert np.array_equal(found, np.argsort(gaps, axis=1)[:, :NEAR])
    few = nearest_groups(centres[:4], np.random.default_rng(0))
    assert (np.sort(few, axis=1)[:, -3:] >= 0).all()
    assert (few[:, 3:] == -1).all()


def test_axes_are_those_of_the_dense_matrix(ratings):
    axes = find_axes(ratings, Randomness(0))
    there = (ratings.matrix.toarray() > 0).astype(float)
    rows, columns = there.sum(1), there.sum(0)
    right = np.linalg.svd(there / np.sqrt(rows[:, None] * columns))[2]
    standard = right[1] / np.sqrt(columns / columns.sum())
    first = axes.items[:, 0] * np.sign((axes.items[:, 0] * standard).sum())
    assert np.corrcoef(first, standard)[0, 1] > 0.99
    assert np.allclose((axes.items**2 * (columns / columns.sum())[:, None]).sum(0), 1, atol=1e-3)


def naive_rows(n=80, m=15, seed=0, density=0.4):
    rng = np.random.default_rng(seed)
    table = rng.random((n, m)) < density
    table = table[:, np.argsort(-table.sum(0), kind="stable")]
    indptr = np.concatenate(([0], np.cumsum(table.sum(1))))
    surprises = rng.normal(size=int(table.sum())).astype(np.float32)
    return table, PlaceRows(indptr, np.nonzero(table)[1].astype(np.int32), surprises)


def test_presence_links_are_those_of_counted_pairs():
    (true, true_rows), (drawn, drawn_rows) = naive_rows(seed=1, density=0.5), naive_rows(seed=2, density=0.3)
    found = presence_links(true_rows, drawn_rows, 15, holders=12)
    held, shown = (table.astype(int).T @ table.astype(int) for table in (true, drawn))
    for item in range(15):
        scores = [(held[item, j] - shown[item, j]) / np.sqrt(shown[item, j] + 2) for j in range(item)]
        wanted = [j for j in range(item) if held[item, j] >= 12 and scores[j] > 1.5]
        wanted = sorted(wanted, key=lambda j: -scores[j])[: item_links.PRESENCE_LEADS]
        assert [lead for lead in found.leads[item] if lead >= 0] == wanted


def test_no_link_is_made_of_a_pair_that_fewer_people_hold():
    table, rows = naive_rows(density=0.25)
    held = table.astype(int).T @ table.astype(int)
    nothing = PlaceRows(np.zeros(81, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32))
    plain = np.zeros((15, 1), np.float32), np.ones(15, np.float32)
    for leads in (presence_links(rows, nothing, 15, holders=6).leads, rating_links(rows, *plain, holders=6).leads):
        pairs = [(item, lead) for item in range(15) for lead in leads[item] if lead >= 0]
        assert pairs
        assert all(held[pair] >= 6 for pair in pairs)


def test_rating_links_hold_the_correlations_of_pairs():
    table, rows = naive_rows(n=200)
    dense = np.zeros(table.shape)
    dense[table] = rows.surprises
    rng = np.random.default_rng(0)
    tastes, deviations = rng.normal(0, 0.1, (15, 2)).astype(np.float32), np.full(15, 1.1, np.float32)
    found = rating_links(rows, tastes, deviations, holders=5)
    n = table.astype(float).T @ table
    wanted = np.clip((dense.T @ dense - n * (tastes @ tastes.T)) / (n + 5) / 1.1**2, -0.9, 0.9)
    assert (found.leads >= 0).any()
    for item in range(15):
        leads = [lead for lead in found.leads[item] if lead >= 0]
        table_of = found.correlations[item]
        for a, one in enumerate(leads):
            assert table_of[a, -1] == pytest.approx(wanted[item, one], abs=1e-5)
            for b, two in enumerate(leads):
                assert a == b or table_of[a, b] == pytest.approx(wanted[one, two], abs=1e-5)


def test_pairs_and_items_are_counted_as_by_hand():
    table, rows = naive_rows()
    leads = np.where(np.arange(15)[:, None] > np.arange(3), np.arange(3), -1).astype(np.int32)
    leads[0] = -1
    some = np.array([3, 5, 70])
    found = count_rows(some, rows.indptr, np.diff(rows.indptr), rows.places, leads)
    assert np.array_equal(found.items, table[some].sum(0))
    for item in range(15):
        for q, lead in enumerate(leads[item]):
            if lead < 0:
                break
            assert found.pairs[item, q] == (table[some, item] & table[some, lead]).sum()


def some_tallies(seed=0, own=True):
    """Two groups of two and three rows over eight items, each the other's neighbour."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, (2, 8)).astype(np.int32)
    totals = counts.sum(1).astype(np.int64)
    return Tallies(
        np.array([0, 2, 5]), np.array([0, totals[0], totals.sum()]),
        np.repeat(np.tile(np.arange(8, dtype=np.int32), 2), counts.ravel()),
        totals, np.array([[1], [0]], np.int32), counts.sum(0) / counts.sum(), np.full(8, own),
    ), counts  # fmt: skip


def naive_row(weights, pull, x, length, state):
    """Take the lowest key as lowered by what was taken before, one item after the other."""
    keys = []
    for i, weight in enumerate(weights):
        u = uniform(state) + 2.0**-54
        keys.append(np.log(u / (1 - u)) - np.log(weight) - pull.level[i] - float(x @ pull.axes[i]))
    taken: list[int] = []
    while len(taken) < length:
        now = [
            key - sum(s for j, s in zip(pull.links.leads[i], pull.links.strength[i], strict=True) if j in taken)
            for i, key in enumerate(keys)
        ]
        taken.append(min((i for i in range(len(keys)) if i not in taken), key=now.__getitem__))
    return sorted(taken)


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_drawn_items_are_those_with_the_lowest_keys(linked, seed):
    tallies, counts = some_tallies(seed)
    rng = np.random.default_rng(seed)
    links = Links.none(8, 2)
    if linked:
        links.leads[4], links.strength[4] = [1, 3], [3.0, 0.5]
        links.leads[7], links.strength[7] = [4, 0], [4.0, 2.0]
    spread = np.array([0.5, 0.2], np.float32)
    pull = Pull(0.25, rng.normal(size=(8, 2)).astype(np.float32), spread, rng.normal(size=8), links)
    lengths = np.array([3, 4, 2, 5, 8])
    ends = np.concatenate(([0], np.cumsum(lengths)))
    places, found, chance = np.empty(ends[-1], np.int32), np.zeros(5, np.int64), DrawKey(np.uint64(7 + seed), 2)
    draw_items(np.array([0, 1]), tallies, pull, lengths, ends, chance, places, found)
    assert np.array_equal(found, lengths)
    shares = counts / counts.sum(1, keepdims=True)
    for row, group in enumerate([0, 0, 1, 1, 1]):
        weights = 0.98 * (0.75 * shares[group] + 0.25 * shares[1 - group]) + 0.02 * tallies.shares
        state = walk(chance.key, row, 2 * chance.stage + 1)
        x = np.array([spread[f] * normal(state) for f in range(2)], np.float32)
        wanted = naive_row(weights, pull, x, lengths[row], state)
        assert places[ends[row] : ends[row + 1]].tolist() == wanted


def test_seldom_items_are_offered_by_lot_with_as_much_more_weight():
    """Over many lots the weight that an item is offered with is its own, on average."""
    n, n_draws = 400, 20
    shares = np.concatenate((np.full(10, 0.05), 0.5 * np.linspace(3, 1, n - 10) / (2 * (n - 10))))
    tallies = Tallies(
        np.array([0, 1]), np.array([0, n]), np.arange(n, dtype=np.int32), np.array([n]), np.full((1, 1), -1, np.int32),
        shares, np.ones(n, bool),
    )  # fmt: skip
    offered, chances, total, lots = np.empty(n, np.int32), np.empty(n), np.zeros(n), 4000
    for lot in range(lots):
        state = walk(np.uint64(1), lot, 0)
        found = item_draws._offer(tallies, shares.copy(), n_draws, 1, state, offered, chances)
        assert 10 < found < 0.5 * n
        total[offered[:found]] += chances[:found]
    assert np.allclose(total / lots, shares, rtol=0.15)
    assert np.allclose(total.sum() / lots, 1, atol=0.01)


def test_an_item_that_few_people_rated_is_drawn_for_all_groups_alike():
    tallies, _ = some_tallies(own=False)
    weights, offered, chances = np.zeros(8), np.empty(8, np.int32), np.empty(8)
    found = []
    for group in range(2):
        item_draws._weigh(group, tallies, 0.5, weights)
        n = item_draws._offer(tallies, weights, 10**6, 1, walk(np.uint64(1), 0, 0), offered, chances)
        found.append((n, chances[:n].tolist()))
    assert found[0] == found[1] == (8, tallies.shares.tolist())


def test_lengths_are_means_of_several_peoples():
    activity = np.random.default_rng(0).integers(1, 200, 103)
    lengths = draw_lengths(activity, some_grouping(103, 4), 1000, np.random.default_rng(0), together=5)
    values, counts = np.unique(lengths, return_counts=True)
    assert counts.min() >= 5
    assert abs(lengths.sum() - activity.sum()) <= 0.01 * activity.sum()
    assert len(values) <= 20


def test_the_rest_of_an_item_follows_its_leads_as_normal_theory_says():
    """Conditional mean and variance of three correlated normals, against the textbook formula."""
    correlations = np.array([[[1, 0.3, 0.5], [0.3, 1, 0.4]]], np.float32)
    links = item_links.RatingLinks(np.array([[0, 1]], np.int32), correlations)
    rest, system = np.array([1.5, -0.5]), np.empty((2, 3))
    mean, left = label_draws._expected(0, 2, np.array([0, 1]), links, rest, system)
    inside = np.array([[1.1, 0.3], [0.3, 1.1]])
    betas = np.linalg.solve(inside, [0.5, 0.4])
    assert mean == pytest.approx(betas @ rest, abs=1e-6)
    assert left == pytest.approx(1 - betas @ [0.5, 0.4], abs=1e-6)
