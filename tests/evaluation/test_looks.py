"""Runs on test items: launched for a reason, and read for one, whichever way somebody comes."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.urls import reverse

from evaluation.management import summary
from evaluation.models import CaseRun, Run
from evaluation.services import looks
from evaluation.services.launch import cloning
from evaluation.services.run import experiments, results
from labeling.models import Look
from labeling.words import in_english
from tests import factories
from tests.evaluation import launching
from tests.evaluation.commands import evaluate
from tests.evaluation.conftest import perfect
from tests.looks import WHY, say_why

BOTH = ("dev", "test")


@pytest.fixture
def release(make_release: Any) -> Any:
    """Four cases: two of dev, two of test."""
    return make_release(4, splits=BOTH)


@pytest.fixture
def run(script: Any, finished: Any, release: Any, people: Any) -> Run:
    """On every split, launched by rita."""
    script(some)
    made: Run = finished(release=release, requested_by=people["rita"], reason="Final figures")
    return made


def some(case: Any) -> Any:
    """Nothing for the test items, everything for the others."""
    number = int(case.case_id[-3:])
    if number % 2:
        return {"requirements": [], "model": None}
    return perfect(case)


# --- launching ------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", ["", "dev", "open"])
def test_a_run_without_test_items_needs_none(release: Any, split: str) -> None:
    run = launching.launch(release, pipeline="nothing", split=split)

    assert set(run.cases.values_list("item__split", flat=True)) == {"dev"}
    assert run.look is None
    assert not Look.objects.exists()


def test_all_but_test_is_every_split_where_there_is_no_test(make_release: Any) -> None:
    run = launching.launch(make_release(2), pipeline="nothing", split="open")

    assert (run.split, run.cases.count()) == ("", 2)


def test_each_launch_is_a_look_and_the_reason_is_asked_once(release: Any, people: Any) -> None:
    noor = people["noor"]
    launching.launch(release, pipeline="nothing", reason="Final", requested_by=noor)
    second = launching.launch(release, pipeline="everything", split="test", requested_by=noor)

    assert second.reason == "Final"
    assert (second.look.subject, second.look.named) == ("run", str(second.pk))
    assert [look.n_items for look in Look.objects.all()] == [2, 2]


def test_the_form_leaves_the_test_split_out_unless_it_is_chosen(release, signed_in):
    for name in ("run-new", "run-predictions"):
        page = signed_in("noor").get(reverse(name), {"release": str(release)}).content.decode()

        [select] = page.split('name="split"')[1:]
        [option] = select.split("</select>")[0].split(" selected>")[1:]
        assert option.startswith("All but the test split<")
        assert "data-needs-reason hidden" in page


# --- reading --------------------------------------------------------------------------------------


def test_every_page_and_file_with_test_results_asks_why(run: Run, signed_in: Any) -> None:
    noor, case = signed_in("noor"), _case(run, "test")
    names = ["run", "run-ratings"]
    addresses = [reverse(name, args=[run.pk]) for name in names]
    addresses += [
        reverse("run-report", args=[run.pk, ending]) for ending in ("html", "json", "csv")
    ]
    parts = ["run-case-reopen", "run-case-document"]
    addresses += [case.get_absolute_url(), *(reverse(n, args=[run.pk, case.pk]) for n in parts)]

    for address in addresses:
        asked = noor.get(address, follow=True)
        assert "why do you look?" in asked.content.decode(), address
    assert noor.post(reverse("run-gate", args=[run.pk])).status_code == 302
    assert not run.gate_results.exists()

    last = asked.redirect_chain[-1][0]
    assert noor.post(last, {"reason": "Reading"}).url == addresses[-1]
    for address in addresses:
        assert noor.get(address).status_code == 200, address
    look = Look.objects.get(purpose="results")
    assert (look.subject, look.named) == ("run", str(run.pk))


def test_a_case_of_another_split_is_shown(run: Run, signed_in: Any) -> None:
    assert signed_in("noor").get(_case(run, "dev").get_absolute_url()).status_code == 200


def test_who_launched_it_reads_what_came_out(run: Run, signed_in: Any) -> None:
    page = signed_in("rita").get(f"{run.get_absolute_url()}?tab=provenance").content.decode()

    assert "look 1 of 1 at these test items, 2 items" in page
    assert summary.notes(run) == [
        "Look 1 of 1 at the test items of demo@1; items seen: 2. Why: Final figures"
    ]
    look = results.run_document(run)["test_look"]
    assert look == {"number": 1, "n_items": 2, "looks": 1}


def _case(run: Run, split: str) -> CaseRun:
    case = run.cases.filter(item__split=split).first()
    assert case is not None
    return case


def test_comparing_is_a_purpose_of_its_own(run, finished, release, signed_in):
    other = finished(release=release, pipeline="everything", reason="Final")
    rita, address = signed_in("rita"), f"{reverse('run-compare')}?baseline={run.pk}&run={other.pk}"
    part = reverse("run-compare-case", args=[run.pk, other.pk, _case(other, "test").pk])

    assert rita.get(part).status_code == 302
    asked = rita.get(address)
    assert rita.post(asked.url, {"reason": "Which is better?"}).url == address

    assert [rita.get(url).status_code for url in (address, part)] == [200, 200]
    look = Look.objects.get(purpose="compare")
    assert (look.subject, look.named) == ("runs", f"{run.pk},{other.pk}")


def test_lists_keep_test_figures_to_themselves(run: Run, signed_in: Any) -> None:
    noor, rita = signed_in("noor"), signed_in("rita")

    assert "sealed: say why you look" in noor.get(reverse("runs")).content.decode()
    assert "sealed: say why you look" not in rita.get(reverse("runs")).content.decode()


def test_the_api_answers_403_until_it_is_told_why(run: Run, signed_in: Any) -> None:
    noor = signed_in("noor")
    addresses = [reverse("api-run", args=[run.pk]), reverse("api-run-cases", args=[run.pk])]
    for address in addresses:
        refused = noor.get(address)
        assert (refused.status_code, refused.json()["code"]) == (403, "look_reason_needed")
    assert refused.json()["details"] == {"releases": ["demo@1"], "purpose": "results"}

    sent = {"gold": "demo@1", "purpose": "results", "reason": "A table of the paper"}
    noor.post(reverse("api-looks"), sent, content_type="application/json")

    assert [noor.get(address).status_code for address in addresses] == [200, 200]
    assert noor.get(addresses[0]).json()["test_look"]["number"] == 1


def test_the_admin_leaves_test_results_out_until_their_reader_says_why(
    run, release, signed_in, people
):
    admin = signed_in("admin")
    lists = [reverse(f"admin:evaluation_{name}_changelist") for name in ("aggregate", "score")]
    page = reverse("admin:evaluation_run_change", args=[run.pk])
    shown = [admin.get(url).context["cl"].result_count for url in lists]
    assert shown[0] == 0
    assert shown[1] > 0
    assert "0.5000" not in admin.get(page).content.decode()

    say_why(release, people["admin"], purposes=("results",))

    assert admin.get(lists[0]).context["cl"].result_count > 0
    assert admin.get(lists[1]).context["cl"].result_count > shown[1]
    assert "0.5000" in admin.get(page).content.decode()


# --- the log of experiments -----------------------------------------------------------------------


def test_the_test_part_of_every_split_lands_in_the_test_column(run: Run) -> None:
    (row,) = experiments.rows(Run.objects.all())

    assert (row["dev_exact_recall"], row["test_exact_recall"]) == (1.0, 0.0)
    assert (row["all_exact_recall"], row["train_exact_recall"]) == (0.5, None)
    assert row["sealed"] is False


def test_a_sealed_row_keeps_only_what_says_nothing_about_test_items(run: Run) -> None:
    (row,) = experiments.rows(Run.objects.all(), sealed=lambda runs: {run.pk for run in runs})

    assert (row["dev_exact_recall"], row["test_exact_recall"]) == (1.0, None)
    assert (row["all_exact_recall"], row["recall_ci_low"], row["sealed"]) == (None, None, True)


# --- commands -------------------------------------------------------------------------------------


def test_commands_show_results_on_test_items_for_a_reason(run, finished, release):
    other = finished(release=release, pipeline="everything", reason="Final")
    for command in (("compare", run.pk, other.pk), ("gate", run.pk)):
        with pytest.raises(CommandError, match="why do you look") as refused:
            call_command(*command)
        assert refused.value.returncode == 2

    out, notes = io.StringIO(), io.StringIO()
    call_command("compare", run.pk, other.pk, reason=WHY, format="json", stdout=out, stderr=notes)

    assert json.loads(out.getvalue())["runs"]
    assert "Looks at the test items of demo@1: 3." in notes.getvalue()


def test_resuming_a_finished_run_shows_nothing_without_a_reason(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(requested_by=None)

    with pytest.raises(CommandError, match="why do you look"):
        call_command("evaluate", resume=[run.pk], stdout=io.StringIO(), stderr=io.StringIO())


def test_the_staff_read_answers_to_test_items_for_a_reason(release, signed_in, people):
    tested = release.items.filter(split="test").first().conversation
    tested.split = "test"
    tested.save()
    round_ = factories.open_full(release.project, 1, overlap=2)
    round_.assignments.update(conversation=tested)
    factories.answer(round_.assignments.first())
    staff = people["noor"]
    staff.is_staff = True
    staff.save()
    staff.user_permissions.add(Permission.objects.get(codename="view_annotation"))
    page, admin = reverse("admin:labeling_annotation_changelist"), signed_in("noor")
    answered = {"project": release.project_id, "q": tested.external_id}
    assert admin.get(page, answered).context["cl"].result_count == 0

    say_why(release, staff, purposes=("labels",))

    assert admin.get(page, answered).context["cl"].result_count > 0


SAID = "2 test items of demo@1 are left out."


def measured() -> tuple[str, set[str]]:
    run = Run.objects.latest("pk")
    return run.split, set(run.cases.values_list("item__split", flat=True))


def test_a_file_of_predictions_is_measured_without_its_test_items(release, tmp_path):
    path = tmp_path / "p.jsonl"
    rows = [{"case_id": f"case-00{n}", "output": {"requirements": []}} for n in range(4)]
    path.write_text("\n".join(map(json.dumps, rows)))

    said = evaluate("--gold", "demo", "--predictions", str(path))

    assert SAID in said
    assert "2 of 2 cases are predicted." in said
    assert measured() == ("open", {"dev"})


def test_the_api_and_the_page_measure_all_but_test_items(release: Any, signed_in: Any) -> None:
    fields = {"gold": "demo", "pipeline": "nothing"}
    sent = signed_in("noor").post(reverse("api-runs"), fields, content_type="application/json")
    assert (sent.status_code, measured()) == (201, ("open", {"dev"}))

    form = {"release": release.pk, "pipeline": "nothing", "split": ""}
    launched = signed_in("noor").post(reverse("run-new"), form)
    assert measured() == ("open", {"dev"})
    assert SAID in signed_in("noor").get(launched["Location"]).content.decode()


def test_gold_of_test_items_alone_is_refused_and_says_how_to_ask(make_release: Any) -> None:
    make_release(2, splits=("test",))

    with pytest.raises(CommandError, match=r"every item of demo@1 is one.*--test-only"):
        evaluate("--gold", "demo", "--pipeline", "nothing")
    assert not Run.objects.exists()


def test_a_run_launched_again_measures_what_it_did(release: Any, people: Any) -> None:
    for split, again in (("all", "all"), ("open", "open"), ("test", "test")):
        run = launching.launch(release, pipeline="nothing", split=split, reason="Final figures")
        request = cloning.request(run, by=people["noor"])
        assert request.split == again
        assert request.selection == run.split


def test_older_runs_on_every_split_stay_as_they_are(release: Any) -> None:
    run = launching.launch(release, pipeline="nothing", split="all", reason="Final figures")

    assert run.split == ""
    assert looks.left_out(release, run.split) is None
    document = results.run_document(Run.objects.with_progress().get(pk=run.pk))
    assert (document["split"], document["test_items_left_out"]) == (None, 0)
    assert in_english(looks.left_out(release, "open")) == SAID
