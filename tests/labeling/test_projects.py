import pytest
from django.contrib.auth.models import Permission
from django.core.exceptions import ValidationError

from labeling.core.forms.projects import ProjectForm
from labeling.models import Event, Project
from tests import factories
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/"
NEW = {
    "name": "Clinics",
    "slug": "clinics",
    "layers": ["extraction"],
    "kappa_threshold": "0.8",
    "kappa_statistic": "mean",
    "label_f1_threshold": "0.4",
    "overlap": "2",
}


def verbs(project):
    return list(Event.objects.filter(project=project).values_list("verb", flat=True))


def test_staff_create_a_project_and_lead_it(signed_in, admin):
    response = signed_in(admin).post("/projects/new/", NEW)

    created = Project.objects.get(slug="clinics")
    assert response.url == "/projects/clinics/"
    assert (created.kappa_threshold, created.kappa_statistic, created.overlap) == (0.8, "mean", 2)
    assert created.label_f1_threshold == 0.4
    assert created.memberships.get().user == admin
    assert created.memberships.get().role == "lead"
    assert verbs(created) == ["project.created"]


def test_a_lead_creates_a_project_with_a_name_alone(project, rita, lead):
    response = lead.post("/projects/new/", {"name": "Orders", "layers": ["extraction"]})

    created = Project.objects.get(name="Orders", slug="orders-2")  # orders is taken
    assert response.url == "/projects/orders-2/"
    assert created.memberships.get().user == rita
    assert (created.kappa_threshold, created.kappa_statistic, created.overlap) == (0.75, "min", 3)


@pytest.mark.parametrize(
    ("who", "setting", "status"),
    [
        ("rita", "leads", 302),
        ("rita", "staff", 403),
        ("admin", "staff", 302),
        ("noor", "leads", 403),
        ("ana", "leads", 403),
        ("olga", "leads", 403),
    ],
)
def test_who_creates_projects_is_a_setting(
    signed_in, project, people, settings, who, setting, status
):
    settings.PROJECT_CREATORS = setting

    assert signed_in(people[who]).post("/projects/new/", NEW).status_code == status
    assert Project.objects.filter(slug="clinics").exists() is (status == 302)


def test_an_account_that_may_add_projects_begins_on_its_home_page(signed_in, people):
    olga = people["olga"]
    olga.user_permissions.add(Permission.objects.get(codename="add_project"))

    assert "Create your first project" in page(signed_in(olga), "/")


def test_a_short_name_that_is_taken_is_refused_in_words(signed_in, admin, project):
    response = signed_in(admin).post("/projects/new/", {**NEW, "slug": "orders"})

    assert response.status_code == 400
    assert "There is a project “orders” already" in text_of(response)


def test_an_override_stays_visible_with_its_reason(project, lead):
    factories.open_full(project, 2, override_reason="The pilot needs labels by Friday.")

    shown = page(lead, URL)

    assert "Overridden:" in shown
    assert "“The pilot needs labels by Friday.”" in shown


def test_a_layer_is_labeled_with_what_its_labels_refer_to():
    chosen = {"name": "A", "slug": "a", "kappa_threshold": 0.7, "kappa_statistic": "min"}
    chosen |= {"label_f1_threshold": 0.5, "overlap": 2, "layers": ["validation"]}

    assert ProjectForm(chosen).errors["layers"] == [
        "Validation issues refer to requirements: label these too."
    ]
    assert ProjectForm({**chosen, "layers": ["extraction", "validation"]}).is_valid()


def test_event_types_and_roles_keep_their_order(project):
    project.event_schema = {"shipping": ["place", "item"], "buy": ["z", "a"], "a": []}
    project.save()

    kept = Project.objects.get(pk=project.pk).event_schema

    assert list(kept.items()) == [("shipping", ["place", "item"]), ("buy", ["z", "a"]), ("a", [])]


@pytest.mark.parametrize("value", [[1], {"a": "b"}, {"a": [1]}, {"": []}])
def test_an_event_schema_that_is_none_is_refused(project, value):
    project.event_schema = value

    with pytest.raises(ValidationError, match="Write event types with their roles"):
        project.full_clean()
