"""Replies of language models, kept in the database so that no request is paid twice."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from itertools import count

from django.conf import settings
from django.db.models import F, Sum, Window
from django.db.models.functions import Coalesce
from django.utils import timezone

from evaluation import adapters
from evaluation.models import CachedReply
from labeling.domain.canonical import canonical_json
from pipelines.chat.client import OpenAIModel
from pipelines.chat.endpoint import Endpoint
from pipelines.chat.receiving import MEGABYTE
from pipelines.llm import NO_USAGE, ChatMessage, Reply
from pipelines.types import JsonSchema

logger = logging.getLogger(__name__)

SWEPT_AFTER = 200  # replies


def key_of(
    endpoint: Endpoint,
    messages: Sequence[ChatMessage],
    *,
    schema: JsonSchema | None,
    repetition: int,
) -> str:
    """Of everything that may change a reply. Repetitions differ, or they would be copies."""
    asked = {
        "provider": endpoint.provider,
        "address": endpoint.address,
        "model": endpoint.model,
        "messages": [[message.role, message.content] for message in messages],
        "parameters": endpoint.parameters,
        "schema": schema,
        "repetition": repetition,
    }
    return hashlib.sha256(canonical_json(adapters.storable(asked)).encode()).hexdigest()


class CachedModel:
    """A chat model that looks into the database first. Failures are never kept."""

    def __init__(self, client: OpenAIModel) -> None:
        self._client = client
        self._keys: set[str] = set()
        self._from_cache = False

    def before_asking(self) -> None:
        """May refuse a request that would have to be paid."""

    def begin_anew(self) -> None:
        """``forget_replies`` is about those from here on."""
        self._keys.clear()
        self._from_cache = False

    def forget_replies(self) -> bool:
        """What was replied cannot be read, so nobody gets it from the cache; True if somebody just
        did, and may ask again."""
        CachedReply.objects.filter(key__in=self._keys).delete()
        return self._from_cache

    @property
    def id(self) -> str:
        return self._client.id

    @property
    def endpoint(self) -> Endpoint:
        return self._client.endpoint

    @property
    def context_tokens(self) -> int:
        return self.endpoint.context_tokens

    def complete(
        self,
        messages: Sequence[ChatMessage],
        *,
        schema: JsonSchema | None = None,
        repetition: int = 0,
    ) -> Reply:
        key = key_of(self.endpoint, messages, schema=schema, repetition=repetition)
        self._keys.add(key)
        known = _find(key)
        if known is not None:
            self._from_cache = True
            return known
        self.before_asking()
        reply = self._client.complete(messages, schema=schema, repetition=repetition)
        _keep(key, self.endpoint, reply)
        return reply


def _find(key: str) -> Reply | None:
    stored = CachedReply.objects.filter(key=key).values_list("reply", flat=True).first()
    if stored is None:
        return None
    CachedReply.objects.filter(key=key).update(hits=F("hits") + 1, last_used_at=timezone.now())
    kept = {name: stored[name] for name in ("text", "data", "model")}
    return Reply(**kept, usage=NO_USAGE, cached=True)


def _keep(key: str, endpoint: Endpoint, reply: Reply) -> None:
    stored = {"text": reply.text, "data": reply.data, "model": reply.model}
    reply_json = adapters.storable(stored)
    row = CachedReply(
        key=key,
        size=len(json.dumps(reply_json).encode()),
        provider=endpoint.provider[:50],
        model=endpoint.model[:200],
        reply=reply_json,
    )
    # of two simultaneous replies to the same request, the first is kept
    CachedReply.objects.bulk_create([row], ignore_conflicts=True)
    if next(_kept) % SWEPT_AFTER == 0:
        sweep()


_kept = count(1)


def size() -> int:
    """Bytes of all that is kept."""
    return CachedReply.objects.aggregate(total=Sum("size"))["total"] or 0


def sweep() -> int:
    """Forget what was not used for longest if there is more than the settings allow; how many."""
    most = settings.MAX_CACHE_MB * MEGABYTE
    if size() <= most:
        return 0
    used = Coalesce("last_used_at", "created_at")
    so_far = Window(Sum("size"), order_by=[used.desc(), F("pk").desc()])
    room = most - most // 10  # or each further reply would sweep again
    kept = CachedReply.objects.annotate(so_far=so_far).filter(so_far__lte=room)
    forgotten, _ = CachedReply.objects.exclude(pk__in=kept.values("pk")).delete()
    logger.info("The cache of replies was full: %s of them are forgotten.", forgotten)
    return forgotten
