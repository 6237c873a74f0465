"""The functions of `recloak.related` that look after a history: forget, readmit, prune."""

from __future__ import annotations

import os

from recloak._core.errors import OptionError
from recloak._core.spelling import suggests_keywords
from recloak._library.related_arguments import HistoryLike, opened
from recloak._related import erased_people, history_checks
from recloak._related.erased_people import EraseKey
from recloak._related.history_checks import Forgotten, Pruned


@suggests_keywords
def forget(
    history: HistoryLike, user: int | str, *, keep_out: bool = True, key: str | os.PathLike[str] | None = None
) -> Forgotten:
    """Take a user out of a history: their id and everything they held.

    The releases so far are proved one last time with them and sealed with that verdict; later releases are made and
    judged without them. What was published stays published. They stay out, even if the ratings of later nights
    still hold them: the store keeps a keyed hash of their id, and the key lies in a file of its own.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    user
        The id of the user, as in the ratings.
    keep_out
        Whether they stay out; if not, nothing of them is kept, and ratings of theirs enter them anew.
    key
        File of the key, made where there is none; None: beside the store, its name with ``.key`` at the end. Without a
        file a history in PostgreSQL keeps nobody out.

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
        return history_checks.forget(store, user, EraseKey.of(store, key) if keep_out else None)


@suggests_keywords
def readmit(
    history: HistoryLike,
    user: int | str | None = None,
    *,
    everybody: bool = False,
    key: str | os.PathLike[str] | None = None,
) -> int:
    """Let somebody in again who was forgotten: their ratings count from the next night on, as those of a new person.

    Parameters
    ----------
    history
        An open `History`, a file, or a ``postgresql://`` address.
    user
        The id of the user, as in the ratings.
    everybody
        Let all in again who were forgotten; this needs no key.
    key
        File of the key; None: beside the store (see `forget`).

    Returns
    -------
    int
        How many people may come back.

    Raises
    ------
    InputError
        If the history does not keep the user out, or the key is not there.

    Examples
    --------
    >>> import recloak.related
    >>> _ = recloak.related.publish("lists.db", "ratings.csv", min_support=1)
    >>> _ = recloak.related.forget("lists.db", 7)
    >>> recloak.related.readmit("lists.db", 7)
    1
    """
    if (user is None) is not everybody:
        raise OptionError("readmit needs a user or everybody=True, and not both")
    with opened(history) as store:
        return erased_people.readmit(store, user, EraseKey.of(store, key))


@suggests_keywords
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
