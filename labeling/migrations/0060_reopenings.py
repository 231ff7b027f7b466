import json

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.core.management.color import no_style
from django.db import migrations, models

from labeling.domain.schema import LAYERS

ELSEWHERE = ("imported", "generated")


def take_over(apps, schema_editor):
    """Disputes with their numbers; one that judges still had to look at is reopened."""
    Dispute = apps.get_model("labeling", "Dispute")
    Reopening = apps.get_model("labeling", "Reopening")
    outcomes = {
        row.dispute_id: row for row in apps.get_model("labeling", "DisputeOutcome").objects.all()
    }
    verdicts = _verdicts(apps)
    Reopening.objects.bulk_create(
        _reopening(Reopening, row, outcomes.get(row.pk), verdicts.get(row.pk, []))
        for row in Dispute.objects.order_by("pk")
    )
    decide = _decider(apps, verdicts)
    corrected = Dispute.objects.filter(outcome__kind="corrected").order_by("outcome")
    for row in corrected.select_related("item__release__project"):
        if decision := decide(row, outcomes[row.pk]):
            Reopening.objects.filter(pk=row.pk).update(decision=decision)
    with schema_editor.connection.cursor() as cursor:
        for statement in schema_editor.connection.ops.sequence_reset_sql(no_style(), [Reopening]):
            cursor.execute(statement)


def _verdicts(apps):
    """By dispute: what each judge said, with the sides named."""
    rows = apps.get_model("labeling", "DisputeVerdict").objects.select_related("reading__judge")
    by_dispute = {}
    for row in rows.order_by("pk"):
        gold = "a" if row.reading.gold_is_a else "b"
        side = {"both": "both", "neither": "neither", gold: "gold"}.get(row.choice, "proposal")
        told = {"side": side, "label": row.label, "reason": row.reason}
        who = {"judge": row.reading.judge.username, "at": row.judged_at.isoformat()}
        by_dispute.setdefault(row.reading.dispute_id, []).append(
            {**told, **who, "user": row.reading.judge_id}
        )
    return by_dispute


def _reopening(Reopening, dispute, outcome, verdicts):
    return Reopening(
        pk=dispute.pk,
        item_id=dispute.item_id,
        layer=dispute.layer,
        label_uid=dispute.label_uid,
        proposal=dispute.proposal,
        reason=dispute.reason,
        source=dispute.source,
        asked_by_id=dispute.opened_by_id,
        asked_at=dispute.opened_at,
        state=outcome.kind if outcome else "open",
        answer=outcome.reason if outcome else "",
        answered_by_id=outcome.decided_by_id if outcome else None,
        answered_at=outcome.at if outcome else None,
        history={"origin": dispute.origin, "verdicts": verdicts} if verdicts else {},
    )


def _decider(apps, verdicts):
    Adjudication = apps.get_model("labeling", "Adjudication")
    made = []

    def decide(dispute, outcome):
        """The correction as a decision about the whole layer, unless there is a later one."""
        about = {"conversation": dispute.conversation_id, "layer": dispute.layer}
        known = Adjudication.objects.filter(**about)
        is_copied = dispute.item.how in ELSEWHERE
        later = known.filter(decided_at__gt=outcome.at).exclude(pk__in=made)
        if later.exists() and not is_copied:
            return None
        chosen = _that_chose(dispute, outcome, verdicts.get(dispute.pk, []))
        newest = known.order_by("version").last()
        decision = Adjudication.objects.create(
            conversation_id=dispute.conversation_id,
            layer=dispute.layer,
            version=newest.version + 1 if newest else 1,
            guideline=dispute.item.release.project.guidelines.order_by("version").last(),
            payload=_payload(apps, dispute, outcome, is_copied=is_copied),
            reason=outcome.reason or "; ".join(each["reason"] for each in chosen),
            decided_by_id=outcome.decided_by_id or chosen[-1]["user"],
            decided_at=outcome.at,
        )
        made.append(decision.pk)
        return decision

    return decide


def _that_chose(dispute, outcome, verdicts):
    """The verdicts with this outcome."""
    return [
        verdict
        for verdict in verdicts
        if (dispute.proposal if verdict["side"] == "proposal" else verdict["label"])
        == outcome.label
        and verdict["side"] in ("proposal", "neither")
    ] or verdicts


def _payload(apps, dispute, outcome, *, is_copied):
    """The labels of the item, or of the newest with its labels, with the corrected one."""
    GoldItem = apps.get_model("labeling", "GoldItem")
    item = dispute.item
    if not is_copied:
        same = {"conversation": item.conversation_id, "release__name": item.release.name}
        item = GoldItem.objects.filter(**same).order_by("-release").first()
    document = json.loads(item.canonical)
    key = LAYERS[dispute.layer].key
    uid = dispute.label_uid or (outcome.label or dispute.proposal)["uid"]
    labels, is_there = [], False
    for label in document["gold"].get(key, []):
        is_there = is_there or label["uid"] == uid
        labels.append(outcome.label if label["uid"] == uid else label)
    if not is_there:
        labels.append(outcome.label)
    names = _names(apps, dispute.item.release.project_id, document)
    rows = document["provenance"].get("labels", {})
    return {key: [_attributed(label, uid, rows, names) for label in labels if label]}


def _names(apps, project, document):
    """By pseudonym, where the item has some."""
    if document["provenance"].get("people") != "pseudonyms":
        return {}
    rows = apps.get_model("labeling", "Pseudonym").objects.filter(project=project)
    return {f"annotator-{row.number}": row.user.username for row in rows.select_related("user")}


def _attributed(label, corrected, rows, names):
    row = rows.get(label["uid"], {})
    held = [] if label["uid"] == corrected or row.get("how") == "disputed" else row.get("by", [])
    named = {"adopted_from": [names.get(name, name) for name in held]}
    if "uids" in row:
        named["uids"] = {names.get(name, name): own for name, own in row["uids"].items()}
    return {**label, **named}


def settle(apps, schema_editor):
    """PostgreSQL alters no table that still has checks to make; nor does it drop our functions."""
    if schema_editor.connection.vendor == "postgresql":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table in ("dispute", "disputereading", "disputeverdict", "disputeoutcome"):
                for verb in ("update", "delete"):
                    cursor.execute(
                        f"DROP FUNCTION IF EXISTS guard_labeling_{table}_{verb}() CASCADE"
                    )


STATES = [
    ("asked", "waits for a lead"),
    ("open", "reopened"),
    ("declined", "declined"),
    ("withdrawn", "withdrawn"),
    ("kept", "gold stays"),
    ("corrected", "gold is corrected"),
]


def _person(**options):
    return models.ForeignKey(
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
        **options,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0059_imports_at_once"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Reopening",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("layer", models.CharField(max_length=20)),
                ("label_uid", models.CharField(blank=True, max_length=100)),
                ("proposal", models.JSONField(null=True)),
                ("reason", models.TextField()),
                ("source", models.JSONField(default=dict)),
                (
                    "asked_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("state", models.CharField(choices=STATES, default="asked", max_length=9)),
                ("answer", models.TextField(blank=True)),
                ("answered_at", models.DateTimeField(null=True)),
                ("history", models.JSONField(default=dict)),
                ("answered_by", _person(null=True)),
                ("asked_by", _person()),
                (
                    "decision",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reopenings",
                        to="labeling.adjudication",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="reopenings",
                        to="labeling.golditem",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=~models.Q(reason=""), name="reopening_has_reason"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(state__in=[name for name, _ in STATES]),
                        name="reopening_state_known",
                    ),
                ],
            },
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop, elidable=True),
        migrations.RunPython(settle, migrations.RunPython.noop, elidable=True),
        migrations.DeleteModel("DisputeOutcome"),
        migrations.DeleteModel("DisputeVerdict"),
        migrations.DeleteModel("DisputeReading"),
        migrations.DeleteModel("Dispute"),
        migrations.RemoveField("project", "dispute_judges"),
    ]
