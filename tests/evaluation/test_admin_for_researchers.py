"""The admin as a researcher among the staff sees it: own projects alone, and no dead link."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from evaluation.models import Run
from evaluation.services.run import execution, primary_metrics
from labeling.models import Guideline, Project
from tests.evaluation import launching
from tests.evaluation.chat_gold import content
from tests.evaluation.conftest import perfect
from tests.evaluation.releases import freeze

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

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


def test_every_link_that_the_admin_shows_opens(
    noor: Client, finished: Any, script: Any, elsewhere: Run
) -> None:
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


def test_the_first_page_lists_tables_by_stage_under_plain_names(noor: Client) -> None:
    listed = noor.get(reverse("admin:index")).context["app_list"]

    assert [stage["name"] for stage in listed] == ["Gold", "Runs", "Results", "Judges"]
    named = [str(model["name"]) for stage in listed for model in stage["models"]]
    assert {"Gold releases", "Runs", "Cases", "Figures", "Gate decisions"} <= set(named)
    assert not {"Stage traces", "Cached replies", "Users", "Assignments"} & set(named)


def test_staff_without_a_role_see_nothing_and_administrators_everything(
    people: dict[str, User], signed_in: Any, project: Project
) -> None:
    User.objects.filter(username="olga").update(is_staff=True)
    olga = Client()
    olga.force_login(User.objects.get(username="olga"))

    empty = olga.get(reverse("admin:index"))
    assert empty.context["app_list"] == []
    assert "add you as a researcher" in empty.content.decode()
    assert olga.get(reverse(RUNS)).status_code == 403
    stages = signed_in("admin").get(reverse("admin:index")).context["app_list"]
    assert [stage["name"] for stage in stages][-2:] == ["Labeling", "Access"]


def test_runs_of_other_projects_are_neither_shown_nor_changed(
    noor: Client, launch: Any, elsewhere: Run
) -> None:
    own = launch()

    page = noor.get(reverse(RUNS))
    assert [run.pk for run in page.context["cl"].result_list] == [own.pk]
    assert "hidden@1" not in page.content.decode()  # also not among the filters
    assert noor.get(reverse("admin:evaluation_run_change", args=[elsewhere.pk])).status_code == 302
    case = elsewhere.cases.all()[0]
    assert noor.get(reverse("admin:evaluation_caserun_change", args=[case.pk])).status_code == 302
    evaluate = reverse("admin:labeling_goldrelease_evaluate") + f"?ids={elsewhere.release_id}"
    assert noor.post(evaluate, {"pipeline": "nothing"}).status_code == 302
    act(noor, "cancel", elsewhere, confirmed="1")
    act(noor, "score_again", elsewhere)
    exported = act(noor, "export_csv", elsewhere, own).content.decode()

    elsewhere.refresh_from_db()
    assert not elsewhere.cancelled
    assert "hidden@1" not in exported
    assert Run.objects.count() == 2


def test_the_way_to_a_page_of_the_product_tells_no_name_of_another_project(
    noor: Client, launch: Any, elsewhere: Run
) -> None:
    def opened(row: Any) -> int:
        kind = ContentType.objects.get_for_model(row)
        return noor.get(reverse("admin:view_on_site", args=[kind.pk, row.pk])).status_code

    assert opened(launch()) == 302
    hidden = [elsewhere, elsewhere.release, elsewhere.release.project, elsewhere.cases.all()[0]]
    assert [opened(row) for row in hidden] == [404] * 4
    assert noor.get("/admin/r/x/1/").status_code == 404


def test_staff_change_their_password_where_tries_are_counted(noor: Client) -> None:
    sent = {"old_password": "wrong", "new_password1": "a", "new_password2": "a"}

    for method in (noor.get, noor.post):
        reply = method(reverse("admin:password_change"), sent)
        assert (reply.status_code, reply["Location"]) == (302, reverse("password-change"))


def test_who_may_see_a_release_without_a_role_may_not_launch_on_it(
    people: dict[str, User], project: Project, elsewhere: Run
) -> None:
    """Django's permission to look holds everywhere; to launch one reads the project."""
    rita = people["rita"]
    User.objects.filter(pk=rita.pk).update(is_staff=True)
    rita.user_permissions.add(Permission.objects.get(codename="view_goldrelease"))
    client = Client()
    client.force_login(User.objects.get(pk=rita.pk))
    evaluate = reverse("admin:labeling_goldrelease_evaluate") + f"?ids={elsewhere.release_id}"

    assert (
        "hidden@1" in client.get(reverse("admin:labeling_goldrelease_changelist")).content.decode()
    )
    client.post(evaluate, {"pipeline": "nothing"})
    assert Run.objects.count() == 1


def test_the_list_shows_what_decides_about_a_run(noor: Client, finished: Any, script: Any) -> None:
    script(perfect)
    run = finished(name="As it should be")

    page = noor.get(reverse(RUNS)).content.decode()

    assert re.search(r"1\.000 \[[01]\.\d{3} – 1\.000\]", page)
    assert "Requirement F1" in page
    detail = noor.get(reverse("admin:evaluation_run_change", args=[run.pk])).content.decode()
    assert "Requirement recall" in detail
    assert "As it should be" in page
    assert f'href="{run.get_absolute_url()}"' in page
    assert reverse("run-new") in page


def test_a_run_shows_its_plots_and_each_of_them_can_be_read(noor: Client, finished: Any) -> None:
    run = finished(pipeline="everything")

    page = noor.get(reverse("admin:evaluation_run_change", args=[run.pk])).content.decode()
    plots = re.findall(r'<img src="(/runs/[^"]*)" alt="[^"]+"', page)

    assert f"/runs/{run.pk}/plots/scores.svg" in plots
    for address in plots:
        assert noor.get(address)["Content-Type"] == "image/svg+xml", address


def test_a_run_is_told_in_words_and_leads_to_its_files(noor: Client, finished: Any) -> None:
    run = finished(split="dev")
    every = finished(name="every split")

    shown = noor.get(reverse("admin:evaluation_run_change", args=[run.pk])).content.decode()
    listed = noor.get(reverse(RUNS), {"split": "dev"}).content.decode()

    assert "the dev split" in shown
    assert "Pause reason" not in shown  # nothing to say
    for kind, ending in (("report", "html"), ("predictions", "jsonl")):
        link = reverse("run-report", args=[run.pk, ending])
        assert f'href="{link}"' in shown
        assert f"run-{run.pk}-{kind}.{ending}" in noor.get(link)["Content-Disposition"]
    assert f"/{run.pk}/change/" in listed
    assert f"/{every.pk}/change/" not in listed
    assert "demo@1, the dev split" in listed


def test_figures_on_test_items_wait_for_a_reason(
    noor: Client, make_release: Any, people: dict[str, User]
) -> None:
    release = make_release(2, splits=("test",))
    run = launching.launch(
        release, pipeline="nothing", queue=False, reason="A look", requested_by=people["rita"]
    )
    execution.work(run.pk, uuid4())

    assert "sealed: say why on its page" in noor.get(reverse(RUNS)).content.decode()
    assert "/plots/" not in noor.get(f"/admin/evaluation/run/{run.pk}/change/").content.decode()
    (row,) = csv.DictReader(io.StringIO(act(noor, "export_csv", run).content.decode()))
    assert (row["value"], row["note"]) == ("", "sealed: say on its page why you look")


def test_the_list_asks_as_many_queries_whatever_there_is(noor: Client, finished: Any) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            assert noor.get(reverse(RUNS)).status_code == 200
        return len(captured)

    finished(pipeline="nothing")
    queries()  # the first one fills what a process keeps
    before = queries()
    finished(pipeline="everything")
    finished(pipeline="nothing")
    assert queries() == before


def test_selected_runs_are_compared_on_the_page(noor: Client, launch: Any) -> None:
    first, second = launch(), launch()

    assert act(noor, "compare", second, first)["Location"] == (
        f"{reverse('run-compare')}?baseline={first.pk}&run={second.pk}"
    )
    alone = noor.post(
        reverse(RUNS), {"action": "compare", "_selected_action": [first.pk]}, follow=True
    )
    assert "Select two to 6 runs" in alone.content.decode()


def test_figures_leave_as_files(noor: Client, finished: Any, script: Any) -> None:
    script(perfect)
    run = finished(name="=1+1")

    table = list(csv.DictReader(io.StringIO(act(noor, "export_csv", run).content.decode())))
    document = json.loads(act(noor, "export_json", run).content)

    (row,) = [row for row in table if row["metric"] == "requirement_f1"]
    assert (row["name"], row["value"], row["n"], row["gold"]) == ("'=1+1", "1.0", "3", "demo@1")
    assert [row["metric"] for row in document] == [row["metric"] for row in table]


def test_runs_are_cancelled_after_a_question_and_scored_again(
    noor: Client, launch: Any, finished: Any
) -> None:
    waiting, done = launch(), finished(pipeline="nothing")

    asked = act(noor, "cancel", waiting).content.decode()
    assert "does not go on again" in asked
    assert not Run.objects.get(pk=waiting.pk).cancelled
    act(noor, "cancel", waiting, confirmed="1")
    assert Run.objects.get(pk=waiting.pk).cancelled

    said = noor.post(
        reverse(RUNS),
        {"action": "score_again", "_selected_action": [waiting.pk, done.pk]},
        follow=True,
    ).content.decode()
    assert f"Run {done.pk} is scored again." in said
    assert f"Run {waiting.pk}: " in said
    assert Run.objects.get(pk=done.pk).scored_at is None


def test_a_case_is_read_in_words(noor: Client, finished: Any, script: Any) -> None:
    script(perfect)
    run = finished()
    case = run.cases.first()

    page = noor.get(reverse("admin:evaluation_caserun_change", args=[case.pk])).content.decode()
    listed = noor.get(
        reverse("admin:evaluation_caserun_changelist"), {"run__id__exact": run.pk}
    ).content.decode()

    assert "Requirement recall" in page
    assert "<dt>title</dt>" in page
    assert "<dt>source messages</dt>" in page
    assert "{&#x27;" not in page
    assert "<dt>uid</dt>" not in page
    assert "deletelink" not in page
    assert case.get_absolute_url() in page
    assert f"{case.case_id} in run {run.pk}" in page
    assert "1.000" in listed


def test_gold_is_read_in_words(noor: Client, release: Any) -> None:
    item = release.items.exclude(split="test")[0]

    gold = noor.get(reverse("admin:labeling_goldrelease_change", args=[release.pk]))
    page = noor.get(reverse("admin:labeling_golditem_change", args=[item.pk])).content.decode()

    assert release.get_absolute_url() in gold.content.decode()
    assert "canonical" not in page.lower()
    assert "<h3>Requirements</h3>" in page
    assert "<dt>title</dt>" in page
    for shown in (gold.content.decode(), page):
        assert "{&quot;" not in shown
        assert "{&#x27;" not in shown


def test_a_launch_offers_what_makes_the_layers_of_the_ticked_gold(
    noor: Client, release: Any, project: Project
) -> None:
    questions = freeze(project, "qa", name="questions", contents=[content("qa", "dev")])
    address = reverse("admin:labeling_goldrelease_evaluate")

    def offered(*ticked: Any) -> set[str]:
        numbers = ",".join(str(each.pk) for each in ticked)
        page = noor.get(address, {"ids": numbers}).content.decode()
        options = re.findall(r'<option value="([\w-]+)"([^>]*data-layers[^>]*)>', page)
        return {name for name, attributes in options if "disabled" not in attributes}

    assert "requirements-local" in offered(release)
    assert "requirements-local" not in offered(questions)
    assert "nothing" in offered(release, questions)
    assert "requirements-local" not in offered(release, questions)


def test_a_case_shows_the_metric_that_its_project_declares(
    noor: Client, finished: Any, script: Any, project: Project, people: dict[str, User]
) -> None:
    script(lambda case: {"requirements": perfect(case)["requirements"][:1] * 3, "model": None})
    case = finished().cases.first()
    primary_metrics.declare(project, "extraction", "requirement_precision", 0.1, by=people["rita"])
    shown = case.scores.get(metric="requirement_precision").value
    assert shown != case.scores.get(metric="requirement_f1").value

    listed = noor.get(reverse("admin:evaluation_caserun_changelist")).content.decode()

    assert f'class="field-primary">{shown:.3f}<' in listed
