import django.db.models.deletion
from django.conf import settings
from django.core.management.color import no_style
from django.db import migrations, models
from django.db.models import F

KINDS = ["faithfulness", "relevance", "completeness", "correctness"]
CHOICES = [("need", "Need"), *((kind, kind.capitalize()) for kind in KINDS)]
PERSON = {"null": True, "on_delete": django.db.models.deletion.PROTECT, "related_name": "+"}


def carry_over(apps, schema_editor):
    """Samples of answers keep their keys, because certificates name them."""
    connection = schema_editor.connection
    _samples_of_answers(apps)
    with connection.cursor() as cursor:
        models = [apps.get_model("evaluation", "RatingSample")]
        for statement in connection.ops.sequence_reset_sql(no_style(), models):
            cursor.execute(statement)
    _inferred(apps)
    _ratings_of_answers(apps)
    if connection.vendor == "postgresql":  # it alters no table that still has checks to make
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table in ("answersample", "sampledanswer", "answerrating"):
                for verb in ("update", "delete"):
                    name = f"guard_evaluation_{table}_{verb}"
                    cursor.execute(f"DROP FUNCTION IF EXISTS {name}() CASCADE")


def _samples_of_answers(apps):
    get = lambda name: apps.get_model("evaluation", name)  # noqa: E731
    for old in get("AnswerPanel").objects.order_by("pk"):
        told = {name: getattr(old, name) for name in ("code", "opened_by", "opened_at")}
        panel = get("RatingPanel").objects.create(run_id=old.run_id, n_labels=0, **told)
        panel.invited.set(old.invited.all())
        own = get("AnswerSample").objects.filter(panel=old)
        names = (
            "id", "kind", "seed", "drawn_from", "drawn_by_id", "drawn_at", "closed_by_id",
            "closed_at", "given_up", "reason",
        )  # fmt: skip
        get("RatingSample").objects.bulk_create(
            get("RatingSample")(panel=panel, **row) for row in own.order_by("pk").values(*names)
        )
        _places(apps, own)


def _places(apps, samples):
    """In the order in which people saw them: an answer that was drawn for several kinds at once
    comes once, with all of them."""
    SampledAnswer = apps.get_model("evaluation", "SampledAnswer")
    rows = SampledAnswer.objects.filter(sample__in=samples).order_by("sample", "number")
    fields = ("answer", "sample", "sample__kind", "sample__seed", "number", "answer__case")
    drawn, first, batches = list(rows.values_list(*fields)), {}, {}
    for answer, sample, _kind, seed, number, _case in drawn:
        first.setdefault((seed, answer), (batches.setdefault(seed, sample), number))
    drawn.sort(key=lambda row: (*first[row[3], row[0]], row[0], KINDS.index(row[2])))
    RatedPlace = apps.get_model("evaluation", "RatedPlace")
    RatedPlace.objects.bulk_create(
        (
            RatedPlace(sample_id=row[1], number=number, case_id=row[5], position=0)
            for number, row in enumerate(drawn, start=1)
        ),
        batch_size=500,
    )


def _inferred(apps):
    get = lambda name: apps.get_model("evaluation", name)  # noqa: E731
    RatedPlace = get("RatedPlace")
    panels = get("RatingPanel").objects.exclude(n_labels=0)
    for panel in panels.order_by("pk"):
        sample = get("RatingSample").objects.create(
            panel=panel,
            kind="need",
            seed=0,
            drawn_from=panel.n_labels,
            drawn_by_id=panel.opened_by_id,
            drawn_at=panel.opened_at,
            closed_by_id=panel.closed_by_id,
            closed_at=panel.closed_at,
        )
        labels = get("RatedLabel").objects.filter(panel=panel).order_by("number")
        RatedPlace.objects.bulk_create(
            (
                RatedPlace(sample=sample, **row)
                for row in labels.values("number", "case_id", "position").iterator()
            ),
            batch_size=500,
        )
    waiting = panels.filter(counted__lt=F("changes"), closed_at__isnull=False)
    runs = get("Run").objects.filter(pk__in=waiting.values("run"))
    runs.update(scored_at=None, scored_cases=0)  # by a worker, with all ratings


def _ratings_of_answers(apps):
    Rating = apps.get_model("evaluation", "Rating")
    rows = apps.get_model("evaluation", "AnswerRating").objects.order_by("pk")
    fields = ("kind", "rater_id", "score", "note", "rated_at", "frozen")
    Rating.objects.bulk_create(
        (
            Rating(case_id=row.pop("answer__case"), position=0, **row)
            for row in rows.values("answer__case", *fields).iterator()
        ),
        batch_size=500,
    )


class Migration(migrations.Migration):
    """Labels and answers are rated in the same way: what was stored of both is carried over."""

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("evaluation", "0036_certificates_by_people"),
    ]

    operations = [
        migrations.CreateModel(
            "RatingSample",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(choices=CHOICES, max_length=12)),
                ("seed", models.PositiveBigIntegerField(help_text="That it was drawn with")),
                (
                    "drawn_from",
                    models.PositiveIntegerField(help_text="How many places could have been drawn"),
                ),
                ("drawn_at", models.DateTimeField()),
                ("closed_at", models.DateTimeField(null=True)),
                (
                    "given_up",
                    models.BooleanField(default=False, help_text="Its ratings count for nothing"),
                ),
                (
                    "reason",
                    models.TextField(
                        blank=True,
                        help_text=(
                            "Why it was given up, or why few of its answers have two raters"
                        ),
                    ),
                ),
                ("closed_by", models.ForeignKey(to=settings.AUTH_USER_MODEL, **PERSON)),
                ("drawn_by", models.ForeignKey(to=settings.AUTH_USER_MODEL, **PERSON)),
                (
                    "panel",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="samples",
                        to="evaluation.ratingpanel",
                    ),
                ),
            ],
            options={"ordering": ["pk"]},
        ),
        migrations.CreateModel(
            "RatedPlace",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "position",
                    models.PositiveIntegerField(default=0, help_text="Of the label, from 0"),
                ),
                (
                    "case",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="evaluation.caserun",
                    ),
                ),
                (
                    "sample",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="places",
                        to="evaluation.ratingsample",
                    ),
                ),
            ],
            options={"ordering": ["sample", "number"]},
        ),
        migrations.RemoveConstraint("rating", "rating_once_per_judge"),
        migrations.RemoveConstraint("rating", "rating_score_known"),
        migrations.RenameField("rating", "judge", "rater"),
        migrations.AddField(
            "rating",
            "kind",
            models.CharField(choices=CHOICES, max_length=12, default="need"),
            preserve_default=False,
        ),
        # moments of what is carried over
        migrations.AlterField("rating", "rated_at", models.DateTimeField()),
        migrations.AlterField("ratingpanel", "opened_at", models.DateTimeField()),
        migrations.RunPython(carry_over, migrations.RunPython.noop),
        migrations.AlterField("rating", "rated_at", models.DateTimeField(auto_now=True)),
        migrations.AlterField("ratingpanel", "opened_at", models.DateTimeField(auto_now_add=True)),
        migrations.AlterField(
            "ratingsample", "drawn_at", models.DateTimeField(auto_now_add=True)
        ),
        migrations.AlterField(
            "rating",
            "position",
            models.PositiveIntegerField(default=0, help_text="Of the label, from 0"),
        ),
        migrations.AlterField(
            "rating",
            "frozen",
            models.BooleanField(default=False, help_text="Its sample is closed"),
        ),
        migrations.AlterModelOptions(
            "rating",
            {
                "ordering": ["case", "kind", "position", "rater"],
                "verbose_name": "rating",
                "verbose_name_plural": "ratings",
            },
        ),
        migrations.AlterField(
            "judgecertificate",
            "sample",
            models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.RESTRICT,
                related_name="certificates",
                to="evaluation.ratingsample",
                help_text="The newest of those that it rests on",
            ),
        ),
        migrations.DeleteModel("SampledAnswer"),
        migrations.DeleteModel("AnswerSample"),
        migrations.DeleteModel("AnswerPanel"),
        migrations.DeleteModel("AnswerRating"),
        migrations.DeleteModel("RatedLabel"),
        migrations.RemoveConstraint("ratingpanel", "rating_panel_counts_what_changed"),
        migrations.RemoveField("ratingpanel", "n_labels"),
        migrations.RemoveField("ratingpanel", "closed_by"),
        migrations.RemoveField("ratingpanel", "closed_at"),
        migrations.RemoveField("ratingpanel", "changes"),
        migrations.RemoveField("ratingpanel", "counted"),
        migrations.AddConstraint(
            "rating",
            models.UniqueConstraint(
                name="rating_once_per_rater", fields=["case", "kind", "position", "rater"]
            ),
        ),
        migrations.AddConstraint(
            "rating",
            models.CheckConstraint(
                name="rating_kind_known", condition=models.Q(kind__in=["need", *KINDS])
            ),
        ),
        migrations.AddConstraint(
            "rating",
            models.CheckConstraint(
                name="rating_in_range",
                condition=models.Q(score__lte=2)
                | ~models.Q(kind="need") & models.Q(score__lte=10),
                violation_error_message="A rating is 0, 1 or 2; of an answer, 0 to 10.",
            ),
        ),
        migrations.AddConstraint(
            "ratedplace",
            models.UniqueConstraint(
                name="rated_place_once", fields=["sample", "case", "position"]
            ),
        ),
        migrations.AddConstraint(
            "ratedplace",
            models.UniqueConstraint(name="rated_number_once", fields=["sample", "number"]),
        ),
        migrations.AddConstraint(
            "ratingsample",
            models.CheckConstraint(
                name="sample_kind_known", condition=models.Q(kind__in=["need", *KINDS])
            ),
        ),
        migrations.AddConstraint(
            "ratingsample",
            models.CheckConstraint(
                name="sample_given_up_is_closed",
                condition=models.Q(given_up=False) | models.Q(closed_at__isnull=False),
            ),
        ),
        migrations.AddConstraint(
            "ratingsample",
            models.UniqueConstraint(
                name="sample_one_open",
                fields=["panel", "kind"],
                condition=models.Q(closed_at__isnull=True),
            ),
        ),
    ]
