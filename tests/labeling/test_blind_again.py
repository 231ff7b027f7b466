"""Who labels a conversation again blind sees nothing of what others labeled there before."""

import pytest
from django.utils import timezone

from labeling.models import Annotation, Disagreement, Membership
from labeling.work import comments, guidelines, rounds
from tests import factories
from tests.evaluation import launching
from tests.pages import page

pytestmark = pytest.mark.django_db
TITLE = "Order Tracking"
PROJECT = "/projects/orders/"


@pytest.fixture
def release(project):
    """One conversation, labeled by all in round 1 and frozen."""
    return factories.make_release(project, items=1)


@pytest.fixture
def text(release):
    return release.items.get().conversation


@pytest.fixture
def again(project, rita, text):
    """Rita leads, and is one of those who label the same conversation in round 2."""
    Membership.objects.create(project=project, user=rita, role="annotator")
    return rounds.open_round(project=project, kind="calibration", by=rita, conversations=[text])


@pytest.fixture
def shown_elsewhere(release, text, noor):
    """Every address that shows a label of round 1."""
    case = launching.launch(
        release, pipeline="everything", requested_by=noor, queue=False
    ).cases.get()
    type(case.run).objects.update(scored_at=timezone.now())
    answer = Annotation.objects.filter(assignment__round__number=1).first()
    item = f"{PROJECT}gold/{release.name}/{release.version}/"
    return [
        f"{PROJECT}rounds/1/agreement.csv",
        f"{item}export/",
        f"{item}items/{text.external_id}/",
        f"/adjudicate/{text.pk}/",
        f"/review/{answer.pk}/",
        f"/api/adjudications/{text.pk}/extraction/",
        f"/runs/{case.run_id}/cases/{case.pk}/",
        f"/runs/{case.run_id}/report.csv",
    ]


def test_the_conversation_page_shows_no_earlier_round(signed_in, rita, noor, again, text):
    url = f"{PROJECT}conversations/{text.pk}/?round=1"

    shown = page(signed_in(rita), url)

    assert "You are labeling this conversation blind in round 2." in shown
    assert TITLE not in shown
    assert TITLE in page(signed_in(noor), url)


def test_no_other_address_shows_labels_of_it_until_the_round_has_closed(
    signed_in, rita, noor, again, shown_elsewhere
):
    for url in shown_elsewhere:
        response = signed_in(rita).get(url)
        assert response.status_code == 403, url
        assert b"blind in round 2" in response.content, url
        assert signed_in(noor).get(url).status_code == 200, url
    factories.answer_all(again)
    for url in shown_elsewhere:
        assert signed_in(rita).get(url).status_code == 200, url


def test_files_of_labels_leave_it_out(signed_in, rita, noor, again, text):
    def named(user, form):
        raw = b"".join(signed_in(user).get(f"{PROJECT}labels/export/{form}/").streaming_content)
        return raw.count(text.external_id.encode())

    for form in ("native", "labelstudio"):
        assert named(rita, form) == 0, form
        assert named(noor, form) > 0, form
    shown = page(signed_in(rita), f"{PROJECT}labels/")
    assert "What you are labeling blind in round 2 is left out" in shown


def test_the_list_of_answers_to_review_leaves_it_out(signed_in, rita, noor, again, text):
    assert text.external_id not in page(signed_in(rita), f"{PROJECT}review/")
    assert text.external_id in page(signed_in(noor), f"{PROJECT}review/")


def test_what_was_said_about_a_label_waits_too(rita, noor, ana, project, text):
    given = Annotation.objects.get(assignment__annotator=ana)
    uid = given.payload["requirements"][0]["uid"]
    place = comments.place_of(given.assignment)
    comments.post(place, body="Is it?", author=ana, pin=comments.Pin(label_uid=uid))
    assert comments.visible_to(rita).exists()

    Membership.objects.create(project=project, user=rita, role="annotator")
    rounds.open_round(project=project, kind="calibration", by=rita, conversations=[text])

    assert not comments.visible_to(rita).exists()
    assert comments.visible_to(noor).exists()


def test_the_staff_label_blind_too(signed_in, admin, project, release, text):
    opened = rounds.open_round(project=project, kind="calibration", by=admin, conversations=[text])
    opened.assignments.filter(pk=opened.assignments.first().pk).update(annotator=admin)
    item, given = release.items.get(), Annotation.objects.first()
    author = given.assignment.annotator
    said = comments.post(comments.place_of(given.assignment), body="Is it?", author=author)

    for kind, pk in (("annotation", given.pk), ("golditem", item.pk), ("comment", said.pk)):
        response = signed_in(admin).get(f"/admin/labeling/{kind}/{pk}/change/")
        assert response.status_code == 302, kind  # the admin's way to say that there is none


def test_the_form_for_guidelines_shows_no_decision_on_it(
    signed_in, rita, noor, project, again, text
):
    decided = Disagreement.objects.create(
        round=project.rounds.get(number=1),
        conversation=text,
        layer="extraction",
        unit="1",
        outcome="guideline",
        note="Message 1 is about tracking",
        decided_by=noor,
        decided_at=timezone.now(),
    )
    url = f"{PROJECT}guidelines/new/"

    assert guidelines.to_answer(project, noor) == [decided]
    assert guidelines.to_answer(project, rita) == []
    assert "Message 1 is about tracking" not in page(signed_in(rita), url)
    assert signed_in(rita).get(url, {"disagreement": decided.pk}).status_code == 403
