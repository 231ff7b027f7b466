"""Comments on the pages: threads, forms, and mentions that wait."""

import pytest

from labeling.models import Comment
from labeling.work.comments import Pin
from tests.labeling.comments import of, on_label, readers, say
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db


def conversation_url(conversation, rest=""):
    return f"/projects/orders/conversations/{conversation.pk}/{rest}"


def test_a_lead_reads_threads_on_the_conversations_page_and_answers(rita, mine, lead):
    thread = say(mine, "Who is meant?", Pin(message_index=2))
    address = conversation_url(mine.conversation)
    assert "Message [2] ana" in page(lead, address)

    response = lead.post(f"/comments/{thread.pk}/reply/", {"body": "The shop.", "next": address})

    assert response.url == address
    assert "The shop." in page(lead, address)
    assert Comment.objects.get(parent=thread).author == rita


def test_a_lead_begins_a_thread_on_a_message(people, mine, lead):
    lead.post(
        conversation_url(mine.conversation, "comments/"), {"body": "Too broad?", "about": "1"}
    )

    comment = Comment.objects.get()
    assert (comment.message_index, comment.label_uid) == (1, "")
    assert "ana" in readers(people, comment)


@pytest.mark.parametrize("about", ["99", "x", "1:", "0:uid", "²"])
def test_a_thread_on_nothing_is_refused_in_words(mine, about, lead):
    lead.post(conversation_url(mine.conversation, "comments/"), {"body": "Hm.", "about": about})

    assert not Comment.objects.exists()
    assert lead.get("/").content.count(b'class="notice error"') == 1


def test_an_open_mention_stands_on_the_first_page_until_it_is_resolved(signed_in, ben, full, mine):
    thread = say(mine, "@ben same here?", Pin(message_index=1))
    client = signed_in(ben)
    shown = client.get("/")
    assert "You are mentioned" in text_of(shown)
    assert of(full, ben).get_absolute_url() in shown.content.decode()

    client.post(f"/comments/{thread.pk}/resolve/")

    assert "You are mentioned" not in page(client, "/")
    client.post(f"/comments/{thread.pk}/resolve/", {"again": "1"})
    assert "You are mentioned" in page(client, "/")


def test_a_form_leads_back_to_our_own_pages_only(mine, annotator):
    thread = say(mine)

    response = annotator.post(f"/comments/{thread.pk}/resolve/", {"next": "https://example.org/"})

    assert response.url == "/"


def test_the_administration_keeps_remarks_on_blind_labels_to_itself(signed_in, admin, blind, ana):
    assignment = of(blind, ana)
    on_label(assignment, "Secret thought")
    say(assignment, "Open question")

    shown = signed_in(admin).get("/admin/labeling/comment/").content.decode()

    assert "Open question" in shown
    assert "Secret thought" not in shown
