"""Everything that is loaded before the first request, as one frozen value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from recloak._core.errors import InputError
from recloak._mentions.advisor import AdvisorIndex, advise, prepare_advisor
from recloak._mentions.found_mentions import popularity_of
from recloak._mentions.oracle_guard import OracleGuard
from recloak._mentions.post_files import TitleList
from recloak._mentions.title_matching import TitleIndex, index_titles
from recloak._service.title_search import Item, TitleSearch, catalogue_of

if TYPE_CHECKING:
    from recloak._mentions.model import Mentions
    from recloak._ratings.model import Ratings


@dataclass(frozen=True, eq=False, slots=True)
class Advisor:
    """What advice needs: the ratings prepared, the titles prepared, and what people said before."""

    index: AdvisorIndex
    titles: TitleIndex
    catalogue: TitleSearch
    users: dict[str, Item]  # by the name that a token carries
    said: dict[Item, list[Item]] = field(default_factory=dict)  # by user

    def user_of(self, name: str) -> Item | None:
        """Give the user that a token names, in the kind of the ratings' ids; None: there is none of that name."""
        return self.users.get(name)

    def said_by(self, user: Item) -> list[Item]:
        """Give what a user is known to have said in public before."""
        return self.said.get(user, [])

    def has_rated(self, user: Item) -> set[Item]:
        """Give the items that a user rated."""
        index = self.index
        row = index.ratings.row(index.user_numbers[user])
        return {index.item_ids[item] for item in index.ratings.items[row].tolist()}


def prepare(
    ratings: Ratings, titles: TitleList, mentions: Mentions | None = None, *, guard: OracleGuard | None = None
) -> Advisor:
    """Prepare ratings, titles and known mentions for advice, and give advice once, so that the kernels are compiled."""
    if ratings.n_users < 2:
        raise InputError(f"advice needs the ratings of at least 2 users, got {ratings.n_users}")
    catalogue = catalogue_of(titles, ratings.item_ids)
    index = index_titles(catalogue.titles, popularity=popularity_of(ratings))
    people = ratings.user_ids.ids.to_list()
    advisor = Advisor(
        prepare_advisor(ratings, guard=guard),
        index,
        catalogue,
        {str(user): user for user in people},
        _said(ratings, mentions),
    )
    advise(advisor.index, people[0], [], list(advisor.has_rated(people[0]))[:2], k=1)
    return advisor


def _said(ratings: Ratings, mentions: Mentions | None) -> dict[Item, list[Item]]:
    if mentions is None:
        return {}
    said: dict[Item, list[Item]] = {}
    for place, user in enumerate(mentions.users.tolist()):
        if user >= 0:
            items = mentions.items[mentions.indptr[place] : mentions.indptr[place + 1]]
            said[ratings.user_ids.ids[user]] = ratings.item_ids.decode(items).to_list()
    return said
