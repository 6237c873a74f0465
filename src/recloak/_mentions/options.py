"""The options of re-identifying people by what they mention."""

from dataclasses import dataclass

from recloak._core.options import Options, option


@dataclass(frozen=True, kw_only=True)
class IdentifyOptions(Options):
    """How the attacker scores."""

    floor: float = option(0.05, "sub-score of a mention that the candidate has not rated", above=0.0, at_most=1.0)
    heavy: float = option(
        1 / 3, "Scoring leaves out candidates who rated more than this share of all items", above=0.0, at_most=1.0
    )
    flat: bool = option(False, "Scoring gives every rated mention 1, whatever its popularity")
    fuzz: float = option(1.0, "how far apart two ratings may be for FuzzyRating", at_least=0.0)
    unsaid: str = option(
        "any", "a mention whose rating is not known counts for any of its raters, or for none", choices=("any", "none")
    )
    ignore: float = option(
        0.01, "share of the items, most rated first, that the adaptive attacker ignores", at_least=0.0, at_most=1.0
    )
