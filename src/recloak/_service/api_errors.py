"""The errors of the API: one shape, and one sentence each that repeats nothing of what was sent."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from recloak._service.schema import ErrorAnswer, Problem

# By code: the status and the sentence.
ERRORS: dict[str, tuple[int, str]] = {
    "bad_request": (400, "The request cannot be read."),
    "no_token": (401, "This needs a token in the header: Authorization: Bearer TOKEN."),
    "bad_token": (401, "This token is unknown, expired or revoked."),
    "not_allowed": (403, "This token is not for this."),
    "not_found": (404, "There is nothing at this address."),
    "no_such_item": (404, "There is no published list of this item."),
    "no_ratings": (404, "There are no ratings of this token's user, so a post gives none of them away."),
    "not_served": (404, "This server was started without what this needs."),
    "wrong_method": (405, "This address does not take this method."),
    "too_slow": (408, "The request did not arrive in time."),
    "too_large": (413, "The request is too large."),
    "not_json": (415, "The body must be JSON, said so by Content-Type: application/json."),
    "invalid": (422, "The request does not fit its description."),
    "too_many": (429, "Too many requests with this token; wait a moment."),
    "header_too_large": (431, "The header of the request is too large."),
    "internal": (500, "Something went wrong here; it is not your mistake."),
    "not_ready": (503, "The server is not ready."),
    "tokens_unreadable": (503, "Tokens cannot be checked just now; wait a moment."),
    "overloaded": (503, "Too many requests are under way; wait a moment."),
    "timeout": (503, "The answer took too long and was given up."),
}
UNREADABLE = "The history of related lists cannot be read just now."


class ApiError(Exception):
    """An error that a request is answered with; ``message`` replaces the usual sentence of its code."""

    def __init__(self, code: str, message: str | None = None, headers: Mapping[str, str] | None = None) -> None:
        self.code = code
        self.status, usual = ERRORS[code]
        self.message = message or usual
        self.headers = dict(headers or {})
        super().__init__(self.message)

    def response(self) -> Response:
        """Return the HTTP response."""
        body = ErrorAnswer(error=Problem(code=self.code, message=self.message)).model_dump_json()
        return Response(body, self.status, {"cache-control": "no-store", **self.headers}, "application/json")


def error_responses(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of the errors that a route may answer with."""
    responses: dict[int | str, dict[str, Any]] = {}
    for code in sorted(codes, key=lambda one: ERRORS[one][0]):
        status, sentence = ERRORS[code]
        before = f"{responses[status]['description']} " if status in responses else ""
        responses[status] = {"model": ErrorAnswer, "description": f"{before}`{code}`: {sentence}"}
    return responses
