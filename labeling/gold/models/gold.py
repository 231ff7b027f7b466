from __future__ import annotations

import json
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from labeling.conversations.models.conversations import Conversation
from labeling.core.models.projects import Guideline, Membership, Project
from labeling.gold.rules.content import GoldContent


class GoldReleaseQuerySet(models.QuerySet["GoldRelease"]):
    def visible_to(self, user: Any) -> GoldReleaseQuerySet:
        reading = Project.objects.with_role(user, Membership.Role.LEAD, Membership.Role.RESEARCHER)
        return self.filter(project__in=reading)

    def light(self) -> GoldReleaseQuerySet:
        """For lists and choices: with the project, without the documents."""
        return self.select_related("project").defer(*GoldRelease.DOCUMENTS)

    def with_synthetic(self) -> GoldReleaseQuerySet:
        """Those that hold any, by their header: it is small, and never changes."""
        # quotes in what a person wrote there are escaped, so these can only be keys
        with_conversations = models.Q(header__contains='"synthetic":')
        return self.filter(with_conversations | models.Q(header__contains='"generated":'))

    def labeled(self) -> GoldReleaseQuerySet:
        """Without those whose labels a program made; see ``with_synthetic``."""
        return self.exclude(header__contains='"generated":')

    def with_size(self) -> GoldReleaseQuerySet:
        """Adds ``n_items`` and loads the project with it.

        In a separate query: grouped with its items, a release would be read, with all of its
        documents, as often as it has items.
        """
        items = GoldItem.objects.filter(release=models.OuterRef("pk")).order_by()
        number = items.values("release").annotate(n=models.Count("pk")).values("n")
        return self.select_related("project").annotate(n_items=Coalesce(models.Subquery(number), 0))


class GoldRelease(models.Model):
    """A frozen version of what people agreed on. Insert only, addressed as ``name@version``.

    ``header`` is the statement, ``manifest.json`` of an export: everything that is shown of a
    release, with the hash of each other file, so nothing can be changed, added, dropped or swapped
    unnoticed. ``sha256`` is its hash, ``listing`` has the hash of each item, and ``signature`` is
    over all files. What releases made before 0.4 have: ``labeling.gold.rules.older``.
    Updates and deletes are refused by database triggers.
    """

    DOCUMENTS = ("agreement", "overrides", "left_out", "waivers", "header", "listing", "signature")
    """As long as the release is large: not to be read with each of its items."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="gold_releases")
    layer = models.CharField(max_length=20)
    name = models.CharField(max_length=100)
    version = models.PositiveIntegerField()
    meaning = models.CharField(max_length=32, blank=True, help_text="Version by meaning: 1.2.0")
    guideline = models.ForeignKey(Guideline, models.PROTECT, null=True, related_name="+")
    parent = models.ForeignKey("self", models.PROTECT, null=True, related_name="children")
    message = models.TextField(blank=True)
    agreement = models.JSONField(null=True, help_text="Agreement at freeze")
    overrides = models.JSONField(default=list, help_text="Reasons given for passing the gate")
    left_out = models.JSONField(default=list, help_text="Conversations not released, with reason")
    waivers = models.JSONField(default=list, help_text="Findings that were let pass, with reason")
    header = models.TextField(help_text="The statement as canonical JSON; it is hashed and signed")
    sha256 = models.CharField(max_length=64)
    listing = models.TextField(blank=True, help_text="The SHA-256 and the id of each item")
    signature = models.TextField(blank=True, help_text="Sigstore bundle; Ed25519 of older releases")
    public_key = models.TextField(blank=True, help_text="PEM; Base64 of older releases")
    frozen_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+"
    )
    frozen_at = models.DateTimeField(default=timezone.now)

    objects = GoldReleaseQuerySet.as_manager()

    class Meta:
        ordering = ["name", "-version"]
        constraints = [
            models.UniqueConstraint(name="gold_version_once", fields=["name", "version"]),
            models.UniqueConstraint(
                name="gold_meaning_once",
                fields=["name", "meaning"],
                condition=~models.Q(meaning=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"

    def get_absolute_url(self) -> str:
        return reverse("gold-release", args=[self.project.slug, self.name, self.version])

    @property
    def is_imported(self) -> bool:
        """Made elsewhere, by people or by a program: its items name nobody of the project."""
        # quotes in what a person wrote there are escaped, so this can only be a key
        return '"imported_from":' in self.header

    def comparable(self) -> GoldReleaseQuerySet:
        """The project's other releases that hold labels of the same kind."""
        same = GoldRelease.objects.filter(project=self.project_id, layer=self.layer)
        return same.exclude(pk=self.pk)


class GoldItemQuerySet(models.QuerySet["GoldItem"]):
    def synthetic(self) -> GoldItemQuerySet:
        """What nobody has held, or nobody has labeled."""
        return self.filter(GoldItem.SYNTHETIC)


class GoldItem(models.Model):
    """The frozen answer for one conversation: its text, labels and where they came from.

    ``canonical`` is the exact text that ``sha256`` was computed from, one line of the native
    export. Updates and deletes are refused by database triggers.
    """

    class How(models.TextChoices):
        UNANIMOUS = "unanimous", _("Unanimous")
        MAJORITY = "majority", _("Majority")
        ADJUDICATED = "adjudicated", _("Adjudicated")
        SINGLE = "single", _("single annotator")
        IMPORTED = (
            "imported",
            _("Imported"),
        )  # published elsewhere; who labeled it is not known here
        GENERATED = "generated", _("generated")  # by a program: nobody labeled it

    MADE_ELSEWHERE = (How.IMPORTED, How.GENERATED)

    release = models.ForeignKey(GoldRelease, models.PROTECT, related_name="items")
    conversation = models.ForeignKey(Conversation, models.PROTECT, related_name="gold_items")
    item_id = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    split = models.CharField(max_length=5, blank=True)
    how = models.CharField(max_length=11, choices=How)
    canonical = models.TextField()
    sha256 = models.CharField(max_length=64)
    signature = models.CharField(
        max_length=88, blank=True, help_text="Over the hash, in releases of format 2"
    )

    SYNTHETIC = models.Q(conversation__origin=Conversation.Origin.SYNTHETIC) | models.Q(
        how=How.GENERATED
    )

    objects = GoldItemQuerySet.as_manager()

    class Meta:
        ordering = ["release", "position"]
        constraints = [
            models.UniqueConstraint(name="gold_item_once", fields=["release", "item_id"]),
            models.UniqueConstraint(name="gold_item_position_once", fields=["release", "position"]),
        ]
        indexes = [
            # how the items of a release came about, and which conversations it holds
            models.Index(name="gold_item_how", fields=["release", "how", "conversation"]),
        ]

    def __str__(self) -> str:
        return f"{self.release} {self.item_id}"

    @property
    def content(self) -> GoldContent:
        content: GoldContent = json.loads(self.canonical)
        return content


class Look(models.Model):
    """One look at the test items of a release: who, when, at what, why. Insert only (triggers)."""

    class Purpose(models.TextChoices):
        LABELS = "labels", _("Read the labels")
        EXPORT = "export", _("Take the items along")
        RUN = "run", _("Measure a pipeline")
        RESULTS = "results", _("Read results")
        COMPARE = "compare", _("Compare runs")

    class Subject(models.TextChoices):
        """What the person was about to see; ``named`` says which."""

        RELEASE = "release", _("the release")
        ITEM = "item", _("item")
        RUN = "run", _("run")
        RUNS = "runs", _("runs")

    release = models.ForeignKey(GoldRelease, models.PROTECT, related_name="looks")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        help_text="Empty: somebody at the command line",
    )
    purpose = models.CharField(max_length=7, choices=Purpose)
    reason = models.TextField(
        blank=True, help_text="Empty: a run of older versions, which asked for none"
    )
    subject = models.CharField(max_length=7, choices=Subject, default=Subject.RELEASE)
    named = models.CharField(max_length=250, blank=True)
    n_items = models.PositiveIntegerField(help_text="How many test items could be seen")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name, verbose_name_plural = _("look at test items"), _("looks at test items")
        ordering = ["-pk"]
        indexes = [
            models.Index(name="look_of_release", fields=["release", "purpose"]),
            models.Index(name="look_of_user", fields=["user", "purpose"]),
        ]
        constraints = [
            models.CheckConstraint(
                name="look_purpose_known",
                condition=models.Q(purpose__in=["labels", "export", "run", "results", "compare"]),
            ),
        ]

    def __str__(self) -> str:
        return f"look at the test items of {self.release}"


class LookBudget(models.Model):
    """How often test items might be looked at, until 0.6.0. What was set stays on record."""

    project = models.ForeignKey(Project, models.PROTECT, related_name="look_budgets")
    looks = models.PositiveIntegerField(null=True, help_text="Empty: no limit")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name, verbose_name_plural = _("budget of looks"), _("budgets of looks")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.project}: {'no limit' if self.looks is None else self.looks} looks"


class LintReport(models.Model):
    """What lint found the last time, of one layer of a project. The next report replaces it.

    ``findings`` are rows of kind, fact and the key of a conversation, if it is about one.
    """

    project = models.ForeignKey(Project, models.CASCADE, related_name="lint_reports")
    layer = models.CharField(max_length=20)
    items = models.PositiveIntegerField(help_text="Items that would have been frozen")
    findings = models.JSONField(default=list)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(name="lint_report_once", fields=["project", "layer"])
        ]

    def __str__(self) -> str:
        return f"{self.project} {self.layer}"
