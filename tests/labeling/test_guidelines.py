import pytest

from labeling.core import projects
from labeling.core.rules.line_diffs import compare
from labeling.models import Event, Guideline
from labeling.work import guidelines
from tests import factories
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/guidelines/"
CHANGED = "# Guide\n\nLabel what they ask for."


def form(**fields):
    return {"body": CHANGED, "summary": "Ask, not want", "base_version": "1", **fields}


def test_an_annotator_reads_the_newest_version_and_what_it_changed(signed_in, ana, rita, project):
    guidelines.add_version(project=project, body=CHANGED, summary="Ask", by=rita, base_version=1)

    response = signed_in(ana).get(URL)

    assert "version 2" in text_of(response)
    assert "<p>Label what they ask for.</p>" in response.content.decode()
    assert "Write version 3" not in text_of(response)
    shown = page(signed_in(ana), f"{URL}1/")
    assert "This is not the newest version. Version 2 is." in shown
    assert "Label what they want." in shown
    changed = page(signed_in(ana), f"{URL}2/")
    assert "− removed Label what they want." in changed
    assert "+ added Label what they ask for." in changed


def test_a_change_is_a_new_version(signed_in, rita, project):
    response = signed_in(rita).post(f"{URL}new/", form(body=CHANGED.replace("\n", "\r\n")))
    old, new = project.guidelines.order_by("version")
    assert response.url == f"{URL}2/"
    assert old.body == "# Guide\n\nLabel what they want."
    assert (new.version, new.body, new.created_by) == (2, CHANGED + "\n", rita)
    assert Event.objects.get().verb == "guideline.added"


def test_a_version_written_meanwhile_is_not_passed_over(signed_in, rita, project):
    client = signed_in(rita)
    client.post(f"{URL}new/", form())

    response = client.post(f"{URL}new/", form(body="Something else."))

    assert response.status_code == 400
    assert "Version 2 was written in the meantime." in text_of(response)
    assert project.guidelines.count() == 2


def test_an_open_round_keeps_its_version(signed_in, rita, project):
    opened = factories.open_calibration(project, 1)

    signed_in(rita).post(f"{URL}new/", form())

    opened.refresh_from_db()
    assert opened.guideline.version == 1
    assert factories.open_full(project, 1).guideline.version == 2


def test_a_project_without_guidelines_asks_its_lead_to_write_them(signed_in, rita, people):
    project = factories.make_project("empty")
    with_none = type(project).objects.create(slug="none", name="None")
    project.memberships.update(project=with_none)
    client = signed_in(rita)

    new = client.get("/projects/none/guidelines/new/").context["form"]
    assert "No guidelines yet" in page(client, "/projects/none/guidelines/")
    assert new["summary"].value() == "The first version"
    client.post("/projects/none/guidelines/new/", form(base_version="0"))
    assert Guideline.objects.get(project=with_none).version == 1


@pytest.mark.parametrize("version", [0, 9])
def test_a_version_that_does_not_exist_is_not_found(signed_in, ana, project, version):
    assert signed_in(ana).get(f"{URL}{version}/").status_code == 404


def test_distant_changes_are_parted_by_a_gap():
    before = [str(number) for number in range(30)]
    after = ["first", *before[1:-1], "last"]

    kinds = [line.kind for line in compare("\n".join(before), "\n".join(after))]

    beginning = ["removed", "added", "same", "same", "same"]
    assert kinds == [*beginning, "gap", "same", "same", "same", "removed", "added"]


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_the_editor_shows_how_the_text_will_look_and_stores_nothing(
    signed_in, project, rita, headers
):
    before = project.guidelines.count()
    body = {"body": "## Rule\n\n<script>alert(1)</script> **bold**", "preview": "1"}

    response = signed_in(rita).post("/projects/orders/guidelines/new/", body, headers=headers)

    shown = response.content.decode()
    assert response.status_code == 200
    assert "<strong>bold</strong>" in shown
    assert "<script>alert" not in shown
    assert ("<html" in shown) is not bool(headers)
    assert project.guidelines.count() == before


def test_a_first_version_begins_with_the_text_for_what_is_labeled(signed_in, rita):
    projects.create(slug="chats", name="Chats", by=rita, layers=["qa", "arc"])

    shown = page(signed_in(rita), "/projects/chats/guidelines/new/")

    assert "Labeling questions with their evidence" in shown
    assert "Labeling narrative arcs" in shown
    assert "Labeling requirements" not in shown
