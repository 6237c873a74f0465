"""Data that tell only who used what: every part of mentions works on them, and says what it cannot do."""

import json

import numpy as np
import polars as pl
import pytest

import recloak
import recloak.mentions
from recloak._cli.main import run
from recloak._mentions.mention_tables import read_mentions
from recloak._mentions.oracle_guard import OracleGuard
from recloak._mentions.post_files import title_list
from recloak._service.advice import answer, prepare
from recloak._service.posts_exposure import exposure
from recloak._service.schema import AdviceRequest

NAMES = "Zorgon|Quimbly|Vextar|Plontheim|Dravik|Oskuleth|Brimvale|Tandrosk|Wexholm|Yolandrix|Krumble|Fenwhistle"
TITLES = [f"{name} ({1990 + n})" for n, name in enumerate(NAMES.split("|"))]
START = 1_500_000_000


@pytest.fixture(params=[True, False], ids=["with times", "without times"])
def used(request, tmp_path):
    """Return a folder with who used what, and perhaps when: 60 people, mostly the last six items."""
    rng, rows = np.random.default_rng(5), []
    for user in range(60):
        chosen = [*rng.choice(np.arange(6, 12), 4, replace=False), *rng.choice(6, 2, replace=False)]
        rows += [(user, int(item), START + int(rng.integers(10**7))) for item in chosen]
    frame = pl.DataFrame(rows, schema=["userId", "movieId", "timestamp"], orient="row")
    (frame if request.param else frame.drop("timestamp")).write_csv(tmp_path / "ratings.csv")
    lines = [f'{n},"{title}"' for n, title in enumerate(TITLES)]
    (tmp_path / "movies.csv").write_text("movieId,title\n" + "\n".join(lines) + "\n")
    return tmp_path


def said(folder):
    """Return what the first twenty people mention, with an opinion that nothing can be compared with."""
    frame = pl.read_csv(folder / "ratings.csv").filter(pl.col("userId") < 20)
    rare = frame.filter(pl.col("movieId") < 8).rename({"userId": "user", "movieId": "item"})
    return rare.with_columns(opinion=pl.lit(0.5))


def test_identify_says_not_applicable_for_what_needs_ratings(used):
    found = recloak.mentions.identify(used / "ratings.csv", said(used))
    assert found.not_applicable == ("fuzzy_rating", "exact_rating")
    assert not set(found.not_applicable) & set(found.algorithms)
    assert "opinions" not in found.panel.uses
    assert found.to_json()["not_applicable"] == ["fuzzy_rating", "exact_rating"]
    assert found.above_panel == ()


def test_the_command_and_the_page_say_so_too(used, capsys):
    said(used).write_csv(used / "said.csv")
    page = used / "page.html"
    files = [str(used / "ratings.csv"), "--mentions", str(used / "said.csv")]
    assert run(["mentions", "identify", *files, "-o", str(page)]) == 0
    assert "exact_rating       not applicable: the data have no ratings" in capsys.readouterr().out
    assert "FuzzyRating and ExactRating are not applicable" in page.read_text(encoding="utf-8")


def test_who_is_told_ratings_that_nobody_voices_stands_above_the_panel_and_it_is_said(tmp_path, capsys):
    rng = np.random.default_rng(1)
    rows = [(u, int(i), int(rng.integers(1, 6))) for u in range(80) for i in rng.choice(24, 6, replace=False)]
    frame = pl.DataFrame(rows, schema=["user", "item", "rating"], orient="row")
    frame.write_csv(tmp_path / "ratings.csv")
    frame.drop("rating").filter(pl.col("item") < 12).write_csv(tmp_path / "said.csv")
    found = recloak.mentions.identify(tmp_path / "ratings.csv", tmp_path / "said.csv")
    assert "exact_rating" in found.above_panel
    files = [str(tmp_path / "ratings.csv"), "--mentions", str(tmp_path / "said.csv")]
    assert run(["mentions", "identify", *files]) == 0
    assert "above the panel, because told the target's own rating" in capsys.readouterr().out


def test_defences_are_tried(used):
    found = recloak.mentions.defend(used / "ratings.csv", said(used))
    assert found.n_targets > 0


def test_advice_ignores_opinions(used):
    advisor = recloak.mentions.prepare_advisor(used / "ratings.csv", exact=True)
    own = pl.read_csv(used / "ratings.csv").filter(pl.col("userId") == 3)["movieId"].to_list()
    voiced = [recloak.mentions.Said(item, rating=1.0) for item in own]
    plain, loud = (recloak.mentions.advise(advisor, 3, [], draft, k=10) for draft in (own, voiced))
    assert loud.to_json() == plain.to_json()
    assert "opinions" not in loud.uses


def test_the_service_answers_and_shows_ones_exposure(used):
    ratings = recloak.read(used / "ratings.csv")
    titles = title_list([(n, title, None) for n, title in enumerate(TITLES)])
    advisor = prepare(ratings, titles, read_mentions(said(used), ratings), guard=OracleGuard(b"a secret of tests", 1.0))
    asked = AdviceRequest.model_validate({"text": f"I watched {TITLES[0]} and {TITLES[7]}", "voiced": True})
    told = answer(advisor, 3, asked)
    assert len(told.finds) == 2
    assert "opinions" not in told.looked_at
    assert exposure(advisor, 3).n_mentions == said(used).filter(pl.col("user") == 3).height


def test_one_person_measures_their_exposure_without_ratings(used, capsys):
    own = pl.read_csv(used / "ratings.csv").filter(pl.col("userId") == 3)["movieId"].to_list()
    (used / "mine.csv").write_text("title\n" + "\n".join(TITLES[item] for item in own) + "\n")
    (used / "posts.txt").write_text("\n".join(f"I watched {TITLES[item]} last night" for item in own[-2:]) + "\n")
    command = ["mentions", "exposure", "--ratings", str(used / "mine.csv"), "--posts", str(used / "posts.txt")]
    assert run([*command, "--public", str(used), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["in_dump"], told["n_mentions"], told["n_records"]) == (True, 2, 60)
