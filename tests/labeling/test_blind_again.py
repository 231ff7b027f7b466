"""Who labels a conversation again blind sees nothing of what others labeled there before."""

from contextlib import suppress
from itertools import product

import pytest
from django.contrib import admin
from django.contrib.admin import ModelAdmin
from django.contrib.admin.options import IncorrectLookupParameters
from django.contrib.admin.views.main import ChangeList
from django.core.exceptions import SuspiciousOperation
from django.test import RequestFactory
from django.urls import reverse
from django.utils import timezone

from labeling.models import Annotation, Assignment, Disagreement, Membership
from labeling.work import comments, guidelines, rounds
from tests import factories
from tests.evaluation import launching
from tests.labeling.comments import of, readers, say
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


def test_the_conversation_page_shows_no_earlier_round(again, text, lead, researcher):
    url = f"{PROJECT}conversations/{text.pk}/?round=1"

    shown = page(lead, url)

    assert "You are labeling this conversation blind in round 2." in shown
    assert TITLE not in shown
    assert TITLE in page(researcher, url)


def test_no_other_address_shows_labels_of_it_until_the_round_has_closed(
    again, shown_elsewhere, lead, researcher
):
    for url in shown_elsewhere:
        response = lead.get(url)
        assert response.status_code == 403, url
        assert b"blind in round 2" in response.content, url
        assert researcher.get(url).status_code == 200, url
    factories.answer_all(again)
    for url in shown_elsewhere:
        assert lead.get(url).status_code == 200, url


def test_files_of_labels_leave_it_out(signed_in, rita, noor, again, text, lead):
    def named(user):
        raw = b"".join(signed_in(user).get(f"{PROJECT}labels/export/").streaming_content)
        return raw.count(text.external_id.encode())

    assert named(rita) == 0
    assert named(noor) > 0
    shown = page(lead, f"{PROJECT}labels/")
    assert "What you are labeling blind in round 2 is left out" in shown


def test_the_list_of_answers_to_review_leaves_it_out(again, text, lead, researcher):
    assert text.external_id not in page(lead, f"{PROJECT}review/")
    assert text.external_id in page(researcher, f"{PROJECT}review/")


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


def test_the_form_for_guidelines_shows_no_decision_on_it(rita, noor, project, again, text, lead):
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
    assert "Message 1 is about tracking" not in page(lead, url)
    assert lead.get(url, {"disagreement": decided.pk}).status_code == 403


# --- leads and staff ---------------------------------------------------------------------------


def test_a_lead_who_labels_in_a_blind_round_reads_no_comment_of_others(
    people, blind, ana, rita, lead
):
    said = say(of(blind, ana))
    assert readers(people, said) == ["ana", "rita", "admin"]

    Membership.objects.create(project=blind.project, user=rita, role=Membership.Role.ANNOTATOR)
    own = of(blind, ana)
    Assignment.objects.create(round=blind, conversation=own.conversation, annotator=rita)

    assert readers(people, said) == ["ana", "admin"]
    address = reverse("conversation", args=[blind.project.slug, own.conversation_id])
    assert "Is this one?" not in lead.get(address).content.decode()


def test_the_admin_takes_only_the_lookups_of_its_filters(people, signed_in):
    def ask(rows: ModelAdmin, asked: dict[str, str]) -> ChangeList:
        request = RequestFactory().get("/", asked)
        request.user = people["admin"]
        return rows.get_changelist_instance(request)

    for model, rows in admin.site._registry.items():
        kinds = {field.name: field.get_internal_type() for field in model._meta.fields}
        text = next((name for name in kinds if kinds[name] in ("CharField", "TextField")), "id")
        for asked in (
            {f"{text}__regex": "^(a+)+$"},
            {f"{text}__contains": "a"},
            {"pk__range": "1"},
            {"id__in": "1,x"},
            {"pk": "x"},
            {"nothing__at__all": "1"},
        ):
            with pytest.raises(SuspiciousOperation):
                ask(rows, asked)
        filters = [getattr(name, "parameter_name", name) for name in ask(rows, {}).list_filter]
        for name, end in product(filters, ("", "__exact", "__id__exact")):
            for value in ("x", "9" * 40):
                with suppress(SuspiciousOperation, IncorrectLookupParameters):
                    shown = ask(rows, {name + end: value})
                    for each in shown.filter_specs:
                        list(each.choices(shown))
    assert signed_in(people["admin"]).get("/admin/auth/user/?pk__range=1").status_code == 400
