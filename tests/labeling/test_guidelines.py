from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

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


def test_an_annotator_reads_the_newest_version_and_what_it_changed(rita, project, annotator):
    guidelines.add_version(project=project, body=CHANGED, summary="Ask", by=rita, base_version=1)

    response = annotator.get(URL)

    assert "version 2" in text_of(response)
    assert "<p>Label what they ask for.</p>" in response.content.decode()
    assert "Write version 3" not in text_of(response)
    shown = page(annotator, f"{URL}1/")
    assert "This is not the newest version. Version 2 is." in shown
    assert "Label what they want." in shown
    changed = page(annotator, f"{URL}2/")
    assert "− removed Label what they want." in changed
    assert "+ added Label what they ask for." in changed


def test_a_change_is_a_new_version(rita, project, lead):
    response = lead.post(f"{URL}new/", form(body=CHANGED.replace("\n", "\r\n")))
    old, new = project.guidelines.order_by("version")
    assert response.url == f"{URL}2/"
    assert old.body == "# Guide\n\nLabel what they want."
    assert (new.version, new.body, new.created_by) == (2, CHANGED + "\n", rita)
    assert Event.objects.get().verb == "guideline.added"
    meanwhile = lead.post(f"{URL}new/", form(body="Something else."))
    assert meanwhile.status_code == 400
    assert "Version 2 was written in the meantime." in text_of(meanwhile)
    assert [lead.get(f"{URL}{version}/").status_code for version in (0, 2, 9)] == [404, 200, 404]


def test_an_open_round_keeps_its_version(project, lead):
    opened = factories.open_calibration(project, 1)

    lead.post(f"{URL}new/", form())

    opened.refresh_from_db()
    assert opened.guideline.version == 1
    assert factories.open_full(project, 1).guideline.version == 2


def test_a_project_without_guidelines_asks_its_lead_to_write_them(people, lead):
    project = factories.make_project("empty")
    with_none = type(project).objects.create(slug="none", name="None")
    project.memberships.update(project=with_none)

    new = lead.get("/projects/none/guidelines/new/").context["form"]
    assert "No guidelines yet" in page(lead, "/projects/none/guidelines/")
    assert new["summary"].value() == "The first version"
    lead.post("/projects/none/guidelines/new/", form(base_version="0"))
    assert Guideline.objects.get(project=with_none).version == 1


def test_distant_changes_are_parted_by_a_gap():
    before = [str(number) for number in range(30)]
    after = ["first", *before[1:-1], "last"]

    kinds = [line.kind for line in compare("\n".join(before), "\n".join(after))]

    beginning = ["removed", "added", "same", "same", "same"]
    assert kinds == [*beginning, "gap", "same", "same", "same", "removed", "added"]


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_the_editor_shows_how_the_text_will_look_and_stores_nothing(project, headers, lead):
    before = project.guidelines.count()
    body = {"body": "## Rule\n\n<script>alert(1)</script> **bold**", "preview": "1"}

    response = lead.post("/projects/orders/guidelines/new/", body, headers=headers)

    shown = response.content.decode()
    assert response.status_code == 200
    assert "<strong>bold</strong>" in shown
    assert "<script>alert" not in shown
    assert ("<html" in shown) is not bool(headers)
    assert project.guidelines.count() == before


def test_a_first_version_begins_with_the_text_for_what_is_labeled(rita, lead):
    projects.create(slug="chats", name="Chats", by=rita, layers=["qa", "arc"])

    shown = page(lead, "/projects/chats/guidelines/new/")

    assert "Labeling questions with their evidence" in shown
    assert "Labeling narrative arcs" in shown
    assert "Labeling requirements" not in shown


# --- files of the server -----------------------------------------------------------------------


def add(path: Path, **options: str) -> str:
    out = StringIO()
    call_command("add_guidelines", path, project="orders", stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def guide(tmp_path: Path) -> Path:
    path = tmp_path / "guide.md"
    path.write_bytes(b"\xef\xbb\xbf# Guide\r\n\r\nLabel what they ask for.\r\n")
    return path


def test_a_file_becomes_the_next_version(project, guide):
    said = add(guide, summary="Ask, not want")

    newest = project.guidelines.first()
    assert said == "Version 2 of the guidelines of orders.\n"
    assert (newest.version, newest.summary) == (2, "Ask, not want")
    assert newest.body == "# Guide\n\nLabel what they ask for.\n"


def test_the_same_text_again_changes_nothing(project, guide):
    add(guide)

    assert add(guide) == "This is the text of version 2: nothing was changed.\n"
    assert project.guidelines.count() == 2
    assert project.guidelines.first().summary == "From guide.md"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (None, "guide.md: cannot be read (No such file or directory)."),
        (b"\xff\xfe", "guide.md: is not UTF-8; save the file as UTF-8."),
        (b" \n", "guide.md: body: This field is required."),
        (b"a\x00b", "guide.md: body: Null characters are not allowed."),
        (b"a" * 200_001, "guide.md: body: Ensure this value has at most 200000 characters"),
    ],
)
def test_what_is_no_text_is_refused(project, guide, raw, reason):
    guide.unlink()
    if raw is not None:
        guide.write_bytes(raw)

    with pytest.raises(CommandError) as refused:
        add(guide)

    assert str(refused.value).startswith(reason)
    assert project.guidelines.count() == 1
