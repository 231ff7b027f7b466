"""Judges of answers: what each is worth, its probes, and asking for a certificate."""

from __future__ import annotations

from typing import Any, NamedTuple

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from evaluation import probes as probe_set
from evaluation.access import require_reader
from evaluation.judge import judge_sha256
from evaluation.models import JudgeCertificate, Judging, Kind, Probing
from evaluation.probes import TRICKS
from evaluation.services.judging import attempts, certificates, judges, probings
from evaluation.services.judging.judges import Judge
from evaluation.services.language_models import endpoints
from labeling.domain.errors import RuleError
from labeling.domain.facts import Fact
from labeling.models import Membership, Project
from labeling.services import access
from labeling.translation import lazy
from labeling.words import words, words_of
from pipelines.chat.endpoint import JUDGE

BADGES = {
    judges.VALID: ("ok", lazy("valid")),
    judges.EXPIRED: ("warn", lazy("expired")),
    judges.REFUSED: ("bad", lazy("refused")),
    judges.ASKING: ("info", lazy("being asked")),
    judges.UNKNOWN: ("", lazy("no certificate")),
}
SAMPLE_STATES = {
    "open": ("info", lazy("being rated")),
    "complete": ("ok", lazy("complete")),
    "given_up": ("warn", lazy("given up")),
}


class JudgeRow(NamedTuple):
    judge: Judge
    kind: str
    badge: str
    state: str
    certificate: Any
    reasons: list[str]


@require_GET
def judge_list(request: HttpRequest) -> HttpResponse:
    require_reader(request.user)
    roles = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
    seen = judges.seen(Project.objects.with_role(request.user, *roles))
    context = {
        "rows": [_row(judge) for judge in seen],
        "required": certificates.requirements(),
        "asking": any(judge.state == judges.ASKING for judge in seen),
    }
    return render(request, "evaluation/judges.html", context)


@require_GET
def judge_page(request: HttpRequest, slug: str, kind: str, sha256: str) -> HttpResponse:
    project = access.readable(request.user, slug)
    judge = _judge(project, kind, sha256)
    rows = JudgeCertificate.objects.filter(project=project, kind=kind, judge_sha256=sha256)
    looks = list(rows.select_related("issued_by", "sample__panel").order_by("-pk"))
    tried = attempts.of_judge(project, kind, sha256)
    missing = certificates.missing(project, kind, sha256)
    context = {
        "project": project,
        "row": _row(judge),
        "newest": looks[0] if looks else None,
        "probes": [_probe(probe) for probe in _marked(project, judge)],
        "looks": [(look, list(map(words, certificates.reasons_of(look)))) for look in looks],
        "attempts": tried,
        "samples": [(sample, SAMPLE_STATES[sample["state"]]) for sample in tried["samples"]],
        "required": certificates.requirements(),
        "next": missing,
        "due": missing == certificates.DUE,
        "problem": _why_not_askable(judge),
        "may_write": access.leads(request.user, project),
    }
    return render(request, "evaluation/judge.html", context)


@require_POST
def judge_ask(request: HttpRequest, slug: str, kind: str, sha256: str) -> HttpResponse:
    """Ask the probes, or compare with people on the samples that are complete by now."""
    project = access.led(request.user, slug)
    judge = _judge(project, kind, sha256)
    try:
        if request.POST.get("action") == "compare":
            certificate = certificates.attempt(
                probings.last_of(project, kind, sha256), by=request.user
            )
            message = (
                _("The judge has its certificate.") if certificate.passed else _("It was refused.")
            )
            (messages.success if certificate.passed else messages.warning)(request, message)
        else:
            _ask(project, judge, request)
            messages.success(request, _("The probes are being asked."))
    except RuleError as error:
        messages.error(request, words(error.fact))
    return redirect("judge", slug, kind, sha256)


def _ask(project: Project, judge: Judge, request: HttpRequest) -> None:
    problem = _why_not_askable(judge)
    if problem:
        raise probings.ProbingRefused(problem)
    kind, sha256 = judge.key.kind, judge.key.sha256
    text = _prompt_of(project, kind, sha256)
    probings.request(project, kinds=[kind], prompts={kind: text}, by=request.user)


def _why_not_askable(judge: Judge) -> Fact | None:
    """Only the model that is set up can be asked, and only as replies are read now."""
    if missing := endpoints.missing_setting(JUDGE):
        return Fact("probing.no_model", name=missing)
    model = endpoints.describe(JUDGE)
    if not model or model["id"] != judge.model:
        return Fact("probing.another_model_now")
    if judge.parser != probings.PARSER_VERSION:
        return Fact("probing.read_differently")
    if judge_sha256(model, judge.prompt_sha256) != judge.key.sha256:
        return Fact("probing.other_settings_now", parameters=endpoints.parameters(model))
    return None


def _prompt_of(project: Project, kind: str, sha256: str) -> str:
    """As it was sent when the judge judged, or when it was tried."""
    where = {f"spec__prompts__{kind}__judge_sha256": sha256}
    judging = Judging.objects.filter(run__release__project=project, **where).first()
    if judging:
        return str(judging.spec["prompts"][kind]["text"])
    tried = Probing.objects.filter(project=project, kind=kind, judge_sha256=sha256)
    return str(tried.values_list("prompt", flat=True)[0])


def _judge(project: Project, kind: str, sha256: str) -> Judge:
    judge = judges.find(project, kind, sha256)
    if judge is None:
        raise Http404
    return judge


def _row(judge: Judge) -> JudgeRow:
    badge, state = BADGES[judge.state]
    return JudgeRow(
        judge=judge,
        kind=str(Kind(judge.key.kind).label),
        badge=badge,
        state=state,
        certificate=judge.certificate,
        reasons=_reasons(judge),
    )


def _marked(project: Project, judge: Judge) -> list[Any]:
    """The replies that count, also before anything is compared with people."""
    probing = certificates.last_probing(project, judge.key.kind, judge.key.sha256)
    if probing is None:
        return []
    return list(probe_set.marked(judge.key.kind, certificates.first_replies(probing)))


def _reasons(judge: Judge) -> list[str]:
    if judge.state == judges.EXPIRED:
        if not judge.has_level:
            return [words(certificates.NEEDS_LEVEL)]
        if judge.in_use:
            return [_("There are newer probes: ask them.")]
        return [
            _(
                "Model, settings, prompt or parser have changed since: another judge has judged "
                "the last run."
            )
        ]
    if judge.state == judges.REFUSED and judge.certificate:
        return [words_of(reason) for reason in judge.certificate["reasons"]]
    if judge.probing and judge.probing["state"] == Probing.State.FAILED:
        why = words_of(judge.probing["error"])
        return [_("The probes could not be asked: {why}").format(why=why)]
    if judge.state == judges.UNKNOWN:
        if judge.probing:
            return [_("It was not yet compared with people.")]
        return [_("It was not yet asked the probes.")]
    return []


def _probe(probe: dict[str, Any]) -> dict[str, Any]:
    trick = Fact(f"probe.{TRICKS[probe['trick']]}") if probe["trick"] in TRICKS else probe["trick"]
    reply = probe["said"] or words_of(probe.get("problem"))
    return {**probe, "trick": words_of(trick), "said": reply}
