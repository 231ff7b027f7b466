"""The admin as a researcher among the staff sees it: own projects alone, and no dead link."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.test import Client
from django.urls import reverse

from evaluation.models import Run
from evaluation.services.run import execution
from labeling.models import Guideline, Project
from tests.evaluation import launching
from tests.evaluation.chat_gold import content
from tests.evaluation.conftest import perfect
from tests.evaluation.releases import freeze

RUNS = "admin:evaluation_run_changelist"


@pytest.fixture
def noor(people: dict[str, User], project: Project) -> Client:
    """A researcher to whom an administrator gave the admin, and no permission of Django's."""
    User.objects.filter(username="noor").update(is_staff=True)
    client = Client()
    client.force_login(User.objects.get(username="noor"))
    return client


@pytest.fixture
def elsewhere(people: dict[str, User]) -> Run:
    """A run in a project that noor does not read."""
    other = Project.objects.create(slug="secret", name="Secret")
    Guideline.objects.create(project=other, version=1, body="Label what they want.")
    release = freeze(other, "qa", name="hidden", contents=[content("qa", "dev")])
    return launching.launch(release, pipeline="nothing", requested_by=people["olga"], queue=False)


def act(client: Client, action: str, *runs: Run, **fields: Any) -> Any:
    chosen = [run.pk for run in runs]
    return client.post(reverse(RUNS), {"action": action, "_selected_action": chosen, **fields})


def links(page: str) -> set[str]:
    return {link.split("#")[0] for link in re.findall(r'href="(/admin/[^"?]*)"', page)}


def _kind(address: str) -> str:
    return re.sub(r"\d+", "0", address)


def test_every_link_that_the_admin_shows_opens(noor, finished, script, elsewhere):
    script(perfect)
    finished()
    seen: set[str] = set()
    kinds: Counter[str] = Counter()  # two of each are enough
    waiting = {reverse("admin:index")}
    while waiting:
        address = waiting.pop()
        seen.add(address)
        kinds[_kind(address)] += 1
        if "logout" in address or "jsi18n" in address or kinds[_kind(address)] > 2:
            continue
        response = noor.get(address, follow=True)
        assert response.status_code == 200, address
        assert not list(response.context["messages"]), address  # “does not exist”
        page = response.content.decode()
        assert "permission to view" not in page, address
        assert "hidden@1" not in page, address
        waiting |= links(page) - seen
    assert reverse(RUNS) in seen
    assert any(re.fullmatch(r"/admin/evaluation/caserun/\d+/change/", link) for link in seen)


def test_staff_without_a_role_see_nothing_and_administrators_everything(people, signed_in, project):
    User.objects.filter(username="olga").update(is_staff=True)
    olga = Client()
    olga.force_login(User.objects.get(username="olga"))

    empty = olga.get(reverse("admin:index"))
    assert empty.context["app_list"] == []
    assert "add you as a researcher" in empty.content.decode()
    assert olga.get(reverse(RUNS)).status_code == 403
    stages = signed_in("admin").get(reverse("admin:index")).context["app_list"]
    assert [stage["name"] for stage in stages][-2:] == ["Labeling", "Access"]


def test_runs_of_other_projects_are_neither_shown_nor_changed(noor, launch, elsewhere):
    own = launch()

    page = noor.get(reverse(RUNS))
    assert [run.pk for run in page.context["cl"].result_list] == [own.pk]
    assert "hidden@1" not in page.content.decode()  # also not among the filters
    assert noor.get(reverse("admin:evaluation_run_change", args=[elsewhere.pk])).status_code == 302
    case = elsewhere.cases.all()[0]
    assert noor.get(reverse("admin:evaluation_caserun_change", args=[case.pk])).status_code == 302
    exported = act(noor, "export_csv", elsewhere, own).getvalue().decode()

    assert "hidden@1" not in exported


def test_no_address_leads_from_the_number_of_a_row_to_its_name(noor, elsewhere):
    kind = ContentType.objects.get_for_model(elsewhere)
    assert noor.get(f"/admin/r/{kind.pk}/{elsewhere.pk}/").status_code == 404


def test_staff_change_their_password_where_tries_are_counted(noor: Client) -> None:
    sent = {"old_password": "wrong", "new_password1": "a", "new_password2": "a"}

    for method in (noor.get, noor.post):
        reply = method(reverse("admin:password_change"), sent)
        assert (reply.status_code, reply["Location"]) == (302, reverse("password-change"))


def test_figures_on_test_items_wait_for_a_reason(noor, make_release, people):
    release = make_release(2, splits=("test",))
    run = launching.launch(
        release, pipeline="nothing", queue=False, reason="A look", requested_by=people["rita"]
    )
    execution.work(run.pk, uuid4())

    (row,) = csv.DictReader(io.StringIO(act(noor, "export_csv", run).getvalue().decode()))
    assert (row["test_exact_recall"], row["sealed"]) == ("", "True")


def test_selected_runs_are_compared_on_the_page(noor: Client, launch: Any) -> None:
    first, second = launch(), launch()

    assert act(noor, "compare", second, first)["Location"] == (
        f"{reverse('run-compare')}?baseline={first.pk}&run={second.pk}"
    )
    alone = noor.post(
        reverse(RUNS), {"action": "compare", "_selected_action": [first.pk]}, follow=True
    )
    assert "Select two to 6 runs" in alone.content.decode()
