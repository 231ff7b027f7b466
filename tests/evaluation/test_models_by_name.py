"""Several models on one server: each is declared once, and a run keeps which it asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.test.client import MULTIPART_CONTENT

from config import language_models
from evaluation.models import Run
from evaluation.services.language_models import endpoints
from evaluation.services.launch.launch import LaunchRefused
from evaluation.services.unmeasured import predicting
from labeling.conversations.rules.importing import Turn
from labeling.domain.errors import RuleError
from tests import llm_server
from tests.evaluation.conftest import work
from tests.factories import make_talk
from tests.llm_server import LanguageServer
from tests.refusals import refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("asking")]

OTHER_KEY = "sk-other-0123456789"


@pytest.fixture
def other(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Any]:
    """A second server, declared as ``small``."""
    with llm_server.running() as server:
        server.key, server.served = OTHER_KEY, "other-1"
        file = tmp_path / "models.toml"
        file.write_text(
            f'[small]\nmodel = "other"\nbase_url = "{server.url}"\nkey = "OTHER_KEY"\n'
            'reasoning_effort = "low"\ninput_price = 1.0\noutput_price = 2.0\n'
        )
        monkeypatch.setenv("ASSAY_MODELS", str(file))
        monkeypatch.setenv("OTHER_KEY", OTHER_KEY)
        settings.MODELS = language_models.declared()
        yield server


def test_a_launch_chooses_a_model_and_the_run_keeps_which(launch, server, other):
    run = work(launch(pipeline="asking", model="small"))

    assert (run.status, server.requests) == ("finished", [])
    assert other.requests[0]["reasoning_effort"] == "low"
    assert run.spec.model_name == "small"
    assert run.spec.model["reasoning_effort"] == "low"
    assert OTHER_KEY not in json.dumps(run.spec.as_json())


def test_a_pipeline_on_files_asks_the_named_model(server, other, tmp_path):
    file, out = tmp_path / "talks.jsonl", tmp_path / "out"
    said = [{"role": "user", "content": "Hello."}, {"role": "analyst", "content": "Hi."}]
    file.write_text(json.dumps({"id": "a", "domain": "shop", "messages": said}))

    call_command(
        "run_pipeline",
        str(file),
        pipeline="asking",
        output_dir=out,
        model="small",
        stdout=StringIO(),
    )

    assert (server.requests, len(other.requests)) == ([], 2)
    assert json.loads((out / "run.json").read_text())["model"]["name"] == "small"


@pytest.mark.parametrize("address", ["/runs/new/conversations/", "/api/runs/"])
def test_conversations_without_gold_are_asked_of_the_named_model(
    server, other, signed_in, project, address
):
    make_talk(project, "free", [Turn("user", "Hello."), Turn("analyst", "Hi.")])
    asked = {"pipeline": "asking", "project": project.slug, "model": "small"}
    ids = {"conversation": ["free"], "conversations": ["free"]}  # on the page; by API
    kind = "application/json" if "api" in address else MULTIPART_CONTENT

    rita = signed_in("rita")
    assert '<option value="small"' in rita.get("/runs/new/conversations/").content.decode()

    rita.post(address, asked | ids, kind)
    run = work(Run.objects.get())

    assert (run.status, run.spec.model_name) == ("finished", "small")
    assert (server.requests, len(other.requests)) == ([], 2)


@pytest.mark.parametrize(
    ("pipeline", "model", "said"),
    [
        ("asking", "large", "named “large”"),
        ("requirements-local", "small", "asks no language model"),
    ],
)
def test_conversations_without_gold_take_no_model_that_would_not_be_asked(
    other, pipeline, model, said
):
    with refused(RuleError, match=said):
        predicting.checked_task(pipeline, {}, model=model)


def test_a_name_that_nothing_declares_is_refused_with_those_there_are(launch, other, server):
    with refused(LaunchRefused, match="named “large”. Declared are: default, small"):
        launch(pipeline="asking", model="large")


def test_without_default_a_declared_model_can_be_asked(other, settings):
    settings.LLM_MODEL = ""

    assert endpoints.choices() == ["small"]
    assert endpoints.named() is None


def test_no_key_of_a_declared_model_leaves_in_a_text(other: LanguageServer) -> None:
    assert OTHER_KEY not in endpoints.keyless(f"the server said {OTHER_KEY}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[small", "cannot be read as TOML"),
        ('model = "m"', "has to be a table"),
        ("[small]\nmodel = 'm'\nmodell = 'm'", "'modell' of \\[small\\]"),
        ("[small]\nmodel = 'm'\napi_key = 'sk-1'", "sets 'api_key'"),
        ("[small]\nmodel = 'm'\nbase_url = 'file:///etc'", "'base_url' of \\[small\\]"),
    ],
)
def test_a_declaration_that_cannot_be_used_stops_the_start(monkeypatch, tmp_path, text, said):
    file = tmp_path / "models.toml"
    file.write_text(text)
    monkeypatch.setenv("ASSAY_MODELS", str(file))

    with pytest.raises(ImproperlyConfigured, match=said):
        language_models.declared()
