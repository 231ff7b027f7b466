"""A short chat over three days: a topic, another, and the first one again."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

from django.utils import timezone

from evaluation.services import memory_builds
from evaluation.services.memory_builds import Build
from labeling.conversations.rules.importing import Turn
from labeling.models import Conversation, Project
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


def build(chat: Conversation) -> Build:
    """As a worker builds what somebody has asked for."""
    memory_builds.work(chat.pk, uuid4())
    return memory_builds.builds_of(chat)[0]
