import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("labeling", "0022_disputes"),
        ("labeling", "0022_fingerprints"),
    ]

    operations = [
        migrations.AddField(
            model_name="project",
            name="publish_names",
            field=models.BooleanField(
                default=False,
                help_text="Gold names people by their user names instead of pseudonyms",
            ),
        ),
        migrations.CreateModel(
            name="Pseudonym",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="pseudonyms",
                        to="labeling.project",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["project", "number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project", "user"), name="pseudonym_once_per_person"
                    ),
                    models.UniqueConstraint(
                        fields=("project", "number"), name="pseudonym_number_once"
                    ),
                ],
            },
        ),
    ]
