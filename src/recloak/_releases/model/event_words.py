"""The words of a release of purchases or plays: what its rows show, promise and give away.

The column of values is called ``rating`` in every release, so that all readers of releases read these too. What it
holds is said here: 1 for presence, the level of a count, or a propensity where rows have every item.
"""

from __future__ import annotations

import re
from dataclasses import replace

from recloak._ratings.value_kinds import COUNTS, PRESENCE, RATINGS
from recloak._releases.model.modes import MODES, Mode

_LEVELS = "level 1 is a count of 1, level 2 of 2 to 3, level 3 of 4 to 7, and so on, each twice as wide"
_ONE = "The column `rating` is always 1: the item stands in the row"
_LEVEL = f"The column `rating` is a level of how often ({_LEVELS}; the highest stands for all above it too)"
_PROPENSITY = (
    "The column `rating` is a propensity: how likely a member of the group uses the item, as a model of who uses what "
    "sees it, from 0 (nobody like them does) to 1. It is the mean over all members, and for an item that few people "
    "use the share of all people who use it. The model weighs a use six times. Every row is scaled to one sum, so that "
    "how much the members of a group use does not show: compare propensities within a row"
)
_DRAWN_LEVEL = (
    f"{_LEVEL}, drawn as a model predicts it for a group, and cut so that each level is as frequent as in the source"
)
_PURE = replace(
    MODES["pure"],
    text="the items someone in the group used",
    label="",
    label_of_few="",
    exact_averages="",
    leaks={
        "raters": (
            "That a person cannot be found: the items of a row are those of its members. A rare item in a row shows "
            "that somebody of the group used it. Whoever knows that a person did so knows the group.",
        )
    },
    not_promised=(
        "That nobody can tell what a person did not use: an item missing from a row was used by {none}{unless_capped}.",
    ),
    guarantee="Every user shares the whole row with at least {others} other users (k-anonymity, k = {k}).",
    people="who all share one row of items. Made with recloak by",
    links=(
        "That nobody can tell which items a person used. Somebody who knows a person's group learns that some of its "
        "members used an item. How sure that is, users of the item divided by members, can exceed 1/k."
    ),
)
_PADDED = replace(
    MODES["padded"],
    grid_steps=_PURE.grid_steps,
    label="",
    label_of_few="",
    exact_averages="",
    label_of_model=_PROPENSITY,
    guarantee=_PURE.guarantee,
    leaks={
        "model": (
            "That nobody can tell whether a person is in the data, or what the members of a group used. A group's "
            "propensities are the mean of what a model learned of its members, and are larger for what they used. "
            "`recloak audit` measures it on a release.",
        )
    },
    promised=("Every group has a propensity for every item, so that the presence of an item tells nothing.",),
    people="who all share one row of propensities. Made with recloak by",
    links=(
        "That nobody can tell which items a person used. Somebody who knows a person's group learns which items its "
        "members are likely to use."
    ),
)
_SAMPLED = replace(
    MODES["sampled"],
    leaks={
        "model": (
            "That a person cannot be found, or that nobody can tell whether a person is in the data. What the members "
            "of a group used is more frequent in its rows. This is measured, not bounded: `recloak audit` measures it "
            "on a release.",
            MODES["sampled"].leaks["model"][1],
        )
    },
)
_OF_PRESENCE = (replace(_PURE, label=_ONE), _PADDED, replace(_SAMPLED, label_of_model=_ONE))
_OF_COUNTS = (
    replace(
        _PURE,
        label=f"{_LEVEL}: the mean over those members of the group who used the item",
        label_of_few=", and a prediction of it for all members where fewer than {0} used it",
    ),
    _PADDED,
    replace(_SAMPLED, label_of_model=_DRAWN_LEVEL),
)
_WORDS = {
    PRESENCE.name: {mode.name: mode for mode in _OF_PRESENCE},
    COUNTS.name: {mode.name: mode for mode in _OF_COUNTS},
}
_USED = {"rated": "used", "rates": "uses", "ratings": "uses", "raters": "users", "Ratings": "Values"}


def words_of(mode: str, values: str) -> Mode:
    """Return the mode with the words for a kind of values."""
    return MODES[mode] if values == RATINGS.name else _WORDS[values][mode]


def value_noun(mode: str, values: str) -> str:
    """Return what one value of a row is called: a rating, a value, a level or a propensity."""
    if values == RATINGS.name:
        return "rating"
    if MODES[mode].is_complete:
        return "propensity"
    return "level" if values == COUNTS.name else "value"


def in_words(sentence: str, mode: str, values: str) -> str:
    """Return a sentence that was written for ratings in the words of what the source holds; code stays as it is."""
    if values == RATINGS.name:
        return sentence
    words = {**_USED, "rating": value_noun(mode, values)}
    pattern = rf"`[^`]*`|\b({'|'.join(words)})\b"
    return re.sub(pattern, lambda found: words.get(found[0], found[0]), sentence)
