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

    def require_taken(self, option: str) -> None:
        """Raise OptionError if this mode does not take an option."""
        if option in self.refused:
            raise OptionError(f"{option} is for mode {', '.join(modes_with(option))}: {self.refused[option]}")


_PURE_LEAKS = (
    "That a person cannot be found: the items of a row are those of its members. On MovieLens-1M at k = 5, who knows 8 "
    "of a person's ratings finds the group in 82 of 100 cases, and who knows all of them can tell whether the person "
    "is in the data (area under the curve 0.995, where 0.5 is chance).",
)
_MODEL_LEAKS = (
    "That nobody can tell whether a person is in the data: a group's row was fitted to its members' ratings. On "
    "MovieLens-1M at k = 5, who knows all ratings of a person and the exact model tells members from others with an "
    "area under the curve of 0.69 by one distance and of 0.86 by all of them together (0.5 is chance; 0.54 with 16 "
    "ratings known).",
)
_RATERS_LEAKS = (
    "That nobody can tell which cells hold real ratings: a label with several raters is moved by them, and a low-rank "
    "fit of the table shows where. On MovieLens-1M at k = 5, 98 of 100 cells found so had 2 or more raters, four "
    "members who pool their ratings read 95 of 100 of the fifth's exactly where one of them rated the item too, and "
    "who knows all ratings of a person can tell whether the person is in the data (area under the curve 0.98). Labels "
    "of the model alone do none of this.",
)

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
        refused={"labels": "the items of a pure row are those that its raters chose, and so are their labels"},
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
        refused=dict.fromkeys(
            ("max_link", "min_shown", "decoys"), "a padded row has every item, so that its presence tells nothing"
        ),
    ),
)

MODES: dict[str, Mode] = {mode.name: mode for mode in _ALL}


def modes_with(option: str) -> list[str]:
    """Return the names of the modes that take an option."""
    return [mode.name for mode in MODES.values() if option not in mode.refused]
