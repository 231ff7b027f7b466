"""A short chat over three days: a topic, another, and the first one again."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from evaluation.models import LayerBuild
from evaluation.services import memory_builds
from labeling.conversations.rules.importing import Turn
from labeling.models import Conversation, Project
from pipelines.memory.layers.config import LayersConfig
from tests.factories import make_talk

START = timezone.now().replace(microsecond=0)


def make_chat(project: Project, external_id: str) -> Conversation:
    texts = ["cooking pasta with sauce", "skiing in the snow", "cooking pasta with sauce"]
    turns = [
        Turn("speaker", text, ("Emi", "Elise")[at % 2], START + timedelta(days=part, minutes=at))
        for part, text in enumerate(texts)
        for at in range(4)
    ]
    return make_talk(project, external_id, turns)


def ask(chat: Conversation, *, config: LayersConfig | None = None) -> LayerBuild:
    (build,) = memory_builds.request(
        [chat], project=chat.project, config=config or LayersConfig(), by=None, queue=False
    )
    return build
