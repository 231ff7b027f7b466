"""What the operations of the API are called in its description."""

from __future__ import annotations

import re
from typing import Any

from django.urls import Resolver404, resolve
from drf_spectacular.openapi import AutoSchema
from rest_framework.serializers import DictField

ROOT = "/api/"
SAMPLES = ("1", "00000000-0000-0000-0000-000000000000")
"""Values of which every parameter of an address takes one."""


class Operation(AutoSchema):
    """An operation is named by its method and the name of its address, which nothing else has."""

    def get_operation_id(self) -> str:
        return f"{self.method.lower()}_{url_name(self.path).removeprefix('api-').replace('-', '_')}"

    def get_tags(self) -> list[str]:
        """The subject: what comes after the project, or first."""
        parts = self.path.removeprefix(ROOT).strip("/").split("/")
        return [parts[2] if parts[0] == "projects" and len(parts) > 2 else parts[0]]

    def _get_response_for_code(self, serializer: Any, *args: Any, **options: Any) -> Any:
        """Objects whose keys are data, too: drf_spectacular knows them as fields alone."""
        if isinstance(serializer, DictField):
            serializer = self._map_serializer_field(serializer, "response")
        return super()._get_response_for_code(serializer, *args, **options)


def url_name(path: str) -> str:
    for sample in SAMPLES:
        try:
            return str(resolve(re.sub(r"{\w+}", sample, path)).url_name)
        except Resolver404:
            continue
    raise LookupError(f"No name of {path}: a parameter of it takes none of SAMPLES.")
