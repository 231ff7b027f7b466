import pytest

from labeling.models import Annotation, Event, GuidelineCheck
from labeling.work import guidelines
from labeling.work.guidelines import NotSuperseded
from tests import factories
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/guidelines/worklist/"


def newer(project, version=2):
    return guidelines.add_version(
        project=project,
        body=f"# Guide {version}",
        summary="A recap is no source",
        by=None,
        base_version=version - 1,
    )


@pytest.fixture
def older(project):
    """Full labeling of two conversations under version 1, which version 2 replaces."""
    opened = factories.open_full(project, 2)
    factories.answer_all(opened)
    newer(project)
    return list(Annotation.objects.order_by("pk"))


def check(client, annotation, stands, note="", query=""):
    fields = {"annotation": annotation.pk, "stands": stands, "note": note}
    return client.post(f"{URL}check/{query}", fields)


def listed(client, **asked):
    return [row.pk for row in client.get(URL, asked).context["page"].rows]


def test_a_new_version_makes_a_worklist_of_what_was_labeled_before(older, lead):
    response = lead.get(URL)

    shown = text_of(response)
    assert listed(lead) == [one.pk for one in older]
    assert "6 of 6 answers made under older versions still have to be checked" in shown
    assert "6 answers" in page(lead, "/projects/orders/guidelines/")


def test_drafts_and_blind_answers_are_not_listed(project, ana, lead):
    opened = factories.open_calibration(project, 2)
    first, _ = opened.assignments.filter(annotator=ana)
    factories.answer(first)
    newer(project)

    assert listed(lead) == []

    for assignment in opened.assignments.exclude(pk=first.pk):
        factories.answer(assignment)
    assert len(listed(lead)) == 6


def test_what_still_stands_leaves_the_list_until_a_newer_version_and_never_changes(
    older, project, lead
):
    check(lead, older[0], 1)

    made = GuidelineCheck.objects.get()
    assert (made.annotation, made.guideline.version, made.stands) == (older[0], 2, True)
    older[0].refresh_from_db()
    assert (older[0].status, older[0].guideline.version) == ("submitted", 1)
    assert older[0].pk not in listed(lead)
    assert listed(lead, state="stands") == [older[0].pk]
    assert Event.objects.filter(verb="guideline.checked").count() == 1
    newer(project, 3)
    assert older[0].pk in listed(lead)


def test_what_does_not_stand_goes_back_to_be_made_under_the_newest_version(signed_in, older, lead):
    without_a_note = lead.get(check(lead, older[0], 0, "  ").url)
    assert "Say what has to change." in without_a_note.content.decode()
    assert not GuidelineCheck.objects.exists()
    check(lead, older[0], 0, "Message 2 is a recap.")
    returned = Annotation.objects.select_related("assignment").get(pk=older[0].pk)
    assert returned.status == "draft"
    assert returned.payload == older[0].payload
    assert returned.guideline.version == 2
    assert returned.assignment.returned_reason == "Message 2 is a recap."
    assert older[0].pk not in listed(lead)
    mine = returned.assignment
    shown = signed_in(mine.annotator).get(mine.get_absolute_url())
    assert shown.context["guideline"]["version"] == 2


def test_a_locked_answer_stays_and_is_noted_as_to_be_labeled_anew(project, lead):
    factories.answer_all(factories.open_calibration(project, 1))
    newer(project)
    annotation = Annotation.objects.order_by("pk")[0]

    check(lead, annotation, 0, " ")
    assert not GuidelineCheck.objects.exists()  # a note is needed here, too
    check(lead, annotation, 0, "Message 2 is a recap.")

    annotation.refresh_from_db()
    assert (annotation.status, annotation.guideline.version) == ("submitted", 1)
    assert listed(lead, state="anew") == [annotation.pk]
    assert "Message 2 is a recap." in text_of(lead.get(URL, {"state": "anew"}))


def test_nothing_is_checked_twice_against_one_version(rita, older, project):
    newest = project.guidelines.first()
    guidelines.check(older[0], newest, stands=True, note="", by=rita)

    with pytest.raises(NotSuperseded):
        guidelines.check(older[0], newest, stands=False, note="No.", by=rita)

    assert GuidelineCheck.objects.get().stands
