"""The page of ``recloak inspect``: what is in a data set, and how exposed its users already are."""

from recloak._ratings.exposure import QUANTILES, Exposure, Level
from recloak._ratings.summary import PERCENTILES, Summary, TimeSpan
from recloak._ratings.value_kinds import RATINGS, ValueKind
from recloak._report.charts import Axis, ChartPoint, Lines, Series, bars, lines, quantile_curve
from recloak._report.formats import count, day, number, percent, plural, with_interval
from recloak._report.page import Account, Chapter, Fact, Page, PageVerdict, Provenance, Section, Table

ITEMS_ONLY = "items known"
_EXPOSED, _PARTLY_EXPOSED = 0.5, 0.05  # least shares of users singled out
_MOST_YEARS = 40
_PERCENTS = tuple("Median" if q == 0.5 else f"{100 * q:g}\N{NO-BREAK SPACE}%" for q in QUANTILES)


def inspect_page(summary: Summary, exposure: Exposure, *, source: str, provenance: Provenance = ()) -> Page:
    """Return the page of a summary and an exposure."""
    return Page(
        title=f"What is in these {summary.kind.nouns}",
        subtitle=source,
        verdict=exposure_verdict(exposure, summary.kind),
        facts=key_facts(summary),
        chapters=(exposure_chapter(exposure, summary.kind), summary_chapter(summary)),
        account=Account(inspect_account(summary, exposure), provenance),
    )


def _attackers(kind: ValueKind) -> tuple[tuple[str, bool], ...]:
    """Return the attackers: who knows the values as well, where they differ, and who knows items only."""
    with_values = ((f"items and {kind.nouns} known", True),) if kind.varies else ()
    return (*with_values, (ITEMS_ONLY, False))


def exposure_verdict(exposure: Exposure, kind: ValueKind = RATINGS) -> PageVerdict:
    """Return how exposed the users are; never that they are safe, because this attacker is a weak one."""
    level = headline_level(exposure)
    most = _levels(exposure, with_ratings=True)[-1]
    items_only = exposure.at(most.known, with_ratings=False)
    more = "" if most == level else f"With {most.known} it is {percent(most.unique.rate)}. "
    bare = f"Knowing {plural(most.known, 'item')} without {kind.nouns} singles out {percent(items_only.unique.rate)}. "
    text = (
        f"{more}{bare if kind.varies else ''}"
        "No name is needed: once a person is singled out, everything else in the row is known. "
        f"Measured on {plural(exposure.n_targets, 'user')} drawn at random."
    )
    if most.unique.rate >= _EXPOSED:
        return PageVerdict("alert", "Exposed", headline(level, kind) + ".", text)
    if most.unique.rate >= _PARTLY_EXPOSED:
        return PageVerdict("caution", "Partly exposed", headline(level, kind) + ".", text)
    word = "Little exposed to this attacker; stronger ones were not tried"
    return PageVerdict("plain", word, headline(level, kind) + ".", text)


def headline(level: Level, kind: ValueKind = RATINGS) -> str:
    """Return one level as a sentence."""
    return f"Knowing {plural(level.known, kind.noun)} of a person singles out {percent(level.unique.rate)} of the users"


def headline_level(exposure: Exposure) -> Level:
    """Return the least knowledge of items and ratings that singles out half of the users, or the most knowledge."""
    levels = _levels(exposure, with_ratings=True)
    return next((level for level in levels if level.unique.rate >= _EXPOSED), levels[-1])


def _levels(exposure: Exposure, *, with_ratings: bool) -> list[Level]:
    return [level for level in exposure.levels if level.with_ratings == with_ratings]


def key_facts(summary: Summary) -> tuple[Fact, ...]:
    """Return the key figures of a source."""
    scale, nouns = summary.scale, summary.kind.nouns
    step = "any value between" if scale.step is None else f"in steps of {scale.step:g}"
    facts = [
        Fact("Users", count(summary.n_users), f"{number(summary.activity.mean)} {nouns} each"),
        Fact("Items", count(summary.n_items), f"{number(summary.popularity.mean)} {nouns} each"),
        Fact(nouns.capitalize(), count(summary.n_ratings), f"{percent(summary.density)} of all pairs"),
    ]
    if summary.kind.varies:
        facts.append(Fact("Scale", f"{scale.low:g} to {scale.high:g}", f"{step}, mean {summary.mean_rating:.2f}"))
    if summary.times is not None:
        first, last = day(summary.times.first), day(summary.times.last)
        facts.append(Fact("Time span", _years(summary.times), f"{first} to {last}"))
    return tuple(facts)


def _years(times: TimeSpan) -> str:
    (first, _), (last, _) = times.years[0], times.years[-1]
    return str(first) if first == last else f"{first}–{last}"


def exposure_chapter(exposure: Exposure, kind: ValueKind = RATINGS) -> Chapter:
    """Return the chapter on who is found by a few known items, and among how many the others hide."""
    intro = (
        "An attacker knows a few things that a person rated, from a chat or a public review, and looks for the rows "
        f"that agree. The known items were drawn at random, for {plural(exposure.n_targets, 'user')} drawn at random."
    )
    sections = (_unique_section(exposure, kind), _candidates_section(exposure, kind))
    return Chapter("How exposed the users are", intro, sections=sections)


def unique_chart(exposure: Exposure, kind: ValueKind = RATINGS) -> Lines:
    """Return a chart of the share of users who are unique against the number of known items."""
    known = tuple(float(level.known) for level in _levels(exposure, with_ratings=True))
    series = {
        name: {float(level.known): level.unique for level in _levels(exposure, with_ratings=with_ratings)}
        for name, with_ratings in _attackers(kind)
    }
    x = Axis("known items", log=True, ticks=known)
    return lines(x, Axis("share of users singled out", percent=True, low=0, high=1), series)


def _unique_section(exposure: Exposure, kind: ValueKind) -> Section:
    level = headline_level(exposure)
    items_only = exposure.at(level.known, with_ratings=False)
    meaning = (
        f"{plural(level.known, 'known item')} with {kind.nouns} fit nobody else for {percent(level.unique.rate)} of "
        f"the users; the items without {kind.nouns} for {percent(items_only.unique.rate)}. The bands are 95 % "
        "intervals."
        if kind.varies
        else f"{plural(level.known, 'known item')} fit nobody else for {percent(level.unique.rate)} of the users. "
        "The bands are 95 % intervals."
    )
    most = _levels(exposure, with_ratings=True)[-1]
    if most.n_short:
        short = f"{count(most.n_short)} of them have fewer than {most.known} {kind.nouns}"
        meaning += f" {short}: of these the attacker knows all."
    return Section(
        "Who is found by a few known items", meaning, "lower", unique_chart(exposure, kind), _table(exposure, kind)
    )


def _table(exposure: Exposure, kind: ValueKind) -> Table:
    rows, dated = [], {level.known: level for level in exposure.by_day}
    for level in _levels(exposure, with_ratings=False):
        both = [level, exposure.at(level.known, with_ratings=True)][: 1 + kind.varies]
        both += [dated[level.known]] if dated else []
        rows.append((str(level.known), *(with_interval(one.unique) for one in both), count(level.n_short)))
    shares = ("Singled out by items (95 % interval)", f"By items and {kind.nouns} (95 % interval)")[: 1 + kind.varies]
    shares += ("By items and the day of each (95 % interval)",) if dated else ()
    return Table(("Known items", *shares, f"Users with fewer {kind.nouns}"), tuple(rows))


def _candidates_section(exposure: Exposure, kind: ValueKind) -> Section:
    series = tuple(
        Series(name, tuple(_candidates(level) for level in _levels(exposure, with_ratings=with_ratings)))
        for name, with_ratings in _attackers(kind)
    )
    known = tuple(float(level.known) for level in _levels(exposure, with_ratings=True))
    chart = Lines(Axis("known items", log=True, ticks=known), Axis("users who fit what is known", log=True), series)
    most = _levels(exposure, with_ratings=True)[-1]
    median = most.candidates[2]
    known_too = f" and their {kind.nouns}" if kind.varies else ""
    among = "has no one to hide among" if median == 1 else f"hides in a crowd of {count(median)}"
    meaning = (
        f"A person hides among all who fit. With {plural(most.known, 'known item')}{known_too} the median user "
        f"{among}, and a blind pick among those who fit is right in {percent(most.guess)} of cases. Marks are medians; "
        "nine in ten users lie in the bands."
    )
    return Section(
        "How large a crowd each person hides in", meaning, "higher", chart, _candidates_table(exposure, kind)
    )


def _candidates(level: Level) -> ChartPoint:
    return ChartPoint(level.known, level.candidates[2], level.candidates[0], level.candidates[-1])


def _candidates_table(exposure: Exposure, kind: ValueKind) -> Table:
    rows = tuple(
        (attacker, str(level.known), *map(count, level.candidates), percent(level.guess))
        for attacker, with_ratings in reversed(_attackers(kind))
        for level in _levels(exposure, with_ratings=with_ratings)
    )
    return Table(("Attacker", "Known items", *_PERCENTS, "Blind pick is right"), rows)


def summary_chapter(summary: Summary) -> Chapter:
    """Return the chapter with the histogram, the spread of activity and popularity, and the years."""
    sections = [*([_histogram_section(summary)] if summary.kind.varies else []), _spread_section(summary)]
    if len(summary.top_shares) > 1:
        sections.append(_top_section(summary))
    if summary.times is not None and 1 < len(summary.times.years) <= _MOST_YEARS:
        sections.append(_years_section(summary.times))
    intro = f"{plural(summary.n_rows, 'row')} were read."
    if summary.n_repeated:
        intro += f" {count(summary.n_repeated)} named a pair that stood before; they were {summary.kind.repeated}."
    if summary.n_skipped:
        intro += f" {count(summary.n_skipped)} could not be right and were skipped."
    return Chapter("What is in the data", intro, sections=tuple(sections))


def _histogram_section(summary: Summary) -> Section:
    places = [f"{bar.low:g}" if bar.low == bar.high else f"{bar.low:.3g}–{bar.high:.3g}" for bar in summary.histogram]
    shares = [bar.share for bar in summary.histogram]
    noun, nouns = summary.kind.noun, summary.kind.nouns
    chart = bars(Axis(noun), Axis(f"share of the {nouns}", percent=True), places, {nouns: shares})
    top = max(range(len(shares)), key=shares.__getitem__)
    meaning = f"The most common {noun} is {places[top]}, the mean {summary.mean_rating:.2f}."
    rows = tuple(
        (place, count(bar.n), percent(bar.share)) for place, bar in zip(places, summary.histogram, strict=True)
    )
    table = Table((noun.capitalize(), nouns.capitalize(), "Share"), rows)
    return Section(f"Which {nouns} there are", meaning, "neither", chart, table)


def _spread_section(summary: Summary) -> Section:
    curves = {"ratings per user": summary.activity, "ratings per item": summary.popularity}
    positive = {name: [(p, n) for p, n in spread.percentiles if n > 0] for name, spread in curves.items()}
    x, y = Axis("percentile of users or items", low=0, high=100), Axis("ratings", log=True)
    chart = quantile_curve(x, y, positive)
    meaning = (
        f"Half of the users rated at most {plural(summary.activity.at(50), 'item')}, half of the items were rated "
        f"at most {plural(summary.popularity.at(50), 'time')}. Rarely rated items give their raters away."
    )
    rows = []
    for name, spread in curves.items():
        percentiles = (count(spread.at(p)) for p in PERCENTILES)
        rows.append((name.capitalize(), number(spread.mean), *percentiles, count(spread.largest)))
    head = ("", "Mean", *(f"{p:g}\N{NO-BREAK SPACE}%" for p in PERCENTILES), "Most")
    return Section("How activity and popularity are spread", meaning, "neither", chart, Table(head, tuple(rows)))


def _top_section(summary: Summary) -> Section:
    places = [f"top {count(n)}" for n, _ in summary.top_shares]
    shares = [share for _, share in summary.top_shares]
    y = Axis("share of the ratings", percent=True, low=0, high=1)
    chart = bars(Axis("most rated items"), y, places, {"share": shares})
    meaning = f"The {count(summary.top_shares[0][0])} most rated items hold {percent(shares[0])} of all ratings."
    rows = tuple((place.capitalize(), percent(share)) for place, share in zip(places, shares, strict=True))
    return Section("How much the favourites hold", meaning, "neither", chart, Table(("Items", "Share"), rows))


def _years_section(times: TimeSpan) -> Section:
    years, counts = [str(year) for year, _ in times.years], [n for _, n in times.years]
    chart = bars(Axis("year"), Axis("ratings"), years, {"ratings": counts})
    rows = tuple((year, count(n)) for year, n in zip(years, counts, strict=True))
    meaning = f"The first rating was given on {day(times.first)}, the last on {day(times.last)}."
    return Section("When the ratings were given", meaning, "neither", chart, Table(("Year", "Ratings"), rows))


def inspect_account(summary: Summary, exposure: Exposure) -> tuple[str, ...]:
    """Return what was done, step by step."""
    known = ", ".join(str(level.known) for level in _levels(exposure, with_ratings=True))
    return (
        f"Read {plural(summary.n_rows, 'row')}; {count(summary.n_repeated)} named a user and item that stood before "
        f"({summary.kind.repeated}), {count(summary.n_skipped)} could not be right and were dropped; "
        f"kept {plural(summary.n_ratings, summary.kind.noun)}." + "".join(f" {note}" for note in summary.notes),
        "Counted the ratings per user, per item, per step of the scale and per year. "
        "A percentile is a count that occurs.",
        f"Drew {plural(exposure.n_targets, 'user')} at random, and of each {known} of the rated items at random, "
        "the smaller sets inside the larger ones; of a user with fewer ratings all are known.",
        "Counted for each the users whose rows hold the known items, and those whose ratings of them agree exactly. "
        "One user left means singled out. Shares carry Wilson's 95 % interval.",
    )
