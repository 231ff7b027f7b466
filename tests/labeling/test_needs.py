"""What needs whom: on the first page by role, and on the overview of a project."""

import pytest

from labeling.agreement import discussions
from labeling.models import Round
from labeling.overview import needs
from labeling.overview.views.needs import of_project
from labeling.work import annotations, assignments, guidelines, rounds
from tests import factories
from tests.pages import page

pytestmark = pytest.mark.django_db
MARKED = {"ana": [0, 2], "ben": [0], "cleo": [0]}
URL = "/projects/orders/"


@pytest.fixture
def failed(project):
    opened = factories.open_calibration(project, 2)
    return factories.answer_each(opened, MARKED.get)


def lines(project):
    (standing,) = needs.standings([project])
    return [need.text for need in of_project(standing)]


def shown_to(signed_in, person):
    return [need.text for need in signed_in(person).get("/").context["needs"]]


DISCUSS = "2 disagreements of round 1 wait for a discussion"


def test_annotators_and_leads_are_led_from_home_to_a_discussion(signed_in, people, failed):
    for who in ("ana", "rita"):
        response = signed_in(people[who]).get("/")
        (need,) = [need for need in response.context["needs"] if need.text == DISCUSS]
        assert need.url == "/projects/orders/rounds/1/disagreements/"
        assert signed_in(people[who]).get(need.url).status_code == 200


def test_nobody_hears_of_a_discussion_before_the_round_has_closed(signed_in, people, project):
    opened = factories.open_calibration(project, 2)
    for assignment in opened.assignments.all()[:5]:
        factories.answer(assignment, MARKED[assignment.annotator.username])

    for who in ("ana", "rita", "noor", "admin"):
        assert "disagreement" not in " ".join(shown_to(signed_in, people[who]))
        assert "waits for a discussion" not in page(signed_in(people[who]), "/")


def test_who_did_not_label_the_round_or_left_hears_nothing_of_it(
    signed_in, people, project, failed
):
    project.memberships.filter(user=people["ana"]).delete()

    assert needs.waiting_discussions(people["ana"]) == []
    assert needs.waiting_discussions(people["olga"]) == []
    assert len(needs.waiting_discussions(people["ben"])) == 1


def test_a_discussion_is_over_when_all_is_decided_or_the_round_is_held_again(
    project, people, rita, failed
):
    first, second = discussions.found_in(failed)
    discussions.decide(failed, first, outcome="error", by=rita)
    assert lines(project)[0] == "1 disagreement of round 1 waits for a discussion"

    discussions.decide(failed, second, outcome="guideline", by=rita)
    assert needs.waiting_discussions(people["ana"]) == []
    assert lines(project)[0].startswith("All disagreements of round 1 are decided")

    guidelines.add_version(project=project, body="# New", summary="x", by=rita, base_version=1)
    assert lines(project)[0] == "Version 2 of the guidelines is ready: calibrate with it"

    rounds.open_round(
        project=project, kind="calibration", by=rita, conversations=failed.conversations.all()
    )
    assert "round" not in " ".join(lines(project))


def test_a_round_that_passed_leads_on_to_full_labeling_and_to_gold(project, rita):
    factories.pass_gate(project)
    assert lines(project)[0] == "Round 1 has passed: full labeling can begin"

    full = factories.open_full(project, 2)
    assert "Everybody" not in lines(project)[0]

    factories.answer_all(full)
    assert lines(project)[0] == "Everybody has answered round 2"
    rounds.close(Round.objects.get(pk=full.pk), by=rita)
    factories.work(project)
    assert "settled conversations are not in gold yet" in " ".join(lines(project))


def test_a_pool_is_answered_when_every_place_is(project, ana):
    factories.open_full(project, 2, pool=True, overlap=1)
    for said in (False, False, True):
        assert ("Everybody has answered round 1" in lines(project)) is said
        if not said:
            factories.answer(assignments.take(ana))


def test_the_most_urgent_comes_first_on_home(signed_in, ana, failed):
    full = factories.open_full(failed.project, 3, override_reason="The pilot.")
    mine = list(full.assignments.filter(annotator=ana).order_by("position"))
    annotations.save_draft(mine[0], factories.save_of(factories.labels([0])))

    assert shown_to(signed_in, ana) == [DISCUSS]  # the queue itself says what else there is
    assert "2 conversations wait for your labels." in page(signed_in(ana), "/")


def test_home_leads_to_a_project_that_is_not_set_up(signed_in, rita, project, lead):
    (need,) = lead.get("/").context["needs"]
    assert (need.text, need.url) == ("Not set up yet", URL)

    factories.open_calibration(project, 2)
    assert "Not set up yet" not in shown_to(signed_in, rita)


def test_the_overview_has_one_next_step_and_says_what_comes_then(
    signed_in, rita, failed, researcher
):
    shown = page(signed_in(rita), URL)

    assert f"Next step {DISCUSS}. Discuss them" in shown
    assert shown.count("Discuss them") == 1
    assert "manage.py" not in shown
    assert "Discuss them" not in page(researcher, URL)  # a lead acts
