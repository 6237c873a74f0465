"""Structured logs: one JSON object per line that says what happened, without anything that a request contained.

The line of a request has the route's pattern, not the address; the line of a failure has the type of the error and
where it was raised, not the message, because a message may repeat a value.
"""

import json
import logging
import traceback
from datetime import UTC, datetime
from typing import Any

log = logging.getLogger("recloak._service")


class JsonLines(logging.Formatter):
    """Formats a record as one JSON object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": when, "level": record.levelname.lower(), "process": record.process}
        if record.name == log.name:
            line |= {"event": record.msg, **getattr(record, "fields", {})}
        else:
            line |= {"event": "server", "message": record.getMessage()}
        if record.exc_info and record.exc_info[1] is not None:
            line |= failure(record.exc_info[1])
        return json.dumps(line)


def log_event(event: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """Log an event; the fields must contain nothing of what was asked."""
    log.log(level, event, extra={"fields": fields})


def failure(error: BaseException) -> dict[str, Any]:
    """Return the fields that describe an error: its type and the last lines of its traceback."""
    frames = traceback.extract_tb(error.__traceback__)[-6:]
    return {"error": type(error).__name__, "at": [f"{_short(one.filename)}:{one.lineno}" for one in frames]}


def _short(path: str) -> str:
    return "/".join(path.split("/")[-3:])


CONFIG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"json": {"()": JsonLines}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json", "stream": "ext://sys.stderr"}},
    "loggers": {
        "recloak._service": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn": {"handlers": ["stderr"], "level": "INFO", "propagate": False},
        "uvicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
    },
}
