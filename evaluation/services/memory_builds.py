"""Building the layers of conversations: asked for here, done by a worker or by a command.

A conversation's text never changes, so each layer is built once for each configuration and kept
as soon as it is ready. The rows say what is left, so the work may stop and continue anywhere.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import OperationalError, transaction
from django.db.models import Case, F, When
from django.db.models.functions import Now
from django.utils import timezone
from pydantic import ValidationError

from evaluation import adapters
from evaluation.models import BuiltLayer, LayerBuild
from evaluation.services.launch.launch import PipelineRefused
from evaluation.services.stores import FileStore
from evaluation.services.work import working
from evaluation.services.work.leases import (
    MAX_ATTEMPTS,
    KeepAlive,
    expiry,
    holder_is_gone,
)
from labeling.domain.facts import Fact
from labeling.models import Conversation, Project
from labeling.services import events, wakeups
from labeling.services.vectors import StoredVectors
from pipelines.encoder import MiniLM
from pipelines.memory.layers.build import KINDS, Kind, build_layers, key_for
from pipelines.memory.layers.config import LayersConfig

logger = logging.getLogger(__name__)

BUILDING_SECONDS = 6 * 3600.0
"""How long a worker may build the layers of a conversation."""
RETRY_SECONDS = 20
TRANSIENT = (TimeoutError, ConnectionError, OperationalError)


@dataclass(frozen=True, slots=True)
class BuildLease:
    build_id: int
    owner: UUID

    def renew(self) -> bool:
        return _renew(self.build_id, self.owner)

    def give_back(self) -> None:
        _finish(self.build_id, self.owner, attempts=F("attempts") - 1)

    def abandon(self) -> None:
        _finish(self.build_id, self.owner)

    def end_late(self) -> None:
        problem = Fact("build.too_long", hours=BUILDING_SECONDS / 3600)
        _finish(self.build_id, self.owner, failure=problem)


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
            transaction.on_commit(lambda pk=build.pk: wake(pk))  # type: ignore[misc]
    return asked


def work(build_id: int, owner: UUID, *, progress: Callable[[], None] | None = None) -> bool:
    """Build what is missing; False if there is nothing to do or somebody else is at it."""
    build = _claim(build_id, owner)
    if build is None:
        return False
    try:
        with KeepAlive(BuildLease(build_id, owner), seconds=BUILDING_SECONDS):
            _build(build, owner, progress)
        _finish(build_id, owner, finished_at=timezone.now(), attempts=0)
    except LeaseLost:
        logger.warning("The build %s was taken over; what this one began is dropped.", build_id)
    except Exception as error:  # the page of the conversation says why
        working.log_failure(logger, build, error)
        _finish(build_id, owner, **_failure(error, build.attempts))
    except BaseException:  # Ctrl-C, or the process is told to end
        BuildLease(build_id, owner).give_back()
        raise
    return True


def wake(build_id: int) -> None:
    """Tell a worker. A lost message does no harm: the sweep sends another."""
    wakeups.wake_about(LayerBuild, "evaluation.tasks.build_layers", build_id)


def wake_unattended() -> None:
    for build_id in wakeups.unwoken(LayerBuild.objects.claimable()):
        wake(build_id)


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
        build.failure, build.finished_at, build.attempts = None, None, 0
        build.lease_expires_at, build.requested_by = None, by
        build.save()
    return build


def _complete(build: LayerBuild) -> bool:
    return len(built(build.conversation, build.config_sha256)) == len(KINDS)


def _build(build: LayerBuild, owner: UUID, progress: Callable[[], None] | None) -> None:
    config = LayersConfig.model_validate(build.config)
    if key_of(config) != build.config_sha256:
        raise PipelineRefused("memory.other_setup")
    rows = StoredRows(build.conversation_id, build.config_sha256, config)

    def tell(kind: Kind, done: int, total: int) -> None:
        if not _renew(build.pk, owner, step=kind, done=done, total=total):
            raise LeaseLost
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


def _claim(build_id: int, owner: UUID) -> LayerBuild | None:
    claimable = LayerBuild.objects.filter(pk=build_id).claimable()
    claimable.filter(holder_is_gone()).update(owner=None)
    claimable.filter(attempts__gte=MAX_ATTEMPTS, owner=None).update(
        failure=Fact("work.given_up", attempts=MAX_ATTEMPTS),
        owner=None,
        lease_expires_at=None,
    )
    # a lease that ran out while somebody held it proves no death: a clock may have been set
    attempts = Case(When(owner__isnull=False, then=F("attempts")), default=F("attempts") + 1)
    taken = claimable.update(owner=owner, attempts=attempts, lease_expires_at=expiry())
    if not taken:
        return None
    return LayerBuild.objects.select_related("conversation").get(pk=build_id)


def _renew(build_id: int, owner: UUID, **fields: Any) -> bool:
    leased = LayerBuild.objects.filter(pk=build_id, owner=owner)
    return leased.update(lease_expires_at=expiry(), **fields) == 1


def _finish(build_id: int, owner: UUID, **fields: Any) -> None:
    leased = LayerBuild.objects.filter(pk=build_id, owner=owner)
    leased.update(**{"owner": None, "lease_expires_at": None, **fields})


def _failure(error: Exception, attempts: int) -> Mapping[str, Any]:
    if isinstance(error, TRANSIENT) and attempts < MAX_ATTEMPTS:
        return {"lease_expires_at": Now() + timedelta(seconds=RETRY_SECONDS * attempts)}
    return {"failure": working.fact_of(error)}


def _encoder() -> MiniLM:
    return MiniLM(StoredVectors("pipeline"))


def conversations_of(project: Project, external_ids: Iterable[str]) -> list[Conversation]:
    """Those with the ids, or all; an unknown id is refused."""
    wanted = list(dict.fromkeys(external_ids))
    conversations = project.conversations.order_by("external_id")
    if not wanted:
        return list(conversations)
    known = {
        conversation.external_id: conversation
        for conversation in conversations.filter(external_id__in=wanted)
    }
    for external_id in wanted:
        if external_id not in known:
            raise PipelineRefused(
                "memory.no_conversation", slug=project.slug, external_id=external_id
            )
    return [known[external_id] for external_id in wanted]
