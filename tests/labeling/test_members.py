from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from labeling.core import members, tokens
from labeling.models import Annotation, Event, Membership
from labeling.work import annotations, assignments, ownership
from tests import factories
from tests.labeling.places import of, places
from tests.pages import page

pytestmark = pytest.mark.django_db
URL = "/projects/orders/"


def verbs(project):
    return list(Event.objects.filter(project=project).values_list("verb", flat=True))


def test_removing_a_member_asks_first(project, ana, lead):
    factories.open_calibration(project, 2)
    mine = ana.memberships.get()
    url = f"{URL}members/{mine.pk}/remove/"

    assert "ana has 2 unfinished conversations in open rounds." in page(lead, url)
    assert "2 are part of an open calibration round" in page(lead, url)
    assert Membership.objects.filter(pk=mine.pk).exists()
    lead.post(url)
    assert not Membership.objects.filter(pk=mine.pk).exists()
    assert set(verbs(project)) >= {"member.removed", "assignment.handed_on"}


def test_the_last_lead_whose_account_is_open_cannot_leave(project, rita, ben, lead):
    Membership.objects.create(project=project, user=ben, role="lead")
    ben.is_active = False
    ben.save()
    mine = rita.memberships.get()

    response = lead.post(f"{URL}members/{mine.pk}/remove/", follow=True)

    assert "A project needs a lead" in response.content.decode()
    assert rita.memberships.count() == 1


def test_the_open_work_of_somebody_who_left_goes_to_whom_the_lead_chooses(
    project, rita, ana, olga, lead
):
    round_ = factories.open_calibration(project, 2)
    members.add_member(project=project, username="olga", role="annotator", by=rita)
    draft = annotations.save_draft(of(ana, round_)[0], factories.save_of(factories.labels([0])))

    response = lead.post(
        f"{URL}members/{ana.memberships.get().pk}/remove/", {"to": olga.pk}, follow=True
    )

    assert "Open conversations of ana: 2 to olga." in response.content.decode()
    assert len(of(olga, round_)) == 2
    assert not Annotation.objects.filter(assignment__annotator=olga).exists()
    assert draft.revisions.get().payload["requirements"]


def test_planned_work_of_somebody_who_left_goes_to_who_never_had_it(project, rita, ana, ben, cleo):
    round_ = factories.open_full(project, 6, overlap=2)
    mine = of(ana, round_)
    annotations.save_draft(mine[0], factories.save_of(factories.labels([0])))

    handed_on = members.remove_member(membership=ana.memberships.get(), by=rita)

    assert sum(handed_on.to.values()) == len(mine) == 4
    assert (handed_on.pool, handed_on.left_open) == (0, 0)
    assert set(places(round_).values()) == {2}
    event = Event.objects.get(verb="assignment.handed_on")
    assert event.data == {"user": "ana", "to": handed_on.to, "pool": 0, "left_open": 0}


@pytest.mark.parametrize("pool", [True, False])
def test_who_comes_back_goes_on_with_what_nobody_else_got(project, rita, ana, ben, pool):
    round_ = factories.open_full(project, 2, overlap=2, pool=pool, annotators=[ana, ben])
    mine = assignments.next_for(ana)
    annotations.save_draft(mine, factories.save_of(factories.labels([0])))
    handed_on = members.remove_member(membership=ana.memberships.get(), by=rita)
    assert handed_on.total == handed_on.pool + handed_on.left_open > 0
    assert not any(one.slot is not None for one in of(ana, round_))

    members.add_member(project=project, username="ana", role="annotator", by=rita)

    factories.answer(mine)
    assert set(places(round_).values()) == ({1} if pool else {2})


@pytest.mark.parametrize("pool", [True, False])
def test_a_save_let_in_before_a_removal_is_a_draft_without_a_place(project, rita, ana, ben, pool):
    round_ = factories.open_full(project, 2, overlap=2, pool=pool)
    mine = assignments.next_for(ana)
    let_in = annotations.opened(ana, mine.pk)
    members.remove_member(membership=ana.memberships.get(), by=rita)
    save = factories.save_of(factories.labels([0]))

    with pytest.raises(assignments.PlaceTaken):
        annotations.submit(let_in, save)
    stored = annotations.save_draft(let_in, save)

    assert (stored.status, of(ana, round_)[0].slot) == ("draft", None)
    with pytest.raises(ownership.NotAnAnnotator):
        annotations.opened(ana, mine.pk)


def requests(pk):
    save = factories.save_of(factories.labels([0]))._asdict() | {"client": str(uuid4())}
    return {
        "read": ("get", f"/api/annotations/{pk}/", None),
        "save": ("put", f"/api/annotations/{pk}/", save),
        "submit": ("post", f"/api/annotations/{pk}/submit/", save),
        "skip": ("post", f"/api/annotations/{pk}/skip/", save | {"reason": "No."}),
        "reopen": ("post", f"/api/annotations/{pk}/reopen/", {}),
        "revisions": ("get", f"/api/annotations/{pk}/revisions/", None),
        "suggestions": ("get", f"/api/annotations/{pk}/suggestions/", None),
    }


@pytest.mark.parametrize("by_token", [False, True])
def test_a_removed_member_with_an_open_page_or_a_token_does_nothing_more(
    project, rita, ana, by_token, annotator
):
    round_ = factories.open_calibration(project, 2)
    mine = of(ana, round_)[0]
    client = annotator
    if by_token:
        client = Client(
            headers={"authorization": f"Bearer {tokens.issue(user=ana, name='x').secret}"}
        )
    assert client.get(f"/api/annotations/{mine.pk}/").status_code == 200
    members.remove_member(membership=ana.memberships.get(), by=rita)

    for name, (method, url, body) in requests(mine.pk).items():
        answer = getattr(client, method)(url, body, content_type="application/json")
        assert (name, answer.status_code) == (name, 403)
        assert answer.json()["code"] == "not_an_annotator"
        assert answer.json()["message"] == (
            "You are no longer an annotator of Orders, so this conversation is closed to you. "
            "What you saved is kept under your name. Ask rita if this is a mistake."
        )
    assert client.get("/api/queue/").json()["results"] == []
    assert client.post("/api/queue/next/").json() == {"assignment": None}
    assert client.get("/api/projects/orders/").status_code == 404
    if not by_token:
        shown = client.get(mine.get_absolute_url())
        assert shown.status_code == 403
        assert "You are no longer an annotator of Orders" in shown.content.decode()
    assert not Annotation.objects.exists()


def test_the_account_of_the_last_lead_is_neither_closed_nor_deleted(project, admin_client, rita):
    address = reverse("admin:auth_user_change", args=[rita.pk])
    kept = {"username": "rita", "date_joined_0": "2026-01-01", "date_joined_1": "10:00:00"}

    response = admin_client.post(address, kept)

    assert "Nobody else leads Orders" in response.content.decode()
    rita.refresh_from_db()
    assert rita.is_active
    deleted = admin_client.post(reverse("admin:auth_user_delete", args=[rita.pk]), {"post": "yes"})
    assert deleted.status_code == 403
