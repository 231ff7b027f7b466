"""Pipelines on conversations without gold, by command, page and API."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.urls import reverse
from django.utils import timezone

from evaluation.models import CaseRun, Run
from evaluation.services.launch import predictions
from evaluation.services.run import execution
from evaluation.services.unmeasured import adopting, launching, predicting
from evaluation.services.unmeasured.files import document_of
from evaluation.services.unmeasured.launching import records_of
from evaluation.services.work import leases, steering
from labeling.conversations import conversations
from labeling.conversations.formats.talks import HowToRead
from labeling.conversations.rules.importing import Turn
from labeling.models import Conversation, Membership, Round, Suggestion
from pipelines.requirements.document.files import FORMS
from pipelines.types import Case, Output
from tests import factories
from tests.evaluation.conftest import fails, requirement, work
from tests.evaluation.launching import launch
from tests.refusals import refused

pytestmark = pytest.mark.django_db

PIPELINE = "requirements-agent"
PLANNING = "/runs/new/planning/?on=conversations"
TALK = "Ana: What do you need?\nBo: A list of all orders.\nAna: Anything else?\nBo: No, thanks.\n"
DOCUMENT = {
    "title": "Orders",
    "sections": [{"id": "scope", "title": "Scope", "body": "A list, see [1](#message-1)."}],
}


def returned(case: Case) -> Output:
    wanted = requirement(1, title="=Order list", confidence=0.8, source_messages=[1])
    issue = {"requirement": "REQ-001", "issue_type": "too_broad", "severity": "warning"}
    issue |= {"field": "action", "span": None, "message": "Too broad", "suggested_fix": "Say which"}
    return {"requirements": [wanted], "issues": [issue], "document": DOCUMENT, "model": None}


def native(*ids: str) -> str:
    turns = [{"role": "analyst", "content": "What?"}, {"role": "user", "content": "A list."}]
    return "".join(
        json.dumps({"id": id, "messages": [*turns, {"role": "user", "content": id}]}) + "\n"
        for id in ids
    )


# --- by command -----------------------------------------------------------------------------------


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    path = tmp_path / "talks.jsonl"
    path.write_text(native("a", "b", "c"), encoding="utf-8")
    return path


def run_pipeline(*files: Path, into: Path, pipeline: str = PIPELINE, **options: Any) -> None:
    call_command("run_pipeline", *map(str, files), pipeline=pipeline, output_dir=into, **options)


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_files_become_predictions_labels_documents_and_a_report(script, tmp_path, talks, capsys):
    script(
        lambda case: returned(case) | {"notice": "Not in English." if case.case_id == "b" else None}
    )
    spoken = tmp_path / "spoken.vtt"
    spoken.write_text(
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>What?\n\n00:02.000 --> 00:03.000\n<v Bo>That.\n"
    )
    into = tmp_path / "out"
    for _ in range(2):  # called again it says what is there
        run_pipeline(talks, spoken, into=into)

        lines = read(into / "predictions.jsonl")
        assert [line["case_id"] for line in lines] == ["a", "b", "c", "spoken"]
        said = capsys.readouterr().out
        assert f"In {into}: predictions.jsonl, labels.csv, 12 in documents/." in said
        assert "1 × Not in English." in said
        assert not Run.objects.exists()
    rows = list(csv.DictReader(io.StringIO((into / "labels.csv").read_text(encoding="utf-8"))))
    assert [row["kind"] for row in rows[:2]] == ["requirement", "issue"]
    assert (rows[0]["title"], rows[0]["source_messages"]) == ("'=Order list", "1")
    assert {path.name for path in (into / "documents").iterdir()} >= {"a.md", "spoken.docx"}
    report = json.loads((into / "run.json").read_text())
    assert [file["name"] for file in report["files"]] == ["talks.jsonl", "spoken.vtt"]
    assert (report["state"], report["done"], report["failed"]) == ("finished", 4, 0)
    assert report["labels"] == {"requirement": 4, "issue": 4}
    assert report["notices"] == {"Not in English.": 1}


def test_what_was_written_is_measured_once_there_is_gold(script, tmp_path, release):
    path, into = tmp_path / "gold.jsonl", tmp_path / "out"
    gold = {item.item_id: item.content for item in release.items.all()}
    path.write_text(
        "".join(
            json.dumps({"id": name, "messages": [_said(each) for each in content["conversation"]]})
            + "\n"
            for name, content in gold.items()
        )
    )
    script(lambda case: {"requirements": gold[case.case_id]["gold"]["requirements"], "model": None})
    run_pipeline(path, into=into, layer="extraction")

    with (into / "predictions.jsonl").open("rb") as file:
        run = launch(release, predictions=predictions.from_file(file, "predictions.jsonl"))
    assert work(run).aggregates.get(metric="requirement_f1").mean == 1


def _said(message: Any) -> dict[str, str]:
    return {name: message[name] for name in ("role", "content")}


def test_a_stopped_run_goes_on_and_computes_nothing_twice(script, tmp_path, talks):
    into = tmp_path / "out"
    into.mkdir()
    (into / ".run.json.partial").touch()  # the first one was killed before it had begun

    script(fails(KeyboardInterrupt(), at="b", otherwise=returned))
    with pytest.raises(CommandError, match="continue"):
        run_pipeline(talks, into=into)
    asked: list[str] = []
    script(lambda case: asked.append(case.case_id) or returned(case))
    run_pipeline(talks, into=into)
    run_pipeline(talks, into=into)

    assert asked == ["b", "c"]
    assert [line["case_id"] for line in read(into / "predictions.jsonl")] == ["a", "b", "c"]


def test_what_fails_is_said_and_tried_again_by_the_next_call(script, tmp_path, talks):
    into = tmp_path / "out"
    with talks.open("a") as file:
        file.write("{no json\n" + native("a"))

    script(fails(ValueError("boom"), at="b", otherwise=returned))
    with pytest.raises(CommandError, match="3 failed") as caught:
        run_pipeline(talks, into=into)

    assert caught.value.returncode == 1
    failures = {line["case_id"]: line["class"] for line in read(into / "failures.jsonl")}
    assert failures == {"b": "permanent", "talks.jsonl:4": "unreadable", "a": "permanent"}
    assert json.loads((into / "run.json").read_text())["failures"] == {
        "permanent": 2,
        "unreadable": 1,
    }
    assert len(read(into / "predictions.jsonl")) == 2
    script(returned)
    with pytest.raises(CommandError, match="2 failed"):
        run_pipeline(talks, into=into)
    assert len(read(into / "predictions.jsonl")) == 3


def test_results_of_something_else_are_not_overwritten(script, tmp_path, talks):
    script(returned)
    into = tmp_path / "out"
    run_pipeline(talks, into=into)
    talks.write_text(native("d"))
    with pytest.raises(CommandError, match="files differ"):
        run_pipeline(talks, into=into)
    foreign = tmp_path / "foreign"
    (foreign / "documents").mkdir(parents=True)
    (foreign / "documents" / "thesis.md").write_text("mine")
    with pytest.raises(CommandError, match="not empty"):
        run_pipeline(talks, into=foreign)
    assert (foreign / "documents" / "thesis.md").read_text() == "mine"


@pytest.mark.usefixtures("asking")
def test_a_used_up_budget_stops_it_until_there_is_another(tmp_path, talks, server):
    into = tmp_path / "out"
    asked = {"pipeline": "asking", "into": into, "layer": "extraction"}
    with pytest.raises(CommandError, match="call again") as caught:
        run_pipeline(talks, **asked, budget_tokens=1)
    assert caught.value.returncode == 2
    run_pipeline(talks, **asked, budget_tokens=1_000_000)

    usage = json.loads((into / "run.json").read_text())["usage"]
    assert usage["calls"] - usage["cached"] == len(server.requests) == 6


def test_what_a_pipeline_needs_beyond_a_conversation_is_said(tmp_path, talks, script):
    for pipeline, needed in (("memory", "one question a line"), ("events-local", "event types")):
        with pytest.raises(CommandError, match=needed):
            run_pipeline(talks, into=tmp_path / "o", pipeline=pipeline)
    script(lambda case: {"evidence": [len(case.question or "")], "model": None})
    questions = tmp_path / "q.txt"
    own = '{"id": "Q", "question": "Who?", "conversation": "a"}\n'
    own += '{"id": "Q", "question": "When?", "conversation": "b"}\n'
    of_all = [f"{talk}:Q-00{number}" for talk in "abc" for number in (1, 2)]
    for name, written, cases in (("o", "Who?\nWhen?\n", of_all), ("own", own, ["a:Q", "b:Q"])):
        questions.write_text(written)
        run_pipeline(talks, into=tmp_path / name, pipeline="memory", questions=questions)
        lines = read(tmp_path / name / "predictions.jsonl")
        assert [line["case_id"] for line in lines] == cases
    assert [line["output"]["evidence"] for line in lines] == [[4], [5]]
    named = '{"id": "Q-002", "question": "Who?"}\n{"question": "When?", "conversation": "a"}\n'
    for raw, why in ((named.encode(), "called “Q-002”"), ("Wer zählt?".encode("cp1252"), "UTF-8")):
        questions.write_bytes(raw)
        with pytest.raises(CommandError, match=why):
            run_pipeline(talks, into=tmp_path / "p", pipeline="memory", questions=questions)


# --- by page --------------------------------------------------------------------------------------


@pytest.fixture
def task(project: Any) -> predicting.Task:
    return predicting.checked_task(PIPELINE, {})


def records(*ids: str) -> Any:
    content = io.BytesIO(native(*ids).encode())
    return records_of([("x.jsonl", content)], format="native", how=HowToRead())


@pytest.fixture
def start(people: Any, task: predicting.Task) -> Any:
    """A run on texts of these names."""

    def start(
        *ids: str, by: str = "noor", name: str = "", project: Any = None, of: Any = None
    ) -> Run:
        wish = launching.Wish(people[by], of or task, name, project)
        return launching.on_records(wish, records(*ids))

    return start


def talk(project: Any, name: str) -> Conversation:
    said = [Turn("analyst", "What?"), Turn("user", f"Something called {name}.")]
    return factories.make_talk(project, name, said)


def posted(client: Any, **fields: Any) -> Any:
    return client.post(reverse("unmeasured-new"), {"pipeline": PIPELINE, **fields})


def test_a_pasted_transcript_is_tried_and_read(signed_in, script, project):
    script(returned)
    noor = signed_in("noor")
    response = posted(noor, text=TALK, roles="Ana=analyst,*=user")
    run = work(Run.objects.get())

    assert response.url == run.get_absolute_url()
    assert (run.status, run.pipeline_version) == ("finished", "1")
    assert noor.get(run.get_absolute_url()).status_code == 200
    case = CaseRun.objects.get()
    html = noor.get(case.get_absolute_url()).content.decode()
    for shown in ("=Order list", "A list of all orders.", 'data-sources="1"', "confidence 0.80"):
        assert shown in html
    assert "Too broad" in html  # at the requirement that it is about
    lines = b"".join(noor.get(reverse("run-outputs", args=[run.pk])).streaming_content)
    assert json.loads(lines)["output"]["requirements"][0]["title"] == "=Order list"
    table = b"".join(noor.get(reverse("run-labels", args=[run.pk])).streaming_content)
    assert next(csv.DictReader(io.StringIO(table.decode())))["title"] == "'=Order list"
    for ending in ("md", "html", "docx"):
        at = reverse("run-case-document-file", args=[run.pk, case.pk, ending])
        assert "attachment" in noor.get(at)["Content-Disposition"]


def test_text_of_strangers_is_text(signed_in, script, project):
    script(lambda case: {"requirements": [requirement(title="<script>")], "model": None})
    noor = signed_in("noor")
    posted(noor, text="Ana: <img src=x onerror=alert(1)>\nBo: Yes.", name="<b>x</b>")
    run = work(Run.objects.get())
    for url in (run.get_absolute_url(), CaseRun.objects.get().get_absolute_url()):
        html = noor.get(url).content.decode()
        for markup in ("<b>x</b>", "<img src=x", "<script>"):
            assert markup not in html


@pytest.mark.parametrize("name", ["rita", "noor", "olga", "ana"])
def test_a_run_without_gold_exists_for_its_maker_and_the_leads_of_its_project(
    name, signed_in, project, people, script, start
):
    script(returned)
    own, shared = start("x", name="own"), start("x", name="shared", project=project)
    seen = {"noor": [own, shared], "rita": [shared]}.get(name, [])
    client = signed_in(name)

    for run in (own, shared):
        status = 200 if run in seen else 404
        assert client.get(run.get_absolute_url()).status_code == status
        if run not in seen:
            assert client.post(reverse("run-delete", args=[run.pk])).status_code == 404
    Membership.objects.filter(user=people["noor"]).update(role="annotator")
    assert not Run.objects.with_unmeasured(people["noor"]).exists()


def test_neither_test_items_nor_blind_ones_are_tried_not_even_as_copies(
    signed_in, people, project, task
):
    factories.make_conversations(project, 2, split="test")
    blind = factories.open_calibration(project, 1, overlap=2)
    free = talk(project, "free")
    wish = launching.Wish(people["rita"], task, "", project)
    closed = [*project.conversations.filter(split="test"), blind.conversations.get()]
    for conversation in closed:
        with refused(predicting.TrialRefused, match="test split or is being labeled blind"):
            launching.on_conversations(wish, [conversation])
        assert conversation not in launching.choosable(project)
    assert free in launching.choosable(project)
    run = launching.on_conversations(wish, [free])
    rita = signed_in("rita")
    assert rita.get(run.get_absolute_url()).status_code == 200
    Conversation.objects.filter(pk=free.pk).update(split="test")
    assert rita.get(run.get_absolute_url()).status_code == 403


def test_a_copy_of_a_test_item_is_refused(people, project, task):
    talk = "".join(f"{word} is said once more, at some length. " for word in "abcdefghijklmnop")
    text = json.dumps(
        {
            "id": "t",
            "messages": [{"role": "user", "content": talk}, {"role": "user", "content": "x"}],
        }
    )

    files = [("t.jsonl", io.BytesIO(text.encode()))]
    conversations.import_files(project_slug=project.slug, files=files, split="test")

    copy = records_of(
        [("c.jsonl", io.BytesIO(text.replace('"t"', '"copy"').encode()))],
        format="native",
        how=HowToRead(),
    )
    with refused(predicting.TrialRefused, match="the same as a conversation of the test split"):
        launching.on_records(launching.Wish(people["rita"], task, ""), copy)


def test_a_worker_may_die_anywhere_and_a_run_may_be_cancelled(script, people, start):
    run = start("a", "b", "c")

    # as when the process is told to end
    script(fails(SystemExit(), at="b", otherwise=returned))
    with pytest.raises(SystemExit):
        execution.work(run.pk, uuid4())
    asked: list[str] = []
    script(lambda case: asked.append(case.case_id) or returned(case))
    assert Run.objects.filter(leases.startable_work(), pk=run.pk).exists()
    work(run)
    assert asked == ["b", "c"]

    other = start("a", "b")
    steering.cancel(other, by=people["noor"])
    assert work(other).status == "cancelled"
    assert asked == ["b", "c"]


def test_so_many_runs_of_one_person_are_open_at_once(people, monkeypatch, start):
    monkeypatch.setattr(launching, "MOST_OPEN", 1)
    cancelled = start("a")
    steering.cancel(cancelled, by=people["noor"])
    start("b")
    with refused(predicting.TrialRefused, match="not finished"):
        start("c")


def test_one_case_fails_in_words_and_what_expires_goes(script, signed_in, start):
    script(fails(ValueError("boom"), at="b", otherwise=returned))
    run = work(start("a", "b"))
    assert (run.n_done, run.n_failed) == (1, 1)
    assert "boom" in signed_in("noor").get(run.get_absolute_url()).content.decode()
    launching.forget()
    assert Run.objects.exists()
    Run.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    launching.forget()
    assert not CaseRun.objects.exists()


def test_what_cannot_be_tried_is_said_on_the_form(signed_in, project):
    noor = signed_in("noor")
    upload = SimpleUploadedFile("x.jsonl", b"{broken\n")
    for fields, said in [
        ({}, "one of the three"),
        ({"text": TALK, "file": SimpleUploadedFile("x.txt", TALK.encode())}, "one of the three"),
        ({"file": upload}, "x.jsonl:1"),
        ({"text": TALK, "pipeline": "memory"}, "one question a line"),
        ({"text": TALK, "pipeline": "events-local"}, "event types"),
        ({"text": TALK, f"{PIPELINE}.min_keep": "7"}, "min_keep"),
    ]:
        response = posted(noor, **fields)
        assert response.status_code == 422
        assert said in response.content.decode()
    assert not Run.objects.exists()
    part = noor.post(PLANNING, {"pipeline": PIPELINE, "text": TALK}).content.decode()
    assert "costs nothing" in part


# --- into a project -------------------------------------------------------------------------------


def test_labels_of_the_project_s_conversations_become_suggestions_once(
    script, people, task, project, start
):
    script(returned)
    wish = launching.Wish(people["rita"], task, "", project)
    run = work(launching.on_conversations(wish, [talk(project, "a"), talk(project, "b")]))
    first = adopting.adopt(run, project, by=people["rita"])
    again = adopting.adopt(run, project, by=people["rita"])

    assert (first.made, again.made, again.known) == (2, 0, 2)
    suggestion = Suggestion.objects.get(conversation__external_id="a")
    assert suggestion.payload["requirements"][0]["title"] == "=Order list"
    assert (suggestion.pipeline, suggestion.layer) == (PIPELINE, "extraction")
    with refused(predicting.TrialRefused, match="no layer"):  # of texts from nowhere
        adopting.adopt(work(start("a", by="rita")), project, by=people["rita"])


def test_nothing_is_suggested_where_somebody_labels_blind_or_on_the_test_split(
    script, people, task, project
):
    script(returned)
    wish = launching.Wish(people["rita"], task, "", project)
    talks = [talk(project, name) for name in ("free", "blind", "test")]
    run = work(launching.on_conversations(wish, talks))
    Conversation.objects.filter(external_id="test").update(split="test")
    round_ = factories.open_calibration(project, 1, overlap=2)
    place = round_.places.get()
    type(place).objects.filter(pk=place.pk).update(conversation=talks[1])
    adopted = adopting.adopt(run, project, by=people["rita"])

    assert (adopted.made, set(adopted.left_out)) == (1, {"blind", "test"})
    assert Suggestion.objects.get().conversation == talks[0]
    assert Round.objects.blind().exists()


def test_other_settings_are_another_version(project, script, start):
    script(returned)
    other = predicting.checked_task(PIPELINE, {"whole_way": True})
    run = work(start("a", by="rita", of=other))
    assert adopting.version_of(run).startswith("1~")


def test_only_a_lead_brings_labels_into_a_project(script, signed_in, project, start):
    script(returned)
    run = work(start("a"))
    url = reverse("run-suggest", args=[run.pk])
    assert signed_in("noor").post(url, {"project": project.slug}).status_code == 403
    assert not Suggestion.objects.exists()


# --- by API ---------------------------------------------------------------------------------------


def test_a_program_launches_on_conversations_and_reads_what_came_out(signed_in, script, project):
    script(returned)
    free = talk(project, "free")
    rita = signed_in("rita")
    asked = {"pipeline": PIPELINE, "project": project.slug, "conversations": ["free"]}
    launched = rita.post("/api/runs/", asked, "application/json").json()
    work(Run.objects.get(pk=launched["id"]))

    listed = rita.get("/api/runs/").json()["results"]
    run = rita.get(f"/api/runs/{launched['id']}/").json()
    [case] = rita.get(f"/api/runs/{launched['id']}/cases/").json()["results"]
    read = f"/api/runs/{launched['id']}/cases/{case['id']}/"
    shown = rita.get(read).json()

    assert [(row["gold"], row["status"]) for row in listed] == [(None, "finished")]
    assert (run["aggregates"], run["people_corrected"]) == ([], {})  # undefined, and not zero
    assert (shown["gold"], shown["scores"]) == (None, [])
    assert shown["output"]["requirements"][0]["title"] == "=Order list"
    for named in ({"gold": "base"}, {"conversations": []}):
        assert rita.post("/api/runs/", asked | named, "application/json").status_code == 400
    assert signed_in("noor").get(read).status_code == 404
    Conversation.objects.filter(pk=free.pk).update(split="test")
    assert rita.get(read).status_code in (400, 403, 409)


def test_the_warning_at_the_top_of_a_document_is_in_its_downloads() -> None:
    for warning in ("Most of these requirements are not usable.", None):
        document = document_of({"document": {**DOCUMENT, "notice": warning}}, "a talk")

        assert document is not None
        for form in ("html", "md"):
            written = FORMS[form].write(document, ()).decode()
            assert ("not usable" in written) == bool(warning)
