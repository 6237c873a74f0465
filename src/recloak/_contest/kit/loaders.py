"""Load the release for your tools; needs pandas (and pyarrow for Parquet), not recloak.

    ratings = load()                        # pandas: columns user, item, rating; what LensKit calls a ratings frame
    to_recbole(ratings, "contest")          # contest/contest.inter, which RecBole reads
    questions = load_questions()            # question, group, item
    rows = load_rows()                      # user, group: which users of ``ratings`` stand for a group

Questions are about groups. Where a group shares one row, it is one user with the group's number; where rows were drawn
for a group, predict for each of its users and take the mean.
"""

from pathlib import Path

import pandas as pd

HERE = Path(__file__).resolve().parent


def load(folder: str | Path = HERE / "release") -> pd.DataFrame:
    """Return the released rows."""
    folder = Path(folder)
    shared = folder / "profiles.parquet"
    table = pd.read_parquet(shared if shared.exists() else folder / "ratings.parquet")
    return table.rename(columns={"group": "user"})[["user", "item", "rating"]]


def load_rows(folder: str | Path = HERE / "release") -> pd.DataFrame:
    """Return which users stand for each group."""
    folder = Path(folder)
    members = pd.read_parquet(folder / "members.parquet")[["user", "group"]]
    if (folder / "profiles.parquet").exists():
        groups = members[["group"]].drop_duplicates()
        return groups.assign(user=groups["group"])[["user", "group"]]
    return members


def load_questions(folder: str | Path = HERE) -> pd.DataFrame:
    """Return what is asked: a prediction for each group and item."""
    return pd.read_csv(Path(folder) / "questions.csv")


def to_recbole(ratings: pd.DataFrame, name: str, folder: str | Path = ".") -> Path:
    """Write ratings as RecBole's atomic file NAME/NAME.inter and return its path."""
    place = Path(folder) / name
    place.mkdir(parents=True, exist_ok=True)
    typed = ratings.rename(columns={"user": "user_id:token", "item": "item_id:token", "rating": "rating:float"})
    typed.to_csv(place / f"{name}.inter", sep="\t", index=False)
    return place / f"{name}.inter"


def write_submission(questions: pd.DataFrame, predictions: "pd.Series[float]", path: str | Path) -> None:
    """Write predictions in the order of the questions."""
    pd.DataFrame({"question": questions["question"], "prediction": predictions}).to_csv(path, index=False)
