"""Every judge that has judged in a project, and what it is worth."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.db.models.fields.json import KT

from evaluation.models import JudgeCertificate, Judging
from evaluation.services.judging import certificates
from evaluation.services.judging.samples import KINDS
from evaluation.services.language_models import endpoints
from labeling.models import Project

VALID, EXPIRED, REFUSED, UNKNOWN = "valid", "expired", "refused", "unknown"


@dataclass(slots=True)
class Judge:
    """``in_use``: it judged last in the project; ``judging`` is its newest one."""

    key: certificates.Judge
    slug: str
    project: str
    model: str
    prompt: str
    prompt_sha256: str
    parser: str
    settings: str
    judging: int
    in_use: bool = False
    certificate: JudgeCertificate | None = None

    @property
    def state(self) -> str:
        if self.certificate is None:
            return UNKNOWN
        if not self.certificate.passed:
            return REFUSED
        return VALID if self.in_use else EXPIRED


def seen(projects: QuerySet[Project]) -> list[Judge]:
    """Those in use first, then the newest. A constant number of queries."""
    by_key: dict[certificates.Judge, Judge] = {}
    in_use: dict[tuple[int, str], Judge] = {}
    for judge in (judge for kind in KINDS for judge in _that_judged(projects, kind)):
        by_key[judge.key] = in_use[judge.key[:2]] = judge
    for judge in in_use.values():
        judge.in_use = True
    for key, certificate in certificates.newest(by_key).items():
        by_key[key].certificate = certificate
    return sorted(by_key.values(), key=lambda judge: (judge.slug, not judge.in_use, -judge.judging))


def find(project: Project, kind: str, sha256: str) -> Judge | None:
    key = certificates.Judge(project.pk, kind, sha256)
    return next(
        (one for one in seen(Project.objects.filter(pk=project.pk)) if one.key == key), None
    )


def _that_judged(projects: QuerySet[Project], kind: str) -> list[Judge]:
    """Of every judging, the oldest first."""
    project, prompt = "run__release__project", f"spec__prompts__{kind}"
    told = [KT(f"{prompt}__{name}") for name in ("judge_sha256", "name", "sha256")]
    rows = Judging.objects.filter(**{f"{project}__in": projects, f"{prompt}__isnull": False})
    fields = (project, f"{project}__slug", f"{project}__name", "model", "parser_version")
    return [
        Judge(
            certificates.Judge(number, kind, sha256),
            *(slug, title, model, name, of_prompt, parser),
            endpoints.parameters(described),
            pk,
        )
        for pk, described, number, slug, title, model, parser, sha256, name, of_prompt in (
            rows.order_by("pk").values_list("pk", "spec__model", *fields, *told)
        )
    ]
