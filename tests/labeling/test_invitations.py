import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client
from django.utils import timezone

from labeling.accounts import invitations, mails
from labeling.core import members
from labeling.models import Event, Invitation
from tests import factories
from tests.labeling.test_signing_in import join_mails
from tests.pages import page, text_of

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]
URL = "/projects/orders/invitations/people/"
DORA = {
    "username": "dora",
    "full_name": "Dora Novak",
    "password1": factories.PASSWORD,
    "password2": factories.PASSWORD,
}


def invite(project, rita, **wanted):
    return invitations.invite(project=project, role="annotator", by=rita, **wanted)


def address(invited):
    return f"/join/{invited.secret}/"


def test_a_link_is_shown_once_and_only_its_digest_stored(project, lead):
    response = lead.post(URL, {"role": "annotator", "people": "Zoé"}, follow=True)

    shown = response.content.decode()
    secret = shown.split("/join/")[1].split("/")[0]
    stored = Invitation.objects.get()
    assert response["Cache-Control"].count("no-store")
    assert secret not in str(vars(stored))
    assert secret not in str(list(Event.objects.values()))
    assert secret not in lead.get("/projects/orders/members/").content.decode()
    assert (stored.uses_left, stored.role) == (1, "annotator")
    assert timedelta(days=6) < stored.expires_at - timezone.now() < timedelta(days=7)
    assert invitations.find(secret) == stored


@pytest.mark.parametrize("gone", ["removed", "closed"])
def test_a_link_ends_with_the_role_of_the_lead_who_made_it(
    signed_in, project, people, rita, olga, gone
):
    members.add_member(project=project, username="cleo", role="lead", by=rita)
    invited = invite(project, rita)
    membership = project.memberships.get(user=rita)
    if gone == "removed":
        members.remove_member(membership=membership, by=people["cleo"])
    else:
        User.objects.filter(pk=rita.pk).update(is_active=False)

    response = signed_in(olga).post(address(invited))

    assert response.status_code == 410
    assert "no longer leads the project" in text_of(response)
    assert "Ask a lead of Orders for a new link: cleo." in text_of(response)
    assert not olga.memberships.exists()
    with pytest.raises(invitations.InvitationOver):
        invitations.accept(invited.invitation, user=olga)
    shown = page(signed_in(people["cleo"]), "/projects/orders/members/")
    assert "opens nothing: rita does not lead any more" in shown


def test_a_signed_in_person_joins_by_a_button(signed_in, project, rita, olga):
    link = address(invite(project, rita))
    client = signed_in(olga)
    assert "rita invites you to join. Your role: annotator" in page(client, link)
    assert not olga.memberships.exists()

    response = client.post(link, follow=True)

    assert "Welcome: you are annotator of Orders." in response.content.decode()
    assert olga.memberships.get().role == "annotator"
    assert Event.objects.first().verb == "invitation.accepted"
    assert Invitation.objects.get().uses_left == 0


def test_a_newcomer_chooses_name_and_password(client, project, rita):
    link = address(invite(project, rita))

    response = client.post(link, DORA, follow=True)

    dora = User.objects.get(username="dora")
    assert response.redirect_chain == [("/", 302)]
    assert response.wsgi_request.user == dora
    assert dora.check_password(factories.PASSWORD)
    assert (dora.get_full_name(), dora.is_staff) == ("Dora Novak", False)
    assert dora.memberships.get().project == project
    assert Client().login(username="dora", password=factories.PASSWORD)


@pytest.mark.parametrize(
    "wrong", [{"username": "Ana"}, {"password2": "other"}, {"password1": "1", "password2": "1"}]
)
def test_a_newcomer_who_enters_something_wrong_uses_nothing_up(client, project, rita, wrong):
    before = User.objects.count()

    response = client.post(address(invite(project, rita)), {**DORA, **wrong})

    assert response.status_code == 400
    assert User.objects.count() == before
    assert Invitation.objects.get().uses_left == 1


def test_who_has_the_role_already_uses_nothing_up(project, rita, ana, annotator):
    link = address(invite(project, rita))
    annotator.post(link)
    assert Invitation.objects.get().uses_left == 1
    assert ana.memberships.count() == 1
    Invitation.objects.update(uses_left=0)
    shown = annotator.get(link, follow=True).content.decode()
    assert "You are annotator of Orders already." in shown


@pytest.mark.parametrize(
    "over",
    [
        {"revoked_at": timezone.now()},
        {"expires_at": timezone.now() - timedelta(seconds=1)},
        {"uses_left": 0},
    ],
)
def test_what_is_over_opens_nothing_and_says_so(client, project, rita, over):
    invited = invite(project, rita)
    Invitation.objects.update(**over)

    shown = client.get(address(invited))
    sent = client.post(address(invited), DORA)

    assert (shown.status_code, sent.status_code) == (410, 410)
    assert "This invitation is over" in text_of(shown)
    assert client.get("/join/nothing/").status_code == 404
    assert not User.objects.filter(username="dora").exists()


def test_a_lead_revokes_a_link(project, rita, lead):
    invited = invite(project, rita)
    url = f"/projects/orders/invitations/{invited.invitation.pk}/revoke/"

    factories.make_project("other")
    assert lead.post(url.replace("orders", "other")).status_code == 404
    assert invitations.opens(Invitation.objects.get())
    for _ in range(2):
        lead.post(url)
    assert not invitations.opens(Invitation.objects.get())
    assert Event.objects.filter(verb="invitation.revoked").count() == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_who_open_a_link_at_once_only_as_many_get_in_as_it_was_made_for(project, rita):
    invited = invite(project, rita)
    Invitation.objects.update(uses_left=3)  # of a version that made links for several people
    many = [User.objects.create_user(f"guest-{number}") for number in range(12)]

    def join(user):
        try:
            invitations.accept(Invitation.objects.get(pk=invited.invitation.pk), user=user)
        except invitations.InvitationOver:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(12) as pool:
        got_in = list(pool.map(join, many))

    assert sum(got_in) == 3
    assert project.memberships.filter(user__in=many).count() == 3
    assert Invitation.objects.get().uses_left == 0


def test_links_for_addresses_are_mailed_where_there_is_a_mail_server(
    project, settings, monkeypatch, django_capture_on_commit_callbacks, lead
):
    url = "/projects/orders/invitations/people/"
    people = {"people": "Dora Novak <dora@example.org>, emil", "role": "annotator"}

    lead.post(url, people)
    settings.MAIL_URL = "smtp://mail.example.org"
    settings.PUBLIC_URL = "https://assay.example.org"
    with django_capture_on_commit_callbacks(execute=True):
        lead.post(url, people)
    shown = lead.get("/projects/orders/members/").content.decode()
    join_mails()

    (sent,) = mail.outbox
    (link,) = re.findall(r"https://assay.example.org/join/\S+/", sent.body)
    assert sent.to == ["dora@example.org"]
    assert "rita invites you" in sent.body
    assert "“Orders”" in sent.body
    assert link in shown  # a mail may get lost
    assert "dora@example.org. If a mail" in shown
    Client().post(link.removeprefix("https://assay.example.org"), DORA)
    assert User.objects.get(username="dora").email == "dora@example.org"  # the link has proved it

    monkeypatch.setattr(invitations, "MOST_MAILS", 1)
    with django_capture_on_commit_callbacks(execute=True):
        lead.post(url, people | {"people": "fay@example.org"})
    join_mails()
    assert len(mail.outbox) == 1


def test_a_mail_that_cannot_be_sent_keeps_nobody_else_from_theirs(
    project, rita, settings, monkeypatch, django_capture_on_commit_callbacks
):
    settings.MAIL_URL = "smtp://mail.example.org"
    rita.first_name, rita.last_name = "Rita\nBcc: all@example.org", "Moss"
    people = [f"dora@{'x' * 70}.example", "emil@example.org", "fay@example.org"]
    invited = invitations.invite_people(project=project, role="annotator", by=rita, people=people)
    sending = mails.sending

    def odd(*args):
        def send(address):
            if address.startswith("emil"):
                raise UnicodeError("label too long")
            sending(*args)(address)

        return send

    monkeypatch.setattr(mails, "sending", odd)
    with django_capture_on_commit_callbacks(execute=True):
        links = {one.invitation: "https://here.example" for one in invited.invited}
        mailed = invitations.mail(links, by=rita)
    join_mails()

    assert mailed == ["emil@example.org", "fay@example.org"]  # the first is no address
    assert [(sent.to, sent.subject) for sent in mail.outbox] == [
        (["fay@example.org"], "Assay: Rita Bcc: all@example.org Moss invites you")
    ]
