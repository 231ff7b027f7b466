"""The tables of version 0.6.0; older databases are brought there by 0.6.0 itself."""

import django.core.validators
import django.db.models.deletion
import django.utils.timezone
import labeling.core.models.fields
import labeling.core.models.projects
import labeling.work.models.assignments
import uuid
from django.conf import settings
from django.db import migrations, models

from labeling.migrations._at_once import CreateTables


NAMES = """
0001_initial 0002_people_and_layers 0003_import_reports 0004_event_schema_in_order
0005_suggestions_asked_for 0006_imported_gold 0007_discussions 0008_synthetic_conversations
0009_webhooks 0010_checks_against_gold 0011_suggestion_budget 0012_index_of_checks
0013_time_of_decision 0014_stored_agreement 0015_facts_of_suggestions 0016_facts
0017_facts_of_checks 0018_label_f1_threshold 0019_empty_layers 0020_audit_chain
0021_signed_releases 0022_disputes 0022_fingerprints 0023_pseudonyms 0024_signed_items
0025_looks_at_test_items 0026_release_checks 0027_lint 0028_counted_places 0029_transcripts
0030_gold_drafts 0031_agreement_by_conversation 0032_revisions_seen 0033_invitee
0034_how_far_conversations_are 0035_signing_in 0036_label_hints 0037_merges_confirmed
0038_conversation_drafts 0039_admissions 0040_admitted_before 0041_open_fields
0042_unanswered_layers 0043_calibration_outcomes 0044_guideline_reasons 0045_draws
0046_draw_indexes 0047_joined_by_invitation 0048_unconfirmed_addresses 0049_project_of_draft
0050_plain_names 0051_uploads 0052_tokens_with_scopes 0053_token_uses
0001_squashed_0053_token_uses 0054_agreement_with_gold 0055_counted_by_queries
0056_addresses_are_mailed 0057_no_keyed_requests 0058_one_signed_manifest
0059_imports_at_once 0060_reopenings 0061_fewer_kinds_of_lint 0062_one_job_table
0063_american_spelling
0001_squashed_0063_american_spelling
0002_webhooks_of_one_secret 0003_suggestions_of_runs 0004_no_sign_ins
0005_lint_is_one_list 0006_membership_as_it_counts
""".split()


class Migration(migrations.Migration):

    replaces = [('labeling', name) for name in NAMES]

    initial = True

    dependencies = [
        ('auth', '__first__'),
    ]

    operations = [CreateTables([
        migrations.CreateModel(
            name='Conversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('external_id', models.CharField(max_length=200)),
                ('domain', models.CharField(blank=True, max_length=100)),
                ('difficulty', models.CharField(blank=True, choices=[('easy', 'Easy'), ('medium', 'Medium'), ('hard', 'Hard')], max_length=6)),
                ('split', models.CharField(blank=True, choices=[('train', 'Train'), ('dev', 'Dev'), ('test', 'Test')], max_length=5)),
                ('origin', models.CharField(choices=[('collected', 'Collected'), ('synthetic', 'Synthetic')], default='collected', max_length=9)),
                ('generator', models.CharField(blank=True, help_text='What made a synthetic conversation, and from what', max_length=200)),
                ('speakers', models.JSONField(default=list)),
                ('priority', models.SmallIntegerField(default=0, help_text='Higher is handed out first')),
                ('n_messages', models.PositiveIntegerField()),
                ('content_sha256', models.CharField(max_length=64)),
                ('imported_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['external_id'],
                'indexes': [models.Index(fields=['content_sha256'], name='conversation_by_content')],
                'constraints': [models.CheckConstraint(condition=models.Q(('difficulty__in', ['', 'easy', 'medium', 'hard'])), name='conversation_difficulty_known'), models.CheckConstraint(condition=models.Q(('split__in', ['', 'train', 'dev', 'test'])), name='conversation_split_known'), models.CheckConstraint(condition=models.Q(('origin__in', ['collected', 'synthetic'])), name='conversation_origin_known')],
            },
        ),
        migrations.CreateModel(
            name='Tries',
            fields=[
                ('key', models.CharField(max_length=64, primary_key=True, serialize=False)),
                ('failures', models.PositiveIntegerField(default=0)),
                ('last_at', models.DateTimeField(db_index=True)),
                ('until', models.DateTimeField(help_text='No try is looked at before', null=True)),
                ('refused', models.BooleanField(default=False, help_text='Somebody was refused in this pause')),
            ],
            options={
                'verbose_name_plural': 'tries',
            },
        ),
        migrations.CreateModel(
            name='WorkerPulse',
            fields=[
                ('name', models.CharField(max_length=200, primary_key=True, serialize=False)),
                ('started_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=100)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('used_from', models.JSONField(default=dict, help_text='The day on which each address used it last')),
                ('revoked_at', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(help_text='Empty: does not expire', null=True)),
                ('scopes', models.JSONField(help_text='Empty: everything, as tokens from before there were scopes', null=True)),
                ('project_ids', models.JSONField(help_text='Empty: all projects of its owner', null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'API token',
                'verbose_name_plural': 'API tokens',
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Assignment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slot', models.PositiveSmallIntegerField(null=True)),
                ('position', models.PositiveIntegerField(default=0, help_text="Order in the annotator's queue")),
                ('taken_at', models.DateTimeField(auto_now_add=True)),
                ('returned_reason', models.TextField(blank=True, help_text='Why a reviewer sent it back')),
                ('lease_expires_at', models.DateTimeField(help_text='NULL: planned, never expires', null=True)),
                ('purpose', models.CharField(choices=[('labelling', 'labelling'), ('honeypot', 'hidden check'), ('qualification', 'qualification'), ('calibration', 'Calibration')], default='labelling', max_length=13)),
                ('draw', labeling.work.models.assignments.DrawField(editable=False, help_text="From 0 to 1, by the round's seed: below the rate of the project it is reviewed")),
                ('annotator', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to=settings.AUTH_USER_MODEL)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='labeling.conversation')),
            ],
            options={
                'ordering': ['round', 'position'],
                'indexes': [models.Index(condition=models.Q(('purpose', 'labelling'), _negated=True), fields=['purpose'], name='assignment_check')],
                'constraints': [models.CheckConstraint(condition=models.Q(('purpose__in', ['labelling', 'honeypot', 'qualification', 'calibration'])), name='assignment_purpose_known')],
            },
        ),
        migrations.CreateModel(
            name='ConversationFingerprint',
            fields=[
                ('conversation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='fingerprint', serialize=False, to='labeling.conversation')),
                ('sketch', models.BinaryField()),
            ],
        ),
        migrations.CreateModel(
            name='Transcript',
            fields=[
                ('conversation', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='transcript', serialize=False, to='labeling.conversation')),
                ('messages', models.TextField(help_text='As labeling.conversations.rules.transcripts writes it')),
            ],
        ),
        migrations.CreateModel(
            name='Disagreement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('unit', models.CharField(max_length=100)),
                ('outcome', models.CharField(blank=True, choices=[('guideline', 'the guidelines change'), ('error', 'annotator error'), ('ambiguous', 'ambiguous text'), ('edge_case', 'edge case')], max_length=9)),
                ('note', models.TextField(blank=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disagreements', to='labeling.conversation')),
                ('decided_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['round', 'conversation', 'layer', 'unit'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('decided_at__isnull', True), ('outcome', '')), models.Q(models.Q(('outcome', ''), _negated=True), ('decided_at__isnull', False), ('decided_by__isnull', False)), _connector='OR'), name='disagreement_decided_by_somebody')],
            },
        ),
        migrations.CreateModel(
            name='FingerprintKey',
            fields=[
                ('pk', models.CompositePrimaryKey('value', 'conversation', blank=True, editable=False, primary_key=True, serialize=False)),
                ('value', models.BigIntegerField()),
                ('conversation', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='fingerprint_keys', to='labeling.conversation')),
            ],
        ),
        migrations.CreateModel(
            name='FirstPass',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('dismissed', models.JSONField(default=list, help_text='Suggested labels that they do not want')),
                ('declared_at', models.DateTimeField(auto_now_add=True)),
                ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='first_pass', to='labeling.assignment')),
            ],
            options={
                'verbose_name_plural': 'first passes',
            },
        ),
        migrations.CreateModel(
            name='GoldRelease',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('name', models.CharField(max_length=100)),
                ('version', models.PositiveIntegerField()),
                ('meaning', models.CharField(blank=True, help_text='Version by meaning: 1.2.0', max_length=32)),
                ('message', models.TextField(blank=True)),
                ('agreement', models.JSONField(help_text='Agreement at freeze', null=True)),
                ('overrides', models.JSONField(default=list, help_text='Reasons given for passing the gate')),
                ('left_out', models.JSONField(default=list, help_text='Conversations not released, with reason')),
                ('waivers', models.JSONField(default=list, help_text='Findings that were let pass, with reason')),
                ('header', models.TextField(help_text='The statement as canonical JSON; it is hashed and signed')),
                ('sha256', models.CharField(max_length=64)),
                ('listing', models.TextField(blank=True, help_text='The SHA-256 and the id of each item')),
                ('signature', models.TextField(blank=True, help_text='Sigstore bundle; Ed25519 of older releases')),
                ('public_key', models.TextField(blank=True, help_text='PEM; Base64 of older releases')),
                ('frozen_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('frozen_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='labeling.goldrelease')),
            ],
            options={
                'ordering': ['name', '-version'],
                'constraints': [models.UniqueConstraint(fields=('name', 'version'), name='gold_version_once'), models.UniqueConstraint(condition=models.Q(('meaning', ''), _negated=True), fields=('name', 'meaning'), name='gold_meaning_once')],
            },
        ),
        migrations.CreateModel(
            name='GoldItem',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('item_id', models.CharField(max_length=200)),
                ('position', models.PositiveIntegerField()),
                ('split', models.CharField(blank=True, max_length=5)),
                ('how', models.CharField(choices=[('unanimous', 'Unanimous'), ('majority', 'Majority'), ('adjudicated', 'Adjudicated'), ('single', 'single annotator'), ('imported', 'Imported'), ('generated', 'generated')], max_length=11)),
                ('canonical', models.TextField()),
                ('sha256', models.CharField(max_length=64)),
                ('signature', models.CharField(blank=True, help_text='Over the hash, in releases of format 2', max_length=88)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gold_items', to='labeling.conversation')),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='items', to='labeling.goldrelease')),
            ],
            options={
                'ordering': ['release', 'position'],
                'indexes': [models.Index(fields=['release', 'how', 'conversation'], name='gold_item_how')],
                'constraints': [models.UniqueConstraint(fields=('release', 'item_id'), name='gold_item_once'), models.UniqueConstraint(fields=('release', 'position'), name='gold_item_position_once')],
            },
        ),
        migrations.CreateModel(
            name='Guideline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('body', models.TextField(help_text='Markdown')),
                ('summary', models.CharField(blank=True, help_text='What changed, in one line', max_length=300)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-version'],
            },
        ),
        migrations.AddField(
            model_name='goldrelease',
            name='guideline',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='labeling.guideline'),
        ),
        migrations.CreateModel(
            name='Annotation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('status', models.CharField(choices=[('draft', 'Draft'), ('submitted', 'Submitted'), ('skipped', 'Skipped')], default='draft', max_length=9)),
                ('payload', models.JSONField(blank=True, default=dict)),
                ('empty', models.BooleanField(default=False)),
                ('unanswered', models.JSONField(editable=False, help_text='Layers that it says nothing of, not even “nothing here”; null: said of none', null=True)),
                ('hinted', models.JSONField(editable=False, help_text='Fields that were changed after a label hint: {uid: [field, …]}', null=True)),
                ('skip_reason', models.TextField(blank=True)),
                ('version', models.PositiveIntegerField(default=0)),
                ('last_client', models.UUIDField(editable=False, null=True)),
                ('last_seq', models.PositiveIntegerField(default=0, editable=False)),
                ('active_seconds', models.PositiveIntegerField(default=0)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('submitted_at', models.DateTimeField(null=True)),
                ('locked_at', models.DateTimeField(help_text='Its round has closed or gold holds it: it cannot be reopened', null=True)),
                ('assignment', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, to='labeling.assignment')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='annotations', to='labeling.guideline')),
            ],
            options={
                'indexes': [models.Index(fields=['assignment', 'status', 'active_seconds', 'updated_at'], name='annotation_work'), models.Index(condition=models.Q(('status', 'submitted')), fields=['submitted_at', 'id', 'assignment'], name='annotation_submitted')],
                'constraints': [models.CheckConstraint(condition=models.Q(('status__in', ['draft', 'submitted', 'skipped'])), name='annotation_status_known'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'submitted'), ('submitted_at__isnull', False)), models.Q(models.Q(('status', 'submitted'), _negated=True), ('submitted_at__isnull', True)), _connector='OR'), name='annotation_submitted_has_time', violation_error_message='A submitted annotation needs its submission time.'), models.CheckConstraint(condition=models.Q(models.Q(('status', 'skipped'), models.Q(('skip_reason', ''), _negated=True)), models.Q(models.Q(('status', 'skipped'), _negated=True), ('skip_reason', '')), _connector='OR'), name='annotation_skipped_has_reason', violation_error_message='A skipped conversation needs a reason.')],
            },
        ),
        migrations.CreateModel(
            name='Adjudication',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('version', models.PositiveIntegerField()),
                ('payload', models.JSONField()),
                ('reason', models.TextField(blank=True, help_text='What the person wrote, if anything')),
                ('kind', models.CharField(blank=True, choices=[('ambiguous', 'ambiguous text'), ('guideline', 'gap in the guidelines'), ('error', 'annotator error'), ('edge_case', 'edge case'), ('subjective', 'Subjective'), ('accepted', 'accepted as agreed')], max_length=12)),
                ('guideline_flag', models.BooleanField(default=False, help_text='The guidelines should say more about this')),
                ('decided_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('decided_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='adjudications', to='labeling.conversation')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='adjudications', to='labeling.guideline')),
            ],
            options={
                'ordering': ['conversation', 'layer', 'version'],
                'constraints': [models.UniqueConstraint(fields=('conversation', 'layer', 'version'), name='adjudication_version_once')],
            },
        ),
        migrations.CreateModel(
            name='GuidelineCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('stands', models.BooleanField()),
                ('note', models.TextField(blank=True)),
                ('checked_at', models.DateTimeField(auto_now_add=True)),
                ('annotation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='guideline_checks', to='labeling.annotation')),
                ('checked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='labeling.guideline')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('annotation', 'guideline'), name='guideline_check_once')],
            },
        ),
        migrations.CreateModel(
            name='GuidelineReason',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('disagreement', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='answers', to='labeling.disagreement')),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reasons', to='labeling.guideline')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('guideline', 'disagreement'), name='guideline_reason_once')],
            },
        ),
        migrations.CreateModel(
            name='Look',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(choices=[('labels', 'Read the labels'), ('export', 'Take the items along'), ('run', 'Measure a pipeline'), ('results', 'Read results'), ('compare', 'Compare runs')], max_length=7)),
                ('reason', models.TextField(blank=True, help_text='Empty: a run of older versions, which asked for none')),
                ('subject', models.CharField(choices=[('release', 'the release'), ('item', 'item'), ('run', 'run'), ('runs', 'runs')], default='release', max_length=7)),
                ('named', models.CharField(blank=True, max_length=250)),
                ('n_items', models.PositiveIntegerField(help_text='How many test items could be seen')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='looks', to='labeling.goldrelease')),
                ('user', models.ForeignKey(help_text='Empty: somebody at the command line', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'look at test items',
                'verbose_name_plural': 'looks at test items',
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['release', 'purpose'], name='look_of_release'), models.Index(fields=['user', 'purpose'], name='look_of_user')],
                'constraints': [models.CheckConstraint(condition=models.Q(('purpose__in', ['labels', 'export', 'run', 'results', 'compare'])), name='look_purpose_known')],
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(unique=True)),
                ('name', models.CharField(max_length=200)),
                ('description', models.TextField(blank=True)),
                ('layers', models.JSONField(default=labeling.core.models.projects.default_layers)),
                ('kappa_threshold', models.FloatField(default=0.75, validators=[django.core.validators.MinValueValidator(-1), django.core.validators.MaxValueValidator(1)])),
                ('kappa_statistic', models.CharField(choices=[('min', 'lowest pair'), ('mean', 'mean of the pairs')], default='min', max_length=4, verbose_name='κ statistic')),
                ('label_f1_threshold', models.FloatField(default=0.5, help_text='Lowest F1 of matched labels that a calibration round passes with; 0: any', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('overlap', models.PositiveSmallIntegerField(default=3, validators=[django.core.validators.MinValueValidator(1)])),
                ('match_threshold', models.FloatField(default=0.85)),
                ('actor_synonyms', models.JSONField(blank=True, default=list)),
                ('event_schema', labeling.core.models.fields.EventSchemaField(blank=True, default=dict, help_text='Event types and their roles: {type: [role, …]}')),
                ('targets', models.JSONField(blank=True, default=dict, help_text='Wanted: {layers: {name: n}, difficulty: {name: n}}')),
                ('review_rate', models.FloatField(default=0.0, help_text='Share of answers that is reviewed')),
                ('suggestions', models.BooleanField(default=True, help_text='Annotators may see what a pipeline suggests, after their first pass')),
                ('open_fields', models.JSONField(blank=True, default=dict, help_text='By layer, the fields that labels may lack')),
                ('hints', models.JSONField(blank=True, default=labeling.core.models.projects.default_hints, help_text='Kinds of label hints that annotators get')),
                ('hints_in_calibration', models.BooleanField(default=False, help_text='Label hints are shown in calibration and qualification, too')),
                ('publish_names', models.BooleanField(default=False, help_text='Gold names people by their user names instead of pseudonyms')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['name'],
                'constraints': [models.CheckConstraint(condition=models.Q(('kappa_threshold__gte', -1), ('kappa_threshold__lte', 1)), name='project_kappa_threshold_in_range', violation_error_message='The κ threshold lies between -1 and 1.'), models.CheckConstraint(condition=models.Q(('label_f1_threshold__gte', 0), ('label_f1_threshold__lte', 1)), name='project_label_f1_threshold_in_range', violation_error_message='The threshold of the label F1 lies between 0 and 1.'), models.CheckConstraint(condition=models.Q(('kappa_statistic__in', ['min', 'mean'])), name='project_kappa_statistic_known'), models.CheckConstraint(condition=models.Q(('overlap__gte', 1)), name='project_overlap_at_least_one', violation_error_message='Every conversation needs at least one annotator.')],
            },
        ),
        migrations.CreateModel(
            name='Pause',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('value', models.FloatField(help_text='Gold agreement that fell under the bar')),
                ('checks', models.PositiveSmallIntegerField(help_text='Over how many hidden checks')),
                ('paused_at', models.DateTimeField(auto_now_add=True)),
                ('lifted_at', models.DateTimeField(null=True)),
                ('lifted_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pauses', to='labeling.project')),
            ],
            options={
                'ordering': ['project', '-paused_at'],
                'constraints': [models.UniqueConstraint(condition=models.Q(('lifted_at__isnull', True)), fields=('project', 'user'), name='pause_once')],
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('lead', 'Lead'), ('researcher', 'Researcher')], max_length=10)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='labeling.project')),
            ],
            options={
                'ordering': ['role', 'user__username'],
                'constraints': [models.UniqueConstraint(fields=('project', 'user', 'role'), name='membership_once_per_role'), models.CheckConstraint(condition=models.Q(('role__in', ['annotator', 'lead', 'researcher'])), name='membership_role_known')],
            },
        ),
        migrations.CreateModel(
            name='LookBudget',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('looks', models.PositiveIntegerField(help_text='Empty: no limit', null=True)),
                ('reason', models.TextField()),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='look_budgets', to='labeling.project')),
            ],
            options={
                'verbose_name': 'budget of looks',
                'verbose_name_plural': 'budgets of looks',
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='LintReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('items', models.PositiveIntegerField(help_text='Items that would have been frozen')),
                ('findings', models.JSONField(default=list)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='lint_reports', to='labeling.project')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.UniqueConstraint(fields=('project', 'layer'), name='lint_report_once')],
            },
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('role', models.CharField(choices=[('annotator', 'Annotator'), ('lead', 'Lead'), ('researcher', 'Researcher')], max_length=10)),
                ('invitee', models.CharField(blank=True, max_length=200)),
                ('digest', models.CharField(max_length=64, unique=True)),
                ('uses_left', models.PositiveSmallIntegerField(default=1)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='invitations', to='labeling.project')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='ImportReport',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('format', models.CharField(max_length=20)),
                ('files', models.JSONField(default=list, help_text='Name and SHA-256 of each file')),
                ('counts', models.JSONField(default=list)),
                ('faults', models.JSONField(default=list)),
                ('dia_ids', models.JSONField(default=dict, help_text='By conversation: dia_id of each localId')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('created_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='import_reports', to='labeling.project')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.AddField(
            model_name='guideline',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='guidelines', to='labeling.project'),
        ),
        migrations.AddField(
            model_name='goldrelease',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gold_releases', to='labeling.project'),
        ),
        migrations.CreateModel(
            name='Event',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('verb', models.CharField(help_text='for example gold.frozen', max_length=50)),
                ('object_type', models.CharField(max_length=50)),
                ('object_id', models.CharField(max_length=50)),
                ('data', models.JSONField(default=dict)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('actor', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='events', to='labeling.project')),
            ],
            options={
                'verbose_name': 'entry of the audit log',
                'verbose_name_plural': 'audit log',
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['project', '-id'], name='event_of_project')],
            },
        ),
        migrations.AddField(
            model_name='conversation',
            name='project',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='conversations', to='labeling.project'),
        ),
        migrations.CreateModel(
            name='CheckPlan',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('every', models.PositiveSmallIntegerField(default=0, help_text='One in so many conversations is a hidden check; 0: none')),
                ('pause_below', models.FloatField(help_text='NULL: never pause', null=True, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('pause_after', models.PositiveSmallIntegerField(default=10, help_text='Over how many of the last hidden checks')),
                ('test', models.BooleanField(default=False, help_text='Who has not passed gets no other work')),
                ('pass_at', models.FloatField(default=0.7, validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)])),
                ('tries', models.PositiveSmallIntegerField(default=2, validators=[django.core.validators.MinValueValidator(1)])),
                ('show_labels', models.BooleanField(default=False, help_text='The right labels are shown once the test is over')),
                ('calibrate_on', models.PositiveSmallIntegerField(default=5, help_text='How many conversations newcomers calibrate on', validators=[django.core.validators.MinValueValidator(1)])),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='check_plan', to='labeling.project')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('every', 0), ('every__gte', 2), _connector='OR'), name='check_plan_every_not_all'), models.CheckConstraint(condition=models.Q(('tries__gte', 1)), name='check_plan_tries')],
            },
        ),
        migrations.CreateModel(
            name='CheckConversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('purpose', models.CharField(choices=[('honeypot', 'hidden check'), ('qualification', 'qualification')], max_length=13)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='labeling.conversation')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='check_conversations', to='labeling.project')),
            ],
            options={
                'ordering': ['project', 'purpose', 'conversation'],
                'constraints': [models.UniqueConstraint(fields=('project', 'purpose', 'conversation'), name='check_conversation_once')],
            },
        ),
        migrations.CreateModel(
            name='Pseudonym',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='pseudonyms', to='labeling.project')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['project', 'number'],
                'constraints': [models.UniqueConstraint(fields=('project', 'user'), name='pseudonym_once_per_person'), models.UniqueConstraint(fields=('project', 'number'), name='pseudonym_number_once')],
            },
        ),
        migrations.CreateModel(
            name='Qualification',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('test', 'qualification test'), ('calibration', 'Calibration')], default='test', max_length=11)),
                ('state', models.CharField(choices=[('trying', 'under way'), ('between', 'not passed yet'), ('passed', 'Passed'), ('failed', 'not passed'), ('waived', 'waived')], default='trying', max_length=7)),
                ('tries', models.PositiveSmallIntegerField(default=1, help_text='How many were begun')),
                ('value', models.FloatField(help_text='Mean of the last finished try', null=True)),
                ('layers', models.JSONField(default=dict, help_text='Figures of the last calibration, by layer')),
                ('outcomes', models.JSONField(default=dict, help_text='What the last calibration is held to')),
                ('reason', models.TextField(blank=True, help_text='Why it was waived')),
                ('started_at', models.DateTimeField(auto_now_add=True)),
                ('decided_at', models.DateTimeField(null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='qualifications', to='labeling.project')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('waived_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['project', 'user__username'],
                'constraints': [models.UniqueConstraint(fields=('project', 'user', 'kind'), name='qualification_once_per_kind')],
            },
        ),
        migrations.CreateModel(
            name='ReleaseCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('n_faults', models.PositiveIntegerField(default=0)),
                ('faults', models.JSONField(default=list)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='checks', to='labeling.goldrelease')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='Reopening',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('label_uid', models.CharField(blank=True, max_length=100)),
                ('proposal', models.JSONField(null=True)),
                ('reason', models.TextField()),
                ('source', models.JSONField(default=dict)),
                ('asked_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('state', models.CharField(choices=[('asked', 'waits for a lead'), ('open', 'reopened'), ('declined', 'declined'), ('withdrawn', 'withdrawn'), ('kept', 'gold stays'), ('corrected', 'gold is corrected')], default='asked', max_length=9)),
                ('answer', models.TextField(blank=True)),
                ('answered_at', models.DateTimeField(null=True)),
                ('history', models.JSONField(default=dict)),
                ('answered_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('asked_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('decision', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reopenings', to='labeling.adjudication')),
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reopenings', to='labeling.golditem')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('reason', ''), _negated=True), name='reopening_has_reason'), models.CheckConstraint(condition=models.Q(('state__in', ['asked', 'open', 'declined', 'withdrawn', 'kept', 'corrected'])), name='reopening_state_known')],
            },
        ),
        migrations.CreateModel(
            name='Review',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(help_text='The version of the annotation it is about')),
                ('verdict', models.CharField(choices=[('accepted', 'Accepted'), ('fixed', 'fixed and accepted'), ('returned', 'returned with a comment')], max_length=8)),
                ('payload', models.JSONField(null=True)),
                ('comment', models.TextField(blank=True)),
                ('reviewed_at', models.DateTimeField(auto_now_add=True)),
                ('annotation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to='labeling.annotation')),
                ('reviewer', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='reviews', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['annotation', 'pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('verdict__in', ['accepted', 'fixed', 'returned'])), name='review_verdict_known'), models.CheckConstraint(condition=models.Q(models.Q(('verdict', 'returned'), _negated=True), models.Q(('comment', ''), _negated=True), _connector='OR'), name='review_return_says_why', violation_error_message='Say what has to change.'), models.CheckConstraint(condition=models.Q(models.Q(('payload__isnull', False), ('verdict', 'fixed')), models.Q(models.Q(('verdict', 'fixed'), _negated=True), ('payload__isnull', True)), _connector='OR'), name='review_fix_has_labels')],
            },
        ),
        migrations.CreateModel(
            name='Round',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('calibration', 'Calibration'), ('full', 'full labeling'), ('qualifying', 'qualification')], max_length=11)),
                ('state', models.CharField(choices=[('open', 'Open'), ('passed', 'Passed'), ('failed', 'Failed'), ('closed', 'Closed')], default='open', max_length=6)),
                ('overlap', models.PositiveSmallIntegerField()),
                ('seed', models.PositiveIntegerField(default=0)),
                ('pool', models.BooleanField(default=False, help_text='Annotators take the next conversation themselves.')),
                ('skip_policy', models.CharField(choices=[('others', 'give it to somebody else'), ('same', 'give it to the same person again, at the end'), ('never', 'leave it')], default='others', max_length=6)),
                ('order', models.CharField(choices=[('seed', 'shuffled by the seed'), ('least', 'least labeled first'), ('priority', 'by priority')], default='seed', max_length=8)),
                ('anonymous', models.BooleanField(default=False, help_text='Its disagreements are discussed under letters, not names')),
                ('override_reason', models.TextField(blank=True)),
                ('label_f1_threshold', models.FloatField(default=0.0, help_text="The project's when the round was opened; 0 in rounds from before")),
                ('open_fields', models.JSONField(editable=False, help_text="By layer, what submitted labels may lack: the project's when it was opened", null=True)),
                ('agreement', models.JSONField(help_text='Agreement at the moment it closed', null=True)),
                ('opened_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(null=True)),
                ('guideline', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rounds', to='labeling.guideline')),
                ('opened_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='rounds', to='labeling.project')),
            ],
            options={
                'ordering': ['project', 'number'],
                'constraints': [models.UniqueConstraint(fields=('project', 'number'), name='round_number_once'), models.UniqueConstraint(condition=models.Q(('kind', 'calibration'), ('state', 'open')), fields=('project',), name='round_one_open_calibration', violation_error_message='This project has an open calibration round already.'), models.CheckConstraint(condition=models.Q(models.Q(('kind', 'calibration'), ('state__in', ['open', 'passed', 'failed'])), models.Q(('kind', 'full'), ('state__in', ['open', 'closed'])), models.Q(('kind', 'qualifying'), ('number', 0), ('state', 'open')), _connector='OR'), name='round_state_fits_kind'), models.CheckConstraint(condition=models.Q(models.Q(('closed_at__isnull', True), ('state', 'open')), models.Q(models.Q(('state', 'open'), _negated=True), ('closed_at__isnull', False)), _connector='OR'), name='round_closed_has_time')],
            },
        ),
        migrations.CreateModel(
            name='PendingUpdate',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.conversation')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pending_updates', to='labeling.project')),
                ('round', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.round')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='Merge',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('answers_sha256', models.CharField(max_length=64)),
                ('state', models.CharField(help_text='unanimous, majority, single or disputed', max_length=9)),
                ('agreement', models.FloatField(help_text='Mean share of the annotators who hold a label')),
                ('n_agreed', models.PositiveIntegerField()),
                ('n_disputed', models.PositiveIntegerField()),
                ('clusters', models.JSONField()),
                ('made_at', models.DateTimeField(auto_now=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='merges', to='labeling.conversation')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.round')),
            ],
            options={
                'ordering': ['conversation', 'layer'],
                'constraints': [models.UniqueConstraint(fields=('conversation', 'layer'), name='merge_once'), models.CheckConstraint(condition=models.Q(('state__in', ['unanimous', 'majority', 'single', 'disputed'])), name='merge_state_known')],
            },
        ),
        migrations.CreateModel(
            name='Measurement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('selection', models.CharField(blank=True, help_text='Empty: all labels', max_length=200)),
                ('answers_sha256', models.CharField(blank=True, max_length=64)),
                ('figures', models.JSONField(default=dict, help_text='Agreement on the layer')),
                ('records', models.JSONField(help_text='Labels of each pair matched one to one', null=True)),
                ('n_conversations', models.PositiveIntegerField(default=0, help_text='Answered by anybody')),
                ('n_compared', models.PositiveIntegerField(default=0, help_text='Answered by at least two')),
                ('n_splits', models.PositiveIntegerField(default=0, help_text='Units labeled differently')),
                ('asked_at', models.DateTimeField(help_text='Asked for since it was measured', null=True)),
                ('measured_at', models.DateTimeField(null=True)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='measurements', to='labeling.round')),
            ],
            options={
                'ordering': ['round', 'layer', 'selection'],
                'constraints': [models.UniqueConstraint(fields=('round', 'layer', 'selection'), name='measurement_once')],
            },
        ),
        migrations.CreateModel(
            name='EmptyLayer',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('stated_at', models.DateTimeField(auto_now_add=True)),
                ('stated_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='empty_layers', to='labeling.round')),
            ],
            options={
                'ordering': ['round', 'layer'],
                'constraints': [models.UniqueConstraint(fields=('round', 'layer'), name='empty_layer_once_per_round')],
            },
        ),
        migrations.AddField(
            model_name='disagreement',
            name='round',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='disagreements', to='labeling.round'),
        ),
        migrations.CreateModel(
            name='ConversationAgreement',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('selection', models.CharField(blank=True, help_text='Empty: all labels', max_length=200)),
                ('position', models.PositiveIntegerField(help_text='In the order of the round')),
                ('answers_sha256', models.CharField(blank=True, max_length=64)),
                ('n_annotators', models.PositiveIntegerField()),
                ('n_units', models.PositiveIntegerField(help_text='Judged by at least two')),
                ('n_differing', models.PositiveIntegerField(help_text='Labeled differently')),
                ('n_splits', models.PositiveIntegerField()),
                ('is_used', models.BooleanField(default=False, help_text='Whether anybody has a label')),
                ('annotators', models.JSONField(default=list, help_text='Who submitted it, in order')),
                ('marks', models.BinaryField(help_text='Labels of 0 and 1, 255 if missing, annotator by annotator', null=True)),
                ('units', models.JSONField(help_text='The units with other labels or names', null=True)),
                ('pairs', models.JSONField(default=list, help_text='Labels of each two matched one to one')),
                ('splits', models.JSONField(default=list, help_text='Units labeled differently, and who says what')),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.conversation')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='agreed_conversations', to='labeling.round')),
            ],
            options={
                'ordering': ['round', 'layer', 'selection', 'position', 'conversation'],
                'indexes': [models.Index(fields=['round', 'layer', 'selection', '-n_differing', 'conversation'], name='agreement_by_differing'), models.Index(condition=models.Q(('n_splits__gt', 0)), fields=['round', 'layer', 'selection', 'position', 'conversation'], name='agreement_with_splits')],
                'constraints': [models.UniqueConstraint(fields=('round', 'layer', 'selection', 'conversation'), name='conversation_agreement_once')],
            },
        ),
        migrations.CreateModel(
            name='Comment',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('message_index', models.PositiveIntegerField(null=True)),
                ('label_uid', models.CharField(blank=True, max_length=64)),
                ('body', models.TextField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('resolved_at', models.DateTimeField(null=True)),
                ('annotation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='comments', to='labeling.annotation')),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='comments', to=settings.AUTH_USER_MODEL)),
                ('mentions', models.ManyToManyField(related_name='mentioned_in', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='replies', to='labeling.comment')),
                ('resolved_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='comments', to='labeling.conversation')),
                ('disagreement', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='comments', to='labeling.disagreement')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='comments', to='labeling.project')),
                ('round', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='comments', to='labeling.round')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('body', ''), _negated=True), name='comment_says_something')],
            },
        ),
        migrations.AddField(
            model_name='assignment',
            name='round',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='labeling.round'),
        ),
        migrations.CreateModel(
            name='Admission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('how', models.CharField(choices=[('round', 'took part in a passed calibration round'), ('calibrated', 'calibrated against a closed round'), ('let_in', 'let in by a lead'), ('unmeasured', 'nobody used the layer in the calibration'), ('earlier', 'worked here before newcomers had to calibrate')], max_length=10)),
                ('reason', models.TextField(blank=True, help_text='Why a lead let the person in')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('calibrated_at', models.DateTimeField(null=True)),
                ('let_in_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='admissions', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='admissions', to='labeling.project')),
                ('round', models.ForeignKey(help_text='The passed round', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='labeling.round')),
            ],
            options={
                'ordering': ['project', 'user__username', 'layer'],
                'constraints': [models.UniqueConstraint(fields=('project', 'user', 'layer'), name='admission_once_per_layer'), models.CheckConstraint(condition=models.Q(models.Q(('how', 'let_in'), _negated=True), models.Q(models.Q(('reason', ''), _negated=True), ('let_in_by__isnull', False)), _connector='OR'), name='admission_let_in_with_reason')],
            },
        ),
        migrations.CreateModel(
            name='RoundConversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='places', to='labeling.conversation')),
                ('round', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='places', to='labeling.round')),
            ],
            options={
                'ordering': ['round', 'position'],
                'constraints': [models.UniqueConstraint(fields=('round', 'conversation'), name='conversation_once_per_round'), models.UniqueConstraint(fields=('round', 'position'), name='round_position_once')],
            },
        ),
        migrations.AddField(
            model_name='round',
            name='conversations',
            field=models.ManyToManyField(related_name='rounds', through='labeling.RoundConversation', to='labeling.conversation'),
        ),
        migrations.CreateModel(
            name='Suggestion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('layer', models.CharField(max_length=20)),
                ('pipeline', models.CharField(max_length=100)),
                ('pipeline_version', models.CharField(max_length=50)),
                ('payload', models.JSONField()),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='suggestions', to='labeling.conversation')),
            ],
            options={
                'ordering': ['conversation', '-pk'],
                'constraints': [models.UniqueConstraint(fields=('conversation', 'layer', 'pipeline', 'pipeline_version'), name='suggestion_once')],
            },
        ),
        migrations.CreateModel(
            name='TextVector',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('encoder', models.CharField(max_length=200)),
                ('text_sha256', models.CharField(max_length=64)),
                ('vector', models.BinaryField(help_text='float32, little endian')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('encoder', 'text_sha256'), name='text_vector_once')],
            },
        ),
        migrations.CreateModel(
            name='Webhook',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('url', models.URLField(max_length=500)),
                ('verbs', models.JSONField(blank=True, default=list, help_text='Empty: every event')),
                ('active', models.BooleanField(default=True)),
                ('secret', models.CharField(max_length=100)),
                ('failures_in_a_row', models.PositiveIntegerField(default=0)),
                ('resting_until', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('removed_at', models.DateTimeField(null=True)),
                ('created_by', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='webhooks', to='labeling.project')),
            ],
            options={
                'ordering': ['pk'],
            },
        ),
        migrations.CreateModel(
            name='WebhookDelivery',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.UUIDField(default=uuid.uuid4, unique=True)),
                ('names_actor', models.BooleanField(default=True)),
                ('state', models.CharField(choices=[('waiting', 'waiting'), ('delivered', 'delivered'), ('failed', 'given up')], default='waiting', max_length=9)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('next_attempt_at', models.DateTimeField()),
                ('outcome', models.CharField(blank=True, choices=[('', 'not tried yet'), ('taken', 'taken'), ('refused', 'the receiver refused it'), ('redirect', 'the receiver answered with a redirect, which is not followed'), ('timeout', 'no answer in time'), ('unreachable', 'no connection, or it broke off'), ('insecure', 'the certificate of the receiver is not trusted'), ('unknown_host', 'the name of the receiver is not known'), ('private', 'the address lies in a private network')], default='', max_length=12)),
                ('status', models.PositiveSmallIntegerField(help_text='HTTP status of the last answer', null=True)),
                ('tried_at', models.DateTimeField(null=True)),
                ('event', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='labeling.event')),
                ('round', models.ForeignKey(help_text='Held while it is blind', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='labeling.round')),
                ('webhook', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='deliveries', to='labeling.webhook')),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['webhook', 'state', '-id'], name='delivery_of_webhook'), models.Index(condition=models.Q(('state', 'waiting')), fields=['webhook', 'next_attempt_at'], name='delivery_waiting')],
                'constraints': [models.UniqueConstraint(fields=('webhook', 'event'), name='delivery_once'), models.CheckConstraint(condition=models.Q(('state__in', ['waiting', 'delivered', 'failed'])), name='delivery_state_known')],
            },
        ),
        migrations.CreateModel(
            name='Job',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=20)),
                ('key', models.PositiveBigIntegerField()),
                ('asked_at', models.DateTimeField(auto_now_add=True)),
                ('owner', models.UUIDField(null=True)),
                ('lease_expires_at', models.DateTimeField(help_text='Held: when others may take over. Free: not before.', null=True)),
                ('attempts', models.PositiveSmallIntegerField(default=0)),
                ('worker', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='labeling.workerpulse')),
            ],
            options={
                'ordering': ['asked_at', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('kind', 'key'), name='job_once')],
            },
        ),
        migrations.CreateModel(
            name='AnnotationRevision',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField()),
                ('kind', models.CharField(choices=[('saved', 'Saved'), ('submitted', 'Submitted'), ('skipped', 'Skipped'), ('reopened', 'Reopened'), ('returned', 'Returned'), ('restored', 'Restored')], default='saved', max_length=9)),
                ('payload', models.JSONField()),
                ('empty', models.BooleanField(default=False)),
                ('unanswered', models.JSONField(editable=False, help_text='Layers that it says nothing of, not even “nothing here”; null: said of none', null=True)),
                ('client', models.UUIDField(null=True)),
                ('seq', models.PositiveIntegerField(default=0)),
                ('saved_at', models.DateTimeField(auto_now_add=True)),
                ('annotation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='revisions', to='labeling.annotation')),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['annotation', 'version'],
                'indexes': [models.Index(condition=models.Q(('kind', 'returned')), fields=['annotation'], name='revision_returned')],
                'constraints': [models.UniqueConstraint(fields=('annotation', 'version'), name='revision_version_once')],
            },
        ),
        migrations.CreateModel(
            name='GoldCheck',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(help_text="The answer's revision")),
                ('releases', models.JSONField(default=dict, help_text='By layer, the gold that it met')),
                ('layers', models.JSONField(default=dict)),
                ('value', models.FloatField(null=True)),
                ('reason', models.TextField(blank=True, help_text='Why there is no value', null=True)),
                ('scored_at', models.DateTimeField(auto_now_add=True)),
                ('assignment', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='gold_checks', to='labeling.assignment')),
            ],
            options={
                'ordering': ['assignment', 'version'],
                'constraints': [models.UniqueConstraint(fields=('assignment', 'version'), name='gold_check_once')],
            },
        ),
        migrations.AddConstraint(
            model_name='guideline',
            constraint=models.UniqueConstraint(fields=('project', 'version'), name='guideline_version_once_per_project'),
        ),
        migrations.AddIndex(
            model_name='conversation',
            index=models.Index(condition=models.Q(('origin', 'synthetic')), fields=['project'], name='conversation_synthetic'),
        ),
        migrations.AddConstraint(
            model_name='conversation',
            constraint=models.UniqueConstraint(fields=('project', 'external_id'), name='conversation_external_id_once'),
        ),
        migrations.AddConstraint(
            model_name='disagreement',
            constraint=models.UniqueConstraint(fields=('round', 'conversation', 'layer', 'unit'), name='disagreement_once'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['annotator', 'round', 'position'], name='assignment_queue'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(fields=['round', 'purpose', 'annotator', 'slot', 'draw'], name='assignment_work'),
        ),
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('lease_expires_at__isnull', False), ('slot__isnull', False)), fields=['round', 'lease_expires_at'], name='assignment_lease'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(fields=('round', 'conversation', 'annotator'), name='assignment_once_per_annotator'),
        ),
        migrations.AddConstraint(
            model_name='assignment',
            constraint=models.UniqueConstraint(condition=models.Q(('purpose', 'labelling')), fields=('round', 'conversation', 'slot'), name='assignment_slot_once'),
        ),
    ])]
