"""The whole protocol by its client alone: from an empty server to a run that is compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from assay_client import ApiError, Client, WorkFailed
from assay_client.models import Cluster
from tests.clients.conftest import ClientOf
from tests.layers import REQUIREMENT

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("word_overlap")]
ANNOTATORS = ("ana", "ben", "cleo")
SAMPLES = 20
MESSAGES = 8
DIFFERENCES = 12
"""In so many conversations Ana marks the analyst's recap, too, as long as nobody forbids it."""
LAYER = "extraction"


def talk(number: int) -> dict[str, Any]:
    turns = [
        {
            "role": "user" if index % 2 == 0 else "analyst",
            "content": f"Message {index} of talk {number}: we have to see where order {index} is.",
        }
        for index in range(MESSAGES)
    ]
    return {
        "id": f"t-{number:03d}",
        "domain": "orders",
        "difficulty": "easy",
        "split": "dev",
        "messages": turns,
    }


def requirement(talk: str, who: str, number: int, source: int, **fields: Any) -> dict[str, Any]:
    return REQUIREMENT | {
        "uid": str(uuid5(NAMESPACE_URL, f"{talk} {who} {number}")),
        "id": f"REQ-{number:03d}",
        "title": f"Order Tracking {source}",
        "action": f"See where order {source} is",
        "source_messages": [source],
        "rationale": f"Asked for in message {source}",
        "confidence": 1.0,
        **fields,
    }


def label_everything(annotator: Client, who: str, sources: Callable[[str], list[int]]) -> int:
    """Answer what is in the queue; ``sources`` says for a talk which messages are marked."""
    open_work = [row for row in annotator.work.queue() if row.status != "submitted"]
    assert len(annotator.work.open(open_work[0].id).messages) == MESSAGES
    for row in open_work:
        labels = [
            requirement(row.conversation, who, number, source)
            for number, source in enumerate(sources(row.conversation), 1)
        ]
        done = annotator.work.submit(row.id, {"requirements": labels}, base_version=0)
        assert done.status == "submitted"
    return len(open_work)


def differs(conversation: str) -> bool:
    return int(conversation[2:]) <= DIFFERENCES


def test_the_whole_protocol(client_of: ClientOf, tmp_path: Path) -> None:
    admin, rita, noor = client_of("admin"), client_of("rita"), client_of("noor")
    annotators = {name: client_of(name) for name in ANNOTATORS}

    # a project with its people, its conversations and the first guidelines
    with pytest.raises(ApiError) as refused:
        noor.projects.create("Orders")
    assert refused.value.code == "permission_denied"
    admin.projects.create("Orders", slug="orders", layers=[LAYER], overlap=3)
    admin.project("orders").members.add("rita", "lead")
    project = rita.project("orders")
    for name in ANNOTATORS:
        project.members.add(name, "annotator")
    project.members.add("noor", "researcher")
    lines = [json.dumps(talk(number)) for number in range(1, SAMPLES + 6)]
    stored = project.conversations.store(("talks.jsonl", "\n".join(lines).encode()))
    assert (stored.new, stored.messages) == (25, 25 * MESSAGES)
    project.guidelines.write("# Guide\n\nMark what they want.", "First", base_version=0)

    # the first round is below the gate
    samples = [f"t-{number:03d}" for number in range(1, SAMPLES + 1)]
    first = project.rounds.open("calibration", conversations=samples)
    assert (first.conversations, first.work.pending) == (SAMPLES, 3 * SAMPLES)
    for name, annotator in annotators.items():
        mine = (lambda t: [0, 5] if differs(t) else [0]) if name == "ana" else (lambda t: [0])
        assert label_everything(annotator, name, mine) == SAMPLES
    assert project.rounds.wait(first.number).state == "failed"
    agreement = project.rounds.agreement(first.number)
    assert not agreement.passed
    assert agreement.value is not None
    assert agreement.value < agreement.threshold == 0.75
    assert len(agreement.to_pandas()) == 3
    with pytest.raises(ApiError) as locked:
        project.rounds.open("full", number=5)
    assert locked.value.code == "gate_locked"

    # people discuss on pages; the lead writes what came of it
    project.guidelines.write(
        "# Guide\n\nMark what they want. Mark no recap of the analyst.",
        "Recaps are left out",
        base_version=1,
    )

    # the second round passes
    second = project.rounds.open("calibration", same_as=first.number)
    assert second.guideline == 2
    for name, annotator in annotators.items():
        assert label_everything(annotator, name, lambda t: [0]) == SAMPLES
    assert project.rounds.wait(second.number).state == "passed"
    assert project.rounds.agreement(second.number).passed
    assert project.get().gate_open

    # full labeling, with one difference that an adjudicator decides
    full = project.rounds.open("full", number=5)
    for name, annotator in annotators.items():
        mine = (lambda t: [0, 2] if t == "t-021" else [0]) if name != "cleo" else (lambda t: [0])
        assert label_everything(annotator, name, mine) == 5
    assert project.rounds.wait(full.number, timeout=60).work.submitted == 15
    disputed = list(project.adjudications.list("disputed"))
    for case in disputed:
        project.adjudications.decide(
            case.conversation, LAYER, as_it_stands, kind="subjective", note="Two of three heard it"
        )
    assert list(project.adjudications.list("disputed")) == []

    # lint finds that all talks are nearly the same, which a lead has to accept
    with pytest.raises(WorkFailed, match="Nearly the same conversation"):
        project.freeze(LAYER).wait(timeout=60)
    accepted = {"near_duplicate": "They are made up"}

    # gold, verified by somebody else; runs on it, compared
    release = project.freeze(LAYER, message="First release", waive=accepted).wait(timeout=60)
    assert str(release) == "orders@1"
    assert noor.gold.verify(release).intact
    assert release.n_items == SAMPLES + 5
    floor, ceiling = (noor.runs.launch(release, name) for name in ("nothing", "everything"))
    seen: list[str] = []
    floor.wait(timeout=60, progress=lambda run: seen.append(run.status))
    assert (seen[0], seen[-1]) == ("queued", "finished")
    finished = ceiling.wait(timeout=60)
    compared = floor.compare(ceiling).runs[0]
    assert compared.metrics["requirement_recall"].before == 0
    assert (
        compared.metrics["requirement_recall"].after == finished.figure("requirement_recall").mean
    )
    assert str(ceiling.id) in finished.report(tmp_path / "report.html").read_text("utf-8")
    lines = noor.gold.export(release, tmp_path / "gold.jsonl").read_text("utf-8").splitlines()
    assert len(lines) == release.n_items


def as_it_stands(cluster: Cluster) -> dict[str, Any]:
    return cluster.label
