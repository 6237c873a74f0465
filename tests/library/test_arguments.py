"""A wrong argument is one sentence with its name, its rule and its value, never an exception from further in."""

import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import recloak
import recloak.mentions
import recloak.related
from tests.library.small_world import small_ratings

TABLE = small_ratings()
RATINGS = recloak.read(TABLE)
RELEASE = recloak.publish(RATINGS, k=4, mode="pure", seed=1)
FEW: dict[str, Any] = {"targets": 9, "known": (2,), "varied_at": 2, "seed": 1}
ANY: Any = recloak  # whose functions take what no type checker would let pass
WRONG: list[tuple[Any, str]] = [
    (lambda: ANY.audit(RATINGS, RELEASE, known=2), "known must be several values, such as (2, 8), got 2"),
    (lambda: ANY.audit(RATINGS, RELEASE, known="2,8"), "known must be several values, such as (2, 8), got '2,8'"),
    (lambda: ANY.audit(RATINGS, RELEASE, known=[2.5]), "known must be a whole number, got 2.5"),
    (lambda: ANY.audit(RATINGS, RELEASE, gates="link<1"), "gates must be several values"),
    (lambda: ANY.audit(RATINGS, RATINGS), "a release must be its folder or a recloak.Release, got Ratings"),
    (lambda: ANY.evaluate(RATINGS, 5, probe=TABLE), "a release must be its folder or a recloak.Release, got int"),
    (lambda: ANY.evaluate(RATINGS, holdout="0.1"), "holdout must lie between 0 and 1, got '0.1'"),
    (lambda: ANY.publish(RATINGS, mode="paded"), "got 'paded'; did you mean 'padded'?"),
    (lambda: ANY.publish(RATINGS, engine="sparc"), "got 'sparc'; did you mean 'spark'?"),
    (lambda: ANY.read(TABLE, values="count"), "got 'count'; did you mean 'counts'?"),
    (lambda: ANY.audit(RATINGS, RELEASE, gates=["scorboard<1"], **FEW), "; did you mean 'scoreboard'?"),
    (lambda: ANY.audit(RATINGS, RELEASE, accept=["membrship"], **FEW), "; did you mean 'membership'?"),
    (lambda: ANY.verify(5), "a release must be its folder or a recloak.Release, got int"),
    (lambda: ANY.verify(RELEASE, k="5"), "k must be a whole number, got '5'"),
    (lambda: ANY.verify(RELEASE, k=2.5), "k must be a whole number, got 2.5"),
    (lambda: ANY.verify(RELEASE, k=1), "k must be at least 2, got 1"),
    (lambda: ANY.verify(RELEASE, original=RATINGS, diversity=5), "diversity must be two whole numbers B,L"),
    (lambda: ANY.verify(RELEASE, original=RATINGS, private=5), "private must be a path, got int"),
    (lambda: ANY.publish(RATINGS, 5), "out must be a path, got int"),
    (lambda: ANY.publish(RATINGS, seed="x"), "seed must be a whole number, got 'x'"),
    (lambda: ANY.publish(RATINGS, seed=True), "seed must be a whole number, got True"),
    (lambda: ANY.publish(RATINGS, padder=len, rank=3), "padder=... predicts by itself; leave rank=... out"),
    (lambda: ANY.publish(RATINGS, padder=len, predictor="bias"), "leave predictor=... out"),
    (lambda: ANY.frontier(RATINGS, k=5), "k must be several values, such as [5, 10], got 5"),
    (lambda: ANY.frontier(RATINGS, mode="pure"), "mode must be several values"),
    (lambda: ANY.read(TABLE, scale=3), "scale must be its two ends, such as (1, 5), got 3"),
    (lambda: ANY.read(TABLE, scale=(1, 2, 3)), "scale must be its two ends, such as (1, 5), got (1, 2, 3)"),
    (lambda: ANY.read(TABLE, scale=(5, 1)), "scale must be (LOW, HIGH) with LOW below HIGH, got (5, 1)"),
    (lambda: ANY.read([]), "the list of paths is empty"),
    (lambda: ANY.read(["a.csv", 5]), "a list must hold paths, got int"),
    (lambda: ANY.Ratings.from_arrays([1, 2], [3], [4, 5]), "got 2 of user, 1 of item, 2 of rating"),
    (lambda: ANY.related.publish(5, RATINGS), "a history must be a recloak.related.History, a file or an address"),
    (lambda: ANY.related.advise(TABLE, deltas=0.4), "deltas must be several values, such as [0.1, 0.4], got 0.4"),
    (lambda: ANY.related.advise(TABLE, evidence="fresh"), "evidence must be several values"),
    (lambda: ANY.related.verify("x.db", TABLE, residual="3"), "residual must be a whole number, got '3'"),
    (lambda: ANY.related.attack("x.db", TABLE, window=1), "window must be at least 2, got 1"),
    (lambda: ANY.mentions.prepare_advisor(RATINGS, secret="x" * 20), "secret must be bytes"),
    (lambda: ANY.mentions.identify(TABLE, TABLE, absent="x"), "absent must be at least 0 and at most 1, got 'x'"),
    (lambda: ANY.mentions.identify(TABLE, TABLE, threshold=2), "threshold must be at least 0 and at most 1, got 2"),
    (
        lambda: ANY.mentions.advise(ANY.mentions.prepare_advisor(RATINGS, exact=True), 1, [1], [2], k="3"),
        "k must be a whole number, got '3'",
    ),
    (
        lambda: ANY.mentions.identify(TABLE, TABLE).algorithms["scoring"].at(3),
        "k must be one of 1, 5, 10, 100, got 3",
    ),
    (
        lambda: ANY.mentions.find(["x"], pl.DataFrame({"a": [1]})),
        "no column for the title was recognised among a; name",
    ),
]


@pytest.mark.parametrize(("call", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_a_wrong_argument_is_one_sentence(call, sentence):
    with pytest.raises(recloak.InputError) as caught:
        call()
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    ("factors", "sentence"),
    [
        ("abc", "a padder's user_factors must be an array of numbers, got str"),
        ([[1.0], [1.0, 2.0]], "must be an array of numbers, got list"),
        (np.zeros((7, 2)), "must have the shape (40, number of factors), got (7, 2)"),
    ],
)
def test_a_padders_mistake_is_one_sentence(factors, sentence):
    with pytest.raises(recloak.InputError) as caught:
        recloak.publish(RATINGS, padder=lambda _: SimpleNamespace(user_factors=factors), seed=1)
    assert sentence in str(caught.value)


def test_numbers_of_numpy_are_numbers():
    made = recloak.publish(RATINGS, k=np.int64(4), mode="pure", max_link=np.float64(0.9), seed=np.int64(1))  # type: ignore[arg-type]
    plain = recloak.publish(RATINGS, k=4, mode="pure", max_link=0.9, seed=1)
    assert (made.facts, made.account["options"]) == (plain.facts, plain.account["options"])
    assert recloak.verify(made, k=np.int32(4)).passed  # type: ignore[arg-type]
    with pytest.raises(recloak.OptionError, match="k must be of type int"):
        recloak.publish(RATINGS, k=np.float64(4.0))  # type: ignore[arg-type]


def test_a_diversity_and_a_scale_may_be_their_numbers():
    release = recloak.publish(RATINGS, k=4, mode="pure", diversity=(1, 2), seed=1)  # type: ignore[arg-type]
    assert release.facts.diversity == recloak.Diversity(1, 2)
    assert recloak.verify(release, original=RATINGS, diversity=(None, 2)).k_found == 4  # type: ignore[arg-type]
    assert recloak.read(TABLE, scale=[1, 6]).scale.high == recloak.read(TABLE, scale="1,6").scale.high  # type: ignore[arg-type]


def test_a_title_column_can_be_named():
    titles = pl.DataFrame({"id": [1], "what it is called": ["Matrix, The (1999)"]})
    found = recloak.mentions.find(["I loved The Matrix (1999)"], titles, title="what it is called")
    assert found.to_polars()["item"].to_list() == [1]


def test_results_can_be_pickled():
    audited = recloak.audit(RATINGS, RELEASE, gates=["link<1"], **FEW)
    for found in (audited, recloak.mentions.identify(TABLE, TABLE), recloak.mentions.defend(TABLE, TABLE)):
        again = pickle.loads(pickle.dumps(found))
        assert (again.to_json(), again.to_html()) == (found.to_json(), found.to_html())
    assert pickle.loads(pickle.dumps(RELEASE)).to_polars().equals(RELEASE.to_polars())


def test_every_verdict_has_the_same_names():
    audited, verdict = recloak.audit(RATINGS, RELEASE, **FEW), recloak.verify(RELEASE)
    assert audited.passed == (audited.verdict == "bounded")
    assert verdict.to_json() == verdict.to_mapping()
    failed = recloak.verify(RELEASE, original=RATINGS.where(RATINGS.users() > 2))
    assert "<li>the source is not this release&#x27;s: it has 37 users" in str(failed._repr_html_())


def test_a_notebook_shows_one_line_of_counts_of_what_has_no_page():
    values = (
        RELEASE,
        RATINGS,
        recloak.verify(RELEASE),
        recloak.related.build(TABLE),
        recloak.mentions.find(["x"], TABLE.select(id="item", title=pl.lit("Heat (1995)"))),
    )
    for value in values:
        assert str(value._repr_html_()).startswith(f"<p><code>&lt;{type(value).__name__}: ")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ANY.publish(RATINGS, mod="pure"),
            "unexpected keyword argument 'mod'; did you mean 'mode'?",
        ),
        (lambda: ANY.related.build(RATINGS, similarty="cosine"), "'similarty'; did you mean 'similarity'?"),
        (lambda: ANY.mentions.identify(TABLE, TABLE, zzz=1), "identify() got an unexpected keyword argument 'zzz'"),
    ],
)
def test_a_misspelt_keyword_is_named_with_the_nearest_one(call, message):
    with pytest.raises(TypeError) as raised:
        call()
    assert str(raised.value).endswith(message)


@pytest.mark.parametrize(("module", "name", "meant"), [(ANY, "publsh", "publish"), (ANY.related, "bild", "build")])
def test_a_misspelt_name_is_told_with_the_nearest_one(module, name, meant):
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'; did you mean '{meant}'"):
        getattr(module, name)


def test_public_functions_can_be_sent_to_other_processes():
    assert pickle.loads(pickle.dumps(recloak.publish)) is recloak.publish
