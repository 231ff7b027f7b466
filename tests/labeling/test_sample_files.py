"""A person with samples and saved labels gets them into a project, and reads what is converted."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from labeling.models import Annotation, Conversation, Project
from tests import factories
from tests.labeling import imports
from tests.labeling.domain.formats.test_samples import BOOKING, INFERRED, ISSUE, TALK, saved
from tests.labeling.imports import stored
from tests.labeling.label_files import run

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(people: dict[str, User], tmp_path: Path) -> Project:
    project = factories.make_project("target", layers=["extraction", "inference", "validation"])
    say("import_conversations", written(tmp_path, "sample_001.json", TALK), format="sample")
    return project


def written(folder: Path, name: str, document: Any) -> Path:
    path = folder / name
    text = document if isinstance(document, str) else json.dumps(document, indent=2)
    path.write_text(text, encoding="utf-8")
    return path


say = partial(imports.run, project="target")


def test_a_sample_and_its_saved_labels_come_in_and_every_loss_is_named(target, tmp_path):
    odd = INFERRED | {"requirement": INFERRED["requirement"] | {"confidence": 0.2}}
    document = saved(inferred_requirements=[odd], issues=[ISSUE], labeled_at="2026-01-31T14:05:00Z")
    path = written(tmp_path, "saved.json", document)
    said = run(path, format="sample")

    assert said == (
        "1 answers read, 1 new (0 empty, 0 skipped), 0 unchanged\n"
        "By ana.\n"
        "  saved.json:1: inferred_requirements[0].requirement.confidence is left out, because "
        "there is no place for it: 0.2\n"
        "  saved.json:1: inferred_requirements[0].id “REQ-009” is INF-009 here\n"
        "Stored as round 1.\n"
    )
    annotation = Annotation.objects.get()
    assert str(annotation.submitted_at) == "2026-01-31 14:05:00+00:00"
    assert annotation.unanswered is None
    assert annotation.payload["issues"][0]["span"]["text"] == "quickly"
    conversation = Conversation.objects.get(external_id="sample_001")
    assert (conversation.domain, conversation.difficulty) == ("restaurants", "easy")
    assert "0 new (0 empty, 0 skipped), 1 unchanged" in run(path, format="sample")


def test_layers_that_a_file_leaves_out_are_not_answered_and_an_empty_list_is(target, tmp_path):
    run(written(tmp_path, "none.json", saved(requirements=[])), format="sample")

    annotation = Annotation.objects.get()
    assert annotation.status == Annotation.Status.SUBMITTED
    assert (annotation.payload, annotation.empty) == ({}, False)
    assert annotation.unanswered == ["inference", "validation"]


def test_the_pages_show_what_is_left_out_before_anything_is_stored(target, client, people):
    client.force_login(people["rita"])
    extra = BOOKING | {"note": "<b>see</b> mail"}
    data = json.dumps(saved(requirements=[extra])).encode()
    sent = {"format": "sample", "file": SimpleUploadedFile("saved.json", data), "reason": "Pilot"}
    before = stored()

    page = client.post(reverse("labels-preview", args=["target"]), sent).content.decode()

    assert "&lt;b&gt;see&lt;/b&gt; mail" in page
    assert "<b>see</b>" not in page
    assert stored() == before
    talk = json.dumps(TALK | {"seed": "<i>7</i>"}).encode()
    sent = {"format": "auto", "file": SimpleUploadedFile("sample_002.json", talk)}
    page = client.post(reverse("conversations-preview", args=["target"]), sent).content.decode()
    assert "there is no place for seed: &lt;i&gt;7&lt;/i&gt;" in page
    assert "<i>7</i>" not in page
