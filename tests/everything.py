"""Something of every kind in one project, and the address of every page about it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from evaluation.models import (
    Answer,
    CaseRun,
    Judging,
    RatedPlace,
    RatingPanel,
    RatingSample,
    Run,
    RunSpec,
)
from labeling.accounts import invitations
from labeling.core import tokens
from labeling.gold import reopenings
from labeling.models import Annotation, Assignment, GoldItem, Membership, Project
from labeling.operation.webhooks import webhooks
from labeling.work import comments
from tests import factories
from tests.evaluation import answers as asked
from tests.evaluation import launching


def addresses(project: Project, people: dict[str, User]) -> dict[str, list[Any]]:
    """What each URL is about: objects that exist, so that only access decides."""
    release = factories.make_release(project, items=2)
    run = launching.launch(release, pipeline="nothing", requested_by=people["noor"])
    factories.open_full(project, 2)
    mine = Assignment.objects.filter(annotator=people["ana"], annotation__isnull=True)[0]
    of_project: list[Any] = [project.slug]
    of_release = [release.name, release.version]
    case = CaseRun.objects.filter(run=run)[0]
    member = Membership.objects.get(user=people["ben"])
    of_item = [*of_project, *of_release, release.items.all()[0].item_id]
    said = comments.post(comments.place_of(mine), body="Which one?", author=people["ana"])
    answered = Annotation.objects.filter(assignment__round__project=project)[0].pk
    invited = invitations.invite(project=project, role="annotator", by=people["rita"])
    address = "https://hooks.example.org/assay"
    hook = webhooks.add(project=project, url=address, by=people["rita"])
    panel = _panel(run)
    written = _answers(project, people)
    _judge(written.run)
    ben = people["ben"]
    doubted = _doubt(release.items.all()[0], people["noor"])
    unmeasured, _ = _unmeasured(project, people["noor"])
    about = {
        "invitation": [invited.secret],
        "invitation-revoke": [*of_project, invited.invitation.pk],
        "token-revoke": [tokens.issue(user=people["ana"], name="export").token.pk],
        "password-set": ["MQ", "spent-0"],
        "table": [*of_project, "people"],
        "adjudicate": [mine.conversation_id],
        "api-adjudication": [mine.conversation_id, "extraction"],
        "review": [answered],
        "api-review": [answered],
        "api-member": [*of_project, member.pk],
        "api-conversation": [*of_project, mine.conversation_id],
        "api-answers": [*of_project, mine.conversation_id],
        "api-guideline": [*of_project, 1],
        "comment-reply": [said.pk],
        "comment-resolve": [said.pk],
        "comment-add": [*of_project, mine.conversation_id],
        "docs-page": ["metrics"],
        "guideline": [*of_project, 1],
        "member-remove": [*of_project, member.pk],
        "conversation": [*of_project, mine.conversation_id],
        "api-gold-release": of_release,
        "api-freeze": [*of_project, 0],
        "gold-item": of_item,
        "reopening-new": of_item,
        "run-case": [run.pk, case.pk],
        "api-run-case": [run.pk, case.pk],
        "run-case-reopen": [run.pk, case.pk],
        "run-compare-case": [run.pk, run.pk, case.pk],
        "run-case-document": [run.pk, case.pk],
        "run-case-document-file": [run.pk, case.pk, "md"],
        "rating": [panel.code],
        "rating-store": [panel.code, 1],
    }
    for names, arguments in [
        ("project guidelines guideline-new conversations gold gold-freeze", of_project),
        ("round-new api-project api-conversations", of_project),
        ("api-members api-rounds api-guidelines", of_project),
        ("api-adjudications", of_project),
        ("api-agreement-ratings", [*of_project, 2]),
        ("api-round api-round-close", [*of_project, 2]),
        ("progress members audit project-settings", of_project),
        ("people-invite project-start guideline-start", of_project),
        ("webhooks", of_project),
        ("webhook webhook-resume", [*of_project, hook.pk]),
        ("webhook-remove", [*of_project, hook.pk]),
        ("adjudication adjudication-next reviews review-next", of_project),
        ("calibration guideline-worklist guideline-check", of_project),
        ("checks screening", of_project),
        ("check-person", [*of_project, ben.pk]),
        ("suggestions suggestions-ask suggestions-switch", of_project),
        ("disagreements disagreement-comment disagreement-decide", [*of_project, 2]),
        ("disagreement-names", [*of_project, 2]),
        ("agreement agreement-csv round-close api-agreement", [*of_project, 2]),
        ("looks", of_project),
        ("labels labels-preview labels-import labels-export", of_project),
        ("conversations-import conversations-preview conversations-store", of_project),
        ("work-move", [*of_project, people["ben"].pk]),
        ("lease-give-back", [mine.pk]),
        ("gold-release gold-compare gold-export gold-verify gold-planning gold-look", of_item[:3]),
        ("gold-corrections", of_item[:3]),
        ("api-gold-export api-gold-verify", of_release),
        ("api-freezes", of_project),
        ("reopenings", of_project),
        ("gold-lint", of_project),
        ("reopening", [*of_project, doubted]),
        ("run run-verdict run-judge run-progress run-control", [run.pk]),
        ("run-carry api-run-report", [run.pk]),
        ("run-note run-baseline api-run-gate", [run.pk]),
        ("run-report", [run.pk, "html"]),
        ("api-run api-run-cases api-run-control", [run.pk]),
        ("run-delete run-suggest run-outputs run-labels", [unmeasured.pk]),
        ("judge", [*of_project, "faithfulness", "1" * 64]),
        ("run-gate run-ratings run-ratings-change", [run.pk]),
        ("gate-thresholds gate-thresholds-store primary-metric-store", of_project),
        ("workspace api-annotation api-annotation-submit api-annotation-skip", [mine.pk]),
        ("api-annotation-reopen api-annotation-restore api-annotation-revisions", [mine.pk]),
        ("work-comments api-annotation-conversation", [mine.pk]),
        ("api-annotation-suggestions api-annotation-first-pass", [mine.pk]),
        ("api-annotation-revision", [mine.pk, 1]),
    ]:
        about |= dict.fromkeys(names.split(), arguments)
    return about


def _unmeasured(project: Project, by: User) -> tuple[Run, CaseRun]:
    """A run without gold in the project, as if a pipeline had returned something."""
    run = Run.objects.create(
        requested_by=by,
        project=project,
        name="Interview",
        pipeline="requirements-agent",
        spec=RunSpec(layer="end_to_end"),
        expires_at=timezone.now() + timedelta(days=1),
    )
    talk = run.conversations.create(
        position=0, external_id="said", n_messages=1, text='[{"content":"Hi","role":"user"}]'
    )
    document = {"title": "Document", "sections": []}
    output = {"requirements": [factories.requirement()], "document": document, "model": None}
    return run, run.cases.create(talk=talk, state="done", output=output)


def _doubt(item: GoldItem, by: User) -> int:
    label = item.content["gold"]["requirements"][0]
    doubt = reopenings.ask(item=item, layer="extraction", uid=label["uid"], reason="Wrong.", by=by)
    return doubt.pk


def _panel(run: Run) -> RatingPanel:
    """A rating with one label, as if the run had inferred it."""
    case = CaseRun.objects.filter(run=run)[1]
    case.state, case.output = CaseRun.State.DONE, {"requirements": [factories.requirement()]}
    case.save()
    panel = RatingPanel.objects.create(run=run)
    sample = RatingSample.objects.create(panel=panel, kind="need", seed=1, drawn_from=1)
    RatedPlace.objects.create(sample=sample, case=case, number=1)
    return panel


def _answers(project: Project, people: dict[str, User]) -> RatingPanel:
    """A rating of one answer, as if a run had written it."""
    release = asked.questions(project)
    run = launching.launch(release, pipeline="nothing", requested_by=people["noor"])
    case = CaseRun.objects.filter(run=run)[0]
    case.state, case.output = CaseRun.State.DONE, {"evidence": [1], "ranked": [1], "model": None}
    case.save()
    Answer.objects.create(case=case, state="done", text="In Rome.", message_ids=[1])
    panel = RatingPanel.objects.create(run=run)
    sample = RatingSample.objects.create(panel=panel, kind="faithfulness", seed=1, drawn_from=1)
    RatedPlace.objects.create(sample=sample, case=case, number=1)
    return panel


def _judge(run: Run) -> None:
    """That has judged it, without a score."""
    prompt = {"name": "faithfulness.v1", "text": "…", "sha256": "0" * 64, "judge_sha256": "1" * 64}
    Judging.objects.create(
        run=run,
        model="test/small-1",
        parser_version="1",
        judge_sha256="2" * 64,
        spec={"model": {"id": "test/small-1"}, "prompts": {"faithfulness": prompt}},
    )
