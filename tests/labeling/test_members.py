from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from labeling.models import Event, Membership
from labeling.services import projects
from tests import factories
from tests.pages import page, queries

pytestmark = pytest.mark.django_db
URL = "/projects/orders/"


def verbs(project):
    return list(Event.objects.filter(project=project).values_list("verb", flat=True))


def change(client, membership, role):
    url = f"{URL}members/{membership.pk}/role/"
    return client.post(url, {"role": role}, follow=True)


def test_a_lead_adds_a_member_once(signed_in, project, rita, olga):
    client = signed_in(rita)
    for _ in range(2):
        client.post(f"{URL}members/add/", {"username": " olga ", "role": "annotator"})

    assert list(olga.memberships.values_list("project__slug", "role")) == [("orders", "annotator")]
    assert verbs(project) == ["member.added"]


def test_an_unknown_user_name_is_refused_in_words(signed_in, project, rita):
    response = signed_in(rita).post(
        f"{URL}members/add/", {"username": "nobody", "role": "lead"}, follow=True
    )

    shown = response.content.decode()
    assert "Nobody is called “nobody” here. Invite them by link" in shown
    assert not Event.objects.exists()


def test_removing_a_member_asks_first(signed_in, project, rita, ana):
    factories.open_calibration(project, 2)
    mine = ana.memberships.get()
    url = f"{URL}members/{mine.pk}/remove/"
    client = signed_in(rita)

    assert "2 assignments in open rounds are unfinished and stay" in page(client, url)
    assert "an open calibration round waits for 2 of them" in page(client, url)
    assert Membership.objects.filter(pk=mine.pk).exists()
    client.post(url)
    assert not Membership.objects.filter(pk=mine.pk).exists()
    assert verbs(project)[0] == "member.removed"


def test_the_last_lead_cannot_leave(signed_in, project, rita):
    mine = rita.memberships.get()

    response = signed_in(rita).post(f"{URL}members/{mine.pk}/remove/", follow=True)

    assert "A project needs a lead" in response.content.decode()
    assert rita.memberships.count() == 1


def test_a_membership_of_another_project_cannot_be_removed_here(signed_in, project, rita, ana):
    other = factories.make_project("other")
    Membership.objects.filter(project=other, user=rita).delete()
    theirs = ana.memberships.get(project=other)

    assert signed_in(rita).post(f"{URL}members/{theirs.pk}/remove/").status_code == 404
    assert Membership.objects.filter(pk=theirs.pk).exists()


def test_removing_somebody_for_whom_a_calibration_round_waits_leads_to_their_work(
    signed_in, project, rita, ana
):
    factories.open_calibration(project, 2)
    mine = ana.memberships.get()

    response = signed_in(rita).post(f"{URL}members/{mine.pk}/remove/", follow=True)

    assert response.redirect_chain == [(f"{URL}people/{ana.pk}/move/", 302)]
    assert "An open calibration round waits for ana" in response.content.decode()


def test_removing_somebody_who_has_answered_leads_to_no_work(signed_in, project, rita, ana):
    factories.answer_all(factories.open_full(project, 1))
    mine = ana.memberships.get()

    response = signed_in(rita).post(f"{URL}members/{mine.pk}/remove/")

    assert response.url == f"{URL}members/"


def test_a_role_is_changed_and_written_down(signed_in, project, rita, ana):
    response = change(signed_in(rita), ana.memberships.get(), "researcher")

    assert "ana is researcher now, not annotator." in response.content.decode()
    assert ana.memberships.get().role == "researcher"
    assert verbs(project) == ["member.changed"]
    assert Event.objects.get().data == {"user": "ana", "role": "researcher", "before": "annotator"}


def test_a_role_that_is_held_already_is_refused_in_words(signed_in, project, rita, ana):
    Membership.objects.create(project=project, user=ana, role="lead")

    response = change(signed_in(rita), ana.memberships.get(role="annotator"), "lead")

    assert response.status_code == 400
    assert "ana is lead here already" in response.content.decode()
    assert ana.memberships.count() == 2


def test_the_last_lead_cannot_be_demoted(signed_in, project, rita):
    response = change(signed_in(rita), rita.memberships.get(), "annotator")

    assert "A project needs a lead" in response.content.decode()
    assert rita.memberships.get().role == "lead"


def test_a_lead_whose_account_is_closed_does_not_count(project, rita, ben):
    Membership.objects.create(project=project, user=ben, role="lead")
    ben.is_active = False
    ben.save()

    with pytest.raises(projects.LastLead):
        projects.remove_member(membership=rita.memberships.get(), by=rita)


def test_a_lead_who_steps_down_is_led_out(signed_in, project, rita, ben):
    Membership.objects.create(project=project, user=ben, role="lead")

    response = change(signed_in(rita), rita.memberships.get(), "annotator")

    assert response.redirect_chain == [("/", 302)]


def in_admin(project, members, **changed):
    page = {
        "slug": project.slug,
        "name": project.name,
        "layers": '["extraction"]',
        "kappa_threshold": "0.75",
        "kappa_statistic": "min",
        "label_f1_threshold": "0.5",
        "overlap": "3",
        "match_threshold": "0.85",
        "actor_synonyms": "[]",
        "event_schema": "{}",
        "targets": "{}",
        "review_rate": "0",
        "dispute_judges": "1",
        "memberships-TOTAL_FORMS": str(len(members)),
        "memberships-INITIAL_FORMS": str(len(members)),
    }
    for number, one in enumerate(members):
        page |= {
            f"memberships-{number}-id": str(one.pk),
            f"memberships-{number}-project": str(project.pk),
            f"memberships-{number}-user": str(one.user_id),
            f"memberships-{number}-role": one.role,
        }
    return page | changed


@pytest.mark.parametrize(
    "changed", [{"memberships-0-DELETE": "on"}, {"memberships-0-role": "annotator"}]
)
def test_the_last_lead_cannot_be_lost_in_the_admin(project, admin_client, rita, changed):
    address = reverse("admin:labeling_project_change", args=[project.pk])
    members = [rita.memberships.get(), *project.memberships.exclude(user=rita)]

    response = admin_client.post(address, in_admin(project, members, **changed))

    assert response.status_code == 200
    assert "A project needs a lead" in response.content.decode()
    assert rita.memberships.get().role == "lead"


def test_the_lead_can_be_replaced_in_the_admin(project, admin_client, rita, ana):
    address = reverse("admin:labeling_project_change", args=[project.pk])
    members = [rita.memberships.get(), ana.memberships.get()]
    changed = {"memberships-0-DELETE": "on", "memberships-1-role": "lead"}

    response = admin_client.post(address, in_admin(project, members, **changed))

    assert response.status_code == 302
    assert list(project.memberships.filter(role="lead")) == [ana.memberships.get()]


def test_the_account_of_the_last_lead_is_neither_closed_nor_deleted(project, admin_client, rita):
    address = reverse("admin:auth_user_change", args=[rita.pk])
    kept = {"username": "rita", "date_joined_0": "2026-01-01", "date_joined_1": "10:00:00"}

    response = admin_client.post(address, kept)

    assert "Nobody else leads Orders" in response.content.decode()
    rita.refresh_from_db()
    assert rita.is_active
    deleted = admin_client.post(reverse("admin:auth_user_delete", args=[rita.pk]), {"post": "yes"})
    assert deleted.status_code == 403


def test_more_members_cost_no_more_queries(signed_in, project, rita):
    client = signed_in(rita)
    few = len(queries(client, f"{URL}members/"))
    for number in range(20):
        user = User.objects.create_user(f"person-{number}")
        Membership.objects.create(project=project, user=user, role="annotator")

    assert len(queries(client, f"{URL}members/")) == few
