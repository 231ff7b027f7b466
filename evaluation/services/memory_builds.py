"""Building the layers of conversations: asked for here, done by a worker or by a command.

A conversation's text never changes, so each layer is built once for each configuration and kept
as soon as it is ready. The rows say what is left, so the work may stop and continue anywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import OperationalError, transaction
from django.db.models import QuerySet
from django.utils import timezone
from pydantic import ValidationError

from evaluation import adapters
from evaluation.models import BuiltLayer, LayerBuild
from evaluation.services.launch.launch import PipelineRefused
from evaluation.services.stores import FileStore
from evaluation.services.work import working
from evaluation.services.work.leases import MAX_ATTEMPTS
from labeling.agreement.vectors import StoredVectors
from labeling.core import events
from labeling.domain.facts import Fact
from labeling.jobs import queue as jobs
from labeling.jobs.queue import JobLease, KeepAlive
from labeling.models import Conversation, Project
from pipelines.encoder import MiniLM
from pipelines.memory.layers.build import KINDS, Kind, build_layers, key_for
from pipelines.memory.layers.config import LayersConfig

logger = logging.getLogger(__name__)

KIND = "layers"
BUILDING_SECONDS = 6 * 3600.0
"""How long a worker may build the layers of a conversation."""
RETRY_SECONDS = 20
TRANSIENT = (TimeoutError, ConnectionError, OperationalError)


@dataclass(frozen=True, slots=True)
class BuildLease(JobLease):
    def end_late(self) -> None:
        _end(self, failure=Fact("build.too_long", hours=BUILDING_SECONDS / 3600))


class LeaseLost(Exception):
    """Another worker has taken the build over."""


def checked_config(settings: Mapping[str, Any]) -> LayersConfig:
    try:
        return LayersConfig.model_validate(settings)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        setting = ".".join(str(part) for part in first["loc"])
        raise PipelineRefused(
            "memory.setting",
            setting=setting,
            msg=first["msg"],
            known=list(LayersConfig.model_fields),
            details={"setting": setting},
        ) from error


def key_of(config: LayersConfig) -> str:
    """What tells this configuration from others; loads no encoder."""
    return key_for(config, _encoder())


def request(
    conversations: Sequence[Conversation],
    *,
    project: Project,
    config: LayersConfig,
    by: Any,
    queue: bool = True,
) -> list[LayerBuild]:
    """Request the layers of each conversation. Built ones are kept; failed ones are retried."""
    key = key_of(config)
    with transaction.atomic():
        asked = [_asked(conversation, key, config, by) for conversation in conversations]
        open_ = [build for build in asked if build.finished_at is None]
        if open_:
            events.record(
                "layers.requested", project, project=project, actor=by, conversations=len(open_)
            )
        for build in open_ if queue else []:
            jobs.ask(KIND, build.pk)
    return asked


def work(build_id: int, owner: UUID, *, progress: Callable[[], None] | None = None) -> bool:
    """Build what is missing; False if there is nothing to do or somebody else is at it."""
    if not jobs.claim(KIND, build_id, owner):
        return False
    lease = BuildLease(KIND, build_id, owner)
    unfinished = LayerBuild.objects.unfinished().select_related("conversation")
    build, attempts = unfinished.filter(pk=build_id).first(), lease.attempts
    if build is None or attempts >= MAX_ATTEMPTS:
        _end(lease, failure=Fact("work.given_up", attempts=MAX_ATTEMPTS))
        return False
    try:
        with KeepAlive(lease, seconds=BUILDING_SECONDS):
            _build(build, lease, progress)
        _end(lease, finished_at=timezone.now())
    except LeaseLost:
        logger.warning("The build %s was taken over; what this one began is dropped.", build_id)
    except Exception as error:  # the page of the conversation says why
        working.log_failure(logger, build, error)
        if isinstance(error, TRANSIENT) and attempts + 1 < MAX_ATTEMPTS:
            lease.put_off(RETRY_SECONDS * (attempts + 1))
        else:
            _end(lease, failure=working.fact_of(error))
    except BaseException:  # Ctrl-C, or the process is told to end
        lease.give_back()
        raise
    return True


def due() -> QuerySet[LayerBuild, int]:
    return LayerBuild.objects.unfinished().values_list("pk", flat=True)


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
                "implementation": payload["model"] or "local",
                "payload": payload,
                "seconds": seconds,
            },
        )


def alone(conversation_id: int, key: str) -> AbstractContextManager[bool]:
    """Of those who want the same, a run among them, one builds; the others wait and find it."""
    return FileStore().alone(f"layers-{conversation_id}-{key}")


def built(conversation: Conversation, key: str) -> dict[str, BuiltLayer]:
    """The layers that are ready, by kind."""
    rows = BuiltLayer.objects.filter(conversation=conversation, config_sha256=key)
    return {row.kind: row for row in rows}


def _asked(conversation: Conversation, key: str, config: LayersConfig, by: Any) -> LayerBuild:
    build, _ = LayerBuild.objects.get_or_create(
        conversation=conversation,
        config_sha256=key,
        defaults={"config": config.model_dump(mode="json"), "requested_by": by},
    )
    if build.failure or (build.finished_at and not _complete(build)):
        build.failure, build.finished_at, build.requested_by = None, None, by
        build.save()
    return build


def _complete(build: LayerBuild) -> bool:
    return len(built(build.conversation, build.config_sha256)) == len(KINDS)


def _build(build: LayerBuild, lease: JobLease, progress: Callable[[], None] | None) -> None:
    config = LayersConfig.model_validate(build.config)
    if key_of(config) != build.config_sha256:
        raise PipelineRefused("memory.other_setup")
    rows = StoredRows(build.conversation_id, build.config_sha256, config)

    def tell(kind: Kind, done: int, total: int) -> None:
        if not lease.renew():
            raise LeaseLost
        LayerBuild.objects.filter(pk=build.pk).update(step=kind, done=done, total=total)
        if progress:
            progress()

    with alone(build.conversation_id, build.config_sha256):
        build_layers(
            adapters.messages_of(build.conversation),
            encoder=_encoder(),
            rows=rows,
            config=config,
            progress=_sparing(tell),
        )


def _sparing(tell: Callable[[Kind, int, int], None]) -> Callable[[Kind, int, int], None]:
    """Hundreds of steps a second are reported as one, because each report is a write."""
    last: dict[str, Any] = {"kind": None, "at": timezone.now()}

    def sometimes(kind: Kind, done: int, total: int) -> None:
        now = timezone.now()
        if kind != last["kind"] or now - last["at"] > timedelta(seconds=0.5):
            last.update(kind=kind, at=now)
            tell(kind, done, total)

    return sometimes


def _end(lease: JobLease, **fields: Any) -> None:
    """By its holder alone."""
    held = LayerBuild.objects.unfinished().filter(jobs.held_by(KIND, lease.owner), pk=lease.key)
    held.update(**fields)
    lease.finish()


def _encoder() -> MiniLM:
    return MiniLM(StoredVectors("pipeline"))
