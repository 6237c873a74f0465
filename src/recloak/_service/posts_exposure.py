"""How findable all that a user ever posted makes them."""

from recloak._mentions.advisor import advise
from recloak._mentions.draft_question import make_question
from recloak._service.advice import AdvisorResources
from recloak._service.attacker_words import attacker_views, band_in_words, why
from recloak._service.catalogue import Item
from recloak._service.schema import Deletion, ExposureResponse

_SHOWN = 5


def exposure(advisor: AdvisorResources, user: Item) -> ExposureResponse:
    """Return the exposure of a user by the mentions that the service knows of them.

    The five that give most away are chosen by public numbers and the user's own ratings, as in advice on a draft.
    """
    index = advisor.index
    said = list({one.item: one for one in advisor.earlier.get(user, ())}.values())
    asked = make_question(index, user, [], said)
    order = asked.evidence(index, asked.draft).argsort(kind="stable")[::-1].tolist()
    rated = [n for n in order[:_SHOWN] if asked.draft.mine[n, 0] > 0]
    told = [index.item_ids[int(asked.draft.items[n])] for n in rated]
    draft = [one for item in told for one in said if one.item == item]
    rest = [one for one in said if one.item not in set(told)]
    k = min(10, index.ratings.n_users - 1)
    advice = advise(index, user, rest, draft, k=k)
    deletions = {change.drop[0]: change.band for change in advice.drops}
    title = advisor.catalogue.title
    return ExposureResponse(
        n_mentions=len(said),
        now=band_in_words(advice.after),
        hidden=advice.hidden,
        attackers=attacker_views(advice),
        why=why(advice),
        looked_at=list(advice.uses),
        mentions=[Deletion(item=item, title=title(item), band=band_in_words(deletions[item])) for item in told],
        without_all=band_in_words(advice.before),
    )
