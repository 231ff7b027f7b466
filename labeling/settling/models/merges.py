from __future__ import annotations

from django.db import models
from django.db.models import Q

from labeling.conversations.models.conversations import Conversation
from labeling.work.models.rounds import Round


class Merge(models.Model):
    """How the answers of one conversation and layer fit together, as the matcher found.

    Workers write it, because matching needs the text encoder; pages and gold read it. It can be
    computed again at any time. ``answers_sha256`` names the answers and the rules that it was made
    from: a merge of other answers is out of date and never shown.
    """

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="merges")
    layer = models.CharField(max_length=20)
    round = models.ForeignKey(Round, models.CASCADE, related_name="+")
    answers_sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=9, help_text="unanimous, majority, single or disputed")
    agreement = models.FloatField(help_text="Mean share of the annotators who hold a label")
    n_agreed = models.PositiveIntegerField()
    n_disputed = models.PositiveIntegerField()
    clusters = models.JSONField()
    made_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["conversation", "layer"]
        constraints = [
            models.UniqueConstraint(name="merge_once", fields=["conversation", "layer"]),
            models.CheckConstraint(
                name="merge_state_known",
                condition=Q(state__in=["unanimous", "majority", "single", "disputed"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation} {self.layer}: {self.state}"
