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
    layout
        The layout that is written if the caller names none: ``long`` or ``grouped``.
    grid_steps
        How many steps of the default grid fit into the scale (docs/decisions/labels-and-grid.md).
    label
        What a rating of the release is, as a sentence without its period.
    label_of_few
        What follows in that sentence if ``{0}`` real raters are needed behind a label.
    exact_averages
        What the literal method of the paper gives away in this mode: a clause that follows "so".
    promised, not_promised
        Further sentences of the manifest; ``{unless_capped}`` stands for the effect of ``max_link`` on missing items.
    refused
        Options that this mode does not take, each with the reason.

    Examples
    --------
    >>> import recloak
    >>> recloak.MODES["padded"].is_complete, recloak.MODES["pure"].layout
    (True, 'long')
    """

    name: str
    text: str
    is_complete: bool
    layout: str
    grid_steps: int
    label: str
    label_of_few: str
    exact_averages: str
    promised: tuple[str, ...] = ()
    not_promised: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict)

    def require_taken(self, option: str) -> None:
        """Raise OptionError if this mode does not take an option."""
        if option in self.refused:
            raise OptionError(f"{option} is for mode {', '.join(modes_with(option))}: {self.refused[option]}")


_ALL = (
    Mode(
        name="pure",
        text="the items someone in the group rated",
        is_complete=False,
        layout="long",
        grid_steps=8,
        label="A rating is the mean over those members of the group who rated the item",
        label_of_few=", and over all members, of their rating or a prediction of it, where fewer than {0} rated it",
        exact_averages="the denominator of an average can show how many rated, and where one rated the item the "
        "average is that person's exact rating",
        not_promised=(
            "That nobody can tell what a person did not rate: an item missing from a row was rated by "
            "none{unless_capped}.",
        ),
    ),
    Mode(
        name="padded",
        text="all items",
        is_complete=True,
        layout="grouped",
        grid_steps=40,
        label="A rating is the mean over all members of the group of their rating, or of a prediction of it",
        label_of_few=", and a prediction alone where fewer than {0} members rated the item",
        exact_averages="whoever can predict the other members' cells can solve an average for one person's rating",
        promised=("Every group has a rating for every item, so that the presence of an item tells nothing.",),
        refused={"max_link": "a padded row has every item, so that its presence tells nothing"},
    ),
)

MODES: dict[str, Mode] = {mode.name: mode for mode in _ALL}


def modes_with(option: str) -> list[str]:
    """Return the names of the modes that take an option."""
    return [mode.name for mode in MODES.values() if option not in mode.refused]
