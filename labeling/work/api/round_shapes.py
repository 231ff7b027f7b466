"""What rounds look like in the API: asked for, and shown."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from labeling.core.api.records import row_of, username
from labeling.models import Round

SOURCES = ("conversations", "number", "same_as")
KINDS = [Round.Kind.CALIBRATION.value, Round.Kind.FULL.value]


class WorkCountsOut(serializers.Serializer[Any]):
    pending = serializers.IntegerField()
    draft = serializers.IntegerField()
    submitted = serializers.IntegerField()
    skipped = serializers.IntegerField()


RoundOut = row_of(
    "RoundOut",
    Round,
    *("number", "state", "overlap", "pool", "seed", "override_reason"),
    *("label_f1_threshold", "anonymous", "opened_at", "closed_at"),
    kind=serializers.ChoiceField(KINDS),
    guideline=serializers.IntegerField(source="guideline.version"),
    opened_by=username("opened_by", help_text="null: a command"),
    conversations=serializers.IntegerField(source="n_conversations"),
    work=WorkCountsOut(help_text="Assignments by status"),
)


class RoundIn(serializers.Serializer[Any]):
    """Conversations are named, are those of a round, or are drawn of those in no round yet."""

    conversations = serializers.ListField(
        child=serializers.CharField(max_length=200),
        max_length=100_000,
        default=None,
        allow_null=True,
        help_text="Their ids (`external_id`); null: `number` are drawn",
    )
    number = serializers.IntegerField(
        min_value=1,
        max_value=100_000,
        default=None,
        allow_null=True,
        help_text="How many are drawn by the seed",
    )
    split = serializers.ChoiceField(
        ["train", "dev", "test"], default="", allow_blank=True, help_text="Only of this split"
    )
    domain = serializers.CharField(
        max_length=100, default="", allow_blank=True, help_text="Only of this domain"
    )
    annotators = serializers.ListField(
        child=serializers.CharField(max_length=150),
        default=None,
        allow_null=True,
        help_text="User names; null: every annotator",
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    kind = serializers.ChoiceField(KINDS)
    same_as = serializers.IntegerField(
        min_value=1,
        max_value=2**31 - 1,
        default=None,
        allow_null=True,
        help_text="The conversations of this round again",
    )
    overlap = serializers.IntegerField(
        min_value=1,
        max_value=100,
        default=None,
        allow_null=True,
        help_text="Annotators per conversation of full labeling; null: as the project has it",
    )
    pool = serializers.BooleanField(
        default=False, help_text="Annotators take the next conversation themselves"
    )
    override_reason = serializers.CharField(
        max_length=2000,
        default="",
        allow_blank=True,
        help_text="Opens full labeling past a locked gate; printed on gold",
    )

    def validate(self, wanted: dict[str, Any]) -> dict[str, Any]:
        sources = [name for name in SOURCES if wanted.get(name) is not None]
        if len(sources) != 1:
            known = ", ".join(SOURCES)
            raise serializers.ValidationError({"conversations": [f"Send one of these: {known}."]})
        return wanted
