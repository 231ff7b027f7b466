"""From an empty project to its first answer: what comes next, on the project's own page."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib.auth.models import User

from labeling.accounts import invitations
from labeling.core import members
from labeling.core import projects as service
from labeling.models import Invitation, Project
from labeling.overview.views.project_start import start_of
from labeling.overview.views.projects import rounds_of
from tests import factories
from tests.pages import page

pytestmark = pytest.mark.django_db
URL = "/projects/clinics/"


@pytest.fixture
def empty(rita):
    return service.create(slug="clinics", name="Clinics", by=rita)


def buttons(client) -> list[str]:
    """The primary buttons of the overview: what the page says to do."""
    html = client.get(URL).content.decode()
    found = re.findall(r'<(?:a|button)[^>]*class="button primary"[^>]*>([^<]+)<', html)
    return [text.strip() for text in found]


def step(project: Project) -> str | None:
    start = start_of(project, rounds_of(project))
    return start and start.step


def test_each_step_leads_to_the_next_and_the_first_answer_ends_them(empty, people, lead):
    assert (step(empty), buttons(lead)) == ("conversations", ["Preview"])

    factories.make_conversations(empty, 25)
    assert (step(empty), buttons(lead)) == ("guidelines", ["Use these guidelines"])

    lead.post(f"{URL}guidelines/start/")
    assert "Read the whole conversation first" in empty.guidelines.get().body
    assert (step(empty), buttons(lead)) == ("people", ["Invite annotators"])

    lead.post(f"{URL}invitations/people/", {"people": "ana, ben", "role": "annotator", "start": 1})
    assert (step(empty), buttons(lead)) == ("round", ["Open the calibration round"])

    hidden = re.findall(
        r'name="(kind|source|seed|seen|batch|annotators)" value="([^"]*)"',
        lead.get(URL).content.decode(),
    )
    posted: dict[str, list[str]] = {}
    for name, value in hidden:
        posted.setdefault(name, []).append(value)
    lead.post(f"{URL}rounds/new/", posted)
    opened = empty.rounds.get()
    assert opened.assignments.count() == 2 * 20
    assert (step(empty), buttons(lead)) == ("answers", [])

    factories.answer(opened.assignments.first())
    assert step(empty) is None
    elsewhere = json.loads(lead.get(f"{URL}start/").headers["HX-Location"])
    assert (elsewhere["path"], elsewhere["push"]) == (URL, "false")  # the page stays loaded


def test_the_step_of_the_people_is_done_when_two_have_joined(empty, rita, people, lead):
    """The page looks by itself, and takes the count and the mark from the answer, too."""
    factories.make_conversations(empty, 2)
    lead.post(f"{URL}guidelines/start/")
    lead.post(f"{URL}invitations/people/", {"people": "ana, new", "role": "annotator"})
    before = lead.get(f"{URL}start/").content.decode()
    assert "Open the calibration round" not in before  # one cannot agree, and would be refused
    assert "Opens when two annotators have joined" in before
    assert 'hx-select-oob="#start-done,#step-people"' in before
    assert ("2 of 4 steps done" in before, 'id="step-people" class="done"' in before) == (
        True,
        False,
    )

    members.add_member(project=empty, username="ben", role="annotator", by=rita)

    after = lead.get(f"{URL}start/").content.decode()
    assert "Open the calibration round" in after
    assert ("3 of 4 steps done" in after, 'id="step-people" class="done"' in after) == (True, True)


def test_a_step_taken_in_place_leaves_the_focus_at_what_comes_next(empty, people, lead):
    in_place = {"headers": {"HX-Request": "true"}, "follow": True}

    def focused(html: str) -> str:
        """The first: it is the one that gets the focus."""
        return re.findall(r'id="([^"]+)"[^>]* autofocus', html)[0]

    factories.make_conversations(empty, 2)
    written = lead.post(f"{URL}guidelines/start/", **in_place).content.decode()
    assert focused(written) == "step-people"

    asked = {"people": "ana, ben, new", "role": "annotator", "start": 1}
    invited = lead.post(f"{URL}invitations/people/", asked, **in_place).content.decode()
    assert (focused(invited), "/join/" in invited) == ("links-title", True)

    assert "autofocus" not in lead.get(URL).content.decode()  # a page begins at its top
    polled = lead.get(f"{URL}start/", headers={"HX-Request": "true"}).content.decode()
    assert "autofocus" not in polled  # nor is anybody torn from what they do


# --- people ---------------------------------------------------------------------------------------


def test_people_with_an_account_join_and_the_others_get_a_link(empty, people, lead):
    listed = "ana\nben; Zoé <script>, ana"

    lead.post(f"{URL}invitations/people/", {"people": listed, "role": "annotator"})
    first, second = page(lead, f"{URL}members/"), page(lead, f"{URL}members/")

    annotators = empty.memberships.filter(role="annotator").values_list("user__username", flat=True)
    assert sorted(annotators) == ["ana", "ben"]
    assert Invitation.objects.get().invitee == "Zoé <script>"
    assert "Send these links now" in first
    assert "Zoé <script>" in first
    assert "Send these links now" not in second


def test_a_link_shows_once_and_inviting_again_replaces_it(empty, rita):
    first = invitations.invite_people(project=empty, role="annotator", by=rita, people=["Zoé"])
    again = invitations.invite_people(project=empty, role="annotator", by=rita, people=["Zoé"])

    assert not invitations.opens(invitations.find(first.invited[0].secret))
    assert invitations.opens(invitations.find(again.invited[0].secret))
    assert [link.invitee for link in invitations.of_project(empty)] == ["Zoé"]


def test_who_opens_a_personal_link_finds_the_name_filled_in(client, empty, rita):
    invited = invitations.invite_people(
        project=empty, role="annotator", by=rita, people=["Zoé Ali <zoe@example.org>"]
    )

    html = client.get(f"/join/{invited.invited[0].secret}/").content.decode()

    assert 'value="zoe"' in html
    assert 'value="Zoé Ali"' in html


def test_an_address_that_somebody_has_claimed_lets_nobody_in(empty, rita, people):
    address = "boss@example.org"
    User.objects.filter(username="ana").update(email=address)
    User.objects.create_user(address)

    invited = invitations.invite_people(
        project=empty, role="lead", by=rita, people=[address, f"The Boss <{address}>"]
    )

    assert (invited.added, len(invited.invited)) == ([], 2)
    assert list(empty.memberships.values_list("user__username", flat=True)) == ["rita"]
