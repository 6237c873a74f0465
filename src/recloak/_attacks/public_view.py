"""What an outsider sees: the original ratings as they are, or a release folder with its manifest.

The private mapping is read only to score an attack; no attack sees it.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from recloak._attacks.factor_release import held_cells, is_factors, read_factors, values_of
from recloak._attacks.model import DrawnCells, Public
from recloak._attacks.padded_release import PaddedTable, group_numbers, item_numbers, padded_table, read_padded
from recloak._core.errors import SourceError
from recloak._core.frozen import FrozenDict
from recloak._ratings.assemble import transpose_rows
from recloak._ratings.ids import UNKNOWN, IdMap
from recloak._ratings.model import Ratings, assemble

MOST_CELLS = 500_000_000  # about 12 GB while a release is read


@dataclass(frozen=True, eq=False, slots=True)
class DrawnTable:
    """Rows that were drawn for groups: each is of a profile of the `Public` that adds the rows of a group up."""

    rows: Ratings
    profile: NDArray[np.int32]  # (n_rows,)


@dataclass(frozen=True, eq=False, slots=True)
class ReleaseView:
    """A release folder as an attacker reads it, with the truth beside it."""

    public: Public
    manifest: dict[str, Any]
    names: NDArray[np.object_] | None = None  # (n_users,) what each user of the original is called in the release
    drawn: DrawnTable | None = None  # the single rows, where they were drawn for groups
    statistics: dict[str, pl.DataFrame] | None = None  # counts that are published beside the rows

    def __post_init__(self) -> None:
        object.__setattr__(self, "manifest", FrozenDict(self.manifest))


def see_original(ratings: Ratings) -> Public:
    """Show the original ratings: every user is a profile."""
    columns = ratings.by_item()
    everyone = np.arange(ratings.n_users, dtype=np.int32)
    return Public.of(
        columns.indptr, columns.users, columns.values, np.ones_like(everyone, np.int64), everyone, ratings.scale,
        columns.times,
    )  # fmt: skip


def see_release(folder: str | Path, private: str | Path, ratings: Ratings) -> ReleaseView:
    """Show a release folder, its items numbered as in the original."""
    folder, private = Path(folder), Path(private)
    manifest = _manifest(folder)
    return replace(_see_rows(folder, private, manifest, ratings), statistics=_statistics(folder, manifest, ratings))


def _statistics(folder: Path, manifest: dict[str, Any], ratings: Ratings) -> dict[str, pl.DataFrame] | None:
    """Return the tables of statistics with items of the source's own type, None where there are none."""
    if "statistics" not in manifest:
        return None
    kind, tables = pl.String if ratings.item_ids.is_text else pl.Int64, {}
    for name in manifest["statistics"]["noise"]:
        table = _read(folder, name)
        if table is None:
            raise SourceError(f"the table {name} is missing", file=folder)
        tables[name] = table.with_columns(pl.col(one).cast(kind) for one in ("item", "other") if one in table.columns)
    return tables


def _see_rows(folder: Path, private: Path, manifest: dict[str, Any], ratings: Ratings) -> ReleaseView:
    """Show the rows of a release folder."""
    members, profiles = _tables(folder, ratings)
    groups = IdMap.of(members["group"])
    members = members.with_columns(profile=pl.Series(groups.encode(members["group"])))
    weights = np.bincount(members["profile"].to_numpy(), minlength=len(groups))
    owner, names = _owners(private, members, ratings)
    if isinstance(profiles, tuple):
        factors = read_factors(*profiles, manifest, groups, ratings)
        public = _complete(held_cells(factors), values_of(factors), weights, owner, ratings)
        return ReleaseView(replace(public, factors=factors), manifest, names)
    if isinstance(profiles, PaddedTable):
        codes = read_padded(profiles, groups, ratings.item_ids)
        return ReleaseView(_complete(codes, profiles.values, weights, owner, ratings), manifest, names)
    drawn = _drawn(folder, members, ratings)
    public = _by_columns(profiles, groups, weights, owner, ratings, float(manifest.get("boost", 0)))
    return ReleaseView(public, manifest, names, drawn)


def _drawn(folder: Path, members: pl.DataFrame, ratings: Ratings) -> DrawnTable | None:
    """Return the rows that were drawn for groups, None where a group shares one; rows without an item are kept."""
    if (folder / "profiles.parquet").exists() or (folder / "profiles.csv").exists():
        return None
    table, users = _read(folder, "ratings"), IdMap.of(members["user"])
    if table is None or _read(folder, "members") is None:
        return None
    numbers = users.encode(table["user"]), item_numbers(table["item"], ratings.item_ids)
    labels = table["rating"].to_numpy().astype(np.float32)
    rows = assemble(*numbers, labels, None, user_ids=users, item_ids=ratings.item_ids, scale=ratings.scale)
    profile = np.empty(len(users), np.int32)
    profile[users.encode(members["user"])] = members["profile"].to_numpy()
    return DrawnTable(rows, profile)


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / "manifest.json"
    if not path.is_file():
        raise SourceError("there is no manifest.json: not a release folder", file=folder)
    try:
        found = json.loads(path.read_text())
    except ValueError:
        raise SourceError("the manifest is not JSON", file=path) from None
    if not isinstance(found, dict):
        raise SourceError("the manifest is not a JSON object", file=path)
    return found


def _tables(
    folder: Path, ratings: Ratings
) -> tuple[pl.DataFrame, pl.DataFrame | PaddedTable | tuple[pl.DataFrame, pl.DataFrame]]:
    """Read members (user, group) and profiles (group, item, rating) from any layout.

    Of padded profiles only what is needed to read them a piece at a time, of factors the groups and the items.
    """
    if is_factors(folder):
        return _required(folder, "members"), (_required(folder, "groups"), _required(folder, "items"))
    if (members := _read(folder, "members")) is None:
        return _grouped(_required(folder, "ratings"))
    if (rows := _read(folder, "ratings")) is not None:
        return members, _added_up(rows, members)
    padded = padded_table(folder / "profiles.parquet", members["group"].n_unique(), ratings.n_items)
    return members, padded or _required(folder, "profiles")


def _required(folder: Path, name: str) -> pl.DataFrame:
    if (table := _read(folder, name)) is None:
        raise SourceError("there are neither profiles and members nor ratings in the folder", file=folder)
    return table


def _read(folder: Path, name: str) -> pl.DataFrame | None:
    if (path := folder / f"{name}.parquet").exists():
        n_rows = int(pl.scan_parquet(path).select(pl.len()).collect().item())
        if n_rows > MOST_CELLS:
            raise SourceError(
                f"a table to be attacked must fit into memory: at most {MOST_CELLS:,} rows, got {n_rows:,}; publish "
                "and audit a sample of the users instead",
                file=path,
            )
        return pl.read_parquet(path)
    if (path := folder / f"{name}.csv").is_file():
        return pl.read_csv(path, infer_schema_length=None)
    return None


def _added_up(rows: pl.DataFrame, members: pl.DataFrame) -> pl.DataFrame:
    """Return what the rows drawn for each group hold together: every item of one of them, with its mean rating."""
    cells = rows.join(members, on="user").group_by("group", "item")
    mean = pl.col("rating").cast(pl.Float64).mean().cast(pl.Float32)
    return cells.agg(mean, rows=pl.len().cast(pl.UInt16)).sort("group", "item")


def _grouped(ratings: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Put users with the same items and labels into one group, as anybody can who looks at a long release."""
    rows = ratings.sort("user", "item").with_columns(cell=pl.struct("item", "rating").hash(seed=7))
    marks = rows.group_by("user").agg(mark=pl.col("cell").hash(seed=11).sum(), n=pl.len(), first=pl.col("cell").first())
    members = marks.with_columns(group=pl.struct("mark", "n", "first").rank("dense").cast(pl.Int64)).select(
        "user", "group"
    )
    models = members.unique("group", keep="first", maintain_order=True)
    return members, ratings.join(models, on="user").select("group", "item", "rating")


def _owners(private: Path, members: pl.DataFrame, ratings: Ratings) -> tuple[NDArray[np.int32], NDArray[np.object_]]:
    """Return the profile and the released name of each user of the original, by the private mapping."""
    path = private / "mapping.parquet"
    if not path.exists():
        raise SourceError("there is no mapping.parquet: not the private folder of a release", file=private)
    mapping = pl.read_parquet(path).join(members.select("user", "profile"), on="user")
    users = ratings.user_ids.encode(mapping["user_id"])
    owner = np.full(ratings.n_users, UNKNOWN, np.int32)
    known = users != UNKNOWN
    owner[users[known]] = mapping["profile"].to_numpy()[known]
    if (owner == UNKNOWN).any():
        missing = int(np.count_nonzero(owner == UNKNOWN))
        raise SourceError(f"the mapping lacks {missing} of the source's users: another source?", file=path)
    names = np.empty(ratings.n_users, np.object_)
    names[users[known]] = mapping["user"].to_numpy()[known]
    return owner, names


def _by_columns(
    profiles: pl.DataFrame, groups: IdMap, weights: NDArray[np.int64], owner: NDArray[np.int32], ratings: Ratings,
    boost: float,
) -> Public:  # fmt: skip
    """Put sparse profiles into columns."""
    numbers = pl.Series(group_numbers(profiles["group"], groups))
    profiles = profiles.with_columns(profile=numbers).sort("profile", maintain_order=True)
    items = item_numbers(profiles["item"], ratings.item_ids)
    counts = np.bincount(profiles["profile"].to_numpy(), minlength=len(weights))
    row_indptr = np.concatenate(([0], np.cumsum(counts)))
    row_indptr.flags.writeable = items.flags.writeable = False  # as those of `Ratings`: one form of the kernel
    indptr, rows, order = transpose_rows(row_indptr, items, ratings.n_items)
    labels = profiles["rating"].to_numpy().astype(np.float32)[order]
    public = Public.of(indptr, rows, labels, weights, owner, ratings.scale)
    if "rows" not in profiles.columns:
        return public
    return replace(public, drawn=DrawnCells(profiles["rows"].to_numpy()[order], boost))


def _complete(
    codes: NDArray[np.uint8], values: NDArray[np.float32], weights: NDArray[np.int64], owner: NDArray[np.int32],
    ratings: Ratings,
) -> Public:  # fmt: skip
    """Put profiles that have every item into columns, which they fill."""
    indptr = np.arange(ratings.n_items + 1, dtype=np.int64) * len(weights)
    holders = np.arange(len(weights), dtype=np.int32)
    return Public(ratings.n_items, indptr, holders, codes, values, weights, owner, ratings.scale)
