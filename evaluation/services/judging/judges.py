"""Every judge that has judged or was tried in a project, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Max, QuerySet
from django.db.models.fields.json import KT

from evaluation import probes
from evaluation.models import JudgeCertificate, Judging, Probing
from evaluation.services.judging.panels import KINDS
from evaluation.services.language_models import endpoints
from labeling.models import Project

VALID, EXPIRED, REFUSED, ASKING, UNKNOWN = "valid", "expired", "refused", "asking", "unknown"
STATES = (VALID, EXPIRED, REFUSED, ASKING, UNKNOWN)


class Key(NamedTuple):
    project: int
    kind: str
    sha256: str


@dataclass(slots=True)
class Judge:
    """One model with its settings, one prompt and one parser. ``in_use``: it judged last in the
    project. ``settings`` are known of a judge that has judged."""

    key: Key
    slug: str
    project: str
    model: str
    prompt: str
    prompt_sha256: str
    parser: str
    settings: str = ""
    in_use: bool = False
    certificate: dict[str, Any] | None = None
    probing: dict[str, Any] | None = None

    @property
    def state(self) -> str:
        if self.probing and self.probing["state"] in (Probing.State.QUEUED, Probing.State.RUNNING):
            return ASKING
        if self.certificate is None:
            return UNKNOWN
        if not self.certificate["passed"]:
            return REFUSED
        fresh = self.certificate["probes_version"] == probes.load().version
        return VALID if self.in_use and fresh and self.has_level else EXPIRED

    @property
    def has_level(self) -> bool:
        """Whether the certificate rests on a sample, and so bounds how far off the judge is."""
        return self.certificate is not None and self.certificate["sample"] is not None


def seen(projects: QuerySet[Project]) -> list[Judge]:
    """Those in use first, then the newest. A constant number of queries."""
    by_key: dict[Key, tuple[int, Judge]] = {}
    for kind in KINDS:
        by_key |= _that_judged(projects, kind)
    newest = _newest_probings(projects)
    for probing in newest:
        key = Key(probing["project"], probing["kind"], probing["judge_sha256"])
        if key not in by_key:
            by_key[key] = 0, _tried(key, probing)
        by_key[key][1].probing = probing
    for certificate in _newest_certificates(projects):
        key = Key(certificate["project"], certificate["kind"], certificate["judge_sha256"])
        if key in by_key:
            by_key[key][1].certificate = certificate
    rows = sorted(by_key.values(), key=lambda row: (row[1].slug, not row[1].in_use, -row[0]))
    return [judge for _last, judge in rows]


def find(project: Project, kind: str, sha256: str) -> Judge | None:
    for judge in seen(Project.objects.filter(pk=project.pk)):
        if (judge.key.kind, judge.key.sha256) == (kind, sha256):
            return judge
    return None


def _that_judged(projects: QuerySet[Project], kind: str) -> dict[Key, tuple[int, Judge]]:
    prompt = f"spec__prompts__{kind}"
    names = {name: KT(f"{prompt}__{name}") for name in ("name", "sha256", "judge_sha256")}
    project = "run__release__project"
    rows = Judging.objects.filter(run__release__project__in=projects).annotate(
        **{f"told_{name}": value for name, value in names.items()}
    )
    counted = rows.order_by().values(
        project,
        f"{project}__slug",
        f"{project}__name",
        "model",
        "spec__model",
        "parser_version",
        *(f"told_{name}" for name in names),
    )
    by_key: dict[Key, tuple[int, Judge]] = {}
    last: dict[int, tuple[int, Judge]] = {}
    for row in counted.annotate(last=Max("pk")):
        key = Key(row[project], kind, row["told_judge_sha256"])
        judge = _judge_of(row, key)
        by_key[key] = max(by_key.get(key, (0, judge)), (row["last"], judge), key=lambda two: two[0])
        last[key.project] = max(
            last.get(key.project, (0, judge)), by_key[key], key=lambda two: two[0]
        )
    for _pk, judge in last.values():
        judge.in_use = True
    return by_key


def _judge_of(row: dict[str, Any], key: Key) -> Judge:
    return Judge(
        key,
        row["run__release__project__slug"],
        row["run__release__project__name"],
        row["model"],
        row["told_name"],
        row["told_sha256"],
        row["parser_version"],
        endpoints.parameters(row["spec__model"]),
    )


def _tried(key: Key, probing: dict[str, Any]) -> Judge:
    """A judge that has not judged any answer yet."""
    return Judge(
        key,
        probing["project__slug"],
        probing["project__name"],
        probing["model"],
        probing["prompt_name"],
        probing["prompt_sha256"],
        probing["parser_version"],
    )


def _newest_probings(projects: QuerySet[Project]) -> Iterable[Any]:
    return Probing.objects.filter(pk__in=_newest(Probing.objects.all(), projects)).values(
        "pk", "project", "project__slug", "project__name", "kind", "judge_sha256", "model",
        "prompt_name", "prompt_sha256", "parser_version", "state", "error",
    )  # fmt: skip


def _newest_certificates(projects: QuerySet[Project]) -> Iterable[Any]:
    newest = _newest(JudgeCertificate.objects.all(), projects)
    rows = JudgeCertificate.objects.filter(pk__in=newest).annotate(
        held=KT("comparison__probes_held"), asked=KT("comparison__probes_asked")
    )
    return rows.values(
        "pk", "project", "kind", "judge_sha256", "passed", "probes_version", "n", "kappa",
        "ci_low", "ci_high", "spearman", "mae", "reasons", "issued_at", "held", "asked", "sample",
        "bias", "bias_low", "bias_high", "attempt",
    )  # fmt: skip


def _newest(rows: QuerySet[Any], projects: QuerySet[Project]) -> QuerySet[Any]:
    """The last one of each judge."""
    of = rows.filter(project__in=projects).order_by().values("project", "kind", "judge_sha256")
    return of.annotate(last=Max("pk")).values("last")
