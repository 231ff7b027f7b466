"""The admin is for staff: look, search, and set up people and projects.

What people made, what was decided and what is frozen can be read here and never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.admin.utils import get_fields_from_path
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import JSONField, Model, Q, QuerySet, TextField
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from labeling.domain.facts import Fact
from labeling.domain.gold.lint import KINDS
from labeling.domain.schema import LAYERS
from labeling.domain.targets import title_of
from labeling.forms.accounts import AccountForm, MembersFormSet
from labeling.forms.projects import ProjectSetup
from labeling.models import (
    Adjudication,
    Admission,
    AgreementWithGold,
    Annotation,
    ApiToken,
    Assignment,
    Comment,
    Conversation,
    Disagreement,
    Dispute,
    DisputeOutcome,
    Event,
    GoldCheck,
    GoldItem,
    GoldRelease,
    Guideline,
    ImportReport,
    Invitation,
    LintReport,
    LintWaiver,
    Look,
    LookBudget,
    Measurement,
    Membership,
    Pause,
    Project,
    Qualification,
    Review,
    Round,
    Suggestion,
    Webhook,
)
from labeling.models.fields import FactField
from labeling.services import blindness, comments, events, members, project_settings
from labeling.services.gold import looks
from labeling.translation import lazy, translated
from labeling.words import words, words_of

admin.site.site_header = admin.site.site_title = "Assay"
admin.site.index_title = "Administration"


class ReadOnly:
    """Anyone with the view permission may look at everything, and change nothing."""

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

    shown.of = name  # type: ignore[attr-defined]
    return shown


def readable(value: Any) -> SafeString:
    """JSON as lists of names and values; what machines alone use is left out."""
    if isinstance(value, Mapping):
        rows = [
            (str(name).replace("_", " "), readable(item))
            for name, item in value.items()
            if name != "uid"
        ]
        listed = format_html_join("", "<dt>{}</dt><dd>{}</dd>", rows)
        return format_html('<dl class="readable">{}</dl>', listed) if rows else SafeString("–")
    if isinstance(value, list | tuple):
        if all(not isinstance(item, Mapping | list | tuple) for item in value):
            shown = ", ".join(map(str, value)) or "–"
            return format_html('<span dir="auto">{}</span>', shown)
        items = format_html_join("", "<li>{}</li>", ((readable(item),) for item in value))
        return format_html('<ol class="readable">{}</ol>', items)
    shown = "–" if value in (None, "") else str(value)
    return format_html('<span dir="auto">{}</span>', shown)


def unlinked(name: str) -> Callable[[Model], str]:
    """A related row by its name alone, for those who may not open it."""

    @admin.display(description=name.replace("_", " "))
    def shown(row: Model) -> str:
        related = getattr(row, name)
        return "–" if related is None else str(related)

    return shown


def _opens(model: Any, request: HttpRequest) -> bool:
    """Whether a link to a row of the table leads anywhere for this person."""
    registered = admin.site._registry.get(model)
    return registered is not None and registered.has_view_permission(request)


NAMED_BY: dict[type[Model], tuple[str, ...]] = {
    Round: ("project",),
    Assignment: ("conversation", "annotator"),
    Annotation: ("assignment",),
    Comment: ("author",),
    Guideline: ("project",),
    GoldItem: ("release",),
}
"""The related rows that name a row: its ``__str__`` reads them."""


PROJECT_OF: dict[type[Model], str] = {GoldRelease: "project", GoldItem: "release__project"}
"""What researchers and leads among the staff may read of their projects, and the path to these.

The administrator's permissions, which hold for every project, open the rest.
"""


def reading(request: HttpRequest) -> list[int]:
    """The projects whose results the person reads; asked once for a request."""
    user: Any = request.user
    if not hasattr(user, "_projects_read"):
        roles = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
        read = Project.objects.with_role(user, *roles) if user.is_active else Project.objects.none()
        user._projects_read = list(read.values_list("pk", flat=True))
    projects: list[int] = user._projects_read
    return projects


class OwnProjectsFilter(admin.RelatedFieldListFilter):
    """Offers nothing that the person could not open."""

    def field_choices(self, field: Any, request: HttpRequest, model_admin: admin.ModelAdmin) -> Any:
        shown = model_admin.admin_site._registry[field.related_model].get_queryset(request)
        ordering = self.field_admin_ordering(field, request, model_admin)
        return field.get_choices(
            include_blank=False, ordering=ordering, limit_choices_to={"pk__in": shown.values("pk")}
        )


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):
    """Lists load the related rows that they show, and leave texts and documents in the database.

    ``needs`` are the texts that a row needs although no column shows them. ``about`` leads to the
    conversation of a row that shows labels: the staff, too, label blind. ``sealed_by`` leads to the
    split (or what else is ``sealed_as``) and to the release of a row that shows test labels or
    results: it is left out until its reader has said why, on a page of the product. ``settled_by``
    leads to the outcome of a dispute: until there is one, the staff may still have to judge it.
    """

    stage = ""
    about = ""
    shows_answers = True
    sealed_by: tuple[str, str] | None = None
    sealed_as: Any = looks.TEST
    purpose = Look.Purpose.RESULTS
    settled_by = ""
    needs: tuple[str, ...] = ()
    show_full_result_count = False
    list_per_page = 50

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_view_permission(request, obj) or self._by_role(request)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) or self._by_role(request)

    def _by_role(self, request: HttpRequest) -> bool:
        return self.model in PROJECT_OF and bool(reading(request))

    def get_list_filter(self, request: HttpRequest) -> Any:
        """Names of other projects are not offered to those who read some projects alone."""
        if super().has_view_permission(request):
            return super().get_list_filter(request)
        return list(self._own_filters(request))

    def _own_filters(self, request: HttpRequest) -> Iterable[Any]:
        for name in super().get_list_filter(request):
            field = get_fields_from_path(self.model, name)[-1] if isinstance(name, str) else None
            if field is None or not field.is_relation:
                yield name
            elif _opens(field.related_model, request):
                yield name, OwnProjectsFilter

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        closed = {
            field.name
            for field in self.model._meta.fields
            if field.is_relation and not _opens(field.related_model, request)
        }
        shown = self._with_words(super().get_fields(request, obj))
        return [unlinked(name) if name in closed else name for name in shown]

    def get_list_display(self, request: HttpRequest) -> Any:
        return self._with_words(super().get_list_display(request))

    def _with_words(self, names: Iterable[Any]) -> list[Any]:
        fields = self.model._meta.fields
        facts = {field.name for field in fields if isinstance(field, FactField)}
        return [worded(name) if name in facts else name for name in names]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        rows: Any = super().get_queryset(request)
        if not super().has_view_permission(request):
            path = PROJECT_OF.get(self.model)
            rows = rows.filter(**{f"{path}__in": reading(request)}) if path else rows.none()
        if self.about:
            rows = rows.exclude(**{f"{self.about}__in": blindness.again(request.user)})
        if self.about and self.shows_answers and not self.sealed_by:
            sealed = looks.sealed_answers(request.user).values("pk")
            rows = rows.exclude(**{f"{self.about}__in": sealed})
        if self.settled_by:
            rows = rows.filter(**{f"{self.settled_by}__isnull": False})
        if self.sealed_by:
            mark, release = self.sealed_by
            releases = looks.sealed(request.user, self.purpose)
            rows = rows.exclude(Q(**{mark: self.sealed_as}) & Q(**{f"{release}__in": releases}))
        match = request.resolver_match
        is_list = match is not None and str(match.url_name).endswith("_changelist")
        return rows.defer(*self._left_out()) if is_list else rows

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        if self.sealed_by and looks.sealed(request.user, self.purpose).exists():
            messages.info(
                request,
                _("Test items are left out where you have not said on a page why you look."),
            )
        if self.settled_by:
            messages.info(request, _("Disputes are left out until they are settled."))
        return super().changelist_view(request, extra_context)

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        return list(self._joined())

    def _joined(self) -> dict[str, type[Model]]:
        """The related rows that a list shows, by the path that leads to them."""
        named = NAMED_BY.get(self.model, ()) if "__str__" in self.list_display else ()
        joined: dict[str, type[Model]] = {}
        for name in (*self.list_display, *named):
            _follow(self.model, str(name), joined)
        return joined

    def _left_out(self) -> list[str]:
        """What a list need not load: texts and documents that no column shows, and secrets."""
        columns = {*map(str, self.list_display), *self.needs}
        own = [name for name in _large(self.model) if name not in columns]
        secret = self.exclude or ()
        related = self._joined().items()
        return [
            *own,
            *secret,
            *(f"{path}__{name}" for path, model in related for name in _large(model)),
        ]


def _follow(model: type[Model], name: str, joined: dict[str, type[Model]], path: str = "") -> None:
    """Adds the row behind a column, and those that name it."""
    fields = {field.name: field for field in model._meta.fields}
    related = fields[name].related_model if name in fields else None
    if isinstance(related, type):
        joined[path + name] = related
        for naming in NAMED_BY.get(related, ()):
            _follow(related, naming, joined, f"{path}{name}__")


def _large(model: type[Model]) -> list[str]:
    return [f.name for f in model._meta.fields if isinstance(f, JSONField | TextField)]


def read_only(
    model: type[Model],
    stage: str,
    columns: str,
    filters: str = "",
    search: str = "",
    **options: Any,
) -> None:
    """Puts a model into the admin; columns, filters and searched fields by their names.

    Parts and caches of what is listed here have no list: pages show them.
    """
    admin.site.register(
        model,
        ReadOnlyAdmin,
        stage=stage,
        list_display=columns.split(),
        list_filter=filters.split(),
        search_fields=search.split(),
        **options,
    )


class MembershipInline(admin.TabularInline):
    model = Membership
    formset = MembersFormSet
    extra = 0
    autocomplete_fields = ("user",)


@admin.register(Project)
class ProjectAdmin(admin.ModelAdmin):
    stage = "Access"
    list_display = ("name", "slug", "overlap", "kappa_threshold", "kappa_statistic", "created_at")
    search_fields = ("name", "slug")
    inlines = (MembershipInline,)
    form = ProjectSetup
    exclude = ("suggestions",)  # switched on their own page

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            events.record("project.created", obj, project=obj, actor=request.user, name=obj.name)
        elif form.changed_data:
            changed = form.changed_data
            events.record("project.changed", obj, project=obj, actor=request.user, fields=changed)
            project_settings.follow(obj, changed)

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: bool) -> None:
        """Every change of members is written down, with the names that a deleted row had."""
        super().save_formset(request, form, formset, change)
        added = [*formset.new_objects, *(member for member, _ in formset.changed_objects)]
        for verb, rows in (("added", added), ("removed", formset.deleted_objects)):
            for member in rows:
                events.record(
                    f"member.{verb}",
                    member,
                    project=member.project,
                    actor=request.user,
                    user=member.user.get_username(),
                    role=member.role,
                )
        for member in [*added, *formset.deleted_objects]:
            members.follow(member.project, member.user, by=cast(User, request.user))

    def has_delete_permission(self, request: HttpRequest, obj: Project | None = None) -> bool:
        return False


admin.site.unregister(User)


@admin.register(User)
class AccountAdmin(UserAdmin):
    """Accounts are closed, not deleted: what people made keeps its author."""

    form = AccountForm

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False


@admin.register(Conversation)
class ConversationAdmin(ReadOnlyAdmin):
    stage = "Labeling"
    list_display = ("external_id", "project", "domain", "difficulty", "split", "imported_at")
    list_filter = ("project", "split", "difficulty")
    search_fields = ("external_id", "domain")
    readonly_fields = ("text",)

    def text(self, conversation: Conversation) -> str:
        row = "<tr><th>[{}]</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>"
        messages = ((*said[:4], said.time or "") for said in conversation.messages)
        return format_html("<table>{}</table>", format_html_join("", row, messages))


@admin.register(Annotation)
class AnnotationAdmin(ReadOnlyAdmin):
    stage = "Labeling"
    about = "assignment__conversation"
    list_display = ("assignment", "status", "version", "empty", "active_seconds", "submitted_at")
    list_filter = ("status", "assignment__round__project")
    search_fields = ("assignment__conversation__external_id", "assignment__annotator__username")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        """An open calibration round is blind for the staff too."""
        blind = Round.objects.blind()
        return super().get_queryset(request).exclude(assignment__round__in=blind)


@admin.register(Comment)
class CommentAdmin(ReadOnlyAdmin):
    stage = "Labeling"
    about = "conversation"
    shows_answers = False
    needs = ("body",)  # names the comment
    list_display = ("__str__", "conversation", "message_index", "created_at", "resolved_by")
    list_filter = ("project",)
    search_fields = ("body", "author__username", "conversation__external_id")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Model]:
        """A comment on a label in an open calibration round is for its author alone, and one on
        anything is not for who labels in it."""
        rows = super().get_queryset(request)
        own = comments.labels_blind(request.user)
        return rows.exclude(~Q(label_uid=""), round__in=comments.blind()).exclude(round__in=own)


@admin.register(GoldRelease)
class GoldReleaseAdmin(ReadOnlyAdmin):
    stage = "Gold"
    list_display = ("__str__", "project", "layer", "short_hash", "frozen_by", "frozen_at")
    list_filter = ("project", "layer")
    search_fields = ("name", "sha256")
    fields = (
        *("page", "project", "measured_layer", "name", "version", "meaning", "message"),
        *("items", "not_released", "past_the_gate", "accepted"),
        *("guideline", "parent", "frozen_by", "frozen_at", "sha256", "signed"),
    )
    readonly_fields = fields

    @admin.display(description="SHA-256", ordering="sha256")
    def short_hash(self, release: GoldRelease) -> str:
        return release.sha256[:12]

    @admin.display(description=lazy("Page"))
    def page(self, release: GoldRelease) -> SafeString:
        said = _("The release with its agreement, items and proofs")
        return format_html('<a href="{}">{}</a>', release.get_absolute_url(), said)

    @admin.display(description=lazy("Layer"))
    def measured_layer(self, release: GoldRelease) -> str:
        return translated(title_of(release.layer))

    @admin.display(description=lazy("Items"))
    def items(self, release: GoldRelease) -> SafeString:
        listed = reverse("admin:labeling_golditem_changelist")
        number = release.items.count()
        return format_html('<a href="{}?release__id__exact={}">{}</a>', listed, release.pk, number)

    @admin.display(description=lazy("Conversations left out"))
    def not_released(self, release: GoldRelease) -> int:
        return len(release.left_out)

    @admin.display(description=lazy("Opened past the calibration gate"))
    def past_the_gate(self, release: GoldRelease) -> SafeString:
        said = _("Round {number}: {reason}")
        return _listed(
            said.format(number=row["round"], reason=row["reason"]) for row in release.overrides
        )

    @admin.display(description=lazy("What lint found and somebody accepted"))
    def accepted(self, release: GoldRelease) -> SafeString:
        return _listed(
            " · ".join([_lint_title(row["kind"]), str(row["findings"]), row["reason"] or "–"])
            for row in release.waivers
        )

    @admin.display(description=lazy("Signed"), boolean=True)
    def signed(self, release: GoldRelease) -> bool:
        return bool(release.signature)


def _lint_title(kind: str) -> str:
    return words(Fact(f"lint_kind.{kind}")) if kind in KINDS else kind


def _listed(sentences: Iterable[str]) -> SafeString:
    rows = [(sentence,) for sentence in sentences]
    items = format_html_join("", '<li dir="auto">{}</li>', rows)
    return format_html('<ul class="readable">{}</ul>', items) if rows else SafeString("–")


@admin.register(GoldItem)
class GoldItemAdmin(ReadOnlyAdmin):
    stage = "Gold"
    about = "conversation"
    sealed_by = ("split", "release")
    purpose = Look.Purpose.LABELS
    list_display = ("item_id", "release", "split", "how", "sha256")
    list_filter = ("release", "split", "how")
    search_fields = ("item_id", "sha256")
    fields = ("page", "release", "item_id", "conversation", "split", "how", "labels", "sha256")
    readonly_fields = fields

    @admin.display(description=lazy("Page"))
    def page(self, item: GoldItem) -> SafeString:
        release = item.release
        where = [release.project.slug, release.name, release.version, item.item_id]
        said = _("The item next to its conversation, and where its labels come from")
        return format_html('<a href="{}">{}</a>', reverse("gold-item", args=where), said)

    @admin.display(description=lazy("Labels"))
    def labels(self, item: GoldItem) -> SafeString:
        titles = {layer.key: translated(layer.title) for layer in LAYERS.values()}
        parts = [
            (titles.get(key, key), readable(labels) if labels else "–")
            for key, labels in item.content["gold"].items()
        ]
        return format_html_join("", "<h3>{}</h3>{}", parts)


read_only(Guideline, "Labeling", "project version summary created_by created_at", "project")
read_only(
    Round,
    "Labeling",
    "__str__ kind state overlap pool opened_by opened_at",
    "project kind state",
)
read_only(
    Assignment,
    "Labeling",
    "conversation annotator round slot taken_at lease_expires_at",
    "round__project annotator",
    "conversation__external_id annotator__username",
)
read_only(
    Adjudication,
    "Labeling",
    "conversation layer version decided_by decided_at",
    "conversation__project layer",
    "conversation__external_id reason",
    about="conversation",
)
read_only(
    Disagreement,
    "Labeling",
    "conversation layer unit round outcome decided_by",
    "round__project outcome",
    "conversation__external_id note",
    about="conversation",
)
read_only(
    Dispute,
    "Gold",
    "__str__ item layer origin opened_by opened_at",
    "item__release__project layer origin",
    "item__item_id reason",
    about="conversation",
    sealed_by=("item__split", "item__release"),
    purpose=Look.Purpose.LABELS,
    settled_by="outcome",
)
read_only(
    DisputeOutcome,
    "Gold",
    "dispute kind decided_by at",
    "dispute__item__release__project kind",
    "reason",
    about="dispute__conversation",
    sealed_by=("dispute__item__split", "dispute__item__release"),
    purpose=Look.Purpose.LABELS,
    settled_by="dispute__outcome",
)
read_only(
    Measurement,
    "Labeling",
    "round layer selection measured_at",
    "round__project layer",
    "round__project__slug",
)
read_only(AgreementWithGold, "Labeling", "project release measured_at", "project", "project__slug")
read_only(
    Review,
    "Labeling",
    "annotation verdict reviewer reviewed_at",
    "verdict annotation__assignment__round__project",
    "comment reviewer__username",
    about="annotation__assignment__conversation",
)
read_only(  # without what is suggested: nobody reads it before their own first pass
    Suggestion,
    "Labeling",
    "conversation layer pipeline pipeline_version created_at",
    "conversation__project layer pipeline",
    "conversation__external_id",
    exclude=("payload",),
)
read_only(
    Invitation,
    "Access",
    "project role uses_left created_by expires_at revoked_at",
    "project role",
    "created_by__username",
    exclude=("digest",),
)
read_only(
    ApiToken,
    "Access",
    "user name scopes created_at last_used_at expires_at revoked_at",
    search="user__username name",
    exclude=("digest",),
)
read_only(  # without the secrets, and without the address: its path may hold the receiver's key
    Webhook,
    "Access",
    "project active created_by created_at failures_in_a_row",
    "project active",
    "project__slug created_by__username",
    exclude=("url", "secret", "old_secret"),
)
read_only(
    ImportReport, "Labeling", "__str__ project format created_by created_at", "project format"
)
read_only(
    Look,
    "Access",
    "at user release purpose subject named reason n_items",
    "purpose release",
    "reason user__username release__name",
)
read_only(LookBudget, "Access", "project looks reason by at", "project")
read_only(
    Event,
    "Access",
    "at verb actor project object_type object_id",
    "verb project",
    "object_id actor__username",
    date_hierarchy="at",
)
read_only(LintReport, "Gold", "project layer items by at", "project layer")
read_only(
    LintWaiver, "Gold", "project layer kind number reason by at", "project layer kind", "reason"
)
read_only(
    GoldCheck,
    "Labeling",
    "assignment version value scored_at",
    "assignment__round__project assignment__purpose",
    "assignment__conversation__external_id assignment__annotator__username",
    about="assignment__conversation",
)
read_only(
    Qualification,
    "Labeling",
    "user project kind state tries value decided_at",
    "project kind state",
    "user__username",
)
read_only(
    Admission,
    "Access",
    "user project layer how let_in_by at calibrated_at",
    "project layer how",
    "user__username",
)
read_only(
    Pause,
    "Labeling",
    "user project value checks paused_at lifted_at lifted_by",
    "project",
    "user__username",
)
