"""An import is one transaction, and what waits to be confirmed is in the data folder."""

import json

import django.db.models.deletion
from django.db import migrations, models

from labeling.domain.fingerprints import fingerprint


def remove_unfinished(apps, schema_editor):
    """What imports that ended on the way have left: nobody has seen it."""
    ConversationDraft = apps.get_model("labeling", "ConversationDraft")
    Conversation = apps.get_model("labeling", "Conversation")
    for draft in ConversationDraft.objects.all():
        keys = (draft.first, draft.last)
        own = Conversation.objects.filter(pk__range=keys, project=draft.project_id)
        for name in ("FingerprintKey", "ConversationFingerprint", "Transcript"):
            rows = apps.get_model("labeling", name).objects
            rows.filter(conversation__in=own.values("pk")).delete()
        own.delete()
        draft.delete()


def complete_fingerprints(apps, schema_editor):
    """Of conversations that are older than fingerprints, where no worker has computed them."""
    Transcript = apps.get_model("labeling", "Transcript")
    ConversationFingerprint = apps.get_model("labeling", "ConversationFingerprint")
    FingerprintKey = apps.get_model("labeling", "FingerprintKey")
    without = Transcript.objects.filter(conversation__fingerprint=None)
    for pk, text in without.values_list("pk", "messages").iterator(chunk_size=100):
        computed = fingerprint(message["content"] for message in json.loads(text))
        ConversationFingerprint.objects.create(conversation_id=pk, sketch=bytes(computed))
        FingerprintKey.objects.bulk_create(
            [FingerprintKey(value=value, conversation_id=pk) for value in computed.keys.tolist()],
            ignore_conflicts=True,
        )


def settle(apps, schema_editor):
    """PostgreSQL alters no table that still has checks to make; nor does it drop our functions."""
    if schema_editor.connection.vendor == "postgresql":
        with schema_editor.connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table in ("labeling_conversationdraft", "labeling_project"):
                for verb in ("update", "delete"):
                    cursor.execute(f"DROP FUNCTION IF EXISTS guard_{table}_{verb}() CASCADE")
    else:
        for table in ("labeling_conversationdraft", "labeling_project"):
            for verb in ("update", "delete", "insert", "rekey"):
                schema_editor.execute(f"DROP TRIGGER IF EXISTS guard_{table}_{verb}")


class Migration(migrations.Migration):

    dependencies = [
        ('labeling', '0058_one_signed_manifest'),
    ]

    operations = [
        migrations.RunPython(remove_unfinished, migrations.RunPython.noop),
        migrations.RunPython(complete_fingerprints, migrations.RunPython.noop),
        migrations.RunPython(settle, migrations.RunPython.noop),
        migrations.AlterField(
            model_name='conversation',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='labeling.project'),
        ),
        migrations.DeleteModel(name='ConversationDraft'),
        migrations.DeleteModel(name='UploadPart'),
        migrations.DeleteModel(name='Upload'),
    ]
