"""The modes of a release: which items the shared row of a group has, and what that promises.

A `Mode` is the public description that makers, verifiers, pages and the command line read. How the rows of a mode are
made stands in `_releases.homogenise.ROW_MAKERS`. To add a mode, add its value to `MODES` and its maker to `ROW_MAKERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from recloak._core.errors import OptionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Mode:
    """One mode of a release.

    Parameters
    ----------
    name
        The value of ``mode=`` and of the manifest's field ``mode``.
    text
        What a row holds, as ``--help`` says it.
    is_complete
        Whether every row has every item; the verifier checks it.
    grid_steps
        How many steps of the default grid fit into the scale (docs/decisions/labels-and-grid.md).
    label
        What a rating of the release is, as a sentence without its period.
    label_of_few
        What follows in that sentence if ``{0}`` real raters are needed behind a label.
    label_of_model
        That sentence if labels come from the model alone; empty if the mode has no such labels.
    leaks
        What labels tell, by their source (``model`` or ``raters``): sentences of the manifest, with figures.
    exact_averages
        What the literal method of the paper gives away in this mode: a clause that follows "so".
    promised, not_promised
        Further sentences of the manifest; ``{none}`` and ``{unless_capped}`` stand for the effects of ``min_shown``
        and ``max_link`` on missing items.
    refused
        Options that this mode does not take, each with the reason.
    is_drawn
        Whether rows are drawn for groups, one for each member, instead of being shared by a group.
    layouts
        How a release may be laid out; the first is the usual one.
    guarantee, people, links, splitting, checked
        Sentences and clauses of manifest and card about what members of a group have in common; ``{k}`` and
        ``{others}`` stand for k and k - 1.
    on_spark
        Whether the Spark engine has it too.

    Examples
    --------
    >>> import recloak
    >>> recloak.MODES["padded"].is_complete, recloak.MODES["pure"].is_complete
    (True, False)
    """

    name: str
    text: str
    is_complete: bool
    grid_steps: int
    label: str
    label_of_few: str
    label_of_model: str
    leaks: Mapping[str, tuple[str, ...]]
    exact_averages: str
    promised: tuple[str, ...] = ()
    not_promised: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)
    is_drawn: bool = False
    layouts: tuple[str, ...] = ("grouped", "long", "factors")
    guarantee: str = (
        "Every user shares the whole row, items and ratings, with at least {others} other users (k-anonymity, k = {k})."
    )
    people: str = "who all share one row of items and ratings. Made with recloak by"
    links: str = (
        "That nobody can tell which items a person rated. Somebody who knows a person's group learns that some of its "
        "members rated an item. How sure that is, raters divided by members, can exceed 1/k."
    )
    splitting: str = (
        "**Split groups, not people, into train and test.** The members of a group have the same row. If some of them "
        "are in one part and some in the other, the test asks for rows that were used in training."
    )
    checked: str = "every row is shared by at least k people"
    on_spark: bool = True

    def require_taken(self, option: str) -> None:
        """Raise OptionError if this mode does not take an option."""
        if option in self.refused:
            raise OptionError(f"{option} is for mode {', '.join(modes_with(option))}: {self.refused[option]}")


_PURE_LEAKS = (
    "That a person cannot be found: the items of a row are those of its members. On MovieLens-1M at k = 5, an attacker "
    "who knows 8 of a person's ratings finds the group in 82 of 100 cases. One who knows all of them can tell whether "
    "the person is in the data (area under the curve 0.995; 0.5 is a guess).",
)
_MODEL_LEAKS = (
    "That nobody can tell whether a person is in the data: a group's row was fitted to its members' ratings. On "
    "MovieLens-1M at k = 5, an attacker who knows all ratings of a person and the exact model tells members from "
    "others with an area under the curve of 0.88 (0.5 is a guess; 0.55 with 16 ratings known).",
)
_RATERS_LEAKS = (
    "That nobody can tell which cells hold real ratings: several raters move a label, and a low-rank fit of the table "
    "shows where. On MovieLens-1M at k = 5, 98 of 100 cells found in this way had 2 or more raters. Four members who "
    "pool their ratings read 95 of 100 of the fifth's exactly, where one of them rated the item too. An attacker who "
    "knows all ratings of a person can tell whether the person is in the data (area under the curve 0.98). Labels of "
    "the model alone avoid the first two and lower the third, to 0.88.",
)

_SAMPLED_LEAKS = (
    "That a person cannot be found, or that nobody can tell whether a person is in the data. What the members of a "
    "group rated is more frequent in its rows, and their tastes move its ratings. This is measured, not bounded: "
    "`recloak audit` measures it on a release, and docs/publish.md has figures.",
    "k-anonymity of identical rows: every row is different. Instead, the rows of a group would be the same, byte by "
    "byte, if its members changed places.",
)
_SHARED = "a row of this mode is shared by a group, not drawn"
_DRAWN = "rows of this mode are drawn, not shared by a group"

_ALL = (
    Mode(
        name="pure",
        text="the items someone in the group rated",
        is_complete=False,
        grid_steps=8,
        label="A rating is the mean over those members of the group who rated the item",
        label_of_few=", and over all members, of their rating or a prediction of it, where fewer than {0} rated it",
        exact_averages="the denominator of an average can show how many rated, and where one rated the item the "
        "average is that person's exact rating",
        label_of_model="",
        leaks={"raters": _PURE_LEAKS},
        not_promised=(
            "That nobody can tell what a person did not rate: an item missing from a row was rated by "
            "{none}{unless_capped}.",
        ),
        refused={
            "labels": "the items of a pure row are those that its raters chose, and so are their labels",
            **dict.fromkeys(("boost", "grouping_by"), _SHARED),
        },
    ),
    Mode(
        name="padded",
        text="all items",
        is_complete=True,
        grid_steps=40,
        label="A rating is the mean over all members of the group of their rating, or of a prediction of it",
        label_of_few=", and a prediction alone where fewer than {0} members rated the item",
        exact_averages="whoever can predict the other members' cells can solve an average for one person's rating",
        label_of_model="A rating is what a model of everybody's ratings predicts for the group from all its members' "
        "ratings together; no single cell holds anybody's own rating",
        leaks={"model": _MODEL_LEAKS, "raters": _RATERS_LEAKS},
        promised=("Every group has a rating for every item, so that the presence of an item tells nothing.",),
        refused={
            **dict.fromkeys(
                ("max_link", "min_shown", "decoys"), "a padded row has every item, so that its presence tells nothing"
            ),
            **dict.fromkeys(("boost", "grouping_by"), _SHARED),
        },
    ),
    Mode(
        name="sampled",
        text="rows drawn for the group, as many as it has members and nobody's own",
        is_complete=False,
        grid_steps=8,
        label="",
        label_of_few="",
        label_of_model="A rating was drawn: it is a model's prediction for a taste near the group's, plus random "
        "noise that is correlated as ratings of the source are, with each value as frequent as in the source",
        leaks={"model": _SAMPLED_LEAKS},
        exact_averages="",
        promised=(
            "No row is a person's own, and nothing here depends on which member of a group is which. A row was drawn "
            "from what the members of its group rated together, what near groups rated, and what everybody rated.",
        ),
        refused={
            "labels": "its ratings are drawn from the model alone",
            **dict.fromkeys(("max_link", "min_shown", "decoys", "diversity", "paper", "min_raters"), _DRAWN),
        },
        is_drawn=True,
        layouts=("drawn",),
        guarantee="Every row was drawn for a group of at least {k} people, one row for each member. The rows of a "
        "group are exchangeable.",
        people="for whom as many rows were drawn. Made with recloak after",
        links="That nobody can tell which items a person rated. Somebody who knows a person's group learns what its "
        "members rated more often than other people.",
        splitting="Rows can be split into train and test like those of people; `members` says for which group a row "
        "was drawn.",
        checked="every group has at least k rows. That they were drawn as described is the publisher's claim",
    ),
)

MODES: dict[str, Mode] = {mode.name: mode for mode in _ALL}


def modes_with(option: str) -> list[str]:
    """Return the names of the modes that take an option."""
    return [mode.name for mode in MODES.values() if option not in mode.refused]
