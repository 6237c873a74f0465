"""The schema of the HTTP API: requests, responses, and the one shape of every error.

Places in a text (``start``, ``end``) count UTF-16 code units, as JavaScript's strings do: a letter counts 1, most emoji
count 2, and ``text.slice(start, end)`` is the text that was found.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

MAX_TEXT = 20_000  # characters; the slowest text costs the finder some 0.3 s, so that long ones count for several
MAX_ITEMS = 500
MAX_EARLIER = 5_000
_LARGEST = 2**63 - 1


def _as_whole(value: Any) -> Any:
    """Read 2.0 as 2, as JSON does."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_WHOLE = BeforeValidator(_as_whole)
_Number = Annotated[int, Field(strict=True, ge=-_LARGEST, le=_LARGEST), _WHOLE]
_Place = Annotated[int, Field(strict=True, ge=0, le=2 * MAX_TEXT), _WHOLE]
_K = Annotated[int, Field(strict=True, ge=1, le=1000), _WHOLE]
ItemId = _Number | Annotated[str, Field(strict=True, max_length=200)]
Tier = Literal["sure", "possible"]
Gives = Literal["most", "much", "little", "nothing"]


class _Request(BaseModel):
    """Base of what a client sends: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Response(BaseModel):
    """Base of what the server sends."""

    model_config = ConfigDict(frozen=True)


class Choice(_Request):
    """A find corrected by the writer."""

    start: _Place = Field(description="Where the find starts (UTF-16 code units).")
    item: ItemId | None = Field(description="The item that is meant; null: it is no title.")


def _one_of(schema: dict[str, Any]) -> None:
    """State in JSON Schema that a draft is either text or items, and that neither is null."""
    for name in ("text", "items"):
        field = schema["properties"][name]
        kind = next(one for one in field.pop("anyOf") if one.get("type") != "null")
        field.pop("default", None)
        field.update(kind)
    schema["oneOf"] = [{"required": ["text"]}, {"required": ["items"]}]


class AdviceRequest(_Request):
    """A draft, as text or as the items that it names."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_extra=_one_of)

    text: str | None = Field(None, strict=True, max_length=MAX_TEXT, description="The draft as it would be posted.")
    items: list[ItemId] | None = Field(None, max_length=MAX_ITEMS, description="The items that the draft names.")
    earlier: list[ItemId] = Field(
        default_factory=list, max_length=MAX_EARLIER, description="Items that the writer has named in public before."
    )
    choices: list[Choice] = Field(
        default_factory=list, max_length=MAX_ITEMS, description="Finds in the text that the writer corrected."
    )
    k: _K = Field(10, description="The writer wishes to stay beyond the first k.")
    voiced: bool = Field(
        True,
        strict=True,
        description="Whether the text says what the writer thinks of its titles; read as the writer's own ratings.",
    )

    @model_validator(mode="after")
    def _one_draft(self) -> AdviceRequest:
        given = [name for name in ("text", "items") if name in self.model_fields_set]
        if len(given) != 1 or getattr(self, given[0]) is None:
            raise ValueError("give either text or items")
        return self


class Band(_Response):
    """How hidden the writer is: where they would stand in an attacker's list, never as a number."""

    band: str = Field(description="The band of places.", examples=["11 to 100"])
    words: str = Field(description="The same for people.", examples=["one of dozens"])


class Named(_Response):
    """An item and its title, where it has one."""

    item: ItemId
    title: str | None


class Found(_Response):
    """A title found in the text."""

    start: int = Field(description="Where it starts, in UTF-16 code units.")
    end: int = Field(description="Where it ends (the first code unit after it).")
    text: str = Field(description="The words as written.")
    item: ItemId | None = Field(description="The item that is meant; null where the writer said that it is no title.")
    title: str | None
    tier: Tier = Field(description="possible: a person should confirm it; what the writer chose is sure.")
    counted: bool = Field(description="Whether the advice counts it as a mention.")
    gives: Gives = Field(description="How much this mention gives away of who writes.")
    alternatives: list[Named] = Field(description="Other items that these words may mean, the likeliest first.")


class SeriesNamed(Named):
    """A title, and the series that may be named instead."""

    series: str


class Change(_Response):
    """A change of the draft and the band it would lead to."""

    drop: list[Named]
    add: list[Named]
    series: list[SeriesNamed] = Field(description="Titles whose series is named instead.")
    no_opinions: bool = Field(description="Whether to leave out what the writer thinks of the titles.")
    band: Band


class AttackerView(_Response):
    """How hidden the writer is from one way of looking for them."""

    name: str
    words: str = Field(description="What it looks at.")
    band: Band


class AdviceResponse(_Response):
    """What the draft gives away, and what would help."""

    k: int = Field(description="As asked, or less where there are no more users than that.")
    before: Band = Field(description="By what was said earlier alone.")
    after: Band = Field(description="Once the draft is posted.")
    hidden: bool = Field(description="Whether the draft keeps the writer beyond the first k of every attacker.")
    attackers: list[AttackerView] = Field(description="Every way of looking that was tried, the strongest first.")
    why: str = Field(description="What gives the writer away most, in one sentence; empty where nothing does.")
    looked_at: list[str] = Field(description="What was looked at: titles, opinions, times.")
    most_telling: list[Named] = Field(description="Up to three mentions that give most away.")
    finds: list[Found] = Field(description="Titles found in the text, in its order; empty where items were given.")
    drops: list[Change] = Field(description="Each mention left out.")
    adds: list[Change] = Field(description="A few popular titles added, one each.")
    unvoiced: Change | None = Field(description="Posted as it is, without opinions; null where none are voiced.")
    cheapest: Change | None = Field(
        description="The cheapest change that keeps the writer beyond the first k; null where none was found."
    )
    small: bool = Field(description="Whether the cheapest change leaves at least half of the mentions in place.")
    n_unknown: int = Field(description="Mentions of items that nobody rated: they give nothing away.")


class Deletion(Named):
    """A mention of the writer's, and what deleting it would bring."""

    band: Band


class ExposureResponse(_Response):
    """How findable all that a user ever posted makes them."""

    n_mentions: int = Field(description="Titles that the user is known to have named in public.")
    now: Band
    hidden: bool = Field(description="Whether the user stands beyond the first ten of every attacker.")
    attackers: list[AttackerView] = Field(description="Every way of looking that was tried, the strongest first.")
    why: str
    looked_at: list[str]
    mentions: list[Deletion] = Field(description="Up to five mentions that give most away, most first.")
    without_all: Band = Field(description="Once all of these are deleted.")


class Problem(_Response):
    """What went wrong: a code for programs, a sentence for people."""

    code: str
    message: str


class ErrorAnswer(_Response):
    """The one shape of every error."""

    error: Problem


class Related(_Response):
    """One entry of a related list."""

    position: int = Field(description="From 1, without gaps.")
    item: ItemId
    title: str | None


class RelatedAnswer(Named):
    """An item's list in the latest published release."""

    release: int
    time: int = Field(description="Seconds since 1970: the release was made from ratings up to then.")
    related: list[Related]


class Moved(Named):
    """How an entry changed from the release before."""

    change: Literal["appeared", "vanished", "rose", "sank"]
    before: int | None = Field(description="Its position before; null: it was not there.")
    now: int | None = Field(description="Its position in this release; null: it is gone.")


class PastRelease(_Response):
    """An item's list in one release, and what moved since the one before."""

    release: int
    time: int
    related: list[Related]
    changes: list[Moved] = Field(description="Empty for the first release that is shown.")


class HistoryAnswer(Named):
    """An item's list through the published releases, the newest first."""

    releases: list[PastRelease]


class SearchAnswer(_Response):
    """Items whose titles hold the words searched for."""

    items: list[Named]


class Alive(_Response):
    """The process answers."""

    status: Literal["ok"]


class Ready(_Response):
    """What is served."""

    status: Literal["ready"]
    advice: bool
    related: bool
    release: int | None = Field(description="The related release that is served.")
