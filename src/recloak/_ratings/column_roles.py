"""Which column is the user, the item, the rating and the time: by the names that data sets use."""

from collections.abc import Mapping, Sequence

from recloak._core.errors import SourceError

ROLES = ("user", "item", "rating", "time")
NO_TIME = "none"
_SHOWN = 60  # characters of a name in a message

_THINGS = (
    "item movie film book product track song artist album business game app anime joke recipe restaurant place venue "
    "beer hotel show video article news course content listing podcast work music"
)

_COUNTS = "quantity qty playcount plays nplays listens listencount count counts nevents purchases clicks views weight"

# Folded to small letters and digits; earlier names win, so that an id is taken before a name or a title.
_KNOWN = {
    "user": "userid uid customerid reviewerid memberid accountid raterid viewerid visitorid personid steamid "
    "clientid buyerid shopperid householdid "
    "reviewusername reviewprofilename user customer reviewer member account rater viewer person username "
    "client buyer shopper visitor listener u",
    "item": " ".join(f"{thing}id" for thing in _THINGS.split())
    + f" iid parentasin asin isbn isbn13 tconst imdbid gmapid beerbeerid sku stockcode productcode itemcode poi "
    f"{_THINGS} "
    "title itemtitle movietitle booktitle itemname moviename bookname gamename productname i",
    "rating": "rating ratings bookrating userrating starrating stars score userscore ratingscore reviewscore "
    "reviewrating reviewoverall overall rate grade vote value r "
    f"{_COUNTS}",
    "time": "unixreviewtime timestamp unixtime unixtimestamp time datetime date ts ratedat createdat reviewtime "
    "reviewdate ratingtime ratingdate ratingtimestamp dateadded submissiontime timecreated timestampcreated reviewedat "
    "updatedat orderdate ordertime orderedat purchasedate purchasetime purchasedat invoicedate transactiondate "
    "eventtime eventdate playedat listenedat clickedat viewedat",
}
NAMES: Mapping[str, Sequence[str]] = {role: names.split() for role, names in _KNOWN.items()}
COUNT_NAMES = frozenset(_COUNTS.split())  # of columns that hold counts, by their name alone
_NO_ITEM = {"id", "reviewid", "ratingid", "rowid", "orderid", "sessionid", "commentid", "tweetid"}


def fold(name: str) -> str:
    """Leave only the small letters and digits of a name: ``"User-ID"`` and ``user_id`` are one."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def is_known(name: str) -> bool:
    """Return whether a name is one of those that data sets give to a column."""
    folded = fold(name)
    return any(folded in names for names in NAMES.values())


def find_columns(
    names: Sequence[str],
    *,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    time: str | None = None,
    values: str | None = "ratings",
) -> dict[str, str]:
    """Find which column is the user, item, rating and, where there is one, time; names given win.

    ``values`` says what the source holds: ratings must be in a column, counts may be, and where nothing is said or
    only presence is meant no column need hold a value.
    """
    given = {"user": user, "item": item, "rating": rating, "time": time}
    found: dict[str, str] = {}
    for role in ROLES:
        name = given[role]
        if (role == "time" and name == NO_TIME) or (role == "rating" and name is None and values == "presence"):
            continue
        if name is None:
            taken = {*found.values(), *(other for other in given.values() if other)}
            name = _recognised(role, [other for other in names if other not in taken])
        elif name not in names:
            raise SourceError(f"there is no column {shown_name(name)} for the {role}; the columns are {_listed(names)}")
        if name is not None:
            found[role] = name
        elif role in ("user", "item") or (role == "rating" and values == "ratings"):
            raise SourceError(_unrecognised(role, names))
    return _checked(found, names)


def _recognised(role: str, names: Sequence[str]) -> str | None:
    folded = {fold(name): name for name in reversed(names)}
    known = next((folded[name] for name in NAMES[role] if name in folded), None)
    if known is not None or role not in ("item", "rating"):
        return known
    likely = [name for name in names if _is_likely(role, fold(name))]
    return likely[0] if len(likely) == 1 else None


def _is_likely(role: str, folded: str) -> bool:
    """Return whether an unknown name may be the item (some other id) or the rating, if it is the only such column."""
    if role == "item":
        return folded.endswith("id") and folded not in _NO_ITEM
    return folded.endswith(("rating", "score", "stars"))


def _unrecognised(role: str, names: Sequence[str]) -> str:
    if role == "rating":
        return (
            f"no column holds a rating among {_listed(names)}; name a column of numbers with rating=..., "
            "or leave values=... out to read who used what"
        )
    return f"no column for the {role} was recognised among {_listed(names)}; name it with {role}=..."


def _checked(found: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    """Refuse one column in two roles and two columns of one name."""
    for role, name in found.items():
        if list(names).count(name) > 1:
            raise SourceError(f"two columns are named {shown_name(name)}, so it is not clear which is the {role}")
        other = next(first for first, its in found.items() if its == name)
        if other != role:
            raise SourceError(f"the column {shown_name(name)} cannot be both the {other} and the {role}")
    return found


def shown_name(name: str) -> str:
    """Return a column's name for a message, the beginning of a long one."""
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(shown_name(name) for name in names[:20])
    return shown if len(names) <= 20 else f"{shown} and {len(names) - 20} more"
