"""What can go wrong, as one tree.

    RecloakError
    ├── InputError            the caller's mistake: the command line exits with 2
    │   ├── SourceError       a file or table that cannot be read, or a row that cannot be right
    │   ├── OptionError       a value outside its rule, or a name that does not exist
    │   └── MissingExtraError an optional part that is not installed
    ├── RefusedError          a promise that does not hold, so nothing was published: exit code 1
    └── InternalError         our own bug, never the caller's fault: exit code 3

A message is one sentence that gives the name, the rule and the value: "k must be at least 2, got 1".
"""

from __future__ import annotations

from pathlib import Path


class RecloakError(Exception):
    """Root of everything recloak raises on purpose."""

    exit_code = 3


class InputError(RecloakError):
    """The caller gave something that cannot be worked with."""

    exit_code = 2


class SourceError(InputError):
    """A source of ratings cannot be read, or one of its rows cannot be right.

    The place is kept apart from the rule so that programs can use it; the message reads
    ``FILE, line LINE: RULE, got 'VALUE'``, and a hint where there is one: ``FILE: RULE; HINT``.
    """

    def __init__(
        self,
        rule: str,
        *,
        file: str | Path | None = None,
        line: int | None = None,
        value: object | None = None,
        hint: str | None = None,
    ) -> None:
        self.rule = rule
        self.file = None if file is None else str(file)
        self.line = line
        self.value = value
        got = "" if value is None else f", got {value!r}"
        super().__init__(_place(self.file, line) + rule + got + ("" if hint is None else f"; {hint}"))

    def hinting(self, hint: str) -> SourceError:
        """Return the same error with a hint at its end."""
        return SourceError(self.rule, file=self.file, line=self.line, value=self.value, hint=hint)


def _place(file: str | None, line: int | None) -> str:
    """Return the words for a place: file, file and line, or nothing."""
    if file is None:
        return ""
    return f"{file}: " if line is None else f"{file}, line {line}: "


class OptionError(InputError):
    """An option's value breaks its rule, or its name does not exist."""


class MissingExtraError(InputError):
    """An optional part is needed and not installed; the message says what to install."""


class RefusedError(RecloakError):
    """A promise does not hold, so nothing was published."""

    exit_code = 1


class InternalError(RecloakError):
    """Something that cannot happen did: our bug."""
