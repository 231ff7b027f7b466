"""Building the layers of conversations: a job for a conversation, or what a run does beforehand.

A conversation's text never changes, so each layer is built once for each configuration and kept
as soon as it is ready: the work may stop and continue anywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

from django.db import OperationalError, transaction

from evaluation import adapters
from evaluation.models import BuiltLayer
from evaluation.services.stores import FileStore
from evaluation.services.work import working
from evaluation.services.work.leases import MAX_ATTEMPTS
from labeling.agreement.vectors import StoredVectors
from labeling.core import events
from labeling.domain.facts import Fact
from labeling.jobs import queue as jobs
from labeling.jobs.queue import JobLease, KeepAlive
from labeling.models import Conversation, Event, Job
from pipelines.encoder import MiniLM
from pipelines.memory.layers.build import KINDS, Kind, build_layers, key_for
from pipelines.memory.layers.config import LayersConfig

logger = logging.getLogger(__name__)

KIND = "layers"
BUILDING_SECONDS = 6 * 3600.0
"""How long a worker may build the layers of a conversation."""
RETRY_SECONDS = 20
TRANSIENT = (TimeoutError, ConnectionError, OperationalError)
REQUESTED, FAILED = "layers.requested", "layers.failed"


@dataclass(frozen=True, slots=True)
class BuildLease(JobLease):
    def end_late(self) -> None:
        _fail(self, Fact("build.too_long", hours=BUILDING_SECONDS / 3600))


class Build(NamedTuple):
    """How far the layers of a conversation are, in one configuration."""

    config: Mapping[str, Any]
    key: str
    ready: Mapping[str, BuiltLayer]
    state: str
    """``queued``, ``running``, ``finished``, ``failed``; empty: nobody has asked."""
    failure: Fact | None = None


def key_of(config: LayersConfig) -> str:
    """What tells this configuration from others; loads no encoder."""
    return key_for(config, _encoder())


def request(conversation: Conversation, *, by: Any) -> bool:
    """Have a worker build what is missing; False if nothing is."""
    if builds_of(conversation)[0].state == "finished":
        return False
    with transaction.atomic():
        _record(REQUESTED, conversation, by, conversations=1)
        jobs.ask(KIND, conversation.pk)
    return True


def builds_of(conversation: Conversation) -> list[Build]:
    """That of the configuration that is built now, then those of others that were."""
    config = LayersConfig()
    ready: dict[str, dict[str, BuiltLayer]] = {key_of(config): {}}
    for row in BuiltLayer.objects.filter(conversation=conversation).order_by("-pk"):
        ready.setdefault(row.config_sha256, {})[row.kind] = row
    (key, rows), *others = ready.items()
    state, failure = _state(conversation, rows)
    return [
        Build(config.model_dump(mode="json"), key, rows, state, failure),
        *(Build(next(iter(rows.values())).config, key, rows, "finished") for key, rows in others),
    ]


def _state(conversation: Conversation, ready: Mapping[str, BuiltLayer]) -> tuple[str, Fact | None]:
    if len(ready) == len(KINDS):
        return "finished", None
    job = Job.objects.filter(kind=KIND, key=conversation.pk)
    if job.exists():
        return ("running" if job.held().exists() else "queued"), None
    told = Event.objects.filter(object_type="conversation", object_id=str(conversation.pk))
    last = told.filter(verb__in=[REQUESTED, FAILED]).order_by("-pk").first()
    if last is not None and last.verb == FAILED:
        return "failed", Fact.from_json(last.data["reason"])
    return "", None


def work(conversation_id: int, owner: UUID, *, progress: Callable[[], None] | None = None) -> bool:
    """Build what is missing; False if there is nothing to do or somebody else is at it."""
    if not jobs.claim(KIND, conversation_id, owner):
        return False
    lease = BuildLease(KIND, conversation_id, owner)
    conversation, attempts = Conversation.objects.filter(pk=conversation_id).first(), lease.attempts
    if conversation is None or attempts >= MAX_ATTEMPTS:
        _fail(lease, Fact("work.given_up", attempts=MAX_ATTEMPTS))
        return False
    try:
        with KeepAlive(lease, seconds=BUILDING_SECONDS):
            _build(conversation, progress)
        lease.finish()
    except Exception as error:  # the page of the conversation says why
        working.log_failure(logger, f"Layers of {conversation}", error)
        if isinstance(error, TRANSIENT) and attempts + 1 < MAX_ATTEMPTS:
            lease.put_off(RETRY_SECONDS * (attempts + 1))
        else:
            _fail(lease, working.fact_of(error))
    except BaseException:  # Ctrl-C, or the process is told to end
        lease.give_back()
        raise
    return True


class StoredRows:
    """The built layers of one conversation and configuration, as pipelines read and write them."""

    def __init__(self, conversation_id: int, key: str, config: LayersConfig) -> None:
        self._of = {"conversation_id": conversation_id, "config_sha256": key}
        self._config = config

    def get(self, kind: Kind) -> Mapping[str, Any] | None:
        row = BuiltLayer.objects.filter(**self._of, kind=kind).first()
        return row.payload if row else None

    def put(self, kind: Kind, payload: Mapping[str, Any], *, seconds: float) -> None:
        BuiltLayer.objects.get_or_create(  # of two who built the same, the first counts
            **self._of,
            kind=kind,
            defaults={
                "config": self._config.model_dump(mode="json"),
                "implementation": "local",
                "payload": payload,
                "seconds": seconds,
            },
        )


def alone(conversation_id: int, key: str) -> AbstractContextManager[bool]:
    """Of those who want the same, a run among them, one builds; the others wait and find it."""
    return FileStore().alone(f"layers-{conversation_id}-{key}")


def _build(conversation: Conversation, progress: Callable[[], None] | None) -> None:
    """Who has lost the lease meanwhile has built the same as whoever has it."""
    config, encoder = LayersConfig(), _encoder()
    key = key_for(config, encoder)

    def tell(kind: Kind, done: int, total: int) -> None:
        if progress:
            progress()

    with alone(conversation.pk, key):
        build_layers(
            adapters.messages_of(conversation),
            encoder=encoder,
            rows=StoredRows(conversation.pk, key, config),
            config=config,
            progress=tell,
        )


def _fail(lease: JobLease, reason: Fact) -> None:
    """By its holder alone."""
    conversation = Conversation.objects.filter(pk=lease.key).first()
    if conversation is not None and lease.renew():
        _record(FAILED, conversation, None, reason=reason.as_json())
    lease.finish()


def _record(verb: str, conversation: Conversation, by: Any, **data: Any) -> None:
    events.record(verb, conversation, project=conversation.project, actor=by, **data)


def _encoder() -> MiniLM:
    return MiniLM(StoredVectors("pipeline"))
