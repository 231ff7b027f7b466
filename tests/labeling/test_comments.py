"""Comments: who writes, who reads, and what stays blind."""

import pytest

from labeling.models import Annotation, Comment, Event
from labeling.work import annotations, comments, rounds
from labeling.work.comments import mentions_of
from tests import factories
from tests.labeling.comments import of, on_label, readers, say

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def url(assignment):
    return f"/api/annotations/{assignment.pk}/comments/"


def send(client, assignment, body="Is this one?", **fields):
    return client.post(url(assignment), {"body": body, **fields}, content_type="application/json")


def resolve(client, comment, **fields):
    address = f"/api/comments/{comment.pk}/resolve/"
    return client.post(address, fields, content_type="application/json")


def test_a_comment_is_pinned_to_a_message_and_read_again(signed_in, ana, mine):
    client = signed_in(ana)

    response = send(client, mine, "Who is meant here?", message_index=2)

    assert response.status_code == 201
    (read,) = client.get(url(mine)).json()["results"]
    assert read == response.json()
    assert (read["author"], read["message_index"], read["label_uid"]) == ("ana", 2, "")
    assert (read["body"], read["resolved_at"]) == ("Who is meant here?", None)
    assert Event.objects.get(verb="comment.posted").data == {"conversation": "c-001"}


def test_a_comment_is_pinned_to_a_saved_label_of_ones_own(signed_in, ana, mine):
    annotations.save_draft(mine, factories.save_of(factories.labels([0])))
    uid = Annotation.objects.get().payload["requirements"][0]["uid"]

    response = send(signed_in(ana), mine, label_uid=uid)

    assert (response.status_code, response.json()["label_uid"]) == (201, uid)
    assert Comment.objects.get().annotation.assignment == mine


@pytest.mark.parametrize("pin", [{"message_index": 4}, {"label_uid": "nowhere"}])
def test_what_does_not_exist_cannot_be_commented_on(signed_in, ana, mine, pin):
    response = send(signed_in(ana), mine, **pin)

    assert (response.status_code, response.json()["code"]) == (400, "unknown_pin")
    assert not Comment.objects.exists()


@pytest.mark.parametrize("body", ["", "  \n", "a\x00b", "x" * 4001])
def test_a_comment_says_something_that_can_be_stored(signed_in, ana, mine, body):
    assert send(signed_in(ana), mine, body).status_code == 400
    assert not Comment.objects.exists()


def test_a_comment_sent_twice_is_one(signed_in, ana, mine):
    client = signed_in(ana)

    first, second = send(client, mine), send(client, mine)

    assert first.json()["id"] == second.json()["id"]
    assert Comment.objects.count() == 1
    assert send(client, mine, message_index=0).json()["id"] != first.json()["id"]


def test_a_reply_joins_the_thread_and_its_pin_even_if_it_answers_a_reply(signed_in, ana, mine):
    client = signed_in(ana)
    thread = send(client, mine, message_index=1).json()
    answer = send(client, mine, "Yes.", reply_to=thread["id"]).json()

    again = send(client, mine, "Thanks.", reply_to=answer["id"]).json()

    assert (again["parent"], again["message_index"]) == (thread["id"], 1)


def test_nobody_answers_what_they_cannot_read(signed_in, ben, full, mine):
    hidden = on_label(mine)

    response = send(signed_in(ben), of(full, ben), "And?", reply_to=hidden.pk)

    assert response.status_code == 404


def test_a_thread_of_another_conversation_cannot_be_answered_here(signed_in, ana, project):
    opened = factories.open_full(project, 2)
    here, there = opened.assignments.filter(annotator=ana)
    elsewhere = say(there)

    assert send(signed_in(ana), here, reply_to=elsewhere.pk).status_code == 404


@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("@ben look", {"ben"}),
        ("Ask @Ben, or @rita.", {"ben", "rita"}),
        ("(@ben)", {"ben"}),
        ("ben@example.org", set()),
        ("@olga is no member", set()),
        ("@benjamin", set()),
    ],
)
def test_members_are_mentioned_by_their_user_name(mine, body, named):
    assert {user.username for user in say(mine, body).mentions.all()} == named


# --- who reads --------------------------------------------------------------------------------


EVERYBODY = ["ana", "ben", "cleo", "rita", "noor", "admin"]
ITS_OWN = ["ana", "rita", "noor", "admin"]


@pytest.mark.parametrize(
    ("where", "what", "who"),
    [
        ("full", "message", EVERYBODY),
        ("full", "label", ITS_OWN),
        ("alone", "message", ITS_OWN),
        ("blind", "message", ["ana", "rita", "admin"]),
        ("blind", "label", ["ana"]),
        ("closed", "message", EVERYBODY),
        ("again", "message", ITS_OWN),  # a new calibration hides it from annotators
    ],
)
def test_who_reads_a_remark_of_an_annotator(people, project, ana, where, what, who):
    if where == "full":
        opened = factories.open_full(project, 1)
    elif where == "alone":
        opened = factories.open_full(project, 1, annotators=[ana], overlap=1)
    else:
        opened = factories.open_calibration(project, 1)
    mine = of(opened, ana)
    is_named = where in ("blind", "closed")
    body = "@ben what do you think?" if is_named else "Is this one?"
    comment = on_label(mine) if what == "label" else say(mine, body)
    if where in ("closed", "again"):
        factories.answer_all(opened)
    if where == "again":
        again = [opened.conversations.get()]
        rounds.open_round(project=project, kind="calibration", by=None, conversations=again)

    assert readers(people, comment) == who


def test_who_is_mentioned_reads_the_whole_thread(people, ben, rita, project):
    opened = factories.open_full(project, 1, annotators=[people["ana"]], overlap=1)
    thread = say(opened.assignments.get())

    answer = comments.reply(thread, body="@ben knows.", author=rita)

    assert ben in [people[name] for name in readers(people, thread)]
    assert "ben" in readers(people, answer)
    assert "cleo" not in readers(people, answer)


def test_what_a_lead_says_in_an_open_calibration_reaches_who_asked_and_nobody_else(
    people, blind, ana, rita
):
    answer = comments.reply(say(of(blind, ana)), body="Yes, and @ben will too.", author=rita)
    place = comments.place_for_lead(blind.conversations.get())
    comment = comments.post(place, body="This one is odd.", author=rita)

    assert readers(people, answer) == ["ana", "rita", "admin"]
    assert readers(people, comment) == ["rita", "admin"]


def test_a_remark_outside_any_round_is_read_by_leads_and_researchers(people, project, rita):
    (conversation,) = factories.make_conversations(project, 1)

    comment = comments.post(comments.place_for_lead(conversation), body="Too short?", author=rita)

    assert readers(people, comment) == ["rita", "noor", "admin"]


def test_who_has_left_the_project_reads_nothing_any_more(people, mine, ana, project):
    comment = say(mine)
    project.memberships.filter(user=ana).delete()

    assert "ana" not in readers(people, comment)


# --- resolving, mentions ------------------------------------------------------------------------


def test_a_thread_is_resolved_and_taken_up_again(signed_in, ana, rita, mine):
    thread = say(mine)
    reply = comments.reply(thread, body="Yes.", author=rita)

    settled = resolve(signed_in(rita), reply).json()
    again = resolve(signed_in(rita), thread).json()
    opened = resolve(signed_in(ana), thread, resolved=False).json()

    assert (settled["id"], settled["resolved_by"]) == (thread.pk, "rita")
    assert again["resolved_at"] == settled["resolved_at"]  # the second time changed nothing
    assert (opened["resolved_by"], opened["resolved_at"]) == (None, None)
    verbs = (
        Event.objects.filter(object_type="comment").order_by("pk").values_list("verb", flat=True)
    )
    assert list(verbs) == [
        "comment.posted",
        "comment.posted",
        "comment.resolved",
        "comment.unresolved",
    ]


def test_what_somebody_cannot_read_they_cannot_resolve(signed_in, ben, olga, mine):
    hidden = on_label(mine)

    assert resolve(signed_in(ben), hidden).status_code == 404
    assert resolve(signed_in(olga), hidden).status_code == 404


def test_a_mention_in_a_blind_round_arrives_when_it_has_closed(signed_in, ana, ben, blind):
    say(of(blind, ana), "@ben same here?")
    assert not mentions_of(ben)

    factories.answer_all(blind)

    assert len(mentions_of(ben)) == 1
