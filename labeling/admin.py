"""The admin shows what is stored, in a loop over its tables, and changes accounts alone.

Pages of the product do the rest. What a list shows, filters and searches follows from the model;
the tables below name the exceptions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar

from django import forms
from django.apps import apps
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import User
from django.db import models
from django.db.models import Model, Q, QuerySet
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _
from pydantic import BaseModel

from labeling.core import projects
from labeling.core.models.fields import FactField
from labeling.domain.facts import Fact
from labeling.domain.msgids import msgid
from labeling.domain.numbers import whole_number
from labeling.gold import looks
from labeling.models import Conversation, GoldItem, Look, Membership, Project, Round
from labeling.translation import lazy
from labeling.words import words
from labeling.work import blindness, comments

admin.site.site_header = admin.site.site_title = "Assay"
admin.site.index_title = "Administration"

TABLES = {
    msgid("Gold"): "GoldItem Reopening LintReport",
    msgid("Labeling"): "Conversation Guideline Round Assignment Annotation Comment Suggestion"
    " Review Adjudication Disagreement Measurement ImportReport GoldCheck"
    " Qualification Pause",
    msgid("Access"): "Project Invitation ApiToken Webhook Look LookBudget Event Admission",
}
"""By stage of the work. Parts and caches of these have no list: pages show them."""

EXCEPTIONS: dict[str, dict[str, Any]] = {
    "Annotation": {"waits": lambda user: Q(assignment__round__in=Round.objects.blind())},
    "Comment": {
        "waits": lambda user: (
            (~Q(label_uid="") & Q(round__in=comments.blind()))
            | Q(round__in=comments.labels_blind(user))
        ),
        "columns": "__str__ conversation message_index created_at resolved_by",
        "texts": ("body",),
    },
    "Conversation": {"also": ("messages",)},
    # the staff may have to decide it
    "Reopening": {"waits": lambda user: Q(state__in=["asked", "open"])},
    "GoldItem": {"by_role": True, "also": ("content",), "exclude": ("canonical",)},
    "Suggestion": {"exclude": ("payload",)},  # nobody reads it before their own first pass
    "Invitation": {"exclude": ("digest",)},
    "ApiToken": {"exclude": ("digest",)},
    "Webhook": {"exclude": ("url", "secret")},  # a path may hold the receiver's key
}
"""Attributes of ``ReadOnlyAdmin``."""

NAMED_BY = {
    "Round": ("project",),
    "Assignment": ("conversation", "annotator"),
    "Annotation": ("assignment",),
    "Comment": ("author",),
    "Guideline": ("project",),
    "GoldItem": ("release",),
    "CaseRun": ("item",),
}
"""The related rows that name a row: its ``__str__`` reads them."""

ASIDE = {"evaluation.Run.project", "evaluation.CaseRun.talk"}
"""They lead nowhere but in runs without gold."""

FILTERED = ("layer", "pipeline", "verb", "metric", "model", "split")
"""Texts with few values; fields with choices are filtered by, too."""


def way(model: Any, target: Any) -> str | None:
    """How a row leads to another, as the beginning of a lookup; None if it does not.

    The shortest way; empty where the row is one itself.
    """
    waiting, seen = deque([(model, "")]), {model}
    while waiting:
        here, path = waiting.popleft()
        if here is target:
            return path
        for field in here._meta.concrete_fields:
            related: Any = field.related_model
            if related is not None and related not in seen and str(field) not in ASIDE:
                seen.add(related)
                waiting.append((related, f"{path}{field.name}__"))
    return None


class ReadOnly:
    """Anyone with the view permission may look at everything, and change nothing."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def readable(value: Any) -> Any:
    """JSON as lists of names and values; what machines alone use is left out."""
    if isinstance(value, Fact):
        return words(value)
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        rows = [(name, readable(item)) for name, item in value.items() if name != "uid"]
        named = ((str(name).replace("_", " "), item) for name, item in rows)
        listed = format_html_join("", "<dt>{}</dt><dd>{}</dd>", named)
        return format_html('<dl class="readable">{}</dl>', listed) if rows else "–"
    if isinstance(value, list | tuple) and any(_has_parts(item) for item in value):
        items = format_html_join("", "<li>{}</li>", ((readable(item),) for item in value))
        return format_html('<ol class="readable">{}</ol>', items)
    if isinstance(value, list | tuple):
        value = ", ".join(map(str, value))
    return format_html('<span dir="auto">{}</span>', "–" if value in (None, "") else value)


def _has_parts(value: Any) -> bool:
    return isinstance(value, Mapping | list | tuple)


def shown(name: str) -> Callable[[Model], Any]:
    """A column or field with facts in words, documents as lists, and rows by their names alone:
    not everybody who reads this one may open them."""

    @admin.display(description=name.replace("_", " "), ordering=name)
    def column(row: Model) -> Any:
        value = getattr(row, name)
        return number_format(f"{value:z.4f}", 4) if isinstance(value, float) else readable(value)

    column.__name__ = name
    return column


def presented(model: type[Model], names: Iterable[str], *, in_list: bool = False) -> list[Any]:
    own = (models.FloatField, models.JSONField, FactField)
    ours = own if in_list else (*own, models.ForeignKey)
    wrapped = {field.name for field in model._meta.fields if isinstance(field, ours)}
    return [shown(name) if name in wrapped else name for name in names]


def reading(request: HttpRequest) -> list[int]:
    """The projects whose results the person reads; asked once for a request."""
    user: Any = request.user
    if not hasattr(user, "_projects_read"):
        roles = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
        read = Project.objects.with_role(user, *roles) if user.is_active else Project.objects.none()
        user._projects_read = list(read.values_list("pk", flat=True))
    projects: list[int] = user._projects_read
    return projects


class ProjectFilter(admin.SimpleListFilter):
    """Offers nothing that the person could not open."""

    title = lazy("Project")
    parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[Any, str]]:
        projects = Project.objects.order_by("name")
        if not model_admin.reads_all(request):
            projects = projects.filter(pk__in=reading(request))
        return list(projects.values_list("pk", "name"))

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() is None:
            return rows
        number = whole_number(self.value() or "")
        return rows.filter(**{f"{way(rows.model, Project)}pk": number or 0})


class ReadOnlyAdmin(ReadOnly, admin.ModelAdmin):
    """Lists load the related rows that they show, and leave texts and documents in the database."""

    stage = ""
    columns = ""  # else the first fields that are short
    texts: tuple[str, ...] = ()  # searched, and loaded for the names of rows
    also: tuple[str, ...] = ()  # what the page of a row shows beside its fields
    exclude: ClassVar[Any] = ()  # neither shown nor searched
    by_role = False  # researchers and leads among the staff read those of their projects
    waits: Callable[[Any], Q] | None = None  # rows that the person does not read yet
    purpose: str = Look.Purpose.LABELS
    view_on_site = False  # the page of the row is linked at once
    show_full_result_count = False
    list_per_page = 50

    # --- who reads what -------------------------------------------------------------------------

    def reads_all(self, request: HttpRequest) -> bool:
        """Django's permission holds for every project."""
        return super().has_view_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.reads_all(request) or (self.by_role and bool(reading(request)))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return super().has_module_permission(request) or self.has_view_permission(request)

    def hidden(self, user: Any) -> list[Q]:
        """The staff, too, label blind, and say why they look at what is known of test items."""
        conversation, item = way(self.model, Conversation), way(self.model, GoldItem)
        hidden: list[Q] = []
        if conversation:
            hidden.append(Q(**{f"{conversation}pk__in": blindness.again(user).values("pk")}))
        if item is not None:
            releases = looks.sealed(user, self.purpose)
            hidden.append(Q(**{f"{item}split": looks.TEST, f"{item}release__in": releases}))
        elif conversation:
            hidden.append(Q(**{f"{conversation}pk__in": looks.sealed_answers(user).values("pk")}))
        waits = type(self).waits
        if waits:
            hidden.append(waits(user))
        return hidden

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: Any = super().get_queryset(request)
        if not self.reads_all(request):
            own = reading(request) if self.by_role else []
            rows = rows.filter(**{f"{way(self.model, Project)}pk__in": own}) if own else rows.none()
        for hidden in self.hidden(request.user):
            rows = rows.exclude(hidden)
        match = request.resolver_match
        is_list = match is not None and str(match.url_name).endswith("_changelist")
        return rows.defer(*self._unshown()) if is_list else rows

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        is_about = way(self.model, Conversation) or way(self.model, GoldItem) is not None
        if is_about and looks.sealed(request.user, self.purpose).exists():
            messages.info(
                request,
                _("Test items are left out where you have not said on a page why you look."),
            )
        if self.waits:
            messages.info(request, _("What is not settled yet is left out."))
        return super().changelist_view(request, extra_context)

    # --- what follows from the model ------------------------------------------------------------

    def own(self, *kinds: Any) -> list[str]:
        fields: list[Any] = [field for field in self.model._meta.fields if isinstance(field, kinds)]
        return [field.name for field in fields if field.name not in self.exclude]

    def get_columns(self) -> list[str]:
        short = [name for name in self.own(models.Field) if name not in _large(self.model)]
        return self.columns.split() or short[:8]

    def get_list_display(self, request: HttpRequest) -> Any:
        return presented(self.model, self.get_columns(), in_list=True)

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        return [*presented(self.model, self.own(models.Field)), *map(shown, self.also)]

    get_readonly_fields = get_fields

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        names = [
            field.name
            for field in self.model._meta.fields
            if field.choices or field.name in FILTERED or isinstance(field, models.BooleanField)
        ]
        return [ProjectFilter, *names] if way(self.model, Project) else names

    def get_search_fields(self, request: HttpRequest) -> list[str]:
        people = [f.name for f in self.model._meta.fields if f.related_model is User]
        conversation = way(self.model, Conversation)
        text = [f"{conversation}external_id"] if conversation else []
        named = [f"{name}__username" for name in people]
        return ["=pk", *self.own(models.CharField), *text, *named, *self.texts]

    def get_list_select_related(self, request: HttpRequest) -> list[str]:
        return list(self._joined())

    def _joined(self) -> dict[str, type[Model]]:
        """The related rows that a list shows, by the path that leads to them."""
        joined: dict[str, type[Model]] = {}
        for name in (*self.get_columns(), *NAMED_BY.get(self.model.__name__, ())):
            _follow(self.model, name, joined)
        return joined

    def _unshown(self) -> list[str]:
        """What a list need not load: texts and documents that no column shows, and secrets."""
        own = {*_large(self.model), *self.exclude} - {*self.get_columns(), *self.texts}
        related = self._joined().items()
        return [*own, *(f"{path}__{name}" for path, model in related for name in _large(model))]


def _follow(model: type[Model], name: str, joined: dict[str, type[Model]], path: str = "") -> None:
    """Adds the row behind a column, and those that name it."""
    fields = {field.name: field for field in model._meta.fields}
    related = fields[name].related_model if name in fields else None
    if isinstance(related, type):
        joined[path + name] = related
        for naming in NAMED_BY.get(related.__name__, ()):
            _follow(related, naming, joined, f"{path}{name}__")


def _large(model: type[Model]) -> list[str]:
    kinds = (models.JSONField, models.TextField, models.BinaryField)
    return [field.name for field in model._meta.fields if isinstance(field, kinds)]


def register(
    app: str,
    tables: Mapping[str, str],
    kind: type[ReadOnlyAdmin],
    exceptions: Mapping[str, dict[str, Any]],
) -> None:
    for stage, names in tables.items():
        for name in names.split():
            model, options = apps.get_model(app, name), exceptions.get(name, {})
            admin.site.register(model, kind, stage=stage, **options)


register("labeling", TABLES, ReadOnlyAdmin, EXCEPTIONS)
admin.site.unregister(User)


class AccountForm(UserChangeForm):
    def clean_is_active(self) -> bool:
        """A project keeps a lead."""
        stays: bool = self.cleaned_data["is_active"]
        closed = self.instance.is_active and not stays
        if closed and (alone := projects.led_alone_by(self.instance)):
            names = ", ".join(project.name for project in alone)
            said = _("Nobody else leads {names}: give somebody the role first.")
            raise forms.ValidationError(said.format(names=names))
        return stays


@admin.register(User)
class AccountAdmin(UserAdmin):
    """Accounts are closed, not deleted: what people made keeps its author."""

    form = AccountForm

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return False
