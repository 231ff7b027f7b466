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


class TokenScheme(OpenApiAuthenticationExtension):
    """How the description names it."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


schema = SpectacularAPIView.as_view()
page = SpectacularSwaggerSplitView.as_view(url_name="api-schema")
