"""The description of the API and the page that shows it: loaded when somebody asks for them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from labeling.api import described
from labeling.api.authentication import TokenAuthentication


def describe(endpoints: list[Any]) -> list[Any]:
    """Called for each description, also by ``manage.py spectacular``: see the settings."""
    described.apply()
    return endpoints


ANYWHERE = {
    "503": "The database does not answer: try again after `Retry-After` seconds",
    "507": "A disk of the server is full",
}
WITH_A_BODY = {"413": "The body is larger than this server reads"}


def add_failures(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """What any operation may answer when the server cannot do it, or what was sent is too large."""
    for operations in result["paths"].values():
        for operation in operations.values():
            answers = ANYWHERE | (WITH_A_BODY if "requestBody" in operation else {})
            for status, description in answers.items():
                operation["responses"].setdefault(status, _error(description))
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


schema = SpectacularAPIView.as_view()
page = SpectacularSwaggerSplitView.as_view(url_name="api-schema")
