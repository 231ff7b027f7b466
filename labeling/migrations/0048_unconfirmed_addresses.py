"""Addresses that people gave themselves wait to be confirmed; those of administrators stay."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def keep_waiting(apps, schema_editor):
    User = apps.get_model(*settings.AUTH_USER_MODEL.split("."))
    given = apps.get_model("labeling", "Event").objects.filter(verb="mail_address.changed")
    people = given.order_by().values_list("actor", flat=True).distinct()
    waiting = apps.get_model("labeling", "UnconfirmedAddress").objects
    for user in User.objects.filter(pk__in=list(people)).exclude(email=""):
        waiting.create(user_id=user.pk, address=user.email)
        User.objects.filter(pk=user.pk).update(email="")


def put_back(apps, schema_editor):
    User = apps.get_model(*settings.AUTH_USER_MODEL.split("."))
    for row in apps.get_model("labeling", "UnconfirmedAddress").objects.all():
        User.objects.filter(pk=row.user_id, email="").update(email=row.address)


class Migration(migrations.Migration):
    dependencies = [
        ("labeling", "0047_joined_by_invitation"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="UnconfirmedAddress",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("address", models.EmailField(max_length=254)),
                ("given_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={"verbose_name_plural": "unconfirmed addresses"},
        ),
        migrations.RunPython(keep_waiting, put_back),
    ]
