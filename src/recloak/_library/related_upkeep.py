"""The functions of `recloak.related` that look after a history: forget, prune."""

from __future__ import annotations

from recloak._library.related_arguments import HistoryLike, opened
from recloak._related import history_checks
from recloak._related.history_checks import Forgotten, Pruned


def forget(history: HistoryLike, user: int | str) -> Forgotten:
    """Take a user out of a history: their id and everything they held.

    The releases so far are proved one last time with them and sealed with that verdict; later releases are made and
    judged without them. What was published stays published. Take the user out of the ratings, too: whoever is in the
    ratings of the next night is entered anew.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    user
        The id of the user, as in the ratings.

    Returns
    -------
    Forgotten
        How many holdings were taken out, and the last proof; it names nobody.

    Raises
    ------
    InputError
        If the history does not know the user.

    Examples
    --------
    >>> import recloak.related
    >>> _ = recloak.related.publish("lists.db", "ratings.csv", min_support=1)
    >>> recloak.related.forget("lists.db", 7).verdict.passed
    True
    """
    with opened(history) as store:
        return history_checks.forget(store, user)


def prune(history: HistoryLike) -> Pruned:
    """Delete the releases that lie before the horizon of the last one; their holdings stay known.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.

    Returns
    -------
    Pruned
        How many releases were removed and kept.

    Raises
    ------
    InputError
        If there is no history.

    Examples
    --------
    >>> import recloak.related
    >>> _ = recloak.related.publish("lists.db", "ratings.csv", min_support=1)
    >>> recloak.related.prune("lists.db")
    Pruned(removed=0, kept=1)
    """
    with opened(history) as store:
        return history_checks.prune(store)
