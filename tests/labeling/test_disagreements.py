import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from labeling import tasks
from labeling.agreement import discussions, vectors
from labeling.agreement.discussions import RoundOpen
from labeling.agreement.views import disagreements as view
from labeling.jobs import pending
from labeling.models import Comment, Disagreement, Event, Round
from labeling.overview import needs
from labeling.work import rounds
from tests import factories
from tests.layers import event, inferred, issue, question, rating
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/rounds/1/disagreements/"
MARKED = {"ana": [0, 2], "ben": [0], "cleo": [0]}  # message 2 is Ana's alone


def answered(project, number=2, marked=MARKED, **fields):
    opened = factories.open_calibration(project, number, **fields)
    return factories.answer_each(opened, marked.get)


@pytest.fixture
def failed(project):
    return answered(project)


@pytest.fixture
def place(failed):
    return next(iter(discussions.found_in(failed)))


def post(client, action, place, **fields):
    return client.post(f"{URL}{action}/", {"place": str(place), **fields})


def test_who_chose_what_stands_beside_the_message_in_its_context(failed, lead):
    response = lead.get(URL)

    lines, marked = response.context["lines"], response.context["marked"]
    messages = response.context["turns"]
    assert [line.in_short for line in lines] == ["ana ≠ ben, cleo"] * 2  # one in each conversation
    assert [side.annotator for side, _ in marked] == ["ana"]
    assert [side.annotator for side in response.context["unmarked"]] == ["ben", "cleo"]
    # message 2 of four, with two before and the one that is left after it
    assert [shown.message.index for shown in messages] == [0, 1, 2, 3]
    assert [shown.cited_by for shown in messages] == [[], [], ["ana"], []]
    assert [label.id for label in marked[0][1]] == ["REQ-002"]
    shown = text_of(response)
    assert shown.count("Message 2 of") == 1  # and not among the notices of the page
    assert "0 of 2 discussed , 0 decided" in shown
    assert "ana marked it with REQ-002 Order Tracking 2" in shown
    assert "ben cleo did not mark it" in shown


def test_nobody_sees_the_disagreements_of_an_open_round(signed_in, people, project):
    opened = factories.open_calibration(project, 2)
    for assignment in opened.assignments.all()[:5]:
        factories.answer(assignment, MARKED[assignment.annotator.username])

    for who in ("rita", "noor", "admin", "ana"):
        shown = page(signed_in(people[who]), URL)
        assert "This round is open." in shown
        assert "marked it" not in shown
    with pytest.raises(RoundOpen):
        discussions.found_in(opened)


def test_who_was_planned_into_a_round_and_answered_nothing_does_not_read_along(
    signed_in, failed, project, ana, place
):
    dan = User.objects.create_user("dan", password=factories.PASSWORD)
    project.memberships.create(user=dan, role="annotator")
    conversation = failed.conversations.first()
    failed.assignments.create(conversation=conversation, annotator=dan, slot=None)

    client = signed_in(dan)
    assert client.get(URL).status_code == 404
    assert post(client, "comment", place, body="Why?").status_code == 404
    assert URL not in page(client, "/projects/orders/guidelines/")
    assert needs.waiting_discussions(dan) == []
    assert len(needs.waiting_discussions(ana)) == 1


def test_letters_replace_names_everywhere_and_stay_the_same(
    rita, ana, failed, place, lead, annotator
):
    discussions.say(failed, place, body="I read it as a wish.", by=ana)
    discussions.say(failed, place, body="Thank you.", by=rita)

    lead.post(f"{URL}names/", {"hidden": "1"})
    first, second = page(lead, URL), page(lead, URL)

    ago = re.compile(r"\b(now|(a|\d+)\Wseconds? ago)\b")
    assert ago.sub("", first) == ago.sub("", second)
    for name in ("ana", "ben", "cleo"):
        assert name not in first.split()
    letters = discussions.letters_of(failed)
    assert sorted(letters.values()) == ["A", "B", "C"]
    assert f"{letters['ana']} marked it with" in first
    assert re.search(r"rita (now|\w+\Wseconds? ago) Thank you\.", first)
    assert f"{letters['ana']} (you) marked it with" in page(annotator, URL)


def test_annotators_and_leads_discuss_and_researchers_read(
    signed_in, people, failed, place, researcher
):
    for who in ("ana", "rita"):
        assert post(signed_in(people[who]), "comment", place, body=f"{who} says").status_code == 302
    for body in ("rita says", "  "):  # sent twice it is one, and an empty one is none
        post(signed_in(people["rita"]), "comment", place, body=body)
    assert Comment.objects.count() == 2
    assert post(researcher, "comment", place, body="no").status_code == 403
    shown = page(researcher, URL)
    assert "ana says" in shown
    assert "rita says" in shown
    assert "1 of 2 discussed , 0 decided" in shown
    comment = Comment.objects.first()
    assert (comment.message_index, comment.round, comment.conversation_id) == (
        place.unit,
        failed,
        place.conversation,
    )


def test_a_lead_decides_and_takes_it_back(rita, place, lead):
    post(lead, "decide", place, outcome="error", note="Read rule 2 again.")

    row = Disagreement.objects.get()
    assert (row.outcome, row.note, row.decided_by) == ("error", "Read rule 2 again.", rita)
    assert "1 of 2 discussed , 1 decided" in page(lead, URL)

    post(lead, "decide", place, outcome="")

    row.refresh_from_db()
    assert (row.outcome, row.decided_by, row.decided_at) == ("", None, None)
    verbs = Event.objects.filter(verb__startswith="disagreement.").values_list("verb", flat=True)
    assert set(verbs) == {"disagreement.decided", "disagreement.reopened"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"outcome": "boredom"},
        {"outcome": "error", "place": "x"},
        {"outcome": "error", "place": "9-9"},
    ],
)
def test_what_is_no_outcome_or_no_disagreement_is_refused(place, wrong, lead):
    fields = {"place": str(place), **wrong}

    response = lead.post(f"{URL}decide/", fields, headers={"HX-Request": "true"})

    assert response.status_code == 400
    assert not Disagreement.objects.exists()


def test_a_filter_by_state_and_what_is_open_comes_first(rita, project, lead):
    opened = answered(project, 1, {"ana": [0, 2], "ben": [0, 2, 3], "cleo": [0]})
    first, _ = discussions.found_in(opened)
    discussions.decide(opened, first, outcome="error", by=rita)

    found = {
        state: [line.place.unit for line in lead.get(URL, {"state": state}).context["lines"]]
        for state in ("", "open", "decided", "nonsense")
    }

    assert found == {"": [2, 3], "open": [3], "decided": [2], "nonsense": [2, 3]}
    assert lead.get(URL, {"at": "999-0"}).context["entry"].place.unit == 3


def test_pages_follow_each_other_without_loss_also_when_some_were_decided(
    rita, project, monkeypatch, lead
):
    monkeypatch.setattr(view, "PAGE", 2)
    opened = answered(project, 5)
    everything = list(discussions.found_in(opened))
    seen, at = [], ""

    while at is not None:
        response = lead.get(URL, {"at": str(at), "state": "open"})
        seen += [line.place for line in response.context["lines"]]
        at = response.context["page"]["after"]
        discussions.decide(opened, everything[1], outcome="error", by=rita)

    assert list(dict.fromkeys(seen)) == everything


def test_each_leads_to_the_one_before_and_the_next(project, monkeypatch, lead):
    monkeypatch.setattr(view, "PAGE", 2)
    opened = answered(project, 4)
    everything = list(discussions.found_in(opened))

    shown = [lead.get(URL, {"at": str(place)}).context for place in everything]

    assert [page["number"] for page in shown] == [1, 2, 3, 4]
    assert [page["next"] for page in shown] == [*everything[1:], None]
    assert [page["previous"] for page in shown] == [None, *everything[:-1]]
    assert [page["lines"][0].place for page in shown] == [everything[at] for at in (0, 0, 2, 2)]


def test_who_labels_the_same_again_sees_the_earlier_discussion_afterwards(
    rita, project, failed, place, lead, annotator
):
    again = rounds.open_round(
        project=project, kind="calibration", by=rita, conversations=failed.conversations.all()
    )

    shown = page(annotator, URL)

    assert "You are labeling some of these conversations again in round 2" in shown
    assert "marked it" not in shown
    assert post(annotator, "comment", place, body="Still?").status_code == 403
    assert "ana marked it" in page(lead, URL)
    factories.answer_all(again)
    assert "ana marked it" in page(annotator, URL)


def test_a_change_of_the_guidelines_begins_with_the_message(signed_in, rita, place):
    lead = signed_in(rita)
    post(lead, "decide", place, outcome="error")
    row = Disagreement.objects.get()
    link = f"/projects/orders/guidelines/new/?disagreement={row.pk}"
    assert lead.get(link).status_code == 404
    post(lead, "decide", place, outcome="guideline", note="A recap is no source.")
    shown = lead.get(URL, {"at": str(place)}).content.decode()
    assert link in shown
    body = lead.get(link).context["form"].initial["body"]
    assert body.startswith("# Guide\n\nLabel what they want.")
    assert f"## Draft: {row.conversation}, message 2" in body
    assert f"> Message 2 of {row.conversation}: we need to track order 2." in body
    assert body.endswith("A recap is no source.\n")


def test_a_version_and_the_disagreements_that_it_answers_lead_to_each_other(
    signed_in, rita, ana, project, annotator
):
    dan = User.objects.create_user("dan", password=factories.PASSWORD)
    round_ = answered(project, marked={"ana": [0, 2, 3], "ben": [0], "cleo": [0]})
    first, second, *_ = discussions.found_in(round_)
    lead = signed_in(rita)
    for place in (first, second):
        post(lead, "decide", place, outcome="guideline")
    asked, other = Disagreement.objects.order_by("pk")
    editor = f"/projects/orders/guidelines/new/?disagreement={asked.pk}"
    form = lead.get(editor).context["form"]
    assert form["because"].value() == [asked.pk]
    assert {pk for pk, _ in form.fields["because"].choices} == {asked.pk, other.pk}

    text = {"body": "# New", "summary": "Recaps", "base_version": "1", "because": [asked.pk]}
    lead.post(editor, text)

    shown = f"{URL}?layer=extraction&amp;at={first}"
    assert "Version 2 of the guidelines answers it." in page(lead, f"{URL}?at={first}")
    assert "answers it" not in page(lead, f"{URL}?at={second}")
    for reader in (rita, ana):
        assert shown in signed_in(reader).get("/projects/orders/guidelines/2/").content.decode()
    project.memberships.create(user=dan, role="annotator")
    assert "Because of" not in page(signed_in(dan), "/projects/orders/guidelines/2/")
    again = round_.conversations.all()  # blind
    rounds.open_round(project=project, kind="calibration", by=rita, conversations=again)
    assert "Because of" not in page(annotator, "/projects/orders/guidelines/2/")
    offered = lead.get("/projects/orders/guidelines/new/").context["form"].fields["because"]
    assert [pk for pk, _ in offered.choices] == [other.pk]


# --- other layers ------------------------------------------------------------------------------


SCHEMA = {"tracking": ["what"]}


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Callable[[Round], None]:
    monkeypatch.setattr(vectors, "ruler", factories.ruler)

    def work(round_: Round) -> None:
        pending.request(round_.project, measure=round_)
        tasks.process_answers(round_.project_id)
        round_.refresh_from_db()

    return work


def answered_in(
    layers: list[str], given: Callable[[str], dict[str, Any]], number: int = 1
) -> Round:
    schema = SCHEMA if "events" in layers else {}
    project = factories.make_project(layers=layers, event_schema=schema)
    opened = factories.open_calibration(project, number)
    return factories.answer_each(opened, given)


def own(who: str) -> dict[str, Any]:
    return factories.requirement(1, uid=f"{who}-1", sources=[2])


def with_issue(who: str) -> dict[str, Any]:
    issues = [issue(f"{who}-1", message=f"{who} finds it vague")] if who == "ana" else []
    return {"requirements": [own(who)], "issues": issues}


def with_inference(who: str) -> dict[str, Any]:
    labels = [inferred("Encrypt", triggered_by=[f"{who}-1"])] if who != "cleo" else []
    return {"requirements": [own(who)], "inferred_requirements": labels}


def with_rating(who: str) -> dict[str, Any]:
    scores = {"ana": 2, "ben": 0, "cleo": 2}
    return {"requirements": [own(who)], "ratings": [rating(f"{who}-1", scores[who])]}


def with_event(who: str) -> dict[str, Any]:
    return {"events": [event(0), *([event(2)] if who == "ben" else [])]}


def with_question(who: str) -> dict[str, Any]:
    return {"questions": [question("What", evidence=[0, 1] if who == "ana" else [0])]}


@pytest.mark.parametrize(
    ("layers", "given", "shown"),
    [
        (
            ["extraction", "validation"],
            with_issue,
            ["Order Tracking 1 · action", "ana found there", "ben cleo found nothing wrong there"],
        ),
        (
            ["extraction", "inference"],
            with_inference,
            ["Order Tracking 1", "ana inferred from it INF-001 Encrypt", "cleo inferred nothing"],
        ),
        (
            ["extraction", "relevance"],
            with_rating,
            ["ana rated it 2", "ben rated it 0", "cleo rated it 2"],
        ),
        (["events"], with_event, ["tracking: “track”", "ben marked it as", "ana cleo did not"]),
        (["qa"], with_question, ["ana marked it with", "ben cleo did not mark it"]),
    ],
)
def test_every_layer_is_discussed(worker, layers, given, shown, lead):
    closed = answered_in(layers, given)
    worker(closed)

    text = page(lead, f"{URL}?layer={layers[-1]}")

    assert "0 of 1 discussed , 0 decided" in text
    assert all(one in text for one in shown)


def test_a_layer_that_needs_the_encoder_is_prepared_by_a_worker(worker, lead):
    closed = answered_in(["extraction", "validation"], with_issue)
    closed.measurements.all().delete()  # as before the migration

    before = page(lead, f"{URL}?layer=validation")
    worker(closed)
    after = page(lead, f"{URL}?layer=validation")

    assert "Being prepared." in before
    assert "0 of 1 discussed" in after


def test_what_is_said_and_decided_stays_with_its_layer(worker, lead):
    closed = answered_in(["extraction", "validation"], with_issue)
    worker(closed)
    (place,) = discussions.found_in(closed, "validation")

    lead.post(f"{URL}comment/", {"place": str(place), "body": "Is it vague?"})
    response = lead.post(
        f"{URL}decide/", {"place": str(place), "outcome": "guideline", "note": "Say who tracks."}
    )

    assert response.headers["Location"] == f"{URL}?layer=validation&at={place}#d-{place}"
    row = Disagreement.objects.get()
    assert (row.layer, row.outcome) == ("validation", "guideline")
    assert Comment.objects.get().message_index == 2  # where the requirement comes from
    assert "1 of 1 discussed , 1 decided" in page(lead, f"{URL}?layer=validation")
    link = f"/projects/orders/guidelines/new/?disagreement={row.pk}"
    body = lead.get(link).context["form"].initial["body"]
    assert "c-001, Order Tracking 1 · action" in body
    assert "> Message 2 of c-001" in body
