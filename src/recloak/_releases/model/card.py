"""The data card: a page that lets a stranger use a release without asking its owner."""

from recloak._ratings.value_kinds import COUNTS, PRESENCE, RATINGS
from recloak._releases.model.manifest import Facts, not_promised, promised
from recloak._releases.model.modes import MODES
from recloak._releases.model.release_format import FACTOR_TABLES, TABLES, table_names
from recloak._releases.model.statistics import description

_MEANINGS = {
    "user": "a fresh random number that stands for one person",
    "group": "a fresh random number that stands for one group of people",
    "item": "the item, by the id its source uses",
    "rating": "a number on the scale below",
    "bias": "what the group or the item adds to the mean",
}


_TITLES = {
    RATINGS.name: "Anonymised ratings",
    PRESENCE.name: "Anonymised records of who used what",
    COUNTS.name: "Anonymised records of who used what how often",
}


def data_card(facts: Facts, layout: str, file_format: str) -> str:
    """Write the card in Markdown."""
    parts = [
        f"# {_TITLES[facts.values]}",
        _summary(facts),
        "## Files",
        _files(facts, layout, file_format),
        facts.told("## What a rating means"),
        _meaning(facts),
        *_popularity(facts),
        *_statistics(facts, file_format),
        "## What is promised",
        _list(promised(facts)),
        "## What is not promised",
        _list(not_promised(facts)),
        "## How to check and use it",
        _usage(facts, layout, file_format),
    ]
    return "\n\n".join(parts) + "\n"


def _summary(facts: Facts) -> str:
    cells = "ratings" if facts.values == RATINGS.name else "cells"
    return (
        f"{facts.n_ratings:,} {cells} of {facts.n_items:,} items by {facts.n_users:,} people, in {facts.n_groups:,} "
        f"groups of at least {facts.k} {facts.words.people} Predictive "
        f"Anonymization (Chang, Thompson, Wang, Yao), mode *{facts.mode}*"
        + (", in the literal form of the paper." if facts.paper else ".")
    )


def _files(facts: Facts, layout: str, file_format: str) -> str:
    lines, factors = [], facts.rank is not None
    for table, file in table_names(layout, file_format).items():
        columns = "; ".join(f"`{column}`: {_meaning_of(column, facts)}" for column in TABLES[layout][table])
        columns += f"; `f1` to `f{facts.rank}`: its factors" if facts.rank and table in FACTOR_TABLES else ""
        lines.append(f"- `{file}`: {columns}.")
    lines.append("- `manifest.json`: the same facts for programs, with the SHA-256 of each file.")
    if factors:
        lines.append(f"\n{_formula(facts)}")
    if layout == "grouped":
        lines.append(
            "\nThe rows of a person are those of the person's group: join `members` and `profiles` on `group`."
        )
    lines.append(f"\n{facts.words.splitting}")
    return "\n".join(lines)


def _formula(facts: Facts) -> str:
    """Say how a rating follows from factors."""
    return facts.told(
        f"The rating of group g for item i, the same for all members of g, is {facts.mean:g} + bias of g + bias of i + "
        f"the sum over all factors of factor of g times factor of i, brought between {facts.scale.low:g} and "
        f"{facts.scale.high:g}. `recloak expand` writes any part of that table."
    )


def _meaning_of(column: str, facts: Facts) -> str:
    drawn = column == "user" and MODES[facts.mode].is_drawn
    if column == "rating" and facts.values != RATINGS.name:
        return "see below"
    return "a fresh random number that stands for one drawn row" if drawn else _MEANINGS[column]


def _meaning(facts: Facts) -> str:
    if facts.values != RATINGS.name:
        return (
            f"{facts.label_meaning} A row is no single person's: use it to learn what is used together, not what "
            "someone did."
        )
    return (
        f"Ratings lie between {facts.scale.low:g} and {facts.scale.high:g}. {facts.label_meaning} A row is therefore "
        "no single person's opinion: use it to learn how tastes go together, not what someone thought."
    )


def _popularity(facts: Facts) -> list[str]:
    """Say how to estimate the popularity of an item from the rows, where they hold just what was rated."""
    mode = MODES[facts.mode]
    if mode.is_complete or mode.is_drawn or facts.decoys or facts.min_shown or facts.max_link or facts.diversity:
        return []
    return [
        "## How popular an item is",
        facts.told(
            f"An item in g of the G = {facts.n_groups:,} rows was rated by about n = m (1 - (1 - g/G)^(1/k)) of the "
            f"m = {facts.n_users:,} people, k = {facts.k}: counting rows alone makes popular items look less popular."
        ),
    ]


def _statistics(facts: Facts, file_format: str) -> list[str]:
    """Describe the statistics, where there are some."""
    return [] if facts.statistics is None else ["## Statistics", description(facts.statistics, file_format)]


def _list(sentences: list[str]) -> str:
    return "\n".join(f"- {sentence}" for sentence in sentences)


def _usage(facts: Facts, layout: str, file_format: str) -> str:
    check = f"`recloak verify .` checks from these files alone that {facts.words.checked}.\n\n"
    if layout == "factors":
        return (
            f'{check}```python\nimport recloak\n\nrelease = recloak.load(".")\n'
            "release.cell(group=1, item=release.items[0])\n```"
        )
    read = f"pl.read_{file_format}"
    join = (
        f'members, profiles = {read}("members.{file_format}"), {read}("profiles.{file_format}")\n'
        'ratings = members.join(profiles, on="group").select("user", "item", "rating")'
        if layout == "grouped"
        else f'ratings = {read}("ratings.{file_format}")'
    )
    return f"{check}```python\nimport polars as pl\n\n{join}\n```"
