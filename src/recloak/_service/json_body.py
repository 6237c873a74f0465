"""Reading a JSON body strictly, without ever repeating it in an error."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError

from recloak._service.problems import Refused

Asked = TypeVar("Asked", bound=BaseModel)


async def read_body(request: Request, kind: type[Asked]) -> Asked:
    """Read a body as a value of the contract."""
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media != "application/json":
        raise Refused("not_json")
    try:
        return kind.model_validate_json(await request.body())
    except ValidationError as error:
        raise Refused("invalid", sentence_of(error, set(kind.model_fields))) from None


def sentence_of(error: ValidationError, names: set[str]) -> str:
    """Say what does not fit by the names of the contract and the rule, never by what was sent."""
    first: Any = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return "The body is not JSON in UTF-8."
    field = first["loc"][0] if first["loc"] else ""
    if first["type"] == "value_error":
        return "Give either text or items."
    if field not in names:
        return "There is a field in the body that the description does not name."
    return f"The field {field} does not fit its description."


def described(kind: type[BaseModel]) -> dict[str, Any]:
    """Describe a body for OpenAPI; its schema stands among the components."""
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{kind.__name__}"}}}
    return {"requestBody": {"required": True, "content": content}}
