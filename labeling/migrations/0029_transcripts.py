"""A conversation's text becomes one row instead of a row for each message."""

from itertools import groupby
from operator import itemgetter

import django.db.models.deletion
from django.db import migrations, models

from labeling.domain import transcripts

CHUNK = 500  # conversations whose text is in memory at once

COUNT = """
UPDATE labeling_conversation SET n_messages = (
  SELECT COUNT(*) FROM labeling_message WHERE conversation_id = labeling_conversation.id
)
"""
COLUMNS = ("index", "role", "speaker", "content", "time")


def join_messages(apps, schema_editor):
    using = schema_editor.connection.alias
    Transcript = apps.get_model("labeling", "Transcript")
    Message = apps.get_model("labeling", "Message")
    for chunk in _chunks(apps, using):
        rows = Message.objects.using(using).filter(conversation__in=chunk)
        rows = rows.order_by("conversation", "index").values_list("conversation", *COLUMNS)
        said = {
            pk: [transcripts.Message(*row[1:]) for row in of_one]
            for pk, of_one in groupby(rows.iterator(), itemgetter(0))
        }
        Transcript.objects.using(using).bulk_create(
            Transcript(conversation_id=pk, messages=transcripts.written(said.get(pk, ())))
            for pk in chunk
        )
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(COUNT)


def split_messages(apps, schema_editor):
    using = schema_editor.connection.alias
    Transcript = apps.get_model("labeling", "Transcript")
    Message = apps.get_model("labeling", "Message")
    for chunk in _chunks(apps, using):
        rows = Transcript.objects.using(using).filter(pk__in=chunk).values_list("pk", "messages")
        Message.objects.using(using).bulk_create(
            [
                Message(conversation_id=pk, **message._asdict())
                for pk, text in rows
                for message in transcripts.read(text)
            ],
            batch_size=5000,
        )


def _chunks(apps, using):
    rows = apps.get_model("labeling", "Conversation").objects.using(using).order_by("pk")
    last = 0
    while chunk := list(rows.filter(pk__gt=last).values_list("pk", flat=True)[:CHUNK]):
        yield chunk
        last = chunk[-1]


def drop_guard(apps, schema_editor):
    """SQLite drops a table's triggers with it; PostgreSQL keeps the function of one."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP FUNCTION IF EXISTS guard_labeling_message_update() CASCADE")


class Migration(migrations.Migration):
    dependencies = [("labeling", "0028_counted_places")]

    operations = [
        migrations.CreateModel(
            name="Transcript",
            fields=[
                (
                    "conversation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="transcript",
                        serialize=False,
                        to="labeling.conversation",
                    ),
                ),
                (
                    "messages",
                    models.TextField(help_text="As labeling.domain.transcripts writes it"),
                ),
            ],
        ),
        migrations.AddField(
            model_name="conversation",
            name="n_messages",
            field=models.PositiveIntegerField(default=0),
            preserve_default=False,
        ),
        migrations.RunPython(join_messages, split_messages),
        migrations.RunPython(drop_guard, migrations.RunPython.noop),
        migrations.DeleteModel(name="Message"),
    ]
