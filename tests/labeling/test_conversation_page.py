import pytest

from labeling.conversations.views.labels import labels_of
from labeling.work import annotations, rounds
from tests import factories, layers
from tests.pages import page

pytestmark = pytest.mark.django_db
LIST = "/projects/orders/conversations/"


def url(conversation):
    return f"{LIST}{conversation.pk}/"


@pytest.fixture
def labeled(project):
    """One conversation: Ana cites messages 0 and 1, Ben and Cleo message 0."""
    opened = factories.open_calibration(project, 1)
    factories.answer_each(opened, lambda who: [0, 1] if who == "ana" else [0])
    return opened.conversations.get()


def test_who_marked_which_message_stands_beside_it(labeled, lead):
    shown = page(lead, url(labeled))

    assert "[1] analyst Disagreement" in shown
    assert "ana REQ-002 ben – cleo –" in shown
    assert "[0] user Message 0 of c-001" in shown  # marked alike by all
    assert "ana guidelines v1 REQ-001 Order Tracking 1" in shown
    assert "Page shows the status Page shows the history" in shown


def test_the_labels_of_an_open_calibration_stay_hidden_from_all(signed_in, project, people):
    opened = factories.open_calibration(project, 1)
    factories.answer(opened.assignments.first())

    for who in ("rita", "noor", "admin"):
        shown = page(signed_in(people[who]), f"{url(opened.conversations.get())}?round=1")
        assert "Round 1 is blind while it is open." in shown
        assert "Order Tracking" not in shown
        assert "REQ-" not in shown


def test_earlier_rounds_stay_open_to_readers_while_a_new_one_is_blind(project, labeled, lead):
    again = rounds.open_round(project=project, kind="calibration", by=None, conversations=[labeled])
    factories.answer(again.assignments.first(), [3])

    shown = page(lead, url(labeled))

    assert "Round 2 is blind while it is open." in shown
    assert "ana REQ-002 ben – cleo –" in shown
    assert "REQ-001 REQ-001" not in shown


def test_full_labeling_shows_answers_while_it_is_open_and_no_drafts(project, lead):
    opened = factories.open_full(project, 1)
    first, second, third = opened.assignments.select_related("annotator")
    address = url(opened.conversations.get())
    annotations.save_draft(first, factories.save_of(factories.labels([0])))
    assert "Nobody has submitted labels in round 1." in page(lead, address)
    factories.answer(second, [])
    factories.skip(third, "Not in English.")
    shown = page(lead, address)
    assert "Order Tracking" not in shown
    assert "“Nothing here” was the answer." in shown
    assert f"{third.annotator.username} skipped it: Not in English." in shown
    factories.answer(first)
    assert "Order Tracking 1" in page(lead, address)


def test_filters_narrow_the_list(project, lead):
    factories.make_conversations(project, 3, split="dev")
    factories.make_conversations(project, 2, split="test")

    def listed(query):
        return [row.external_id for row in lead.get(f"{LIST}?{query}").context["page"].rows]

    assert listed("split=test") == ["c-004", "c-005"]
    assert listed("search=003") == ["c-003"]
    assert listed("difficulty=hard") == []
    assert listed("domain=orders&split=dev") == ["c-001", "c-002", "c-003"]
    assert len(listed("split=nonsense")) == 5  # what is not offered narrows nothing


def test_labels_of_every_layer_are_readable(project):
    asked = factories.requirement(1)
    payload = {
        "requirements": [asked],
        "issues": [layers.issue(asked["uid"], message="Vague", severity="info")],
        "arcs": [
            layers.arc("How did it go?", layers.phase("Shipped", [1]) | {"time_range": "May"})
        ],
        "events": [layers.event(3, ("who", "order 3"), type="order")],
    }
    names = ["extraction", "validation", "arc", "events"]
    _, issue, arc, event = labels_of(payload, names, prefix="x")
    assert (issue.id, issue.title) == ("ISS-1", "Vague")
    assert ("Requirement", "REQ-001 Order Tracking 1", []) in issue.rows
    assert (arc.title, arc.sources) == ("How did it go?", [1])
    assert ("Phases", "", ["Shipped (May): messages 1"]) in arc.rows
    assert (event.title, event.type, event.sources) == ("“track”", "order", [3])
    assert ("Arguments", "", ["who: “order 3”"]) in event.rows
