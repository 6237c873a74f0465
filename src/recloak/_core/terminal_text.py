"""Text of others on a terminal: file names, ids and titles may hold what moves the cursor or ends a line."""


def printable(text: object) -> str:
    """Return a text on one line, with every character that a terminal would obey written as its escape."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in str(text))
