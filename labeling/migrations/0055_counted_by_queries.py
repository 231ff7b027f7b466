"""What triggers kept up to date is counted by queries."""

from django.db import migrations, models


TRIGGERS = """
count_place_new count_place_moved count_place_taken count_place_changed
count_place_left count_overlap count_answer_new count_answer_changed
count_answer_gone stand_conversation_new stand_conversation_changed stand_placed
stand_place_gone stand_handed_out stand_taken_away stand_answered
stand_overlap stand_round stand_merged stand_merged_again
stand_merge_gone stand_decided stand_reviewed
""".split()


def drop_triggers(apps, schema_editor):
    """SQLite rebuilds no table that the trigger of another names."""
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    for name in TRIGGERS:
        what = f"TRIGGER IF EXISTS {name}" if is_sqlite else f"FUNCTION IF EXISTS {name}() CASCADE"
        schema_editor.execute(f"DROP {what}")


class Migration(migrations.Migration):

    dependencies = [
        ('labeling', '0054_agreement_with_gold'),
    ]

    operations = [
        migrations.RunPython(drop_triggers, migrations.RunPython.noop),
        migrations.DeleteModel(
            name='ConversationState',
        ),
        migrations.RemoveIndex(
            model_name='assignment',
            name='assignment_open',
        ),
        migrations.RemoveIndex(
            model_name='assignment',
            name='assignment_work',
        ),
        migrations.RemoveIndex(
            model_name='roundconversation',
            name='place_free',
        ),
        migrations.RemoveIndex(
            model_name='roundconversation',
            name='place_emptiest',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='active_seconds',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='answered',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='answered_at',
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='status',
        ),
        migrations.RemoveField(
            model_name='merge',
            name='changes_seen',
        ),
        migrations.RemoveField(
            model_name='merge',
            name='rules_sha256',
        ),
        migrations.RemoveField(
            model_name='roundconversation',
            name='free',
        ),
        migrations.RemoveField(
            model_name='agreementwithgold',
            name='revisions_seen',
        ),
        migrations.RemoveField(
            model_name='measurement',
            name='revisions_seen',
        ),
        migrations.AddField(
            model_name='agreementwithgold',
            name='answers_sha256',
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddIndex(
            model_name='annotation',
            index=models.Index(fields=['assignment', 'status', 'active_seconds', 'updated_at'], name='annotation_work'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['round', 'purpose', 'annotator', 'slot', 'draw'], name='assignment_work'),
        ),
    ]
