import pytest

from labeling.models import Round
from tests import factories
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/rounds/new/"


@pytest.fixture
def conversations(project):
    return factories.make_conversations(project, 30)


def form(people, names=("ana", "ben", "cleo"), **fields):
    return {
        "kind": "calibration",
        "source": "",
        "batch": "4",
        "split": "",
        "domain": "",
        "annotators": [str(people[name].pk) for name in names],
        "overlap": "2",
        "seed": "7",
        "seen": "0",
        **fields,
    }


def test_a_lead_opens_a_calibration_round(rita, people, project, conversations, lead):
    response = lead.post(URL, form(people))

    opened = project.rounds.get()
    assert response.url == "/projects/orders/"
    assert (opened.kind, opened.opened_by, opened.seed) == ("calibration", rita, 7)
    assert opened.conversations.count() == 4
    assert opened.assignments.count() == 12  # 4 conversations, 3 annotators


def test_the_same_seed_draws_the_same_conversations(people, project, conversations, lead):
    drawn = []
    for _ in range(2):
        response = lead.post(URL, form(people, preview="1"))
        drawn.append([one.pk for one in response.context["form"].chosen()])

    other = lead.post(URL, form(people, preview="1", seed="8")).context["form"].chosen()
    assert drawn[0] == drawn[1]
    assert drawn[0] != [one.pk for one in other]


def test_a_preview_counts_and_stores_nothing(people, project, conversations, lead):
    fields = form(people, kind="full", batch="5", override_reason="Try it.", preview="1")

    shown = text_of(lead.post(URL, fields))

    # 5 conversations by 2 each are 10 assignments: 3 or 4 for each of three annotators
    assert "Conversations 5 Annotators 3 Each conversation by 2 Assignments 10" in shown
    assert "Each annotator 3–4 conversations" in shown
    live = lead.post(URL, fields, headers={"HX-Request": "true"})
    assert b"<main" not in live.content
    assert b"<dt>Assignments</dt><dd><strong>10</strong></dd>" in live.content
    assert not Round.objects.exists()


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"kind": "full", "override_reason": " "},
            "Full labeling is locked until a calibration round passes.",
        ),
        (
            {"kind": "full", "overlap": "4", "override_reason": "A pilot."},
            "there are only 3: add annotators or lower the overlap.",
        ),
        ({"names": ("ana", "olga")}, ""),  # who is not in the project is given no work
    ],
)
def test_a_round_that_cannot_be_is_refused_in_words(
    people, project, conversations, fields, said, lead
):
    response = lead.post(URL, form(people, **fields))

    assert response.status_code == 400
    assert said in text_of(response)
    assert not Round.objects.exists()


def test_an_open_gate_asks_for_no_reason(people, project, conversations, lead):
    factories.pass_gate(project)

    assert "Reason for override" not in page(lead, URL)
    lead.post(URL, form(people, kind="full", pool="on", overlap="1", seen="1"))
    assert project.rounds.get(kind="full").pool


def test_a_form_sent_twice_opens_one_round(people, project, conversations, lead):
    fields = form(people, kind="full", override_reason="A pilot.")
    lead.post(URL, fields)

    again = lead.post(URL, fields)

    assert again.status_code == 400
    assert "Round 1 was opened in the meantime." in text_of(again)
    assert project.rounds.count() == 1
    assert b'name="seen" value="1"' in again.content  # meant the third time


def test_split_and_domain_narrow_the_draw(people, project, conversations, lead):
    in_test = factories.make_conversations(project, 2, split="test")

    lead.post(URL, form(people, split="test", batch="20"))

    assert set(project.rounds.get().conversations.all()) == set(in_test)


def test_closing_full_labeling_asks_first(project, lead):
    opened = factories.open_full(project, 2)
    url = "/projects/orders/rounds/1/close/"

    assert "6 assignments are not answered yet" in page(lead, url)
    opened.refresh_from_db()
    assert opened.state == "open"
    lead.post(url)
    opened.refresh_from_db()
    assert opened.state == "closed"


def test_a_calibration_round_cannot_be_closed_by_hand(project, lead):
    opened = factories.open_calibration(project, 2)
    url = "/projects/orders/rounds/1/close/"

    assert "closes automatically" in page(lead, url)
    assert "Only an open round of full labeling" in lead.post(url, follow=True).content.decode()
    opened.refresh_from_db()
    assert opened.state == "open"


def test_a_lead_moves_the_work_of_one_person(people, project, conversations, lead):
    factories.open_full(project, 3, overlap=1)
    url = f"/projects/orders/people/{people['ana'].pk}/move/"

    assert "1 assignment is not answered: 1 in round 1" in page(lead, url)
    response = lead.post(url, {"to": people["ben"].pk}, follow=True)

    assert "Open conversations of ana: 1 to ben. Drafts are kept." in response.content.decode()
    assert "Nothing is open." in page(lead, url)
