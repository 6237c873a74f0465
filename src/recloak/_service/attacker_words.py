"""The attackers and the bands in plain words."""

from recloak._mentions.advisor import Advice
from recloak._mentions.oracle_guard import BANDS, LAST_BAND
from recloak._service.schema import AttackerView, Band

WORDS = {
    "1 to 10": "nearly alone",
    "11 to 100": "one of dozens",
    "101 to 1,000": "one of hundreds",
    LAST_BAND: "one of thousands",
}
_ORDER = {name: place for place, (_, name) in enumerate(BANDS)}
_LOOKS_AT = {
    "scoring": "how rare the titles are",
    "adaptive": "rare titles, leaving out the best known",
    "adaptive_2": "rare titles, leaving out more of the best known",
    "fuzzy_rating": "titles, and roughly what you think of them",
    "exact_rating": "titles, and exactly what you think of them",
    "tf_idf": "whose list is most like your titles",
    "likelihood_ratio": "how likely others are to know the same titles",
    "wary_likelihood": "the same, taking half of what you say for a false trail",
    "knowing_likelihood": "the same, leaving out every title that we might propose",
    "opinion": "titles, and how your opinions fit your ratings",
    "same_item": "titles, and when you rated them",
    "active": "titles, and when you rated anything",
    "time": "titles, and both times",
    "time_month": "the same, if you wait up to a month",
    "time_year": "the same, if you wait up to a year",
    "time_ever": "the same, however long you wait",
    "knowing_time": "all that is known, leaving out every title that we might propose here",
    "knowing_half": "all that is known, leaving out the better known of these titles",
    "learned": "everything, weighed as it worked on others",
}
_TITLES = "Few others know these titles together."
_OPINIONS = "What you think of these titles fits few others."
_TIMES = "Few others were rating around the time of this post."
_WHY = {
    **dict.fromkeys(_LOOKS_AT, _TITLES),
    **dict.fromkeys(("fuzzy_rating", "exact_rating", "opinion"), _OPINIONS),
    **dict.fromkeys(("same_item", "active", "time", "time_month", "time_year", "time_ever"), _TIMES),
}


def band_in_words(name: str) -> Band:
    """Return a band with its words."""
    return Band(band=name, words=WORDS[name])


def attacker_views(advice: Advice) -> list[AttackerView]:
    """Return every attacker that was tried, the strongest first."""
    ordered = sorted(advice.attackers.items(), key=lambda one: _ORDER[one[1]])
    return [AttackerView(name=name, words=_LOOKS_AT[name], band=band_in_words(band)) for name, band in ordered]


def why(advice: Advice) -> str:
    """Return what gives the writer away most, in one sentence: the simplest of the strongest attackers decides."""
    if advice.hidden:
        return ""
    strongest = [name for name, band in advice.attackers.items() if band == advice.after]
    return _WHY[strongest[0]]
