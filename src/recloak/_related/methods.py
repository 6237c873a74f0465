"""The methods that make related-item lists: one value each, in `METHODS`.

To add one, write its function here or in its own module and add its value. The verifier judges a release by its lists
alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recloak._related.leaks import Observer
    from recloak._related.model import Lists
    from recloak._related.options import MethodOptions

    ListMaker = Callable[[Observer | None, Lists, MethodOptions], Lists]


@dataclass(frozen=True, slots=True)
class Method:
    """One way to make the lists of a release.

    Parameters
    ----------
    name
        The value of ``method=``.
    text
        What it does, as shown by ``--help``.
    make
        Returns the lists of a release, given the observer (None at a first release), the ranking and the options.
    is_safe
        Whether it keeps the bound; the others are for comparison.
    is_printed
        Whether the paper prints an algorithm for it, which ``literal=True`` runs.
    uses_noise
        Whether it ranks items by ratings with noise, which only a simulation has.

    Examples
    --------
    >>> from recloak import related
    >>> [method.name for method in related.METHODS.values() if method.is_safe]
    ['perm', 'supp']
    """

    name: str
    text: str
    make: ListMaker
    is_safe: bool = False
    is_printed: bool = False
    uses_noise: bool = False

    @property
    def label(self) -> str:
        """The name as the paper writes it."""
        return self.name.upper()


def _within_bound(*, permute: bool) -> ListMaker:
    def make(observer: Observer | None, ranking: Lists, options: MethodOptions) -> Lists:
        if observer is None:
            return _as_ranked(observer, ranking, options)
        from recloak._related.anonymise import anonymise  # noqa: PLC0415 (--help must not load compiled code)
        from recloak._related.literal_method import literal  # noqa: PLC0415 (likewise)

        algorithm = literal if options.literal else anonymise
        return algorithm(observer, ranking, options.top, permute=permute)

    return make


def _as_ranked(_observer: Observer | None, ranking: Lists, options: MethodOptions) -> Lists:
    from recloak._related.model import Lists  # noqa: PLC0415 (likewise)

    return Lists(ranking.cut(options.top).items)  # without the scores


_METHODS = (
    Method("perm", "re-seat or suppress", _within_bound(permute=True), is_safe=True, is_printed=True),
    Method("supp", "suppress only", _within_bound(permute=False), is_safe=True, is_printed=True),
    Method("rp", "noise on the ratings", _as_ranked, uses_noise=True),
    Method("none", "the true lists", _as_ranked),
)

METHODS: dict[str, Method] = {method.name: method for method in _METHODS}
