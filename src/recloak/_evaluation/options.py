"""The options of evaluations, frontiers and the paper's experiments."""

from dataclasses import dataclass

from recloak._core.options import Options, option


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions(Options):
    """How an evaluation is run."""

    users: int = option(
        2000, "how many users at most are compared with every profile and ranked for", at_least=1, spark=False
    )


@dataclass(frozen=True, kw_only=True)
class FidelityOptions(Options):
    """How leaderboards of algorithms on a release are compared with those on the original."""

    splits: int = option(3, "how many times both sides are split into training and test", at_least=1, spark=False)
    quick: bool = option(False, "compare 5 + 5 algorithms instead of all", spark=False)
    most_people: int = option(10_000, "how many people at most take part, in whole groups", at_least=2, spark=False)
    most_items: int = option(4000, "how many items at most take part, the most rated", at_least=2, spark=False)


@dataclass(frozen=True, kw_only=True)
class FrontierOptions(Options):
    """How the points of a frontier are measured."""

    holdout: float = option(0.1, "share of the ratings held out to measure usefulness", above=0.0, at_most=0.9)
    targets: int = option(1000, "how many targets are drawn for each attack", at_least=1)
    known: int = option(8, "how many items of a target are known", at_least=1)
    no_fidelity: bool = option(False, "do not compare leaderboards of 5 + 5 algorithms on each release")


@dataclass(frozen=True, kw_only=True)
class PredictiveOptions(Options):
    """How the paper's experiments are run."""

    k_small: int = option(5, "the smaller k of table 1", at_least=2)
    k_large: int = option(50, "the larger k of tables 1 and 3", at_least=2)
    holdout: float = option(0.1, "share of the ratings held out as the challenge set", above=0.0, at_most=0.9)
    users: int = option(1000, "users compared with every profile, at most", at_least=1)
    pairs_of: int = option(300, "users whose pairs are measured for figure 4", at_least=2)
