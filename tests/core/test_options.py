import json
from dataclasses import FrozenInstanceError, dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recloak._core.errors import OptionError
from recloak._core.options import Options, option, require_on_spark


@dataclass(frozen=True, kw_only=True)
class Tea(Options):
    cups: int = option(2, "how many cups", at_least=1, at_most=12)
    grams: float = option(2.5, "tea in a cup", above=0)
    kind: str = option("green", "which tea", choices=("green", "black"))
    milk: bool = option(False, "with milk")
    sugar: float | None = option(None, "grams of sugar", at_least=0)
    guests: tuple[str, ...] = option((), "who comes")

    def check(self) -> None:
        if self.milk and self.kind == "green":
            raise OptionError("milk goes with black tea only")


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"cups": 0}, "cups must be at least 1, got 0"),
        ({"cups": 13}, "cups must be at most 12, got 13"),
        ({"cups": True}, "cups must be of type int, got True"),
        ({"cups": 2.0}, "cups must be of type int, got 2.0"),
        ({"grams": True}, "grams must be of type float, got True"),
        ({"grams": 0}, "grams must be more than 0, got 0.0"),
        ({"grams": float("nan")}, "grams must be a number, got nan"),
        ({"kind": "red"}, "kind must be one of green, black, got 'red'"),
        ({"sugar": "much"}, "sugar must be of type float or nothing, got 'much'"),
        ({"milk": True}, "milk goes with black tea only"),
        ({"cupz": 1}, "there is no option 'cupz'; did you mean 'cups'?"),
        (
            {"xyz": 1},
            "there is no option 'xyz'; there are: cups, grams, kind, milk, sugar, guests",
        ),
    ],
)
def test_a_broken_rule_is_told_in_one_sentence(given, sentence):
    with pytest.raises(OptionError) as caught:
        Tea.from_mapping(given)
    assert str(caught.value) == sentence


def test_an_option_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Tea().cups = 3  # type: ignore[misc]


def test_but_changes_a_copy_and_checks_it():
    tea = Tea()
    assert tea.replace(cups=5).cups == 5
    assert tea.cups == 2
    with pytest.raises(OptionError):
        tea.replace(cups=0)


@given(
    st.builds(
        Tea,
        cups=st.integers(1, 12),
        grams=st.floats(0.1, 10),
        kind=st.just("black"),
        milk=st.booleans(),
        sugar=st.none() | st.floats(0, 9),
        guests=st.lists(st.text(max_size=3), max_size=3).map(tuple),
    )
)
def test_options_round_trip_through_json(tea):
    assert Tea.from_mapping(json.loads(json.dumps(tea.to_mapping()))) == tea


def test_spark_takes_every_value_a_value_not_given_and_those_that_are_named():
    require_on_spark("mode", "pure", None)
    require_on_spark("mode", None, ("pure",))
    require_on_spark("mode", "pure", ("pure",))
    with pytest.raises(OptionError, match="mode must be pure or padded with engine='spark', got 'sampled'"):
        require_on_spark("mode", "sampled", ("pure", "padded"))
    with pytest.raises(OptionError, match=r"mode=\.\.\. does not go with engine='spark'"):
        require_on_spark("mode", "sampled", ())
