"""Gold names nobody, unless the project says that it may."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from labeling.core import project_settings
from labeling.exchange.export import FORMATS, export
from labeling.models import Event, GoldRelease, Project, Pseudonym
from labeling.screening import check_turns
from labeling.settling import adjudications
from labeling.work import annotations
from tests import factories

pytestmark = pytest.mark.django_db
NAMES = ("ana", "ben", "cleo", "rita")


@pytest.fixture
def release(project: Project, rita: User) -> GoldRelease:
    """One item that Rita decided, one that Cleo skipped, one with dissent."""
    round_ = factories.open_full(project, 3)
    decided, skipped, other = (place.conversation for place in round_.places.all())
    for assignment in round_.assignments.select_related("annotator", "conversation"):
        is_cleo = assignment.annotator.username == "cleo"
        if is_cleo and assignment.conversation == skipped:
            annotations.skip(assignment, factories.save_of({}), reason="Knows the speaker")
        else:
            factories.answer(
                assignment, [] if is_cleo and assignment.conversation == other else [0]
            )
    adjudications.decide(
        conversation=decided,
        layer="extraction",
        payload={"requirements": [factories.requirement(sources=[1]) | {"adopted_from": "ben"}]},
        reason="Message 1 says it",
        by=rita,
    )
    return factories.freeze(project)


def test_no_item_and_no_export_names_anybody_or_says_when(release, tmp_path):
    items = "".join(release.items.values_list("canonical", flat=True))
    exported = "".join(
        text_of(path)
        for format in FORMATS
        for path in export(release, format=format, folder=tmp_path / format)
    )

    assert "annotator-1" in items
    assert [name for name in NAMES if f'"{name}"' in items + exported] == []
    assert "submitted_at" not in items
    assert release.items.count() == 3


def text_of(path: Path) -> str:
    from pyarrow import parquet

    if path.suffix != ".parquet":
        return path.read_text("utf-8")
    table = parquet.read_table(path)
    return f"{table.to_pylist()}{json.dumps(table.to_pylist())}{table.schema.metadata}"


def test_the_numbers_follow_the_names_and_stay(release, project, people):
    first = release.items.order_by("position")[0].conversation_id
    had_a_hand = [name for name in people if check_turns.made_by(people[name], project, first)]
    assert had_a_hand == ["ana", "ben", "cleo", "rita"]  # hidden checks know it
    numbers = dict(Pseudonym.objects.values_list("user__username", "number"))
    assert numbers == {"ana": 1, "ben": 2, "cleo": 3, "rita": 4}
    factories.answer_all(factories.open_full(project, 1))
    factories.freeze(project)

    assert dict(Pseudonym.objects.values_list("user__username", "number")) == numbers


def test_the_version_of_the_guidelines_is_the_same_throughout_an_item(project, rita):
    """What people labeled under is one thing, what a decision was taken under another."""
    round_ = factories.open_full(project, 1)
    factories.answer_all(round_)
    project.guidelines.create(version=2, body="# Guide 2")
    adjudications.decide(
        conversation=round_.places.get().conversation,
        layer="extraction",
        payload=factories.labels([1]),
        reason="Version 2 says it",
        by=rita,
    )

    release = factories.freeze(project, waive={"superseded": "Version 2 only adds an example."})
    provenance = release.items.get().content["provenance"]

    assert {row["guideline_version"] for row in provenance["annotators"]} == {1}
    assert (provenance["guideline_version"], provenance["decided_under"]) == (1, 2)


def test_a_project_may_publish_names_and_the_audit_log_says_since_when(project, rita):
    project_settings.change(project, settings={"publish_names": True}, by=rita)
    release = factories.make_release(Project.objects.get(), items=1)

    content = release.items.get().content
    assert [row["username"] for row in content["provenance"]["annotators"]] == [*NAMES[:3]]
    assert "people" not in content["provenance"]
    assert Event.objects.get(verb="project.changed").data["now"] == {"publish_names": True}
    assert not Pseudonym.objects.exists()
