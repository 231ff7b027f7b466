"""The revisions of an answer: listed, compared and restored, through the API."""

from uuid import UUID

import pytest

from labeling.models import Annotation, AnnotationRevision
from labeling.work import annotations
from tests import factories
from tests.pages import queries

pytestmark = pytest.mark.django_db
PAGE, OTHER_PAGE = UUID(int=1), UUID(int=2)


@pytest.fixture
def assignment(project, ana):
    return factories.open_full(project, 1).assignments.get(annotator=ana)


def save(assignment, payload, *, seq, base_version=0):
    save = factories.save_of(payload, client=PAGE, seq=seq, base_version=base_version)
    return annotations.save_draft(assignment, save)


def url(assignment, rest=""):
    return f"/api/annotations/{assignment.pk}/revisions/{rest}"


def restore(client, assignment, version, *, page=PAGE, seq=9, base_version=0):
    body = {"version": version, "base_version": base_version, "client": str(page), "seq": seq}
    return client.post(
        f"/api/annotations/{assignment.pk}/restore/", body, content_type="application/json"
    )


def titled(*titles):
    return {
        "requirements": [
            factories.requirement(number, title=title, uid=f"uid-{number}")
            for number, title in enumerate(titles, start=1)
        ]
    }


def test_a_revision_is_listed_with_time_kind_author_and_how_many_labels(signed_in, ana, assignment):
    save(assignment, {}, seq=1)
    save(assignment, titled("First", "Second"), seq=2)

    newest, oldest = signed_in(ana).get(url(assignment)).json()["results"]

    assert newest.pop("saved_at")
    assert newest == {"version": 2, "kind": "saved", "author": "ana", "labels": 2, "empty": False}
    assert (oldest["labels"], oldest["empty"]) == (0, True)


def test_the_list_loads_no_labels(signed_in, ana, assignment):
    save(assignment, titled("First"), seq=1)

    read = queries(signed_in(ana), url(assignment))

    selected = 'revision"."payload", "labeling_'  # only counting may read it
    assert [sql for sql in read if "json" in sql]
    assert not [sql for sql in read if selected in sql]


def test_a_long_history_is_read_page_by_page_without_gaps(signed_in, ana, assignment):
    annotation = save(assignment, titled("First"), seq=1)
    AnnotationRevision.objects.bulk_create(
        AnnotationRevision(annotation=annotation, version=version, payload={}, author=ana)
        for version in range(2, 206)
    )
    client, seen, address = signed_in(ana), [], url(assignment)
    while address is not None:
        result = client.get(address).json()
        seen += [row["version"] for row in result["results"]]
        address = result["next"]

    assert seen == list(range(205, 0, -1))


def test_one_revision_comes_with_its_labels(signed_in, ana, assignment):
    save(assignment, titled("First", "Gone"), seq=1)
    save(assignment, titled("First"), seq=2)

    result = signed_in(ana).get(url(assignment, "1/")).json()

    assert [label["title"] for label in result["payload"]["requirements"]] == ["First", "Gone"]


def test_a_restored_revision_is_the_newest_draft_and_one_of_its_own(signed_in, ana, assignment):
    save(assignment, titled("First"), seq=1)
    save(assignment, titled("Second"), seq=2)

    for _ in range(2):  # repeated, it changes nothing
        response = restore(signed_in(ana), assignment, 1, seq=3)
        assert (response.status_code, response.json()["version"]) == (200, 3)
    assert response.json()["payload"]["requirements"][0]["title"] == "First"
    newest = AnnotationRevision.objects.get(version=3)
    assert (newest.kind, newest.payload) == ("restored", titled_payload(1))
    assert titled_payload(2)["requirements"][0]["title"] == "Second"  # nothing is lost


def titled_payload(version):
    return AnnotationRevision.objects.get(version=version).payload


def test_a_page_that_missed_a_change_cannot_restore_over_it(signed_in, ana, assignment):
    save(assignment, titled("First"), seq=1)
    save(assignment, titled("Second"), seq=2)

    response = restore(signed_in(ana), assignment, 1, page=OTHER_PAGE, base_version=1)

    assert (response.status_code, response.json()["code"]) == (409, "stale_version")
    assert Annotation.objects.get().payload["requirements"][0]["title"] == "Second"


def test_a_submitted_answer_is_reopened_before_anything_is_restored(signed_in, ana, assignment):
    submitted = factories.answer(assignment)
    client = signed_in(ana)

    refused = restore(client, assignment, 1, base_version=1)
    annotations.reopen(assignment)
    allowed = restore(client, assignment, 1, base_version=2)

    assert (refused.status_code, refused.json()["code"]) == (409, "already_submitted")
    assert allowed.json()["payload"] == submitted.payload


def test_a_revision_that_is_not_there_cannot_be_restored(signed_in, ana, assignment):
    response = restore(signed_in(ana), assignment, 5)

    assert (response.status_code, response.json()["code"]) == (400, "unknown_revision")
    assert not Annotation.objects.exists()


def test_restoring_takes_a_skip_back(signed_in, ana, assignment):
    save(assignment, titled("First"), seq=1)
    skip = factories.save_of({"requirements": []}, base_version=1)
    annotations.skip(assignment, skip, reason="Not in English.")

    restored = restore(signed_in(ana), assignment, 1, base_version=2).json()

    assert (restored["status"], restored["skip_reason"]) == ("draft", "")
