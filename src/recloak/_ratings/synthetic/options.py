"""What synthetic data to make, and what is written beside it."""

from dataclasses import dataclass

from recloak._core.errors import OptionError
from recloak._core.options import Options, option
from recloak._ratings.synthetic.presets import PRESETS, Preset

_DENSEST = 0.5
_MOST = 2**31 - 1


@dataclass(frozen=True, kw_only=True)
class SynthOptions(Options):
    """Which shape, and how large."""

    preset: str | None = option(
        None,
        "the data set whose shape is taken; tiny if nothing is said, netflix if only sizes are",
        choices=tuple(PRESETS),
    )
    users: int | None = option(None, "number of users, instead of the preset's", at_least=1, at_most=_MOST)
    items: int | None = option(None, "number of items, instead of the preset's", at_least=1, at_most=_MOST)
    ratings: int | None = option(
        None, "number of ratings; as many per user as in the preset if nothing is said", at_least=1
    )

    def check(self) -> None:
        """Check the three sizes together: everyone rates, everything is rated, half the cells stay empty."""
        n_users, n_items, n_ratings = self.sizes
        if n_ratings < max(n_users, n_items):
            raise OptionError(
                f"ratings must be at least {max(n_users, n_items)}, one for each user and each item, got {n_ratings}"
            )
        if n_ratings > max(_DENSEST * n_users * n_items, n_users, n_items):
            raise OptionError(
                f"ratings must be at most half of users x items, {int(_DENSEST * n_users * n_items)}, got {n_ratings}"
            )

    @property
    def shape(self) -> Preset:
        """The preset whose shape is taken."""
        sized = any(size is not None for size in (self.users, self.items, self.ratings))
        return PRESETS[self.preset or ("netflix" if sized else "tiny")]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """``(n_users, n_items, n_ratings)``."""
        shape = self.shape
        n_users, n_items = self.users or shape.n_users, self.items or shape.n_items
        kept = round(shape.n_ratings * n_users / shape.n_users)
        most = max(int(_DENSEST * n_users * n_items), n_users, n_items)
        return n_users, n_items, self.ratings or min(max(kept, n_users, n_items), most)


@dataclass(frozen=True, kw_only=True)
class FileOptions(Options):
    """What is written beside the ratings, and how."""

    format: str | None = option(
        None, "of the files where OUT is a folder; else OUT's ending decides", choices=("parquet", "csv")
    )
    titles: bool = option(False, "write made-up titles as well")
    mentions: bool = option(False, "write public mentions as well")


@dataclass(frozen=True, kw_only=True)
class MentionOptions(Options):
    """Who mentions, how often, and what."""

    mentioners: float = option(0.05, "share of the users who mention items in public", above=0, at_most=1)
    rated: float = option(
        0.82,
        "share of the mentioned items that the mentioner has rated",
        at_least=0,
        at_most=1,
        flag="--mentions-rated",
    )
    exponent: float = option(
        1.8, "exponent of the power law of mentions per mentioner", above=1, flag="--mentions-exponent"
    )
    popularity_power: float = option(
        0.5, "power of its popularity by which a rated item is mentioned", at_least=0, flag="--mentions-popularity"
    )
    lag: float = option(
        7.0, "mean days from a rating to its mention; forums lag, tags hardly do", above=0, flag="--mentions-lag"
    )
    linked: float = option(
        1.0,
        "share of the mentions that follow the rating of their item; others follow any rating of the mentioner",
        at_least=0,
        at_most=1,
        flag="--mentions-linked",
    )
