"""The admin is for staff: look, search, and set up people and projects.

What people made, what was decided and what is frozen can be read here and never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest

from labeling.forms.accounts import AccountForm, MembersFormSet
from labeling.forms.projects import ProjectSetup
from labeling.models import (
    Adjudication,
    Annotation,
    ApiToken,
    Assignment,
    CheckConversation,
    CheckPlan,
    Comment,
    Conversation,
    Disagreement,
    Event,
    FirstPass,
    GoldCheck,
    GoldItem,
    GoldRelease,
    Guideline,
    GuidelineCheck,
    ImportReport,
    Invitation,
    Measurement,
    Membership,
    Merge,
    Message,
    Pause,
    PendingUpdate,
    Project,
    Qualification,
    Review,
    Round,
    Suggestion,
    SuggestionRequest,
    Webhook,
    WebhookDelivery,
)
from labeling.models.fields import FactField
from labeling.services import blindness, events, project_settings
from labeling.words import words_of

admin.site.site_header = admin.site.site_title = "Assay"
admin.site.index_title = "Administration"


class ReadOnly:
    """Everything may be looked at (by who has the view permission), nothing changed."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def worded(name: str) -> Callable[[Model], str]:
    """A column or field that shows the sentence of a fact."""

    @admin.display(description=name.replace("_", " "), ordering=name)
    def shown(row: Model) -> str:
        return words_of(getattr(row, name))

    return shown


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):
    """Lists leave the payloads in ``heavy`` in the database.

    ``about`` leads to the conversation of a row that shows labels: the staff, too, label blind.
    ``hides_checks`` leaves hidden checks out: the staff may be checked like everybody else.
    """

    heavy: tuple[str, ...] = ()
    about = ""
    hides_checks = False
    show_full_result_count = False

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return self._with_words(super().get_fields(request, obj))

    def get_list_display(self, request: HttpRequest) -> Any:
        return self._with_words(super().get_list_display(request))

    def _with_words(self, names: Iterable[Any]) -> list[Any]:
        facts = {one.name for one in self.model._meta.fields if isinstance(one, FactField)}
        return [worded(name) if name in facts else name for name in names]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        rows: Any = super().get_queryset(request)
        if self.hides_checks:
            rows = rows.labelling()
        if self.about:
            rows = rows.exclude(**{f"{self.about}__in": blindness.again(request.user)})
        match = request.resolver_match
        is_list = match is not None and str(match.url_name).endswith("_changelist")
        return rows.defer(*self.heavy) if is_list else rows


class MembershipInline(admin.TabularInline):
    model = Membership
    formset = MembersFormSet
    extra = 0
    autocomplete_fields = ("user",)


class MessageInline(ReadOnly, admin.TabularInline):
    model = Message
    extra = 0
    fields = ("index", "role", "speaker", "content", "time")
    readonly_fields = fields


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):
    list_display = ("name", "slug", "overlap", "kappa_threshold", "kappa_statistic", "created_at")
    search_fields = ("name", "slug")
    inlines = (MembershipInline,)
    form = ProjectSetup
    exclude = ("suggestions",)  # switched on a page of its own

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            events.record("project.created", obj, project=obj, actor=request.user, name=obj.name)
        elif form.changed_data:
            changed = form.changed_data
            events.record("project.changed", obj, project=obj, actor=request.user, fields=changed)
            project_settings.follow(obj, changed)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Members: whoever loses a role is written down before the row is gone."""
        super().save_formset(request, form, formset, change)
        added = [*formset.new_objects, *(one for one, _ in formset.changed_objects)]
        for verb, members in (("added", added), ("removed", formset.deleted_objects)):
            for one in members:
                events.record(
                    f"member.{verb}",
                    one,
                    project=one.project,
                    actor=request.user,
                    user=one.user.get_username(),
                    role=one.role,
                )

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        return False


admin.site.unregister(User)


@admin.register(User)
class AccountAdmin(UserAdmin):
    """Accounts are closed, not deleted: what people made keeps its author."""

    form = AccountForm

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False


@admin.register(Guideline)
class GuidelineAdmin(ReadOnlyAdmin):
    heavy = ("body",)
    list_display = ("project", "version", "summary", "created_by", "created_at")
    list_filter = ("project",)
    list_select_related = ("project", "created_by")


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    list_display = ("external_id", "project", "domain", "difficulty", "split", "imported_at")
    list_filter = ("project", "split", "difficulty")
    search_fields = ("external_id", "domain")
    list_select_related = ("project",)
    inlines = (MessageInline,)


@admin.register(Round)
class RoundAdmin(ReadOnlyAdmin):
    hides_checks = True
    heavy = ("agreement",)
    list_display = ("__str__", "kind", "state", "overlap", "pool", "opened_by", "opened_at")
    list_filter = ("project", "kind", "state")
    list_select_related = ("project", "opened_by")


@admin.register(Assignment)
class AssignmentAdmin(ReadOnlyAdmin):
    hides_checks = True
    list_display = ("conversation", "annotator", "round", "slot", "taken_at", "lease_expires_at")
    list_filter = ("round__project", "annotator")
    search_fields = ("conversation__external_id", "annotator__username")
    list_select_related = ("conversation", "annotator", "round__project")


@admin.register(Annotation)
class AnnotationAdmin(ReadOnlyAdmin):
    hides_checks = True
    about = "assignment__conversation"
    heavy = ("payload",)
    list_display = ("assignment", "status", "version", "empty", "active_seconds", "submitted_at")
    list_filter = ("status", "assignment__round__project")
    search_fields = (
        "assignment__conversation__external_id",
        "assignment__annotator__username",
    )
    list_select_related = ("assignment__conversation", "assignment__annotator")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        """An open calibration round is blind for the staff too."""
        blind = Round.objects.blind()
        return super().get_queryset(request).exclude(assignment__round__in=blind)


@admin.register(Adjudication)
class AdjudicationAdmin(ReadOnlyAdmin):
    about = "conversation"
    heavy = ("payload",)
    list_display = ("conversation", "layer", "version", "decided_by", "decided_at")
    list_filter = ("conversation__project", "layer")
    search_fields = ("conversation__external_id", "reason")
    list_select_related = ("conversation", "decided_by")


@admin.register(Merge)
class MergeAdmin(ReadOnlyAdmin):
    about = "conversation"
    heavy = ("clusters",)
    list_display = ("conversation", "layer", "round", "state", "n_agreed", "n_disputed", "made_at")
    list_filter = ("conversation__project", "layer", "state")
    search_fields = ("conversation__external_id",)
    list_select_related = ("conversation", "round__project")


@admin.register(Disagreement)
class DisagreementAdmin(ReadOnlyAdmin):
    about = "conversation"
    list_display = ("conversation", "layer", "unit", "round", "outcome", "decided_by")
    list_filter = ("round__project", "outcome")
    search_fields = ("conversation__external_id", "note")
    list_select_related = ("conversation", "round__project", "decided_by")


@admin.register(PendingUpdate)
class PendingUpdateAdmin(ReadOnlyAdmin):
    about = "conversation"
    list_display = ("project", "round", "conversation", "asked_at")
    list_filter = ("project",)
    search_fields = ("project__slug", "conversation__external_id")
    list_select_related = ("project", "round__project", "conversation")


@admin.register(Measurement)
class MeasurementAdmin(ReadOnlyAdmin):
    heavy = ("figures", "units", "conversations", "splits", "records")
    list_display = ("round", "layer", "selection", "measured_at")
    list_filter = ("round__project", "layer")
    search_fields = ("round__project__slug",)
    list_select_related = ("round__project",)


@admin.register(Comment)
class CommentAdmin(ReadOnlyAdmin):
    about = "conversation"
    list_display = ("__str__", "conversation", "message_index", "created_at", "resolved_by")
    list_filter = ("project",)
    search_fields = ("body", "author__username", "conversation__external_id")
    list_select_related = ("author", "conversation", "resolved_by")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        """What is said about a label in an open calibration round is for its author alone."""
        blind = Round.objects.labelling().filter(
            kind=Round.Kind.CALIBRATION, state=Round.State.OPEN
        )
        return super().get_queryset(request).exclude(~Q(label_uid=""), round__in=blind)


@admin.register(GuidelineCheck)
class GuidelineCheckAdmin(ReadOnlyAdmin):
    list_display = ("annotation", "guideline", "stands", "checked_by", "checked_at")
    list_filter = ("guideline__project", "stands")
    search_fields = ("note", "checked_by__username")
    list_select_related = (
        "annotation__assignment__conversation",
        "annotation__assignment__annotator",
        "guideline__project",
        "checked_by",
    )


@admin.register(Review)
class ReviewAdmin(ReadOnlyAdmin):
    about = "annotation__assignment__conversation"
    heavy = ("payload",)
    list_display = ("annotation", "verdict", "reviewer", "reviewed_at")
    list_filter = ("verdict", "annotation__assignment__round__project")
    search_fields = ("comment", "reviewer__username")
    list_select_related = (
        "annotation__assignment__conversation",
        "annotation__assignment__annotator",
        "reviewer",
    )


@admin.register(Suggestion)
class SuggestionAdmin(ReadOnlyAdmin):
    """Without what is suggested: nobody reads it before their own first pass."""

    heavy = ("payload",)
    exclude = ("payload",)
    list_display = ("conversation", "layer", "pipeline", "pipeline_version", "created_at")
    list_filter = ("conversation__project", "layer", "pipeline")
    search_fields = ("conversation__external_id",)
    list_select_related = ("conversation",)


@admin.register(SuggestionRequest)
class SuggestionRequestAdmin(ReadOnlyAdmin):
    heavy = ("tries", "failures")
    list_display = ("project", "layer", "pipeline", "requested_by", "requested_at", "finished_at")
    list_filter = ("project", "layer", "pipeline")
    search_fields = ("project__slug", "pipeline")
    list_select_related = ("project", "requested_by")


@admin.register(FirstPass)
class FirstPassAdmin(ReadOnlyAdmin):
    heavy = ("dismissed",)
    list_display = ("assignment", "version", "declared_at")
    list_filter = ("assignment__round__project",)
    search_fields = ("assignment__conversation__external_id", "assignment__annotator__username")
    list_select_related = ("assignment__conversation", "assignment__annotator")


@admin.register(Invitation)
class InvitationAdmin(ReadOnlyAdmin):
    exclude = ("digest",)
    list_display = ("project", "role", "uses_left", "created_by", "expires_at", "revoked_at")
    list_filter = ("project", "role")
    search_fields = ("created_by__username",)
    list_select_related = ("project", "created_by")


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    exclude = ("digest",)
    list_display = ("user", "name", "created_at", "last_used_at", "revoked_at")
    search_fields = ("user__username", "name")
    list_select_related = ("user",)


@admin.register(Webhook)
class WebhookAdmin(ReadOnlyAdmin):
    """Without the secrets, and without the address, whose path may hold one of the receiver."""

    heavy = exclude = ("url", "secret", "old_secret")
    list_display = ("project", "active", "created_by", "created_at", "failures_in_a_row")
    list_filter = ("project", "active")
    search_fields = ("project__slug", "created_by__username")
    list_select_related = ("project", "created_by")


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(ReadOnlyAdmin):
    list_display = ("public_id", "webhook_id", "event", "state", "attempts", "outcome", "tried_at")
    list_filter = ("webhook__project", "state", "outcome")
    search_fields = ("event__verb", "event__object_id")
    list_select_related = ("event",)


@admin.register(ImportReport)
class ImportReportAdmin(ReadOnlyAdmin):
    heavy = ("files", "counts", "faults", "dia_ids")
    list_display = ("__str__", "project", "format", "created_by", "created_at")
    list_filter = ("project", "format")
    list_select_related = ("project", "created_by")


@admin.register(GoldRelease)
class GoldReleaseAdmin(ReadOnlyAdmin):
    heavy = ("agreement", "left_out", "header")
    list_display = ("__str__", "project", "layer", "short_hash", "frozen_by", "frozen_at")
    list_filter = ("project", "layer")
    search_fields = ("name", "sha256")
    list_select_related = ("project", "frozen_by")

    @admin.display(description="SHA-256", ordering="sha256")
    def short_hash(self, release: GoldRelease) -> str:
        return release.sha256[:12]


@admin.register(GoldItem)
class GoldItemAdmin(ReadOnlyAdmin):
    about = "conversation"
    heavy = ("canonical",)
    list_display = ("item_id", "release", "split", "how", "sha256")
    list_filter = ("release", "split", "how")
    search_fields = ("item_id", "sha256")
    list_select_related = ("release",)


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    heavy = ("data",)
    list_display = ("at", "verb", "actor", "project", "object_type", "object_id")
    list_filter = ("verb", "project")
    search_fields = ("object_id", "actor__username")
    list_select_related = ("actor", "project")
    date_hierarchy = "at"


@admin.register(CheckPlan)
class CheckPlanAdmin(ReadOnlyAdmin):
    list_display = ("project", "every", "pause_below", "test", "pass_at", "tries")
    list_select_related = ("project",)


@admin.register(CheckConversation)
class CheckConversationAdmin(ReadOnlyAdmin):
    about = "conversation"
    list_display = ("conversation", "purpose", "project")
    list_filter = ("project", "purpose")
    search_fields = ("conversation__external_id",)
    list_select_related = ("conversation", "project")


@admin.register(GoldCheck)
class GoldCheckAdmin(ReadOnlyAdmin):
    about = "assignment__conversation"
    heavy = ("layers",)
    list_display = ("assignment", "version", "value", "scored_at")
    list_filter = ("assignment__round__project", "assignment__purpose")
    search_fields = ("assignment__conversation__external_id", "assignment__annotator__username")
    list_select_related = ("assignment__conversation", "assignment__annotator")


@admin.register(Qualification)
class QualificationAdmin(ReadOnlyAdmin):
    list_display = ("user", "project", "state", "tries", "value", "decided_at")
    list_filter = ("project", "state")
    search_fields = ("user__username",)
    list_select_related = ("user", "project", "waived_by")


@admin.register(Pause)
class PauseAdmin(ReadOnlyAdmin):
    list_display = ("user", "project", "value", "checks", "paused_at", "lifted_at", "lifted_by")
    list_filter = ("project",)
    search_fields = ("user__username",)
    list_select_related = ("user", "project", "lifted_by")
