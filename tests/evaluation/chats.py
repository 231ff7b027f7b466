"""A short chat over three days: a topic, another, and the first one again."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone

from evaluation.models import LayerBuild
from evaluation.services import memory_builds
from labeling.models import Conversation, Message, Project
from pipelines.memory.layers.config import LayersConfig

START = timezone.now().replace(microsecond=0)


def make_chat(project: Project, external_id: str) -> Conversation:
    chat = Conversation.objects.create(
        project=project, external_id=external_id, content_sha256="0" * 64
    )
    texts = ["cooking pasta with sauce", "skiing in the snow", "cooking pasta with sauce"]
    Message.objects.bulk_create(
        Message(
            conversation=chat,
            index=part * 4 + at,
            role="speaker",
            speaker=("Emi", "Elise")[at % 2],
            content=text,
            time=START + timedelta(days=part, minutes=at),
        )
        for part, text in enumerate(texts)
        for at in range(4)
    )
    return chat


def ask(chat: Conversation, *, config: LayersConfig | None = None) -> LayerBuild:
    (build,) = memory_builds.request(
        [chat], project=chat.project, config=config or LayersConfig(), by=None, queue=False
    )
    return build
