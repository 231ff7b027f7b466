"""A short chat over three days: a topic, another, and the first one again."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from evaluation.adapters import messages_of
from evaluation.models import BuiltLayer
from evaluation.services import memory_builds
from labeling.conversations.rules.importing import Turn
from labeling.models import Conversation, Project
from pipelines.memory.layers.build import build_layers, key_for
from pipelines.memory.layers.config import LayersConfig
from tests.factories import make_talk
from tests.fakes import WordOverlap

START = timezone.now().replace(microsecond=0)


def make_chat(project: Project, external_id: str) -> Conversation:
    texts = ["cooking pasta with sauce", "skiing in the snow", "cooking pasta with sauce"]
    turns = [
        Turn("speaker", text, ("Emi", "Elise")[at % 2], START + timedelta(days=part, minutes=at))
        for part, text in enumerate(texts)
        for at in range(4)
    ]
    return make_talk(project, external_id, turns)


def build(chat: Conversation) -> dict[str, BuiltLayer]:
    """As a run does before its first question."""
    config, encoder = LayersConfig(), WordOverlap()
    key = key_for(config, encoder)
    rows = memory_builds.StoredRows(chat.pk, key, config)
    build_layers(messages_of(chat), encoder=encoder, rows=rows, config=config)
    return {row.kind: row for row in BuiltLayer.objects.filter(config_sha256=key)}
