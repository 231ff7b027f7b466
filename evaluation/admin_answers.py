"""Answers, what judges and people say of them, and the certificates of judges, for staff."""

from __future__ import annotations

from django.contrib import admin

from evaluation.models import (
    Answer,
    AnswerPanel,
    AnswerRating,
    JudgeCertificate,
    Judgement,
    Judging,
    Probing,
)
from labeling.admin import ReadOnlyAdmin


@admin.register(Answer)
class AnswerAdmin(ReadOnlyAdmin):
    heavy = ("text", "message_ids", "usage", "case__output", "case__usage")
    list_display = ("id", "case", "state", "attempts", "model", "error_class", "finished_at")
    list_filter = ("state", "error_class", "model")
    search_fields = ("error", "=case__run__id", "case__item__item_id")
    list_select_related = ("case",)


@admin.register(Judging)
class JudgingAdmin(ReadOnlyAdmin):
    heavy = ("spec", "run__spec", "run__config")
    list_display = ("id", "run", "model", "judge_sha256", "requested_by", "created_at")
    list_filter = ("model", "parser_version", "cancelled")
    search_fields = ("model", "judge_sha256", "=run__id")
    list_select_related = ("run", "requested_by")


@admin.register(Judgement)
class JudgementAdmin(ReadOnlyAdmin):
    heavy = (
        "reasoning",
        "detail",
        "raw",
        "usage",
        "judging__spec",
        "answer__text",
        "answer__message_ids",
        "answer__usage",
    )
    list_display = ("id", "judging", "answer", "kind", "state", "score", "clamped", "reason")
    list_filter = ("kind", "state", "error_class", "clamped")
    search_fields = ("error", "=judging__run__id", "=answer__id")
    list_select_related = ("judging", "answer")


@admin.register(AnswerRating)
class AnswerRatingAdmin(ReadOnlyAdmin):
    heavy = ("answer__text", "answer__message_ids", "answer__usage")
    list_display = ("id", "answer", "kind", "rater", "score", "rated_at")
    list_filter = ("kind", "score")
    search_fields = ("note", "rater__username", "=answer__case__run__id")
    list_select_related = ("answer", "rater")


@admin.register(AnswerPanel)
class AnswerPanelAdmin(ReadOnlyAdmin):
    heavy = ("run__spec", "run__config")
    list_display = ("id", "run", "opened_by", "opened_at")
    search_fields = ("=run__id",)
    list_select_related = ("run", "opened_by")


@admin.register(Probing)
class ProbingAdmin(ReadOnlyAdmin):
    heavy = ("prompt", "results", "usage")
    list_display = ("id", "project", "kind", "model", "state", "requested_by", "created_at")
    list_filter = ("kind", "state", "model")
    search_fields = ("judge_sha256", "model", "error")
    list_select_related = ("project", "requested_by")


@admin.register(JudgeCertificate)
class JudgeCertificateAdmin(ReadOnlyAdmin):
    heavy = ("probes", "comparison", "reasons")
    list_display = ("id", "project", "kind", "model", "passed", "kappa", "n", "issued_at")
    list_filter = ("passed", "kind", "model")
    search_fields = ("judge_sha256", "model")
    list_select_related = ("project", "issued_by")
