import hashlib

import django.db.models.deletion
from django.db import migrations, models
from django.db.models import Max, Q
from django.utils import timezone

from labeling.domain.canonical import canonical_json

AMOUNTS = (
    "calls", "cached", "prompt_tokens", "completion_tokens", "cost", "saved", "saved_tokens",
    "seconds", "doubted", "cached_tokens", "reasoning_tokens",
)  # fmt: skip
OPEN = ("queued", "running")
AS_THEY_WERE = (
    "state", "attempts", "usage", "error_class", "error", "finished_at", "output", "seconds",
)  # fmt: skip


def carry_over(apps, schema_editor):
    for trial in apps.get_model("evaluation", "Trial").objects.order_by("pk"):
        run = _run(apps, trial)
        _cases(apps, trial, run)
        _spending(apps, run)
    apps.get_model("labeling", "Job").objects.filter(kind="trial").delete()
    apps.get_model("evaluation", "RunConversation").objects.filter(run=None).delete()
    if schema_editor.connection.vendor == "postgresql":  # it alters no table with open checks
        schema_editor.execute("SET CONSTRAINTS ALL IMMEDIATE")


def _run(apps, trial):
    Run = apps.get_model("evaluation", "Run")
    sha256 = hashlib.sha256(canonical_json(trial.config).encode()).hexdigest()
    open_cases = trial.cases.filter(state__in=OPEN).exists()
    is_over = not open_cases and not trial.cancelled and trial.failure is None
    ended = trial.cases.aggregate(at=Max("finished_at"))["at"] or trial.created_at
    run = Run.objects.create(
        project=trial.project,
        pipeline=trial.pipeline,
        pipeline_version=trial.pipeline_version,
        config=trial.config,
        config_sha256=sha256,
        name=trial.name,
        spec={
            "layer": trial.layer,
            "pipeline": trial.pipeline,
            "config": trial.config,
            "config_sha256": sha256,
            "event_schema": trial.event_schema or None,
            "model": trial.model,
            "questions": dict(trial.questions),
        },
        requested_by=trial.maker,
        budget_cost=trial.budget_cost,
        budget_tokens=trial.budget_tokens,
        cancelled=trial.cancelled,
        failure=None if trial.cancelled else trial.failure,
        woken_at=timezone.now(),
        scored_at=ended if is_over else None,
        first_scored_at=ended if is_over else None,
        expires_at=trial.expires_at,
    )
    Run.objects.filter(pk=run.pk).update(created_at=trial.created_at)
    return run


def _cases(apps, trial, run):
    apps.get_model("evaluation", "RunConversation").objects.filter(trial=trial).update(run=run)
    CaseRun, rows = apps.get_model("evaluation", "CaseRun"), []
    for case in trial.cases.select_related("conversation").order_by("pk").iterator(chunk_size=50):
        question = case.case_id.removeprefix(case.conversation.external_id).lstrip(":")
        row = CaseRun(
            run=run,
            talk=case.conversation,
            part=question,
            part_id=question,
            **{name: getattr(case, name) for name in AS_THEY_WERE},
        )
        if row.state == "running":  # whoever was at it is gone
            row.state = "queued"
        rows.append(row)
        if len(rows) == 50:
            CaseRun.objects.bulk_create(rows)
            rows = []
    CaseRun.objects.bulk_create(rows)


def _spending(apps, run):
    usages = [usage for usage in run.cases.values_list("usage", flat=True) if "calls" in usage]
    if not usages:
        return
    sums = {name: sum(usage.get(name) or 0 for usage in usages) for name in AMOUNTS}
    for name, unknown in (("cost", "unpriced"), ("saved", "unsaved")):
        sums[unknown] = sum(usage["calls"] > 0 and usage.get(name, 0) is None for usage in usages)
    apps.get_model("evaluation", "RunSpending").objects.create(
        run=run,
        estimated=sum(bool(usage.get("estimated")) for usage in usages),
        doubt=next((str(usage["doubt"])[:100] for usage in usages if usage.get("doubt")), ""),
        served_by=sorted({name for usage in usages for name in usage.get("models", [])}),
        schema_by=sorted({name for usage in usages for name in usage.get("schema_by", [])}),
        **sums,
    )


class Migration(migrations.Migration):

    dependencies = [
        ("evaluation", "0001_squashed_0038_one_job_table"),
        ("labeling", "0001_squashed_0063_american_spelling"),
    ]

    operations = [
        migrations.AlterField(
            "run",
            "release",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="labeling.goldrelease",
            ),
        ),
        migrations.AddField(
            "run",
            "project",
            models.ForeignKey(
                help_text="Without gold: whose leads see it; empty: only who launched it",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="unmeasured_runs",
                to="labeling.project",
            ),
        ),
        migrations.AddField(
            "run",
            "expires_at",
            models.DateTimeField(db_index=True, help_text="Without gold alone", null=True),
        ),
        migrations.RenameModel("TrialConversation", "RunConversation"),
        migrations.AlterModelOptions("runconversation", {"ordering": ["position"]}),
        migrations.AddField(
            "runconversation",
            "run",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="conversations",
                to="evaluation.run",
            ),
        ),
        migrations.AlterField(
            "runconversation",
            "conversation",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="run_conversations",
                to="labeling.conversation",
            ),
        ),
        migrations.AlterField(
            "caserun",
            "item",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="case_runs",
                to="labeling.golditem",
            ),
        ),
        migrations.AddField(
            "caserun",
            "talk",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="cases",
                to="evaluation.runconversation",
            ),
        ),
        migrations.RunPython(carry_over, elidable=False),
        migrations.DeleteModel("TrialCase"),
        migrations.RemoveConstraint("runconversation", "trial_conversation_once"),
        migrations.RemoveField("runconversation", "trial"),
        migrations.AlterField(
            "runconversation",
            "run",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="conversations",
                to="evaluation.run",
            ),
        ),
        migrations.AlterModelOptions("runconversation", {"ordering": ["run", "position"]}),
        migrations.AddConstraint(
            "runconversation",
            models.UniqueConstraint(fields=("run", "external_id"), name="run_conversation_once"),
        ),
        migrations.AddConstraint(
            "caserun",
            models.UniqueConstraint(fields=("talk", "part"), name="case_once_per_talk"),
        ),
        migrations.AddConstraint(
            "caserun",
            models.CheckConstraint(
                condition=Q(item__isnull=False, talk__isnull=True)
                | Q(item__isnull=True, talk__isnull=False),
                name="case_of_gold_or_conversation",
            ),
        ),
        migrations.DeleteModel("Trial"),
    ]
