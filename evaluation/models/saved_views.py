from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

LONGEST_NAME, LONGEST_QUERY = 60, 2000


class SavedView(models.Model):
    """What a list shows, under a name that one person gave it: filters, order and columns."""

    class Page(models.TextChoices):
        RUNS = "runs", _("Runs")
        CASES = "cases", _("Cases")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    page = models.CharField(max_length=20, choices=Page)
    name = models.CharField(max_length=LONGEST_NAME)
    query = models.CharField(
        max_length=LONGEST_QUERY, help_text="The address of the view after its ?"
    )

    class Meta:
        verbose_name, verbose_name_plural = _("saved view"), _("saved views")
        ordering = ["user", "page", "name"]
        constraints = [
            models.UniqueConstraint(name="view_of_one_name", fields=["user", "page", "name"])
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.page}"
