"""People and data for tests, made through the services that make them in life.

Ana, Ben and Cleo annotate; Rita leads; Noor does research; Olga is outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID, uuid4

from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import User

from labeling.agreement import measurements
from labeling.agreement.matching.similarity import Ruler
from labeling.conversations import near_duplicates
from labeling.conversations.rules import transcripts
from labeling.conversations.rules.importing import Turn, content_sha256
from labeling.domain.fingerprints import fingerprint
from labeling.gold import gold, pseudonyms
from labeling.gold.rules.content import GoldContent
from labeling.jobs import pending
from labeling.models import (
    Annotation,
    Assignment,
    Conversation,
    GoldItem,
    GoldRelease,
    Guideline,
    Membership,
    Project,
    Round,
    Suggestion,
    Transcript,
)
from labeling.settling import processing
from labeling.work import annotations, rounds, suggestions
from tests.fakes import WordOverlap
from tests.layers import requirement

ROLES = {
    "ana": "annotator",
    "ben": "annotator",
    "cleo": "annotator",
    "rita": "lead",
    "noor": "researcher",
}
PASSWORD = "correct-horse-battery"


def make_people() -> dict[str, User]:
    """Everybody in ROLES, Olga, and a superuser called admin."""
    names = [*ROLES, "olga"]
    people = {user.username: user for user in User.objects.filter(username__in=names)}
    password = make_password(PASSWORD)
    new = [User(username=name, password=password) for name in names if name not in people]
    new.append(User(username="admin", password=password, is_staff=True, is_superuser=True))
    people |= {user.username: user for user in User.objects.bulk_create(new)}
    return {name: people[name] for name in (*names, "admin")}


def make_project(slug: str = "orders", **fields: Any) -> Project:
    """A project with guidelines v1 and whoever of ROLES exists as its members."""
    project = Project.objects.create(slug=slug, name=slug.title(), **fields)
    Guideline.objects.create(project=project, version=1, body="# Guide\n\nLabel what they want.")
    people = User.objects.filter(username__in=ROLES)
    Membership.objects.bulk_create(
        Membership(project=project, user=user, role=ROLES[user.username]) for user in people
    )
    return project


def make_conversations(
    project: Project, number: int, *, messages: int = 4, split: str = "dev"
) -> list[Conversation]:
    """Conversations ``c-001``, ``c-002``, … with alternating user and analyst turns."""
    start = project.conversations.count()
    conversations = Conversation.objects.bulk_create(
        [_conversation(project, start + n + 1, messages, split) for n in range(number)]
    )
    Transcript.objects.bulk_create(
        Transcript(
            conversation=each, messages=transcripts.written(_turns(each.external_id, messages))
        )
        for each in conversations
    )
    # all say one sentence, so each would be a copy of every other
    near_duplicates.store([(each.pk, fingerprint([])) for each in conversations])
    return conversations


def _conversation(project: Project, number: int, messages: int, split: str) -> Conversation:
    external_id = f"c-{number:03d}"
    return Conversation(
        project=project,
        external_id=external_id,
        domain="orders",
        difficulty="easy",
        split=split,
        n_messages=messages,
        content_sha256=content_sha256(_turns(external_id, messages)),
    )


def make_talk(
    project: Project, external_id: str, turns: Sequence[Turn | transcripts.Message], **fields: Any
) -> Conversation:
    """A conversation that says this."""
    fields = {"content_sha256": content_sha256(turns), **fields}
    talk = Conversation.objects.create(
        project=project, external_id=external_id, n_messages=len(turns), **fields
    )
    Transcript.objects.create(conversation=talk, messages=transcripts.written(turns))
    near_duplicates.store([(talk.pk, fingerprint(turn.content for turn in turns))])
    return talk


def _turns(external_id: str, messages: int) -> list[Turn]:
    return [
        Turn(
            role="user" if index % 2 == 0 else "analyst",
            content=f"Message {index} of {external_id}: we need to track order {index}.",
        )
        for index in range(messages)
    ]


def labels(sources: Sequence[int]) -> dict[str, Any]:
    """A payload with one requirement per source message."""
    return {
        "requirements": [
            requirement(number, sources=[index]) for number, index in enumerate(sources, start=1)
        ]
    }


def save_of(
    payload: dict[str, Any],
    *,
    base_version: int = 0,
    client: UUID | None = None,
    seq: int = 1,
    **fields: Any,
) -> annotations.Save:
    return annotations.Save(
        base_version, client or uuid4(), seq, payload, empty=not any(payload.values()), **fields
    )


def answer(assignment: Assignment, sources: Sequence[int] = (0,)) -> Annotation:
    """Submit one requirement per source message, or "nothing here" without any."""
    return answer_with(assignment, labels(sources))


def answer_with(assignment: Assignment, payload: dict[str, Any]) -> Annotation:
    """Submit an answer. Of calibration, the worker has done its part then."""
    known = Annotation.of(assignment).first()
    version = known.version if known else 0
    annotation = annotations.submit(assignment, save_of(payload, base_version=version))
    if assignment.round.kind == Round.Kind.CALIBRATION:
        work(assignment.round.project)
    return annotation


def answer_each(round_: Round, given: Callable[[str], Any]) -> Round:
    """Everybody submits what is given under their name: a payload, or source messages."""
    for assignment in round_.assignments.select_related("annotator"):
        said = given(assignment.annotator.username)
        answer_with(assignment, said if isinstance(said, dict) else labels(said))
    round_.refresh_from_db()
    return round_


def with_names(item: GoldItem) -> GoldContent:
    """What the item holds, with the names that only leads see."""
    return pseudonyms.content_of(item, pseudonyms.names_of(item.release.project))


def skip(assignment: Assignment, reason: str = "Not in English.") -> Annotation:
    known = Annotation.of(assignment).first()
    save = save_of({"requirements": []}, base_version=known.version if known else 0)
    annotation = annotations.skip(assignment, save, reason=reason)
    if assignment.round.kind == Round.Kind.CALIBRATION:
        work(assignment.round.project)
    return annotation


def ruler() -> Ruler:
    """An encoder that counts words, with which everything is compared here."""
    return Ruler(WordOverlap())


def work(project: Project) -> None:
    """What a worker does once it is woken."""
    processing.process(project, ruler=ruler)


def measure(round_: Round, layer: str = "") -> dict[str, Any] | None:
    """The agreement of a round, after a worker was asked for it."""
    pending.request(round_.project, measure=round_)
    work(round_.project)
    return measurements.figures_of(round_, layer)


def open_calibration(project: Project, number: int = 4, **fields: Any) -> Round:
    batch = list(rounds.unplanned(project)[:number]) or make_conversations(project, number)
    return rounds.open_round(
        project=project, kind=Round.Kind.CALIBRATION, by=None, conversations=batch, **fields
    )


def open_full(project: Project, number: int = 4, **fields: Any) -> Round:
    """Full labeling, over a recorded override while the gate is locked."""
    batch = list(rounds.unplanned(project)[:number]) or make_conversations(project, number)
    fields.setdefault("override_reason", "A test of what comes after the gate.")
    return rounds.open_round(
        project=project, kind=Round.Kind.FULL, by=None, conversations=batch, **fields
    )


def pass_gate(project: Project) -> Round:
    """A calibration round in which all say the same, as large as the gate needs."""
    opened = rounds.open_round(
        project=project,
        kind=Round.Kind.CALIBRATION,
        by=None,
        conversations=make_conversations(project, 13),
    )
    answer_all(opened)
    opened.refresh_from_db()
    return opened


def answer_all(round_: Round, sources: Sequence[int] = (0,)) -> None:
    for assignment in round_.assignments.all():
        answer(assignment, sources)


def suggest(
    conversation: Conversation,
    labels_: Sequence[dict[str, Any]],
    *,
    layer: str = "extraction",
    pipeline: str = "requirements-local",
) -> Suggestion:
    """What a pipeline suggests, as it is taken over from a run."""
    of = {"project": conversation.project, "layer": layer, "pipeline": pipeline, "version": "1"}
    return suggestions.put(conversation, labels_, **of)[0]


def make_release(
    project: Project | None = None, *, items: int = 3, sources: Sequence[int] = (0,), **fields: Any
) -> GoldRelease:
    """A frozen release of ``items`` conversations that everybody labeled alike."""
    project = project or make_project()
    answer_all(open_full(project, items), sources)
    return freeze(project, **fields)


def freeze(project: Project, layer: str = "extraction", **fields: Any) -> GoldRelease:
    return gold.freeze(project=project, layer=layer, ruler=ruler(), **fields)
