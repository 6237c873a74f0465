"""Prepare a contest: hold ratings out, publish the rest, ask about what was held out."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
from dataclasses import asdict
from importlib import resources
from pathlib import Path

import numpy as np
import polars as pl

from recloak._contest.croissant import croissant, tables_of
from recloak._contest.model import (
    ANSWERS,
    BASELINE,
    CROISSANT,
    LOADERS,
    QUESTIONS,
    RELEASE,
    RULES,
    TASK,
    TERMS,
    VALIDATOR,
    Contest,
    Rules,
)
from recloak._contest.options import ContestOptions
from recloak._contest.questions import Questions, make_questions
from recloak._contest.telling import telling_of
from recloak._contest.texts import TERMS_TEXT, task_text
from recloak._core.errors import InputError
from recloak._core.progress import task
from recloak._core.randomness import Randomness
from recloak._evaluation.holdout import Probe, hold_out
from recloak._ratings.model import Ratings
from recloak._releases.folder_checks import both_or_none
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import TABLES, table_names
from recloak._releases.options import PublishOptions
from recloak._releases.publishing import publish
from recloak._releases.release import Release
from recloak._releases.release_folders import about_release, require_pass, write_private, write_public
from recloak._releases.verifier import verify

_FORMAT = "parquet"
_LAYOUT = "grouped"
_LEAST_HIDDEN = 20


def prepare(
    ratings: Ratings, public: Path, hidden: Path, publishing: PublishOptions, options: ContestOptions, rng: Randomness
) -> Contest:
    """Write both folders of a contest or neither."""
    with task("preparing a contest", 3) as advance:
        rest, probe = hold_out(ratings, options.holdout, rng=rng.child("contest"))
        if len(probe) < _LEAST_HIDDEN:
            raise InputError(f"a contest needs at least {_LEAST_HIDDEN} hidden ratings, got {len(probe)}")
        release = publish(rest, options=publishing, rng=rng)
        release = release.named(_layout_of(release), _FORMAT)
        advance(1)
        hidden_rng = _keyed_by(probe, rng)
        questions = make_questions(probe, _group_of(release, rest), rest.item_ids, options.fakes, hidden_rng)
        rules = Rules(
            ratings.scale.low, ratings.scale.high, len(questions.asked), options.submissions, options.per_day,
            hidden_rng.key("board").hex(), ratings.scale.step or 0.0,
        )  # fmt: skip
        with both_or_none(public, hidden) as (aside, hidden_aside):
            _write_release(release, public, aside, hidden_aside)
            advance(1)
            _write_public(aside, release, rest, questions, rules, options)
            _write_private(hidden_aside, questions, rules)
            advance(1)
    return Contest(public, hidden, len(questions.asked), len(questions.answers), _noise(questions, rules))


def _noise(questions: Questions, rules: Rules) -> float:
    """Return about how large the noise of the board is, at an error of a fourth of the span."""
    return telling_of(rules, int(questions.answers["is_board"].sum()), rules.span / 4).step


def _keyed_by(probe: Probe, rng: Randomness) -> Randomness:
    """Return a randomness that depends on the hidden ratings, so that who guesses the seed cannot compute it."""
    content = b"".join(np.ascontiguousarray(one).tobytes() for one in (probe.users, probe.items, probe.values))
    digest = hmac.new(rng.key("contest"), content, hashlib.sha256).digest()
    return Randomness(int.from_bytes(digest, "little"))


def _group_of(release: Release, ratings: Ratings) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the public number of each user's group."""
    mapping = release.mapping()
    users = ratings.user_ids.encode(mapping["user_id"])
    group = np.empty(ratings.n_users, np.int64)
    group[users] = mapping["group"].to_numpy()
    return group


def _write_release(release: Release, public: Path, aside: Path, hidden: Path) -> None:
    """Write and verify the release inside the contest's folders, as `publish` does."""
    (aside / RELEASE).mkdir()
    (hidden / RELEASE).mkdir(mode=0o700)
    layout = _layout_of(release)
    write_public(release, aside / RELEASE, layout, _FORMAT)
    facts = release.facts
    original = None if facts.diversity is None and facts.max_link is None else release.source
    mapping = None if facts.max_link is None else release.mapping()
    verdict = verify(aside / RELEASE, k=facts.k, original=original, diversity=facts.diversity, mapping=mapping)
    require_pass(verdict)
    about = about_release(public / RELEASE, aside / RELEASE, layout, _FORMAT)
    write_private(release, hidden / RELEASE, about)


def _write_public(
    folder: Path, release: Release, rest: Ratings, questions: Questions, rules: Rules, options: ContestOptions
) -> None:
    questions.asked.write_csv(folder / QUESTIONS)
    cells = folder / RELEASE / next(iter(table_names(_layout_of(release), _FORMAT).values()))
    _baseline(pl.read_parquet(cells), questions).write_csv(folder / BASELINE)
    noise = f"{_noise(questions, rules):.1g}"
    (folder / TASK).write_text(task_text(rules, options, release.facts.n_groups, noise), encoding="utf-8")
    (folder / TERMS).write_text(TERMS_TEXT, encoding="utf-8")
    for name in (VALIDATOR, LOADERS):
        with resources.as_file(resources.files("recloak._contest.kit").joinpath(name)) as file:
            shutil.copyfile(file, folder / name)
    layout = _layout_of(release)
    names = table_names(layout, _FORMAT)
    columns = {names[table]: TABLES[layout][table] for table in names}
    described = croissant(folder, tables_of(folder, columns), item_is_text=rest.item_ids.is_text)
    (folder / CROISSANT).write_text(json.dumps(described, indent=2) + "\n", encoding="utf-8")


def _layout_of(release: Release) -> str:
    """Return the layout that tells the groups: one row for each, or the rows that were drawn for them."""
    layouts = MODES[release.facts.mode].layouts
    return _LAYOUT if _LAYOUT in layouts else layouts[0]


def _baseline(cells: pl.DataFrame, questions: Questions) -> pl.DataFrame:
    """Return the mean of each item in the release as predictions: what any participant could compute."""
    means = cells.group_by("item").agg(prediction=pl.col("rating").cast(pl.Float64).mean())
    overall = float(cells["rating"].cast(pl.Float64).mean() or 0.0)  # type: ignore[arg-type]
    joined = questions.asked.join(means, on="item", how="left", maintain_order="left")
    return joined.select("question", pl.col("prediction").fill_null(overall).round(4))


def _write_private(folder: Path, questions: Questions, rules: Rules) -> None:
    questions.answers.write_parquet(folder / ANSWERS)
    (folder / RULES).write_text(json.dumps(asdict(rules), indent=2) + "\n", encoding="utf-8")
    for name in (ANSWERS, RULES):
        (folder / name).chmod(0o600)
