"""Paper 004 (Frankowski et al. 2006, "You Are What You Say") beside ours: its printed figures and its charts 3 to 9.

The paper had 133 forum users, 140,132 raters, 8,957 films and 12.6 million ratings, which nobody else has. On other
data the figures differ; what should carry over is their order, and which defences help.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recloak._mentions.algorithms import ALGORITHMS, Candidates, rank_targets
from recloak._mentions.defences import Defences, defend
from recloak._mentions.identification import identify
from recloak._mentions.model import Identification, Mentions, mean
from recloak._mentions.options import IdentifyOptions
from recloak._ratings.model import Ratings
from recloak._report.defences_page import clearing_trial, data_chart, mentions_chart, misdirection_chart
from recloak._report.formats import percent, plural
from recloak._report.mentions_page import NAMES, bins_chart, rates_chart, reasons_chart
from recloak._report.page import Account, Chapter, Page, PageVerdict, Section, Table

LEVELS = (1, 5, 10, 100)
_REASONS = (
    "Asking for those who rated every mention, by number of mentions: only the target is left (identified), too "
    "many are left (not narrow), none is (no one possible), or only others are (misdirected)."
)
RATES = {
    "set_intersection": (0.07, 0.12, 0.14, 0.23),
    "tf_idf": (0.20, 0.32, 0.35, 0.50),
    "scoring": (0.31, 0.44, 0.52, 0.57),
    "fuzzy_rating": (0.47, 0.50, 0.53, 0.68),
    "exact_rating": (0.59, 0.68, 0.72, 0.81),
}
SINGLE = {
    "scoring_flat_at_1": 0.20,
    "scoring_with_heavy_raters_at_1": 0.22,
    "scoring_at_1_with_8_or_more_mentions": 0.60,
    "set_intersection_misdirected": 0.20,
    "set_intersection_no_one_possible": 0.31,
    "rated_share": 0.82,
    "suppression_to_zero_items": 0.88,
    "suppression_to_zero_ratings": 0.28,
    "misdirection_by_popularity_after_5": 0.13,
}
_WORDS = {
    "scoring_flat_at_1": "Scoring without the weight of popularity, k = 1",
    "scoring_with_heavy_raters_at_1": "Scoring with the heaviest raters kept, k = 1",
    "scoring_at_1_with_8_or_more_mentions": "Scoring, targets with 8 mentions or more, k = 1",
    "set_intersection_misdirected": "Set Intersection: misdirected",
    "set_intersection_no_one_possible": "Set Intersection: no one possible",
    "rated_share": "Mentions that the mentioner rated",
    "suppression_to_zero_items": "Items to drop until (nearly) nobody is named outright",
    "suppression_to_zero_ratings": "Ratings lost by that",
    "misdirection_by_popularity_after_5": "Named outright after 5 popular extra mentions",
}


@dataclass(frozen=True, slots=True)
class MentionsReproduction:
    """The experiments of the paper on other data."""

    found: Identification
    defences: Defences
    single: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """Give the paper's figures and ours, and everything behind ours."""
        ours = {name: list(self.found.algorithms[name].rate) for name in ALGORITHMS}
        return {
            "k": list(LEVELS),
            "rates": {name: {"paper": list(RATES[name]), "ours": ours[name]} for name in ALGORITHMS},
            "single": {name: {"paper": SINGLE[name], "ours": self.single[name]} for name in SINGLE},
            "identify": self.found.to_json(),
            "defend": self.defences.to_json(),
        }


def reproduce(ratings: Ratings, mentions: Mentions, options: IdentifyOptions | None = None) -> MentionsReproduction:
    """Run the paper's experiments."""
    options = options or IdentifyOptions()
    found, defences = identify(ratings, mentions, options), defend(ratings, mentions, options)
    return MentionsReproduction(found, defences, _single(ratings, mentions, options, found, defences))


def _single(
    ratings: Ratings, mentions: Mentions, options: IdentifyOptions, found: Identification, defences: Defences
) -> dict[str, float]:
    candidates = Candidates.of(ratings, options)
    everyone = Candidates.of(ratings, options.replace(heavy=1.0))
    scoring = rank_targets("scoring", candidates, mentions, options).expected(1)
    cleared = clearing_trial(defences).cost
    five = next(trial for trial in defences.misdirections[0].trials if trial.strength == 5)
    ours = {
        "scoring_flat_at_1": rank_targets("scoring", candidates, mentions, options.replace(flat=True)).rates().rate[0],
        "scoring_with_heavy_raters_at_1": rank_targets("scoring", everyone, mentions, options).rates().rate[0],
        "scoring_at_1_with_8_or_more_mentions": mean(scoring[mentions.totals >= 8]),
        "set_intersection_misdirected": found.reasons["1"]["misdirected"],
        "set_intersection_no_one_possible": found.reasons["1"]["no one possible"],
        "rated_share": found.rated_share or 0.0,
        "suppression_to_zero_items": cleared["items_lost"],
        "suppression_to_zero_ratings": cleared["ratings_lost"],
        "misdirection_by_popularity_after_5": five.scoring.rate[0],
    }
    return {name: round(value, 6) for name, value in ours.items()}


def reproduction_page(made: MentionsReproduction, *, source: str, provenance: tuple[tuple[str, str], ...] = ()) -> Page:
    """Put the paper's charts and figures beside ours."""
    return Page(
        title="You Are What You Say, repeated",
        subtitle=source,
        verdict=_verdict(made),
        chapters=(_attack_chapter(made), _defence_chapter(made)),
        account=Account(_account(made), provenance),
    )


def _verdict(made: MentionsReproduction) -> PageVerdict:
    ours = {name: made.found.algorithms[name].rate[0] for name in ALGORITHMS}
    same = sorted(ALGORITHMS, key=lambda name: ours[name]) == sorted(ALGORITHMS, key=lambda name: RATES[name][0])
    word = "Same order as in the paper" if same else "Another order than in the paper"
    headline = (
        f"Scoring names {percent(ours['scoring'])} of {plural(made.found.n_targets, 'target')} outright; the "
        "paper's named 31 % of 133."
    )
    return PageVerdict("plain", word, headline)


def rates_table(made: MentionsReproduction) -> Table:
    """Give the rates of the paper and ours, by algorithm."""
    head = ("Algorithm", *(f"k = {k}: {whose}" for k in LEVELS for whose in ("paper", "ours")))
    rows = []
    for name in ALGORITHMS:
        pairs = zip(RATES[name], made.found.algorithms[name].rate, strict=True)
        rows.append((NAMES[name], *(percent(value) for pair in pairs for value in pair)))
    return Table(head, tuple(rows))


def single_table(made: MentionsReproduction) -> Table:
    """Give the single figures of the paper and ours."""
    rows = [(_WORDS[name], percent(SINGLE[name]), percent(made.single[name])) for name in SINGLE]
    return Table(("Figure", "Paper", "Ours"), tuple(rows))


def _attack_chapter(made: MentionsReproduction) -> Chapter:
    found = made.found
    sections = (
        Section("Figure 3: why Set Intersection fails", _REASONS, "neither", reasons_chart(found)),
        Section(
            "Figure 4: k-identified by algorithm",
            "The paper's rates and ours stand in the table.",
            "lower",
            rates_chart(found, ALGORITHMS),
            rates_table(made),
        ),
        Section(
            "Figure 5: by number of mentions", "Named outright; more mentions tell more.", "lower", bins_chart(found)
        ),
        Section("Single figures", "What the paper says in words, and ours.", "neither", None, single_table(made)),
    )
    return Chapter("The risk", "Sections 4.1 to 4.5 of the paper.", sections=sections)


def _defence_chapter(made: MentionsReproduction) -> Chapter:
    tried = made.defences
    aware = "Not in the paper: the best of several attackers who ignore the most-rated items."
    sections = (
        Section("Figure 6: items dropped", "Scoring, by k.", "lower", data_chart(tried, "items_lost")),
        Section("Figure 7: ratings dropped", "Scoring, by k.", "lower", data_chart(tried, "ratings_lost")),
        Section("Figure 8: rare mentions left out", "Scoring, by k.", "lower", mentions_chart(tried)),
        Section("Figure 9: misdirection", "Scoring, k = 1.", "lower", misdirection_chart(tried)),
        Section("Figure 9 again, against who knows", aware, "lower", misdirection_chart(tried, adaptive=True)),
    )
    return Chapter("The defences", "Sections 5 and 6 of the paper.", sections=sections)


def _account(made: MentionsReproduction) -> tuple[str, ...]:
    return (
        f"Attacked {plural(made.found.n_targets, 'target')} among {plural(made.found.n_candidates, 'user')}.",
        "Ties count as expected; the paper does not say how it broke them.",
        "FuzzyRating and ExactRating take the mentions' own ratings, or else the target's, as in the paper.",
    )
