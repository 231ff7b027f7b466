"""The description of the API and the page that shows it: loaded when somebody asks for them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from labeling.core.api import described
from labeling.core.api.authentication import TokenAuthentication
from labeling.core.api.base import ANYTHING, ApiView


def describe(endpoints: list[Any]) -> list[Any]:
    """Called for each description, also by ``assay spectacular``: see the settings."""
    described.apply()
    return endpoints


REFUSALS = {
    "400": "The request cannot be carried out: the code says why, the message what to do",
    "401": "The token is unknown, revoked or expired",
    "403": "Nobody is signed in, or the person may see this but not do it",
    "404": "It does not exist, or not for this person",
    "405": "The address takes another method",
    "409": "Not now: what it is about is in another state, or somebody else was first",
    "503": "The database does not answer: try again after `Retry-After` seconds",
    "507": "A disk of the server is full",
}
OF_BODIES = {
    "413": "The body is larger than this server reads",
    "415": "The body is of a type that this operation does not read",
}
ERROR = {
    "type": "object",
    "properties": {
        "code": {"type": "string"},
        "message": {"type": "string", "description": "What happened and what to do next"},
        "details": {"type": "object", "additionalProperties": {}},
    },
    "required": ["code", "details", "message"],
}


def add_failures(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """What any operation may answer when it refuses or the server fails: each described once."""
    components = result.setdefault("components", {})
    components.setdefault("schemas", {})["ErrorOut"] = ERROR
    said = REFUSALS | OF_BODIES
    components["responses"] = {f"Error{status}": _error(text) for status, text in said.items()}
    for operations in result["paths"].values():
        for operation in operations.values():
            known = said if "requestBody" in operation else REFUSALS
            refs = {each: {"$ref": f"#/components/responses/Error{each}"} for each in known}
            operation["responses"] = dict(sorted((operation["responses"] | refs).items()))
    return result


def _error(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/ErrorOut"}
    return {"description": description, "content": {"application/json": {"schema": schema}}}


class TokenScheme(OpenApiAuthenticationExtension):
    """How the description names it."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


class SchemaView(ApiView, SpectacularAPIView):
    scopes = ANYTHING


class DocsView(ApiView, SpectacularSwaggerSplitView, scopes=ANYTHING):
    metadata_class = None  # a page has nothing to say of itself


schema = SchemaView.as_view()
page = DocsView.as_view(url_name="api-schema")
