"""A release as factors is attacked by its factors: no fit is needed, and every cell is that of the release."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import recloak
from recloak._attacks.auditing import audit
from recloak._attacks.options import AuditOptions
from recloak._attacks.public_columns import columns_of, item_means, labels_for, users_by_label
from recloak._attacks.public_view import see_release
from recloak._attacks.released_cells import rows_of
from recloak._attacks.table_fit import fit_of, places_of

ALL = recloak.synth(users=120, items=40, ratings=2400, seed=1).to_polars()
RATINGS, PROBE = (recloak.read(part) for part in (ALL.filter(pl.int_range(pl.len()) % 10 > 0), ALL.gather_every(10)))


@pytest.fixture(scope="module", params=["parquet", "csv"])
def folder(tmp_path_factory, request):
    place = tmp_path_factory.mktemp("factors") / "out"
    recloak.publish(RATINGS, place, k=4, seed=1, layout="factors", format=request.param)
    return place


def seen(folder):
    return see_release(folder, folder.with_name("out-private"), RATINGS)


def table_of(folder):
    release = recloak.load(folder)
    return release.block(items=list(RATINGS.item_ids.ids))


def test_every_cell_is_seen_as_it_is_released(folder):
    public, table = seen(folder).public, table_of(folder)
    assert public.is_complete
    assert np.allclose(rows_of(public, np.arange(len(table))), table, atol=1e-6)
    groups, items = np.array([0, 5, 2]), np.array([3, 0, 39])
    assert np.allclose(labels_for(public, groups, items), table[groups, items], atol=1e-6)
    codes = public.codes.reshape(40, -1)
    half = (public.values[1] - public.values[0]) / 2
    assert (np.abs(public.values[codes].T - table) <= half + 1e-5).all()


def test_the_owner_of_a_row_is_the_group_of_the_person(folder):
    mapping = pl.read_parquet(folder.with_name("out-private") / "mapping.parquet")
    owner = seen(folder).public.owner[RATINGS.user_ids.encode(mapping["user_id"])]
    assert (owner + 1).tolist() == mapping["group"].to_list()


def test_the_factors_are_the_fit_and_leave_nothing_over(folder):
    public, table = seen(folder).public, table_of(folder)
    fit = fit_of(public)
    assert fit.spread == 0
    assert np.allclose(fit.basis @ fit.basis.T, np.eye(len(fit.basis)), atol=1e-5)
    assert np.abs(fit.residuals(table)).max() < 0.02


def test_cells_that_are_not_held_are_computed_when_asked_for(folder, monkeypatch):
    held = seen(folder)
    monkeypatch.setattr("recloak._attacks.factor_release.MOST_HELD", 100)
    monkeypatch.setattr("recloak._attacks.public_columns._MOST_MADE", 130)  # columns of four items at a time
    view = seen(folder)
    public = view.public
    assert public.is_complete
    assert not public.holds_cells
    assert len(public.codes) == 0
    with pytest.raises(ValueError, match="ask for the columns of some items"):
        columns_of(public)
    assert users_by_label(public).tolist() == users_by_label(held.public).tolist()
    options = AuditOptions(targets=60, known=(2, 30), varied_at=4)  # thirty items need more columns than are held
    one, other = (audit(RATINGS, each, options=options, rng=1) for each in (held, view))
    assert [each.to_json() for each in one.outcomes] == [each.to_json() for each in other.outcomes]


def test_the_means_of_items_are_those_of_their_cells(folder):
    public, table = seen(folder).public, table_of(folder)
    assert np.allclose(item_means(public), np.average(table, axis=0, weights=public.weights), atol=1e-5)
    factors = public.factors
    assert factors is not None
    narrow = replace(factors, low=3.0, high=3.2)  # most cells are cut off
    cut = np.clip(table_of(folder), 3.0, 3.2)
    assert np.allclose(narrow.column_means(public.weights), np.average(cut, axis=0, weights=public.weights), atol=1e-5)


def test_published_factors_say_where_a_row_stands(folder):
    public, table = seen(folder).public, table_of(folder)
    fit, places = fit_of(public), places_of(public)
    assert np.allclose(fit.predict(places), table, atol=1e-5)
    assert np.allclose(places_of(public, np.array([3, 1])), places[[3, 1]])


def test_such_a_release_is_audited_and_evaluated(folder):
    found = recloak.audit(RATINGS, folder, known=(4,), varied_at=4, seed=1)
    assert found.promise == "pass"
    assert not [one.name for one in found.outcomes if one.failed]
    useful = recloak.evaluate(RATINGS, folder, probe=PROBE, seed=1)
    assert useful.target_deviation.rmse == pytest.approx(_rmse(folder), abs=1e-4)


def test_a_release_of_biases_alone_is_audited(tmp_path):
    recloak.publish(RATINGS, tmp_path / "out", k=4, seed=1, layout="factors", predictor="bias")
    view = see_release(tmp_path / "out", tmp_path / "out-private", RATINGS)
    factors = view.public.factors
    assert factors is not None
    assert factors.rank == 0
    assert np.allclose(rows_of(view.public, np.arange(2)), table_of(tmp_path / "out")[:2], atol=1e-6)
    found = audit(RATINGS, view, options=AuditOptions(known=(4,), varied_at=4), rng=1)
    assert not [one.name for one in found.outcomes if one.failed]


def _rmse(folder):
    """Predict what was left out by the cells that the folder gives."""
    mapping = pl.read_parquet(folder.with_name("out-private") / "mapping.parquet")
    held = PROBE.to_polars().select(pl.col("user").alias("user_id"), "item", pl.col("rating").alias("told"))
    cells = recloak.load(folder).to_polars()
    joined = held.join(mapping, on="user_id").join(cells, on=["group", "item"])
    return float(np.sqrt(np.square((joined["told"] - joined["rating"]).to_numpy()).mean()))
