"""Runs whose answers are judged, and a server that writes and judges them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from evaluation.models import Run
from labeling.models import Project
from tests.evaluation import answers as asked
from tests.evaluation import launching
from tests.llm_server import LanguageServer

CALLS = 3 * 5 - 1
"""Three questions: an answer and four judgements each; one has no reference to judge against."""


@pytest.fixture
def server(server: LanguageServer) -> LanguageServer:
    server.default = asked.speak
    return server


@pytest.fixture
def start(project: Project, people: dict[str, User], script: Any) -> Any:
    script(asked.retrieve)
    release = asked.questions(project)

    def start(**options: Any) -> Run:
        given = {"pipeline": "lexical", "requested_by": people["noor"], "queue": False}
        return launching.launch(release, **({"evaluate_answers": True} | given | options))

    return start
