"""The revisions of an answer: listed, compared and restored, through the API."""

from uuid import UUID

import pytest

from labeling.models import Annotation, AnnotationRevision
from labeling.work import annotations
from tests import factories
from tests.pages import queries

pytestmark = pytest.mark.django_db
PAGE, OTHER_PAGE = UUID(int=1), UUID(int=2)


def save(mine, payload, *, seq, base_version=0):
    save = factories.save_of(payload, client=PAGE, seq=seq, base_version=base_version)
    return annotations.save_draft(mine, save)


def url(mine, rest=""):
    return f"/api/annotations/{mine.pk}/revisions/{rest}"


def restore(client, mine, version, *, page=PAGE, seq=9, base_version=0):
    body = {"version": version, "base_version": base_version, "client": str(page), "seq": seq}
    return client.post(
        f"/api/annotations/{mine.pk}/restore/", body, content_type="application/json"
    )


def titled(*titles):
    return {
        "requirements": [
            factories.requirement(number, title=title, uid=f"uid-{number}")
            for number, title in enumerate(titles, start=1)
        ]
    }


def test_a_revision_is_listed_with_time_kind_author_and_how_many_labels(ana, mine, annotator):
    save(mine, {}, seq=1)
    save(mine, titled("First", "Second"), seq=2)

    newest, oldest = annotator.get(url(mine)).json()["results"]

    assert newest.pop("saved_at")
    assert newest == {"version": 2, "kind": "saved", "author": "ana", "labels": 2, "empty": False}
    assert (oldest["labels"], oldest["empty"]) == (0, True)
    one = annotator.get(url(mine, "2/")).json()
    assert [label["title"] for label in one["payload"]["requirements"]] == ["First", "Second"]


def test_the_list_loads_no_labels(mine, annotator):
    save(mine, titled("First"), seq=1)

    read = queries(annotator, url(mine))

    selected = 'revision"."payload", "labeling_'  # only counting may read it
    assert [sql for sql in read if "json" in sql]
    assert not [sql for sql in read if selected in sql]


def test_a_long_history_is_read_page_by_page_without_gaps(ana, mine, annotator):
    annotation = save(mine, titled("First"), seq=1)
    AnnotationRevision.objects.bulk_create(
        AnnotationRevision(annotation=annotation, version=version, payload={}, author=ana)
        for version in range(2, 206)
    )
    seen, address = [], url(mine)
    while address is not None:
        result = annotator.get(address).json()
        seen += [row["version"] for row in result["results"]]
        address = result["next"]

    assert seen == list(range(205, 0, -1))


def test_a_restored_revision_is_the_newest_draft_and_one_of_its_own(mine, annotator):
    save(mine, titled("First"), seq=1)
    save(mine, titled("Second"), seq=2)

    for _ in range(2):  # repeated, it changes nothing
        response = restore(annotator, mine, 1, seq=3)
        assert (response.status_code, response.json()["version"]) == (200, 3)
    assert response.json()["payload"]["requirements"][0]["title"] == "First"
    newest = AnnotationRevision.objects.get(version=3)
    assert (newest.kind, newest.payload) == ("restored", titled_payload(1))
    assert titled_payload(2)["requirements"][0]["title"] == "Second"  # nothing is lost


def titled_payload(version):
    return AnnotationRevision.objects.get(version=version).payload


def test_a_page_that_missed_a_change_cannot_restore_over_it(mine, annotator):
    save(mine, titled("First"), seq=1)
    save(mine, titled("Second"), seq=2)

    response = restore(annotator, mine, 1, page=OTHER_PAGE, base_version=1)

    assert (response.status_code, response.json()["code"]) == (409, "stale_version")
    assert Annotation.objects.get().payload["requirements"][0]["title"] == "Second"


def test_a_submitted_answer_is_reopened_before_anything_is_restored(mine, annotator):
    submitted = factories.answer(mine)

    refused = restore(annotator, mine, 1, base_version=1)
    annotations.reopen(mine)
    allowed = restore(annotator, mine, 1, base_version=2)

    assert (refused.status_code, refused.json()["code"]) == (409, "already_submitted")
    assert allowed.json()["payload"] == submitted.payload


def test_a_revision_that_is_not_there_cannot_be_restored(mine, annotator):
    response = restore(annotator, mine, 5)

    assert (response.status_code, response.json()["code"]) == (400, "unknown_revision")
    assert not Annotation.objects.exists()


def test_restoring_takes_a_skip_back(mine, annotator):
    save(mine, titled("First"), seq=1)
    skip = factories.save_of({"requirements": []}, base_version=1)
    annotations.skip(mine, skip, reason="Not in English.")

    restored = restore(annotator, mine, 1, base_version=2).json()

    assert (restored["status"], restored["skip_reason"]) == ("draft", "")
