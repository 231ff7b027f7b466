"""Comments: who writes, who reads, and what stays blind."""

import pytest

from labeling.models import Annotation, Comment, Event
from labeling.work import annotations, comments, rounds
from labeling.work.comments import mentions_of
from tests import factories
from tests.labeling.comments import of, on_label, readers, say

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def send(client, assignment, body="Is this one?", **fields):
    address, htmx = f"/label/{assignment.pk}/comments/", {"HX-Request": "true"}
    return client.post(address, {"body": body, **fields}, headers=htmx)


def test_a_comment_is_pinned_to_a_message_and_read_again(ana, mine, annotator):
    shown = send(annotator, mine, "Who is meant here?", about=2).content.decode()

    assert 'data-about="2"' in shown
    assert "Who is meant here?" in shown
    said = Comment.objects.get()
    assert (said.author, said.message_index, said.label_uid) == (ana, 2, "")
    assert "Who is meant here?" in annotator.get(f"/label/{mine.pk}/comments/").content.decode()
    assert Event.objects.get(verb="comment.posted").data == {"conversation": "c-001"}


def test_a_comment_is_pinned_to_a_saved_label_of_ones_own(mine, annotator):
    annotations.save_draft(mine, factories.save_of(factories.labels([0])))
    uid = Annotation.objects.get().payload["requirements"][0]["uid"]

    shown = send(annotator, mine, label=uid).content.decode()

    assert f'data-label="{uid}"' in shown
    assert Comment.objects.get().annotation.assignment == mine


@pytest.mark.parametrize(
    "fields",
    [
        {"about": 4},
        {"label": "nowhere"},
        *({"body": body} for body in ("", "  \n", "a\x00b", "x" * 4001)),
    ],
)
def test_a_comment_says_something_about_what_there_is(mine, fields, annotator):
    refused = send(annotator, mine, **fields)

    assert (refused.status_code, refused["Content-Type"][:10]) == (400, "text/plain")
    assert not Comment.objects.exists()


def test_a_comment_sent_twice_is_one(mine, annotator):
    for fields in ({}, {}, {"about": 0}):
        send(annotator, mine, **fields)

    assert [said.message_index for said in Comment.objects.order_by("pk")] == [None, 0]


def test_a_reply_joins_the_thread_and_its_pin_even_if_it_answers_a_reply(ana, mine):
    thread = say(mine, pin=comments.Pin(message_index=1))
    answer = comments.reply(thread, body="Yes.", author=ana)

    again = comments.reply(answer, body="Thanks.", author=ana)

    assert (again.parent, again.message_index) == (thread, 1)


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


def test_a_thread_is_resolved_and_taken_up_again(ana, rita, mine):
    thread = say(mine)
    reply = comments.reply(thread, body="Yes.", author=rita)

    settled_at = comments.resolve(reply, by=rita).resolved_at
    again = comments.resolve(thread, by=ana)
    assert (again.resolved_at, again.resolved_by) == (settled_at, rita)  # nothing has changed

    opened = comments.resolve(thread, by=ana, resolved=False)

    assert (opened.resolved_by, opened.resolved_at) == (None, None)
    assert Event.objects.filter(verb="comment.resolved").count() == 1


@pytest.mark.parametrize("address", ["reply", "resolve"])
def test_nobody_answers_or_resolves_what_they_cannot_read(signed_in, ben, olga, mine, address):
    hidden = on_label(mine)

    for person in (ben, olga):
        sent = signed_in(person).post(f"/comments/{hidden.pk}/{address}/", {"body": "And?"})
        assert sent.status_code == 404


def test_a_mention_in_a_blind_round_arrives_when_it_has_closed(signed_in, ana, ben, blind):
    say(of(blind, ana), "@ben same here?")
    assert not mentions_of(ben)

    factories.answer_all(blind)

    assert len(mentions_of(ben)) == 1
