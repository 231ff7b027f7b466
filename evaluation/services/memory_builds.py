"""The layers of conversations: built by the first run that asks for them, read by the later ones.

A conversation's text never changes, so each layer is built once for each configuration and kept
as soon as it is ready: the work may stop and continue anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from evaluation.models import BuiltLayer
from evaluation.services.stores import FileStore
from labeling.agreement.vectors import StoredVectors
from pipelines.encoder import MiniLM
from pipelines.memory.layers.build import Kind, key_for
from pipelines.memory.layers.config import LayersConfig

BUILDING_SECONDS = 6 * 3600.0
"""How long a worker may build the layers of a conversation."""


def key_of(config: LayersConfig) -> str:
    """What tells this configuration from others; loads no encoder."""
    return key_for(config, MiniLM(StoredVectors("pipeline")))


class StoredRows:
    """The built layers of one conversation and configuration, as pipelines read and write them."""

    def __init__(self, conversation_id: int, key: str, config: LayersConfig) -> None:
        self._of = {"conversation_id": conversation_id, "config_sha256": key}
        self._config = config

    def get(self, kind: Kind) -> Mapping[str, Any] | None:
        row = BuiltLayer.objects.filter(**self._of, kind=kind).first()
        return row.payload if row else None

    def put(self, kind: Kind, payload: Mapping[str, Any], *, seconds: float) -> None:
        BuiltLayer.objects.get_or_create(  # of two who built the same, the first counts
            **self._of,
            kind=kind,
            defaults={
                "config": self._config.model_dump(mode="json"),
                "implementation": "local",
                "payload": payload,
                "seconds": seconds,
            },
        )


def alone(conversation_id: int, key: str) -> AbstractContextManager[bool]:
    """Of those who want the same one builds; the others wait and find it."""
    return FileStore().alone(f"layers-{conversation_id}-{key}")
