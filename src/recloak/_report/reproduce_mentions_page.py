"""The page of ``recloak reproduce mentions``: the figures and charts 3 to 9 of paper 004 beside ours.

Paper 004 is Frankowski et al. 2006, "You Are What You Say". It had 133 forum users, 140,132 raters, 8,957 films and
12.6 million ratings, which are not public. On other data the figures differ; their order, and which defences help,
should stay the same.
"""

from dataclasses import dataclass
from typing import Any

from recloak._mentions.algorithms import ALGORITHMS, Candidates, rank_targets
from recloak._mentions.defences import Defences, defend
from recloak._mentions.identification import identify
from recloak._mentions.model import Identification, Mentions, mean
from recloak._mentions.options import IdentifyOptions
from recloak._ratings.model import Ratings
from recloak._report.charts import Axis, Bars, bars
from recloak._report.defences_page import clearing_trial, data_chart, mentions_chart, misdirection_chart
from recloak._report.formats import percent, plural
from recloak._report.identify_page import ALGORITHM_NAMES, bins_chart, rates_chart, reasons_chart
from recloak._report.page import Account, Chapter, Page, PageVerdict, Provenance, Section, Table

LEVELS = (1, 5, 10, 100)
_SHARE = Axis("share", percent=True, low=0, high=1)
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
    "scoring_flat_at_1": ("Scoring without the weight of popularity, k = 1", 0.20),
    "scoring_with_heavy_raters_at_1": ("Scoring with the heaviest raters kept, k = 1", 0.22),
    "scoring_at_1_with_8_or_more_mentions": ("Scoring, targets with 8 mentions or more, k = 1", 0.60),
    "set_intersection_misdirected": ("Set Intersection: misdirected", 0.20),
    "set_intersection_no_one_possible": ("Set Intersection: no one possible", 0.31),
    "rated_share": ("Mentions that the mentioner rated", 0.82),
    "suppression_to_zero_items": ("Items to drop until (nearly) nobody is named outright", 0.88),
    "suppression_to_zero_ratings": ("Ratings lost by that", 0.28),
    "misdirection_by_popularity_after_5": ("Named outright after 5 popular extra mentions", 0.13),
}


@dataclass(frozen=True, slots=True)
class MentionsReproduction:
    """The experiments of the paper on other data."""

    identification: Identification
    defences: Defences
    single: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        """Return the paper's figures and ours, and the results behind ours."""
        ours = {name: list(self.identification.algorithms[name].rate) for name in ALGORITHMS}
        return {
            "k": list(LEVELS),
            "rates": {name: {"paper": list(RATES[name]), "ours": ours[name]} for name in ALGORITHMS},
            "single": {name: {"paper": paper, "ours": self.single[name]} for name, (_, paper) in SINGLE.items()},
            "identify": self.identification.to_json(),
            "defend": self.defences.to_json(),
        }


def reproduce_mentions(
    ratings: Ratings, mentions: Mentions, options: IdentifyOptions | None = None
) -> MentionsReproduction:
    """Run the paper's experiments."""
    options = options or IdentifyOptions()
    identification, defences = identify(ratings, mentions, options), defend(ratings, mentions, options)
    single = _single(ratings, mentions, options, identification, defences)
    return MentionsReproduction(identification, defences, single)


def _single(
    ratings: Ratings, mentions: Mentions, options: IdentifyOptions, identification: Identification, defences: Defences
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
        "set_intersection_misdirected": identification.reasons["1"]["misdirected"],
        "set_intersection_no_one_possible": identification.reasons["1"]["no one possible"],
        "rated_share": identification.rated_share or 0.0,
        "suppression_to_zero_items": cleared["items_lost"],
        "suppression_to_zero_ratings": cleared["ratings_lost"],
        "misdirection_by_popularity_after_5": five.scoring.rate[0],
    }
    return {name: round(value, 6) for name, value in ours.items()}


def reproduction_page(reproduction: MentionsReproduction, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of the paper's charts and figures beside ours."""
    return Page(
        title="You Are What You Say, repeated",
        subtitle=source,
        verdict=_verdict(reproduction),
        chapters=(_attack_chapter(reproduction), _defence_chapter(reproduction)),
        account=Account(_account(reproduction), provenance),
    )


def _verdict(reproduction: MentionsReproduction) -> PageVerdict:
    ours = {name: reproduction.identification.algorithms[name].rate[0] for name in ALGORITHMS}
    same = sorted(ALGORITHMS, key=lambda name: ours[name]) == sorted(ALGORITHMS, key=lambda name: RATES[name][0])
    word = "Same order as in the paper" if same else "Another order than in the paper"
    headline = (
        f"Scoring names {percent(ours['scoring'])} of {plural(reproduction.identification.n_targets, 'target')} "
        "outright; the paper's named 31 % of 133."
    )
    return PageVerdict("plain", word, headline)


def _rates_table(reproduction: MentionsReproduction) -> Table:
    head = ("Algorithm", *(f"k = {k}: {whose}" for k in LEVELS for whose in ("paper", "ours")))
    rows = []
    for name in ALGORITHMS:
        pairs = zip(RATES[name], reproduction.identification.algorithms[name].rate, strict=True)
        rows.append((ALGORITHM_NAMES[name], *(percent(value) for pair in pairs for value in pair)))
    return Table(head, tuple(rows))


def _single_table(reproduction: MentionsReproduction) -> Table:
    rows = ((label, percent(paper), percent(reproduction.single[name])) for name, (label, paper) in SINGLE.items())
    return Table(("Figure", "Paper", "Ours"), tuple(rows))


def _paper_chart(identification: Identification) -> Bars:
    """Return bars of the paper's rates beside ours, for those who are named outright."""
    sides = {
        "ours": [identification.algorithms[name].rate[0] for name in ALGORITHMS],
        "paper": [RATES[name][0] for name in ALGORITHMS],
    }
    return bars(Axis("algorithm"), _SHARE, [ALGORITHM_NAMES[name] for name in ALGORITHMS], sides)


def _attack_chapter(reproduction: MentionsReproduction) -> Chapter:
    identification, table = reproduction.identification, _rates_table(reproduction)
    rates, bins = (
        "Ours; the paper's stand in the table and below.",
        "Named outright; more mentions tell more.",
    )
    single, beside = "What the paper says in words, and ours.", "How many are named outright (k = 1)."
    sections = (
        Section("Figure 3: why Set Intersection fails", _REASONS, "neither", reasons_chart(identification)),
        Section("Figure 4: k-identified by algorithm", rates, "lower", rates_chart(identification, ALGORITHMS), table),
        Section("Figure 4: the paper's rates and ours", beside, "lower", _paper_chart(identification)),
        Section("Figure 5: by number of mentions", bins, "lower", bins_chart(identification)),
        Section("Single figures", single, "neither", None, _single_table(reproduction)),
    )
    return Chapter("The risk", "Sections 4.1 to 4.5 of the paper.", sections=sections)


def _defence_chapter(reproduction: MentionsReproduction) -> Chapter:
    defences = reproduction.defences
    adaptive = "Not in the paper: the best of several attackers who ignore the most-rated items."
    sections = (
        Section("Figure 6: items dropped", "Scoring, by k.", "lower", data_chart(defences, "items_lost")),
        Section("Figure 7: ratings dropped", "Scoring, by k.", "lower", data_chart(defences, "ratings_lost")),
        Section("Figure 8: rare mentions left out", "Scoring, by k.", "lower", mentions_chart(defences)),
        Section("Figure 9: misdirection", "Scoring, k = 1.", "lower", misdirection_chart(defences)),
        Section(
            "Figure 9 again, against an attacker who knows the trick",
            adaptive,
            "lower",
            misdirection_chart(defences, adaptive=True),
        ),
    )
    return Chapter("The defences", "Sections 5 and 6 of the paper.", sections=sections)


def _account(reproduction: MentionsReproduction) -> tuple[str, ...]:
    targets = plural(reproduction.identification.n_targets, "target")
    return (
        f"Attacked {targets} among {plural(reproduction.identification.n_candidates, 'user')}.",
        "Ties count as expected; the paper does not say how it broke them.",
        "FuzzyRating and ExactRating take the mentions' own ratings, or else the target's, as in the paper.",
    )
