"""How far a project is: its conversations by state, its people, and what its targets lack."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.db.models import Case, Count, Exists, F, Max, OuterRef, Q, QuerySet, Value
from django.db.models import When as If

from labeling.domain.agreement.agreement import PairAgreement, pair_agreement
from labeling.domain.agreement.calibration import Standing, standings
from labeling.domain.agreement.units import units
from labeling.domain.msgids import msgid
from labeling.domain.schema import LAYERS
from labeling.domain.targets import Target, title_of, wanted
from labeling.models import (
    Adjudication,
    Annotation,
    AnnotationRevision,
    Assignment,
    Conversation,
    GoldItem,
    GoldRelease,
    Merge,
    Project,
    Round,
    RoundConversation,
)
from labeling.models.assignments import ANSWERED
from labeling.services import events, projects
from labeling.services.agreement import agreement
from labeling.services.quality import check_scores
from labeling.services.work import assignments

STATES = {
    "unplanned": msgid("Not in a round"),
    "waiting": msgid("In a round, nobody has begun"),
    "begun": msgid("Being labelled"),
    "labelled": msgid("All answers are in"),
    "disputed": msgid("Disputed, not decided yet"),
    "decided": msgid("Decided by an adjudicator"),
    "gold": msgid("In gold"),
}
STATUS = {
    "pending": Q(annotation__isnull=True),
    "draft": Q(annotation__status="draft"),
    "submitted": Q(annotation__status="submitted"),
    "skipped": Q(annotation__status="skipped"),
}
GOLD = ""
"""The name of the gold labels among those of people: nobody has an empty name."""

KEPT_SECONDS = 24 * 60 * 60


class StateShare(NamedTuple):
    """One state: how many of ``total`` are in it."""

    name: str
    title: str
    number: int
    total: int


@dataclass(frozen=True, slots=True)
class Person:
    """One annotator's work. ``returned`` counts every time an answer was sent back.

    ``group`` compares with the others of ``group_round``, the newest measured round that this
    person was part of; ``gold`` with the newest release. Both are None while a calibration round
    is open, and where there is nothing to compare. ``checked`` are the hidden checks.
    """

    pk: int
    username: str
    assigned: int
    pending: int
    draft: int
    submitted: int
    skipped: int
    returned: int
    minutes: float | None
    last_active: datetime | None
    group: Standing | None
    group_round: int | None
    gold: PairAgreement | None
    checked: check_scores.GoldAgreement | None


# --- by state -----------------------------------------------------------------------------------


def by_state(project: Project) -> list[StateShare]:
    """Every conversation is in one state: the last one that it has reached."""
    staged = project.conversations.order_by().annotate(stage=_stage(project))
    counts = Counter(staged.values_list("stage", flat=True))  # SQLite would find each twice
    return [StateShare(name, title, counts[name], counts.total()) for name, title in STATES.items()]


def _stage(project: Project) -> Case:
    here = OuterRef("pk")
    merges = Merge.objects.filter(conversation=here, state="disputed")
    decided = Adjudication.objects.filter(conversation=here)
    begun = Assignment.objects.labelling().filter(conversation=here, annotation__isnull=False)
    return Case(
        If(pk__in=_in_gold(project).values("conversation"), then=Value("gold")),
        If(Exists(decided), then=Value("decided")),
        If(Exists(merges), then=Value("disputed")),
        If(pk__in=_complete(project), then=Value("labelled")),
        If(Exists(begun), then=Value("begun")),
        If(Exists(RoundConversation.objects.filter(conversation=here)), then=Value("waiting")),
        default=Value("unplanned"),
    )


def work_by_status(people: Sequence[Person]) -> list[StateShare]:
    """Everybody's work, by status."""
    counts = {name: sum(getattr(person, name) for person in people) for name in STATUS}
    total = sum(counts.values())
    return [StateShare(name, name.capitalize(), number, total) for name, number in counts.items()]


def _complete(project: Project) -> QuerySet[Any]:
    """Conversations that have all the answers wanted in one round."""
    places = (
        Assignment.objects.labelling()
        .filter(ANSWERED, round__project=project)
        .order_by()
        .values("round", "round__overlap", "conversation")
    )
    counted = places.annotate(n_answers=Count("pk")).filter(n_answers__gte=F("round__overlap"))
    return counted.values("conversation")


def _newest_releases(project: Project) -> dict[str, int]:
    """By layer the key of the newest release that people labelled."""
    labelled = GoldRelease.objects.filter(project=project).labelled()
    return dict(labelled.order_by("pk").values_list("layer", "pk"))


def _in_gold(project: Project) -> QuerySet[GoldItem]:
    newest = (
        GoldRelease.objects.filter(project=project)
        .labelled()
        .order_by()
        .values("layer")
        .annotate(newest=Max("pk"))
        .values("newest")
    )
    return GoldItem.objects.filter(release__in=newest).order_by()


# --- by person ----------------------------------------------------------------------------------


def is_blind(project: Project) -> bool:
    return project.rounds.blind().exists()


def people(project: Project) -> list[Person]:
    """A row for everybody with assignments, and for annotators who wait for some."""
    rows = _work_of_people(project)
    minutes, returned = _median_minutes(project), _returned(project)
    blind = is_blind(project)
    group = {} if blind else _against_the_group(project)
    gold = {} if blind else against_gold(project)
    checked = check_scores.by_person(project)
    persons = []
    for row in rows:
        standing, number = group.get(row["username"], (None, None))
        persons.append(
            Person(
                **row,
                returned=returned.get(row["pk"], 0),
                minutes=minutes.get(row["pk"]),
                group=standing,
                group_round=number,
                gold=gold.get(row["username"]),
                checked=checked.get(row["pk"]),
            )
        )
    return persons


def _work_of_people(project: Project) -> list[dict[str, Any]]:
    assigned = (
        Assignment.objects.labelling()
        .filter(round__project=project)
        .order_by()
        .values(pk=F("annotator"), username=F("annotator__username"))
        .annotate(
            assigned=Count("pk"),
            last_active=Max("annotation__updated_at"),
            **{name: Count("pk", filter=which) for name, which in STATUS.items()},
        )
    )
    rows: dict[str, dict[str, Any]] = {row["username"]: dict(row) for row in assigned}
    nothing: dict[str, Any] = {"assigned": 0, "last_active": None, **dict.fromkeys(STATUS, 0)}
    for person in assignments.annotators(project).values("pk", "username"):
        rows.setdefault(person["username"], {**person, **nothing})
    return [rows[name] for name in sorted(rows)]


def _median_minutes(project: Project) -> dict[int, float]:
    """Computed here, because SQLite has no median, from how often each time was taken."""
    seconds: dict[int, Counter[int]] = defaultdict(Counter)
    answers = Annotation.objects.labelling().filter(
        assignment__round__project=project, status="submitted"
    )
    times = answers.order_by().values_list("assignment__annotator", "active_seconds")
    for person, spent, n in times.annotate(n=Count("pk")):
        seconds[person][spent] = n
    return {person: median(spent.elements()) / 60 for person, spent in seconds.items()}


def _returned(project: Project) -> dict[int, int]:
    revisions = AnnotationRevision.objects.filter(
        kind=AnnotationRevision.Kind.RETURNED, annotation__assignment__round__project=project
    )
    per_person = revisions.order_by().values_list("annotation__assignment__annotator")
    return dict(per_person.annotate(n=Count("pk")))


def _against_the_group(project: Project) -> dict[str, tuple[Standing, int]]:
    """By name, from the figures that were stored when rounds closed; the newest round counts."""
    by_name: dict[str, tuple[Standing, int]] = {}
    measured = project.rounds.labelling().filter(agreement__isnull=False).order_by("number")
    for number, figures in measured.values_list("number", "agreement"):
        pairs = agreement.of_messages(figures or {})["pairs"]
        by_name |= {standing.annotator: (standing, number) for standing in standings(pairs)}
    return by_name


def against_gold(project: Project) -> dict[str, PairAgreement]:
    """By name, each annotator's newest answers against the newest release, message by message.

    Gold made from a person's own labels agrees with them all the more; the figure shows who was
    overruled, and how people do on gold that others made. It is cached until there is another
    answer or release: ten thousand answers take two seconds.
    """
    releases = _newest_releases(project)
    by_message = (name for name in project.layers if LAYERS[name].by_message)
    layer = next((name for name in by_message if name in releases), None)
    if layer is None:
        return {}
    items = GoldItem.objects.filter(release=releases[layer]).order_by()
    answers = _answers(project, items)
    seen = answers.aggregate(n=Count("pk"), newest=Max("updated_at"))
    if not seen["n"]:
        return {}
    key = f"against-gold:{releases[layer]}:{seen['n']}:{seen['newest'].timestamp()}"
    known: dict[str, PairAgreement] | None = cache.get(key)
    if known is None:
        known = _compared(layer, items, answers)
        cache.set(key, known, KEPT_SECONDS)
    return known


def _compared(
    layer: str, items: QuerySet[GoldItem], answers: QuerySet[Annotation]
) -> dict[str, PairAgreement]:
    gold: dict[str, list[Any]] = {}
    for item in items.only("conversation_id", "canonical"):
        content = item.content
        messages = len(content["conversation"])
        gold[str(item.conversation_id)] = _marks(layer, content["gold"], messages)
    own: dict[str, dict[str, list[Any]]] = defaultdict(dict)
    ordered = answers.order_by("assignment__round__number")  # the newest answer wins
    for who, conversation, payload in ordered.values_list(
        "assignment__annotator__username", "assignment__conversation", "payload"
    ):
        key = str(conversation)
        own[who][key] = _marks(layer, payload, len(gold[key]))
    return {who: pair_agreement(GOLD, who, gold, marks) for who, marks in own.items()}


def _answers(project: Project, items: QuerySet[GoldItem]) -> QuerySet[Annotation]:
    """What was submitted about the conversations of these items, in rounds that are not blind."""
    return (
        Annotation.objects.labelling()
        .filter(
            status=Annotation.Status.SUBMITTED,
            assignment__round__project=project,
            assignment__conversation__in=items.values("conversation"),
        )
        .exclude(assignment__round__in=Round.objects.blind())
        .order_by()
    )


def _marks(layer: str, payload: Mapping[str, Any], messages: int) -> list[Any]:
    return units(layer, {GOLD: payload}, message_count=messages).labels[GOLD]


# --- targets ------------------------------------------------------------------------------------


def targets(project: Project) -> dict[str, list[Target]]:
    """``layers`` and ``difficulty``: what is wanted, labelled and in gold."""
    asked = wanted(project.targets, project.layers)
    gold = _in_gold(project)
    by_layer = dict(gold.values_list("release__layer").annotate(n=Count("pk")))
    in_gold = project.conversations.filter(pk__in=gold.values("conversation"))
    complete = project.conversations.filter(pk__in=_complete(project))
    levels, labelled = _by_difficulty(in_gold), _by_difficulty(complete)
    return {
        "layers": [
            Target(name, title_of(name), number, sum(labelled.values()), by_layer.get(name, 0))
            for name, number in asked["layers"].items()
        ],
        "difficulty": [
            Target(name, name.capitalize(), number, labelled.get(name, 0), levels.get(name, 0))
            for name, number in asked["difficulty"].items()
        ],
    }


def _by_difficulty(conversations: QuerySet[Conversation]) -> dict[str, int]:
    return dict(conversations.order_by().values_list("difficulty").annotate(n=Count("pk")))


@transaction.atomic
def set_targets(project: Project, *, targets: dict[str, dict[str, int]], by: User) -> None:
    """Setting them again to the same changes nothing."""
    locked = projects.lock(project)
    if locked.targets == targets:
        return
    Project.objects.filter(pk=project.pk).update(targets=targets)
    events.record(
        "project.changed", project, project=project, actor=by, fields=["targets"], targets=targets
    )
