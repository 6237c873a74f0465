"""The page of ``recloak mentions exposure``: how findable one person is, by what, and what would help."""

from recloak._mentions.own_exposure import OwnExposure, TellingMention
from recloak._report.formats import count, plural
from recloak._report.identify_page import ALGORITHM_NAMES
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table

_NOT_LOOKED_AT = (
    "Not looked at: your style of writing, where you live, your user name, what others say of you, and public data "
    "beyond this one dump."
)


def exposure_page(result: OwnExposure, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of an exposure."""
    return Page(
        title="How findable am I?",
        subtitle=source,
        verdict=_verdict(result),
        facts=_facts(result),
        chapters=(_attackers(result), _mentions(result), _help(result)),
        account=Account(_account(result), provenance),
    )


def _verdict(result: OwnExposure) -> PageVerdict:
    who = ALGORITHM_NAMES.get(result.closest, result.closest)
    place = _place(result.place)
    headline = f"Your posts put you at {place} of {plural(result.n_records, 'record')}."
    text = f"So says the attacker who comes nearest ({who}). {_NOT_LOOKED_AT}"
    if result.place <= 1:
        return PageVerdict("alert", "Named outright", headline, text)
    if result.place <= result.k:
        return PageVerdict("alert", f"Among the first {result.k}", headline, text)
    if result.place <= 10 * result.k:
        return PageVerdict("caution", "Not far down the list", headline, text)
    return PageVerdict("plain", "Far down the list of these attackers", headline, text)


def _place(place: float) -> str:
    return f"place {place:,.0f}" if place == int(place) else f"place {place:,.1f} (ties at their middle)"


def _facts(result: OwnExposure) -> tuple[Fact, ...]:
    there = "a record agrees with your ratings" if result.in_dump else "put in as one more record for this trial"
    return (
        Fact("Mentions", count(result.n_mentions), "of titles in the dump, sure ones that you hold"),
        Fact(
            "Your ratings", f"{count(result.n_matched)} of {count(result.n_own)}", f"are of its titles; {result.layout}"
        ),
        Fact("In the dump", "yes" if result.in_dump else "no", there),
    )


def _attackers(result: OwnExposure) -> Chapter:
    ordered = sorted(result.places.items(), key=lambda one: one[1])
    rows = tuple((ALGORITHM_NAMES.get(name, name), f"{place:,.1f}") for name, place in ordered)
    meaning = f"They know {', '.join(result.uses)} of your posts. A small place means that you are found."
    section = Section("Your place before each attacker", meaning, table=Table(("Attacker", "Place"), rows))
    return Chapter("Who finds you", "", sections=(section,))


def _mentions(result: OwnExposure) -> Chapter:
    meaning = "Your place if a post had never named it, the other mentions as they are."
    if not result.telling:
        meaning = "No single mention moves your place: leaving out one alone would change nothing."
    section = Section("The mentions that give most away", meaning, table=_told(result.telling, "Place without it"))
    return Chapter("By what", "", sections=(section,))


def _told(mentions: tuple[TellingMention, ...], head: str) -> Table | None:
    rows = tuple((one.title, f"{one.place:,.1f}") for one in mentions)
    return Table(("Title", head), rows) if rows else None


def _help(result: OwnExposure) -> Chapter:
    steps = result.leave_out
    if steps is None:
        meaning = f"Nothing small hides you: leaving out mentions does not bring you beyond the first {result.k}."
        return Chapter("What would help", "", sections=(Section("Leave out", meaning),))
    if not steps:
        meaning = f"You are beyond the first {result.k} already."
        return Chapter("What would help", "", sections=(Section("Leave out", meaning),))
    meaning = f"Deleting these {plural(len(steps), 'mention')}, in this order, brings you beyond the first {result.k}."
    section = Section("Leave out", meaning, table=_told(steps, "Place then"))
    return Chapter(
        "What would help",
        "What was public may have been copied; deleting it does not call it back.",
        sections=(section,),
    )


def _account(result: OwnExposure) -> tuple[str, ...]:
    return (
        f"Titles were found in your posts; {plural(result.n_mentions, 'sure find')} that you do not say you have not "
        "seen counted.",
        "Your own record is the one of the dump that agrees with your ratings, or was put in beside the others.",
        "Every attacker ranked all records by the mentions; the nearest decides. Each mention was then left out once.",
        _NOT_LOOKED_AT,
    )
