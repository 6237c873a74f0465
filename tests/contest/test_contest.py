"""A contest from source to board: what is written, what is asked, what is scored, and what is refused."""

import json
import stat
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from tests.related import postgres

import recloak
from recloak._cli.main import run
from recloak._contest.board import BoardStore
from recloak._contest.model import Rules
from recloak._contest.questions import fair_questions
from recloak._contest.telling import improves, telling_of

RATINGS = recloak.synth(users=90, items=60, ratings=1800, seed=2)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return recloak.contest.prepare(RATINGS, tmp_path_factory.mktemp("made") / "contest", k=3, mode="pure", seed=4)


@pytest.fixture
def submission(made, tmp_path):
    """Return a function that writes predictions as a submission."""
    questions = pl.read_csv(made.folder / "questions.csv")

    def write(predictions, name="mine.csv"):
        pl.DataFrame({"question": questions["question"], "prediction": predictions}).write_csv(tmp_path / name)
        return tmp_path / name

    return write


def answers(made):
    return pl.read_parquet(made.private / "answers.parquet")


def test_the_public_folder_has_all_that_a_participant_needs(made):
    names = {path.name for path in made.folder.iterdir()}
    kit = {"questions.csv", "baseline.csv", "TASK.md", "TERMS.md", "validate.py", "loaders.py", "croissant.json"}
    assert names == {"release", *kit}
    assert recloak.verify(made.folder / "release", k=3).passed


def test_the_answers_lie_in_the_private_folder_alone(made):
    assert stat.S_IMODE(made.private.stat().st_mode) == 0o700
    for name in ("answers.parquet", "contest.json"):
        assert stat.S_IMODE((made.private / name).stat().st_mode) == 0o600
    secret = json.loads((made.private / "contest.json").read_text())["secret"]
    for path in made.folder.rglob("*"):
        assert path.is_dir() or secret.encode() not in path.read_bytes()


def test_questions_name_groups_and_items_and_most_are_fakes(made):
    asked = pl.read_csv(made.folder / "questions.csv")
    assert asked.columns == ["question", "group", "item"]
    assert asked["question"].to_list() == list(range(1, len(asked) + 1))
    assert asked.equals(asked.sort("group", "item", maintain_order=True).sort("question"))
    n_real = answers(made)["question"].n_unique()
    assert len(asked) >= 3.5 * n_real
    members = pl.read_parquet(made.folder / "release" / "members.parquet")
    assert set(asked["group"]) <= set(members["group"])


def test_every_hidden_rating_is_asked_about_by_the_group_of_its_rater(made):
    hidden = answers(made).join(pl.read_csv(made.folder / "questions.csv"), on="question", suffix="_asked")
    assert (hidden["group"] == hidden["group_asked"]).all()
    mapping = pl.read_parquet(made.private / "release" / "mapping.parquet")
    known = RATINGS.to_polars().join(mapping, left_on="user", right_on="user_id", suffix="_name")
    pairs = set(known.select("group", "item", "rating").rows())
    assert set(hidden.select("group", "item", "rating").rows()) <= pairs
    assert len(hidden) == made.n_hidden
    assert len(hidden) > 0.4 * 0.1 * RATINGS.n_ratings


def test_the_same_seed_gives_the_same_contest_and_its_secret_depends_on_the_ratings(made, tmp_path):
    again = recloak.contest.prepare(RATINGS, tmp_path / "again", k=3, mode="pure", seed=4)
    for name in ("questions.csv", "baseline.csv", "release/profiles.parquet"):
        assert (again.folder / name).read_bytes() == (made.folder / name).read_bytes()
    table = RATINGS.to_polars().with_columns(pl.lit(3.0).alias("rating"))
    other = recloak.contest.prepare(recloak.read(table, scale=(1, 5)), tmp_path / "other", k=3, mode="pure", seed=4)
    secrets = [json.loads((one.private / "contest.json").read_text())["secret"] for one in (made, again, other)]
    assert secrets[0] == secrets[1] != secrets[2]


def test_scores_are_those_of_the_plain_formulas(made, submission):
    draw = np.random.default_rng(1)
    predictions = draw.uniform(1, 5, made.n_questions)
    found = recloak.contest.score(submission(predictions), made.private, exact=True)
    for half, is_board in ((found.board, True), (found.final, False)):
        hidden = answers(made).filter(pl.col("is_board") == is_board)
        off = predictions[hidden["question"].to_numpy() - 1] - hidden["rating"].to_numpy()
        assert half is not None
        assert half.rmse == pytest.approx(np.sqrt((off**2).mean()))
        assert half.mae == pytest.approx(np.abs(off).mean())
        assert half.coverage == 1


def test_perfect_predictions_score_zero_and_missing_ones_count_as_the_middle(made, submission):
    truth = np.full(made.n_questions, np.nan)
    hidden = answers(made)
    once = hidden.group_by("question").agg(pl.col("rating").first(), n=pl.len()).filter(pl.col("n") == 1)
    truth[once["question"].to_numpy() - 1] = once["rating"].to_numpy()
    scores = recloak.contest.score(
        submission([None if np.isnan(one) else one for one in truth]), made.private, exact=True
    )
    empty = recloak.contest.score(submission([None] * made.n_questions), made.private, exact=True)
    assert scores.board is not None
    assert empty.board is not None
    assert scores.board.rmse < 0.7 < empty.board.rmse
    assert empty.board.coverage == 0


def test_a_board_shows_one_line_per_team_and_only_grows(made, submission, tmp_path):
    store = tmp_path / "board.db"
    bad, good = submission(np.full(made.n_questions, 1.0), "bad.csv"), made.folder / "baseline.csv"
    sent = ((bad, "a"), (good, "b"), (good, "a"), (bad, "b"))
    told = [
        recloak.contest.score(path, made.private, board=store, team=team, day="2026-01-01").told or 0.0
        for path, team in sent
    ]
    board = recloak.contest.board(store)
    assert told[2] < told[0]
    assert told[3] == told[1]  # worse than before: nothing is told
    assert [line.submissions for line in board.lines] == [2, 2]
    assert [line.place for line in board.lines] == [1, 2]
    assert board.left == 96


def test_a_board_in_postgresql_is_kept_as_in_a_file(made, submission, tmp_path):
    good, bad = made.folder / "baseline.csv", submission(np.full(made.n_questions, 1.0))
    with postgres.server() as address:
        boards = []
        for store in (tmp_path / "board.db", address):
            for path, team in ((bad, "a"), (good, "b"), (good, "a")):
                recloak.contest.score(path, made.private, board=store, team=team, day="2026-01-01")
            boards.append(recloak.contest.board(store).to_json())
        with pytest.raises(recloak.RefusedError, match="5 submissions in a day"):
            for _ in range(5):
                recloak.contest.score(good, made.private, board=address, team="a", day="2026-01-01")
        other = recloak.contest.prepare(RATINGS, tmp_path / "other", k=3, mode="pure", seed=5)
        with pytest.raises(recloak.InputError, match="the board of another contest"):
            recloak.contest.score(other.folder / "baseline.csv", other.private, board=address, team="a")
    assert boards[0] == boards[1]


def test_the_order_in_the_end_has_no_scores_in_it(made, submission):
    bad = submission(np.full(made.n_questions, 1.0), "bad.csv")
    found = recloak.contest.final({"z": made.folder / "baseline.csv", "b": bad, "a": bad}, made.private)
    assert found.places == (("z",), ("a", "b"))
    assert [line["place"] for line in found.lines] == [1, 2, 2]
    assert not any(isinstance(value, float) for value in found.to_polars().row(0))


def test_no_count_of_groups_or_items_tells_real_questions_from_fakes():
    draw = np.random.default_rng(1)
    busy, popular = draw.pareto(1.0, 60) + 0.2, draw.pareto(1.0, 80) + 0.2
    chance = np.minimum(0.9, np.outer(busy, popular) / 8)
    groups, items = np.nonzero(draw.random(chance.shape) < chance)  # busy groups hold most of the popular items
    real, fake = fair_questions(groups, items, 80, 4, draw)
    assert len(fake) == 4 * len(real)
    assert not set(real) & set(fake)
    assert set(real) <= set(groups * 80 + items)
    assert not set(fake) & set(groups * 80 + items)
    assert len(real) > len(groups) / 20  # two in five of all pairs are real: few fakes are left
    asked = np.concatenate((real, fake))
    sign = np.bincount(groups, minlength=60)[asked // 80] * np.bincount(items, minlength=80)[asked % 80]
    likeliest = np.argsort(-sign, kind="stable")[:100]
    assert (likeliest < len(real)).mean() < 0.3  # one in five by chance


def test_limits_are_kept(made, tmp_path):
    store, good = tmp_path / "board.db", made.folder / "baseline.csv"
    for _ in range(5):
        recloak.contest.score(good, made.private, board=store, team="a", day="2026-01-01")
    with pytest.raises(recloak.RefusedError, match="5 submissions in a day"):
        recloak.contest.score(good, made.private, board=store, team="a", day="2026-01-01")
    recloak.contest.score(good, made.private, board=store, team="a", day="2026-01-02")
    with pytest.raises(recloak.InputError, match="must not lie before 2026-01-02"):
        recloak.contest.score(good, made.private, board=store, team="a", day="2026-01-01")


def test_a_board_that_has_answered_enough_answers_no_more(tmp_path):
    rules = Rules(1.0, 5.0, 9, 3, 9, "00")
    with BoardStore(tmp_path / "board.db", contest="x", submissions=3) as store:
        for team in "abc":
            store.add(team, "2026-01-01", 1.0, rules, 100)
        with pytest.raises(recloak.RefusedError, match="answered its 3 submissions"):
            store.add("d", "2026-01-01", 1.0, rules, 100)
        assert store.board().left == 0


def test_a_score_is_told_only_if_it_improves_by_a_step():
    rules = Rules(1.0, 5.0, 9, 100, 9, "00")
    assert improves(0.9, None, rules, 50_000)
    assert not improves(0.8999, 0.9, rules, 50_000)
    assert improves(0.89, 0.9, rules, 50_000)


def test_the_board_holds_no_exact_score(made, tmp_path):
    store, good = tmp_path / "board.db", made.folder / "baseline.csv"
    exact = recloak.contest.score(good, made.private, exact=True).board
    assert exact is not None
    told = recloak.contest.score(good, made.private, board=store, team="a").told
    assert told is not None
    assert abs(told - exact.rmse) > 1e-9
    assert repr(exact.rmse).encode() not in store.read_bytes()


def test_the_board_of_another_contest_is_refused(made, tmp_path):
    other = recloak.contest.prepare(RATINGS, tmp_path / "other", k=3, mode="pure", seed=5)
    recloak.contest.score(other.folder / "baseline.csv", other.private, board=tmp_path / "b.db", team="a")
    with pytest.raises(recloak.InputError, match="the board of another contest"):
        recloak.contest.score(made.folder / "baseline.csv", made.private, board=tmp_path / "b.db", team="a")
    (tmp_path / "no.db").write_text("not a database")
    with pytest.raises(recloak.InputError, match="not a board"):
        recloak.contest.board(tmp_path / "no.db")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("question,prediction\n1,3\n", "every question from 1"),
        ("a,b\n1,3\n", "question"),
        ("question,prediction\n1,x\n", "a submission must be a CSV"),
        ("", "a submission must be a CSV"),
    ],
)
def test_a_bad_submission_is_one_sentence(made, tmp_path, text, sentence):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(recloak.InputError, match=sentence):
        recloak.contest.score(tmp_path / "bad.csv", made.private, exact=True)


@pytest.mark.parametrize("odd", ["inf", "nan"])
def test_predictions_that_are_no_finite_numbers_are_refused(made, submission, odd):
    path = submission([float(odd)] + [3.0] * (made.n_questions - 1))
    with pytest.raises(recloak.InputError, match="finite number or empty"):
        recloak.contest.score(path, made.private, exact=True)


def test_the_validator_runs_without_recloak(made, tmp_path):
    def check(path):
        code = [sys.executable, "-I", str(made.folder / "validate.py"), str(path)]
        return subprocess.run(code, capture_output=True, text=True, check=False)

    assert check(made.folder / "baseline.csv").returncode == 0
    (tmp_path / "bad.csv").write_text("question,prediction\n1,3\n1,nan\n0,2\n")
    found = check(tmp_path / "bad.csv")
    assert found.returncode == 1
    assert "question 1 stands twice" in found.stdout
    assert "no question '0'" in found.stdout


def test_the_loaders_give_pandas_and_recbole_the_release(made, tmp_path, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.syspath_prepend(str(made.folder))
    sys.modules.pop("loaders", None)
    import loaders  # type: ignore[import-not-found]

    table = loaders.load()
    assert list(table.columns) == ["user", "item", "rating"]
    path = loaders.to_recbole(table, "contest", tmp_path)
    again = recloak.read(path)
    assert again.n_ratings == len(table)
    rows = loaders.load_rows()
    assert set(rows["user"]) == set(table["user"])
    assert set(loaders.load_questions()["group"]) <= set(rows["group"])
    sys.modules.pop("loaders", None)


def test_the_croissant_file_names_every_table_with_its_digest(made):
    import hashlib

    told = json.loads((made.folder / "croissant.json").read_text())
    assert told["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    files = {one["contentUrl"]: one["sha256"] for one in told["distribution"]}
    assert set(files) == {"questions.csv", "release/profiles.parquet", "release/members.parquet"}
    for name, digest in files.items():
        assert hashlib.sha256((made.folder / name).read_bytes()).hexdigest() == digest
    for records in told["recordSet"]:
        for field in records["field"]:
            assert field["source"]["fileObject"]["@id"] in files


def test_the_commands_lead_from_source_to_board(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    RATINGS.to_polars().write_csv("ratings.csv")
    assert run(["contest", "prepare", "ratings.csv", "-o", "contest", "--k", "3", "--mode", "pure", "--seed", "1"]) == 0
    given = ["contest", "score", "contest/baseline.csv", "--private", "contest-private"]
    assert run([*given, "--board", "board.db", "--team", "base", "--day", "2026-01-01"]) == 0
    capsys.readouterr()
    assert run([*given, "--json"]) == 2  # exact scores only where they are asked for
    assert "--exact" in capsys.readouterr().err
    assert run([*given, "--exact", "--json"]) == 0
    assert json.loads(capsys.readouterr().out).keys() == {"board", "final"}
    assert run(["contest", "board", "board.db", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["board"][0]["team"] == "base"
    assert run([*given, "--team", "base"]) == 2
    assert "--board and --team go together" in capsys.readouterr().err
    assert run(["contest", "board", "nothing.db"]) == 2
    capsys.readouterr()
    final = ["contest", "final", "base=contest/baseline.csv", "--private", "contest-private"]
    assert run([*final, "same=contest/baseline.csv", "--json"]) == 0
    said = capsys.readouterr().out
    lines = [{"place": 1, "team": "base"}, {"place": 1, "team": "same"}]
    assert json.loads(said) == {"standings": lines, "hidden_ratings": json.loads(said)["hidden_ratings"]}
    assert run([*final, "nothing"]) == 2
    assert run([*final, "base=contest/baseline.csv"]) == 2


def test_a_contest_on_drawn_rows_asks_about_their_groups(tmp_path):
    made = recloak.contest.prepare(RATINGS, tmp_path / "drawn", k=3, mode="sampled", seed=1)
    assert {path.name for path in (made.folder / "release").glob("*.parquet")} == {"ratings.parquet", "members.parquet"}
    found = recloak.contest.score(made.folder / "baseline.csv", made.private, exact=True)
    assert found.board is not None
    assert found.board.rmse < 1.5


def test_the_places_of_a_score_say_nothing_about_it():
    for n in (100, 300, 1_000, 3_000, 50_000):
        rules = Rules(1.0, 5.0, 9, 100, 9, "00")
        assert len({telling_of(rules, n, rmse).decimals for rmse in (0.01, 0.3, 0.6, 1.0, 2.0, 4.0)}) == 1
