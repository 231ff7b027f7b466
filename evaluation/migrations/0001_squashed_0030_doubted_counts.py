"""The tables of version 0.2.0, made at once; older versions are brought there by 0.2.0 itself."""

import django.db.models.deletion
import labeling.models.fields
import uuid
from django.conf import settings
from django.db import migrations, models

from labeling.migrations._at_once import CreateTables


class Migration(migrations.Migration):

    replaces = [
        ('evaluation', '0001_initial'),
        ('evaluation', '0002_memory_and_judging'),
        ('evaluation', '0003_layer_builds'),
        ('evaluation', '0004_run_budget'),
        ('evaluation', '0005_ratings_ceilings_gates'),
        ('evaluation', '0006_answers'),
        ('evaluation', '0007_judge_certificates'),
        ('evaluation', '0008_facts'),
        ('evaluation', '0009_chance_levels'),
        ('evaluation', '0010_judge_samples'),
        ('evaluation', '0011_shares'),
        ('evaluation', '0012_violations_as_facts'),
        ('evaluation', '0013_primary_metrics'),
        ('evaluation', '0014_yardsticks'),
        ('evaluation', '0015_carried_runs'),
        ('evaluation', '0016_looks_in_one_ledger'),
        ('evaluation', '0017_no_split_access'),
        ('evaluation', '0018_case_exposure'),
        ('evaluation', '0019_case_ended'),
        ('evaluation', '0020_gate_coverage'),
        ('evaluation', '0021_slots'),
        ('evaluation', '0022_run_notes'),
        ('evaluation', '0023_plain_names'),
        ('evaluation', '0024_scored_cases'),
        ('evaluation', '0025_chosen_baselines'),
        ('evaluation', '0026_trials'),
        ('evaluation', '0027_counted_cases'),
        ('evaluation', '0028_run_spending'),
        ('evaluation', '0029_reply_sizes'),
        ('evaluation', '0029_yardsticks_under_way'),
        ('evaluation', '0030_doubted_counts'),
    ]

    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('labeling', '0001_squashed_0053_token_uses'),
    ]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    name='Aggregate',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('metric', models.CharField(max_length=60)),
                        ('metric_version', models.PositiveSmallIntegerField()),
                        ('mean', models.FloatField(null=True)),
                        ('median', models.FloatField(null=True)),
                        ('std', models.FloatField(null=True)),
                        ('min', models.FloatField(null=True)),
                        ('max', models.FloatField(null=True)),
                        ('ci_low', models.FloatField(null=True)),
                        ('ci_high', models.FloatField(null=True)),
                        ('n', models.PositiveIntegerField()),
                        ('n_undefined', models.PositiveIntegerField()),
                        ('n_failed', models.PositiveIntegerField()),
                        ('chance', models.FloatField(help_text='Mean chance level of the cases; NULL where the metric has none', null=True)),
                        ('conversations', models.PositiveIntegerField(help_text='With a value; unknown for what was scored before it was counted', null=True)),
                        ('reason', models.TextField(blank=True, help_text='Why there is no value', null=True)),
                        ('detail', models.JSONField(default=dict, help_text='Curves, bins, micro counts')),
                        ('yardsticks', models.JSONField(default=dict, help_text='Floors, people, skill, and the figure without empty gold')),
                    ],
                    options={
                        'verbose_name': 'figure',
                        'verbose_name_plural': 'figures',
                        'ordering': ['run', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Answer',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=7)),
                        ('attempts', models.PositiveSmallIntegerField(default=0)),
                        ('owner', models.UUIDField(null=True)),
                        ('lease_expires_at', models.DateTimeField(help_text='Running: when others may take over. Queued: not before.', null=True)),
                        ('usage', models.JSONField(default=dict)),
                        ('error_class', models.CharField(blank=True, choices=[('rate', 'Rate'), ('transient', 'Transient'), ('permanent', 'Permanent'), ('parse', 'Parse')], max_length=9)),
                        ('error', models.TextField(blank=True, null=True)),
                        ('finished_at', models.DateTimeField(null=True)),
                        ('text', models.TextField(blank=True)),
                        ('message_ids', models.JSONField(default=list, help_text='localIds of the messages it was written from, as they were given')),
                        ('prompt_sha256', models.CharField(blank=True, max_length=64)),
                        ('model', models.CharField(blank=True, help_text='As the server named it', max_length=200)),
                    ],
                    options={
                        'ordering': ['case'],
                    },
                ),
                migrations.CreateModel(
                    name='BuiltLayer',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.CharField(choices=[('topics', 'L1 topics'), ('signals', 'L1.5 signals'), ('threads', 'L2 threads')], max_length=7)),
                        ('config_sha256', models.CharField(max_length=64)),
                        ('config', models.JSONField(default=dict)),
                        ('implementation', models.CharField(help_text='local, or provider/model', max_length=200)),
                        ('payload', models.JSONField()),
                        ('seconds', models.FloatField(help_text='Time it took to build')),
                        ('built_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['conversation', 'kind'],
                    },
                ),
                migrations.CreateModel(
                    name='CachedReply',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('key', models.CharField(max_length=64, unique=True)),
                        ('provider', models.CharField(max_length=50)),
                        ('model', models.CharField(max_length=200)),
                        ('size', models.PositiveIntegerField(default=0, help_text='Bytes of the reply as it is stored')),
                        ('reply', models.JSONField(help_text='Text, model string as returned, usage')),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('last_used_at', models.DateTimeField(null=True)),
                        ('hits', models.PositiveIntegerField(default=0)),
                    ],
                    options={
                        'verbose_name_plural': 'cached replies',
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='CaseRun',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=7)),
                        ('attempts', models.PositiveSmallIntegerField(default=0)),
                        ('owner', models.UUIDField(null=True)),
                        ('lease_expires_at', models.DateTimeField(help_text='Running: when others may take over. Queued: not before.', null=True)),
                        ('usage', models.JSONField(default=dict)),
                        ('error_class', models.CharField(blank=True, choices=[('rate', 'Rate'), ('transient', 'Transient'), ('permanent', 'Permanent'), ('parse', 'Parse')], max_length=9)),
                        ('error', models.TextField(blank=True, null=True)),
                        ('finished_at', models.DateTimeField(null=True)),
                        ('part', models.CharField(blank=True, help_text='uid of the one gold label asked for; empty: all', max_length=100)),
                        ('part_id', models.CharField(blank=True, help_text='That label as shown: QA-012', max_length=50)),
                        ('repetition', models.PositiveSmallIntegerField(default=1)),
                        ('output', models.JSONField(null=True)),
                        ('exposure', models.CharField(blank=True, choices=[('seen', 'seen in training'), ('left_out', 'left out of training'), ('unseen', 'unseen')], help_text='By the words of the conversation; empty: not known', max_length=8)),
                        ('seconds', models.FloatField(help_text='Wall-clock time of the last attempt', null=True)),
                        ('earlier_failures', models.JSONField(db_default=models.Value([], models.JSONField()), default=list, help_text='Why it had failed each time that somebody had it tried again')),
                    ],
                    options={
                        'verbose_name': 'case',
                        'verbose_name_plural': 'cases',
                        'ordering': ['run', 'item__position', 'repetition'],
                    },
                ),
                migrations.CreateModel(
                    name='ChosenBaseline',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('split', models.CharField(blank=True, help_text='As in the run', max_length=5)),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'verbose_name': 'baseline',
                        'verbose_name_plural': 'baselines',
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='GateResult',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('passed', models.BooleanField()),
                        ('checks', models.JSONField(help_text='Every threshold and every drop that was looked at')),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'verbose_name': 'gate decision',
                        'verbose_name_plural': 'gate decisions',
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='GateThresholds',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('thresholds', models.JSONField(default=dict, help_text='{metric: number}; null where a default does not hold')),
                        ('max_drop', models.FloatField(help_text='Against a baseline; empty: the default', null=True)),
                        ('min_coverage', models.FloatField(help_text='Share of the cases with a value of the primary metric; empty: not asked for', null=True)),
                        ('changed_at', models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        'verbose_name': 'run thresholds',
                        'verbose_name_plural': 'run thresholds',
                    },
                ),
                migrations.CreateModel(
                    name='JudgeCertificate',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('judge_sha256', models.CharField(max_length=64)),
                        ('kind', models.CharField(choices=[('faithfulness', 'Faithfulness'), ('relevance', 'Relevance'), ('completeness', 'Completeness'), ('correctness', 'Correctness'), ('claims', 'Claims')], max_length=12)),
                        ('model', models.CharField(max_length=200)),
                        ('served_model', models.CharField(blank=True, help_text='As the server named it', max_length=200)),
                        ('prompt_sha256', models.CharField(max_length=64)),
                        ('parser_version', models.CharField(max_length=20)),
                        ('probes_version', models.CharField(blank=True, max_length=20)),
                        ('attempt', models.PositiveIntegerField(help_text='Of this judge, with samples given up before it', null=True)),
                        ('n', models.PositiveIntegerField(help_text='Answers that people rated and the judge scored')),
                        ('bias', models.FloatField(help_text='Mean of judge minus people, in points', null=True)),
                        ('bias_low', models.FloatField(null=True)),
                        ('bias_high', models.FloatField(null=True)),
                        ('kappa', models.FloatField(help_text='Weighted by the square of the distance', null=True)),
                        ('ci_low', models.FloatField(null=True)),
                        ('ci_high', models.FloatField(null=True)),
                        ('spearman', models.FloatField(null=True)),
                        ('mae', models.FloatField(null=True)),
                        ('comparison', models.JSONField(default=dict, help_text='Samples, raters and their own agreement, intervals, and what was required')),
                        ('probes', models.JSONField(default=list, help_text='Each probe with what the judge said of it')),
                        ('passed', models.BooleanField()),
                        ('reasons', models.JSONField(default=list, help_text='Why it was refused')),
                        ('issued_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Judgement',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=7)),
                        ('attempts', models.PositiveSmallIntegerField(default=0)),
                        ('owner', models.UUIDField(null=True)),
                        ('lease_expires_at', models.DateTimeField(help_text='Running: when others may take over. Queued: not before.', null=True)),
                        ('usage', models.JSONField(default=dict)),
                        ('error_class', models.CharField(blank=True, choices=[('rate', 'Rate'), ('transient', 'Transient'), ('permanent', 'Permanent'), ('parse', 'Parse')], max_length=9)),
                        ('error', models.TextField(blank=True, null=True)),
                        ('finished_at', models.DateTimeField(null=True)),
                        ('kind', models.CharField(choices=[('faithfulness', 'Faithfulness'), ('relevance', 'Relevance'), ('completeness', 'Completeness'), ('correctness', 'Correctness'), ('claims', 'Claims')], max_length=12)),
                        ('score', models.FloatField(null=True)),
                        ('reason', models.TextField(blank=True, help_text='Why there is no score', null=True)),
                        ('reasoning', models.TextField(blank=True)),
                        ('clamped', models.BooleanField(default=False, help_text='The number was outside 0 to 10')),
                        ('detail', models.JSONField(default=dict, help_text='The claims with their verdicts')),
                        ('raw', models.TextField(blank=True, help_text='The reply as it came')),
                        ('model', models.CharField(blank=True, help_text='As the server named it', max_length=200)),
                    ],
                    options={
                        'verbose_name': 'judgement of an answer',
                        'verbose_name_plural': 'judgements of answers',
                        'ordering': ['judging', 'answer', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Judging',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('model', models.CharField(help_text='provider/model, as it is asked', max_length=200)),
                        ('parser_version', models.CharField(max_length=20)),
                        ('judge_sha256', models.CharField(help_text='Of the model, all prompts and the parser', max_length=64)),
                        ('spec', models.JSONField()),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('cancelled', models.BooleanField(default=False)),
                    ],
                    options={
                        'verbose_name': 'judging of answers',
                        'verbose_name_plural': 'judgings of answers',
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='LayerBuild',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('config_sha256', models.CharField(max_length=64)),
                        ('config', models.JSONField(default=dict)),
                        ('requested_at', models.DateTimeField(auto_now=True)),
                        ('woken_at', models.DateTimeField(help_text='When a worker was last told of it', null=True)),
                        ('owner', models.UUIDField(null=True)),
                        ('lease_expires_at', models.DateTimeField(help_text='Held: when others may take over. Free: not before.', null=True)),
                        ('attempts', models.PositiveSmallIntegerField(default=0)),
                        ('step', models.CharField(blank=True, choices=[('topics', 'L1 topics'), ('signals', 'L1.5 signals'), ('threads', 'L2 threads')], max_length=7)),
                        ('done', models.PositiveIntegerField(default=0, help_text='Of the layer in work')),
                        ('total', models.PositiveIntegerField(default=0)),
                        ('failure', models.TextField(blank=True, null=True)),
                        ('finished_at', models.DateTimeField(null=True)),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='PrimaryMetric',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('layer', models.CharField(max_length=20)),
                        ('metric', models.CharField(max_length=100)),
                        ('margin', models.FloatField(help_text="The smallest difference of interest, as a share of the metric's range")),
                        ('at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Probing',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=7)),
                        ('attempts', models.PositiveSmallIntegerField(default=0)),
                        ('owner', models.UUIDField(null=True)),
                        ('lease_expires_at', models.DateTimeField(help_text='Running: when others may take over. Queued: not before.', null=True)),
                        ('usage', models.JSONField(default=dict)),
                        ('error_class', models.CharField(blank=True, choices=[('rate', 'Rate'), ('transient', 'Transient'), ('permanent', 'Permanent'), ('parse', 'Parse')], max_length=9)),
                        ('error', models.TextField(blank=True, null=True)),
                        ('finished_at', models.DateTimeField(null=True)),
                        ('kind', models.CharField(choices=[('faithfulness', 'Faithfulness'), ('relevance', 'Relevance'), ('completeness', 'Completeness'), ('correctness', 'Correctness'), ('claims', 'Claims')], max_length=12)),
                        ('model', models.CharField(help_text='provider/model, as it is asked', max_length=200)),
                        ('served_model', models.CharField(blank=True, help_text='As the server named it', max_length=200)),
                        ('prompt_name', models.CharField(max_length=40)),
                        ('prompt', models.TextField()),
                        ('prompt_sha256', models.CharField(max_length=64)),
                        ('parser_version', models.CharField(max_length=20)),
                        ('judge_sha256', models.CharField(max_length=64)),
                        ('probes_version', models.CharField(max_length=20)),
                        ('results', models.JSONField(default=list, help_text='Each probe and what the judge said of it')),
                        ('budget_tokens', models.PositiveBigIntegerField(help_text='Tokens that it may use; empty: no limit', null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'verbose_name': 'probe of a judge',
                        'verbose_name_plural': 'probes of judges',
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='RatedLabel',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField()),
                        ('position', models.PositiveIntegerField(help_text="Of the label in the case's output, from 0")),
                    ],
                    options={
                        'ordering': ['panel', 'number'],
                    },
                ),
                migrations.CreateModel(
                    name='Rating',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('position', models.PositiveIntegerField(help_text="Of the label in the case's output, from 0")),
                        ('score', models.PositiveSmallIntegerField()),
                        ('note', models.TextField(blank=True)),
                        ('rated_at', models.DateTimeField(auto_now=True)),
                        ('frozen', models.BooleanField(default=False, help_text='The rating of the run is closed')),
                    ],
                    options={
                        'verbose_name': 'rating of a label',
                        'verbose_name_plural': 'ratings of labels',
                        'ordering': ['case', 'position', 'judge'],
                    },
                ),
                migrations.CreateModel(
                    name='RatingPanel',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('code', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('n_labels', models.PositiveIntegerField(help_text='How many labels there are to rate')),
                        ('opened_at', models.DateTimeField(auto_now_add=True)),
                        ('closed_at', models.DateTimeField(null=True)),
                        ('changes', models.PositiveIntegerField(default=0, help_text='How often ratings of whole cases changed')),
                        ('counted', models.PositiveIntegerField(default=0, help_text="How many of these changes the run's figures take account of")),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Run',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('pipeline', models.CharField(max_length=100)),
                        ('pipeline_version', models.CharField(blank=True, max_length=100)),
                        ('config', models.JSONField(default=dict)),
                        ('config_sha256', models.CharField(max_length=64)),
                        ('name', models.CharField(blank=True, help_text='What was changed, for the log of experiments', max_length=200)),
                        ('split', models.CharField(blank=True, help_text='Empty: every split; open: all but the test split', max_length=5)),
                        ('reason', models.TextField(blank=True, help_text='Why test items were looked at')),
                        ('repetitions', models.PositiveSmallIntegerField(default=1)),
                        ('seed', models.PositiveIntegerField(default=0)),
                        ('spec', models.JSONField(default=dict)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('budget_cost', models.FloatField(help_text='Money that language models may cost; empty: no limit', null=True)),
                        ('budget_tokens', models.PositiveBigIntegerField(help_text='Tokens that language models may use; empty: no limit', null=True)),
                        ('concurrency', models.PositiveSmallIntegerField(db_default=4, default=4, help_text='How many of its cases are worked on at a time, by all workers together')),
                        ('paused', models.BooleanField(default=False)),
                        ('pause_reason', models.TextField(blank=True, help_text='Empty if a person paused it', null=True)),
                        ('cancelled', models.BooleanField(default=False)),
                        ('failure', models.TextField(blank=True, null=True)),
                        ('woken_at', models.DateTimeField(help_text='Since when workers may take it; empty: a command works on it', null=True)),
                        ('turn_at', models.DateTimeField(help_text='When a worker last took it up', null=True)),
                        ('scoring_owner', models.UUIDField(null=True)),
                        ('scoring_expires_at', models.DateTimeField(null=True)),
                        ('scored_cases', models.PositiveIntegerField(db_default=0, default=0, help_text='While it is scored: of how many cases the scores are stored')),
                        ('scored_at', models.DateTimeField(null=True)),
                        ('first_scored_at', models.DateTimeField(help_text='Since when its figures could be seen; scoring again leaves it', null=True)),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='RunNote',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('text', models.TextField()),
                    ],
                ),
                migrations.CreateModel(
                    name='RunTag',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('tag', models.CharField(max_length=40)),
                    ],
                    options={
                        'ordering': ['run', 'tag'],
                    },
                ),
                migrations.CreateModel(
                    name='SampledAnswer',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveIntegerField()),
                    ],
                    options={
                        'ordering': ['sample', 'number'],
                    },
                ),
                migrations.CreateModel(
                    name='Score',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('metric', models.CharField(max_length=60)),
                        ('metric_version', models.PositiveSmallIntegerField()),
                        ('value', models.FloatField(null=True)),
                        ('chance', models.FloatField(help_text='Expected of a random answer of the same size', null=True)),
                        ('numerator', models.FloatField(help_text="What the case adds to the run's sum", null=True)),
                        ('weight', models.FloatField(help_text='What the sum is divided by; 1 unless the metric is a micro average', null=True)),
                        ('by_person', models.JSONField(default=dict, help_text='Numerator and weight against gold made without each person')),
                        ('reason', models.TextField(blank=True, null=True)),
                        ('detail', models.JSONField(default=dict, help_text='What the drill-down shows; lists defer it')),
                    ],
                    options={
                        'verbose_name': 'score of a case',
                        'verbose_name_plural': 'scores of cases',
                        'ordering': ['case', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Slot',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('number', models.PositiveSmallIntegerField(help_text='From 1; above the concurrency: leaves')),
                        ('owner', models.UUIDField(unique=True)),
                        ('taken_at', models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        'ordering': ['run', 'number'],
                    },
                ),
                migrations.CreateModel(
                    name='StageTrace',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('checkpoint', models.CharField(choices=[('candidates', 'candidate generation'), ('reranked', 're-ranking'), ('selected', 'final selection')], max_length=10)),
                        ('set_size', models.PositiveIntegerField(help_text='How many ids the checkpoint held')),
                        ('corpus_size', models.PositiveIntegerField(help_text='How many messages there were to choose')),
                        ('present', models.JSONField(default=list, help_text='Expected ids that are in the set')),
                        ('ids', models.JSONField(help_text='All ids, best first; NULL in a minimal trace', null=True)),
                        ('scores', models.JSONField(help_text='Their scores; NULL where there are none', null=True)),
                    ],
                    options={
                        'ordering': ['case', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='Trial',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('name', models.CharField(max_length=200)),
                        ('pipeline', models.CharField(max_length=100)),
                        ('pipeline_version', models.CharField(blank=True, max_length=50)),
                        ('layer', models.CharField(max_length=20)),
                        ('config', models.JSONField(default=dict)),
                        ('questions', models.JSONField(default=list, help_text='Pairs of an id and a question')),
                        ('event_schema', labeling.models.fields.EventSchemaField(blank=True, default=dict)),
                        ('model', models.JSONField(help_text='The language model that may be asked', null=True)),
                        ('budget_cost', models.FloatField(null=True)),
                        ('budget_tokens', models.PositiveBigIntegerField(null=True)),
                        ('cancelled', models.BooleanField(default=False)),
                        ('failure', models.TextField(blank=True, help_text='Why nothing more could be done', null=True)),
                        ('created_at', models.DateTimeField(auto_now_add=True)),
                        ('expires_at', models.DateTimeField(db_index=True)),
                        ('woken_at', models.DateTimeField(help_text='When a worker was last told of it', null=True)),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='TrialCase',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('state', models.CharField(choices=[('queued', 'Queued'), ('running', 'Running'), ('done', 'Done'), ('failed', 'Failed')], default='queued', max_length=7)),
                        ('attempts', models.PositiveSmallIntegerField(default=0)),
                        ('owner', models.UUIDField(null=True)),
                        ('lease_expires_at', models.DateTimeField(help_text='Running: when others may take over. Queued: not before.', null=True)),
                        ('usage', models.JSONField(default=dict)),
                        ('error_class', models.CharField(blank=True, choices=[('rate', 'Rate'), ('transient', 'Transient'), ('permanent', 'Permanent'), ('parse', 'Parse')], max_length=9)),
                        ('error', models.TextField(blank=True, null=True)),
                        ('finished_at', models.DateTimeField(null=True)),
                        ('case_id', models.CharField(max_length=300)),
                        ('question', models.TextField(blank=True)),
                        ('output', models.JSONField(null=True)),
                        ('n_labels', models.PositiveIntegerField(default=0)),
                        ('seconds', models.FloatField(null=True)),
                    ],
                    options={
                        'ordering': ['pk'],
                    },
                ),
                migrations.CreateModel(
                    name='TrialConversation',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('position', models.PositiveIntegerField()),
                        ('external_id', models.CharField(max_length=200)),
                        ('domain', models.CharField(blank=True, max_length=100)),
                        ('n_messages', models.PositiveIntegerField()),
                        ('text', models.TextField(blank=True, help_text="Empty: that of the project's conversation")),
                    ],
                    options={
                        'ordering': ['trial', 'position'],
                    },
                ),
                migrations.CreateModel(
                    name='Yardstick',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('settings_sha256', models.CharField(help_text='Of what scoring depends on in addition to the labels', max_length=64)),
                        ('pipeline', models.CharField(blank=True, help_text='Empty: people', max_length=100)),
                        ('pipeline_version', models.CharField(blank=True, max_length=100)),
                        ('config', models.JSONField(default=dict)),
                        ('config_sha256', models.CharField(max_length=64)),
                        ('failure', models.TextField(blank=True, help_text='Why there are no figures', null=True)),
                        ('computed_at', models.DateTimeField(help_text='NULL: cases are missing', null=True)),
                    ],
                    options={
                        'ordering': ['release', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='YardstickCase',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('part', models.CharField(blank=True, max_length=100)),
                        ('shares', models.JSONField(default=dict, help_text='Against gold; undefined ones have no key')),
                        ('by_person', models.JSONField(default=dict, help_text="Against gold made without each person's labels, by metric")),
                        ('gold_without', models.JSONField(default=dict, help_text="Of people: the gold made without each person's labels")),
                    ],
                    options={
                        'ordering': ['yardstick', 'pk'],
                    },
                ),
                migrations.CreateModel(
                    name='AnswerPanel',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('code', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                        ('opened_at', models.DateTimeField(auto_now_add=True)),
                        ('invited', models.ManyToManyField(blank=True, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('opened_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'ordering': ['-pk'],
                    },
                ),
                migrations.CreateModel(
                    name='AnswerRating',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.CharField(choices=[('faithfulness', 'Faithfulness'), ('relevance', 'Relevance'), ('completeness', 'Completeness'), ('correctness', 'Correctness'), ('claims', 'Claims')], max_length=12)),
                        ('score', models.PositiveSmallIntegerField()),
                        ('note', models.TextField(blank=True)),
                        ('rated_at', models.DateTimeField(auto_now=True)),
                        ('frozen', models.BooleanField(default=False, help_text='Its sample is closed')),
                        ('answer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='evaluation.answer')),
                        ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                    ],
                    options={
                        'verbose_name': 'rating of an answer',
                        'verbose_name_plural': 'ratings of answers',
                        'ordering': ['answer', 'kind', 'rater'],
                    },
                ),
                migrations.CreateModel(
                    name='AnswerSample',
                    fields=[
                        ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                        ('kind', models.CharField(choices=[('faithfulness', 'Faithfulness'), ('relevance', 'Relevance'), ('completeness', 'Completeness'), ('correctness', 'Correctness'), ('claims', 'Claims')], max_length=12)),
                        ('seed', models.PositiveBigIntegerField(help_text='That the answers were drawn with')),
                        ('drawn_from', models.PositiveIntegerField(help_text='How many answers could have been drawn')),
                        ('drawn_at', models.DateTimeField(auto_now_add=True)),
                        ('closed_at', models.DateTimeField(null=True)),
                        ('given_up', models.BooleanField(default=False, help_text='Closed before all of it was rated')),
                        ('reason', models.TextField(blank=True, help_text='Why it was given up, or why few of its answers have two raters')),
                        ('closed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('drawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                        ('panel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='evaluation.answerpanel')),
                    ],
                    options={
                        'ordering': ['pk'],
                    },
                ),
                migrations.AddField(
                    model_name='builtlayer',
                    name='conversation',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='built_layers', to='labeling.conversation'),
                ),
                migrations.AddIndex(
                    model_name='cachedreply',
                    index=models.Index(models.F('size'), name='reply_size'),
                ),
                migrations.AddField(
                    model_name='caserun',
                    name='item',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='case_runs', to='labeling.golditem'),
                ),
                migrations.AddField(
                    model_name='answer',
                    name='case',
                    field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='answer', to='evaluation.caserun'),
                ),
                migrations.AddField(
                    model_name='chosenbaseline',
                    name='by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='chosenbaseline',
                    name='release',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='chosen_baselines', to='labeling.goldrelease'),
                ),
                migrations.AddField(
                    model_name='gateresult',
                    name='asked_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='gatethresholds',
                    name='changed_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='gatethresholds',
                    name='project',
                    field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gate_thresholds', to='labeling.project'),
                ),
                migrations.AddField(
                    model_name='judgecertificate',
                    name='issued_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='judgecertificate',
                    name='project',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judge_certificates', to='labeling.project'),
                ),
                migrations.AddField(
                    model_name='judgecertificate',
                    name='sample',
                    field=models.ForeignKey(help_text='The newest of those that it rests on', null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='certificates', to='evaluation.answersample'),
                ),
                migrations.AddField(
                    model_name='judgement',
                    name='answer',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='evaluation.answer'),
                ),
                migrations.AddField(
                    model_name='judging',
                    name='requested_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='judgement',
                    name='judging',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='evaluation.judging'),
                ),
                migrations.AddField(
                    model_name='layerbuild',
                    name='conversation',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='layer_builds', to='labeling.conversation'),
                ),
                migrations.AddField(
                    model_name='layerbuild',
                    name='requested_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='primarymetric',
                    name='by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='primarymetric',
                    name='project',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='primary_metrics', to='labeling.project'),
                ),
                migrations.AddField(
                    model_name='probing',
                    name='project',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='probings', to='labeling.project'),
                ),
                migrations.AddField(
                    model_name='probing',
                    name='requested_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='ratedlabel',
                    name='case',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='evaluation.caserun'),
                ),
                migrations.AddField(
                    model_name='rating',
                    name='case',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='evaluation.caserun'),
                ),
                migrations.AddField(
                    model_name='rating',
                    name='judge',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='ratingpanel',
                    name='closed_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='ratingpanel',
                    name='invited',
                    field=models.ManyToManyField(blank=True, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='ratingpanel',
                    name='opened_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='ratedlabel',
                    name='panel',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='labels', to='evaluation.ratingpanel'),
                ),
                migrations.CreateModel(
                    name='RunSpending',
                    fields=[
                        ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name='spending', serialize=False, to='evaluation.run')),
                        ('calls', models.FloatField(default=0)),
                        ('cached', models.FloatField(default=0)),
                        ('prompt_tokens', models.FloatField(default=0)),
                        ('completion_tokens', models.FloatField(default=0)),
                        ('cost', models.FloatField(default=0)),
                        ('saved', models.FloatField(default=0)),
                        ('saved_tokens', models.FloatField(default=0)),
                        ('seconds', models.FloatField(default=0)),
                        ('unpriced', models.IntegerField(default=0, help_text='Pieces of work of which the cost is unknown')),
                        ('unsaved', models.IntegerField(default=0, help_text='Pieces of work of which nobody knows what the cache saved')),
                        ('doubted', models.FloatField(default=0, help_text='Replies whose count of tokens cannot be true, and was estimated')),
                        ('doubt', models.CharField(blank=True, help_text='What one of these counts said', max_length=100)),
                        ('served_by', models.JSONField(default=list, help_text='The models that replied, as the server named them')),
                    ],
                    options={
                        'verbose_name': 'spending',
                        'verbose_name_plural': 'spending',
                    },
                ),
                migrations.AddField(
                    model_name='run',
                    name='carried_from',
                    field=models.ForeignKey(help_text='The run on other gold whose outputs this one took over: no pipeline ran', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='carried', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='run',
                    name='look',
                    field=models.OneToOneField(help_text='At test items, written down when it was launched; empty: it has none', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='run', to='labeling.look'),
                ),
                migrations.AddField(
                    model_name='run',
                    name='release',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='labeling.goldrelease'),
                ),
                migrations.AddField(
                    model_name='run',
                    name='requested_by',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='ratingpanel',
                    name='run',
                    field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='panel', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='judging',
                    name='run',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgings', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='gateresult',
                    name='baseline',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='gateresult',
                    name='run',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gate_results', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='chosenbaseline',
                    name='run',
                    field=models.ForeignKey(help_text='Empty: none any more', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='caserun',
                    name='run',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='answerpanel',
                    name='run',
                    field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='answer_panel', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='aggregate',
                    name='run',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aggregates', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='runnote',
                    name='run',
                    field=models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='note', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='runtag',
                    name='run',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='sampledanswer',
                    name='answer',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='sampled', to='evaluation.answer'),
                ),
                migrations.AddField(
                    model_name='sampledanswer',
                    name='sample',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='answers', to='evaluation.answersample'),
                ),
                migrations.AddField(
                    model_name='score',
                    name='case',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='evaluation.caserun'),
                ),
                migrations.AddField(
                    model_name='slot',
                    name='run',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='evaluation.run'),
                ),
                migrations.AddField(
                    model_name='slot',
                    name='worker',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.workerpulse'),
                ),
                migrations.AddField(
                    model_name='stagetrace',
                    name='case',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='traces', to='evaluation.caserun'),
                ),
                migrations.AddField(
                    model_name='trial',
                    name='maker',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='trials', to=settings.AUTH_USER_MODEL),
                ),
                migrations.AddField(
                    model_name='trial',
                    name='project',
                    field=models.ForeignKey(help_text='Whose leads see it; empty: only its maker', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='trials', to='labeling.project'),
                ),
                migrations.AddField(
                    model_name='trialcase',
                    name='trial',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='evaluation.trial'),
                ),
                migrations.AddField(
                    model_name='trialconversation',
                    name='conversation',
                    field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='trial_conversations', to='labeling.conversation'),
                ),
                migrations.AddField(
                    model_name='trialconversation',
                    name='trial',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to='evaluation.trial'),
                ),
                migrations.AddField(
                    model_name='trialcase',
                    name='conversation',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='evaluation.trialconversation'),
                ),
                migrations.AddField(
                    model_name='yardstick',
                    name='release',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='yardsticks', to='labeling.goldrelease'),
                ),
                migrations.AddField(
                    model_name='yardstickcase',
                    name='item',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.golditem'),
                ),
                migrations.AddField(
                    model_name='yardstickcase',
                    name='yardstick',
                    field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='evaluation.yardstick'),
                ),
                migrations.AddConstraint(
                    model_name='answerrating',
                    constraint=models.UniqueConstraint(fields=('answer', 'kind', 'rater'), name='answer_rating_once_per_rater'),
                ),
                migrations.AddConstraint(
                    model_name='answerrating',
                    constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['faithfulness', 'relevance', 'completeness', 'correctness', 'claims'])), name='answer_rating_kind_known'),
                ),
                migrations.AddConstraint(
                    model_name='answerrating',
                    constraint=models.CheckConstraint(condition=models.Q(('score__gte', 0), ('score__lte', 10)), name='answer_rating_in_range', violation_error_message='A rating of an answer is a whole number from 0 to 10.'),
                ),
                migrations.AddConstraint(
                    model_name='answersample',
                    constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['faithfulness', 'relevance', 'completeness', 'correctness', 'claims'])), name='sample_kind_known'),
                ),
                migrations.AddConstraint(
                    model_name='answersample',
                    constraint=models.CheckConstraint(condition=models.Q(('given_up', False), ('closed_at__isnull', False), _connector='OR'), name='sample_given_up_is_closed'),
                ),
                migrations.AddConstraint(
                    model_name='answersample',
                    constraint=models.UniqueConstraint(condition=models.Q(('closed_at__isnull', True)), fields=('panel', 'kind'), name='sample_one_open'),
                ),
                migrations.AddConstraint(
                    model_name='builtlayer',
                    constraint=models.UniqueConstraint(fields=('conversation', 'kind', 'config_sha256'), name='built_layer_once'),
                ),
                migrations.AddConstraint(
                    model_name='builtlayer',
                    constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['topics', 'signals', 'threads'])), name='built_layer_kind_known'),
                ),
                migrations.AddIndex(
                    model_name='answer',
                    index=models.Index(fields=['state', 'lease_expires_at', 'id'], name='answer_open'),
                ),
                migrations.AddConstraint(
                    model_name='answer',
                    constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='answer_state_known'),
                ),
                migrations.AddConstraint(
                    model_name='answer',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('state', 'done'), models.Q(('text', ''), _negated=True)), models.Q(('error__isnull', False), ('state', 'failed'), ('text', '')), ('state__in', ['queued', 'running']), _connector='OR'), name='answer_result_fits_state'),
                ),
                migrations.AddConstraint(
                    model_name='gatethresholds',
                    constraint=models.CheckConstraint(condition=models.Q(('min_coverage__isnull', True), models.Q(('min_coverage__gt', 0), ('min_coverage__lte', 1)), _connector='OR'), name='gate_coverage_is_a_share'),
                ),
                migrations.AddIndex(
                    model_name='judgecertificate',
                    index=models.Index(fields=['project', 'judge_sha256', 'kind'], name='certificate_of_judge'),
                ),
                migrations.AddConstraint(
                    model_name='judgecertificate',
                    constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['faithfulness', 'relevance', 'completeness', 'correctness', 'claims'])), name='certificate_kind_known'),
                ),
                migrations.AddConstraint(
                    model_name='judgecertificate',
                    constraint=models.UniqueConstraint(condition=models.Q(('sample__isnull', False)), fields=('sample', 'judge_sha256', 'served_model', 'probes_version'), name='certificate_once_per_sample'),
                ),
                migrations.AddIndex(
                    model_name='judgement',
                    index=models.Index(fields=['judging', 'state', 'lease_expires_at', 'id'], name='judgement_open'),
                ),
                migrations.AddConstraint(
                    model_name='judgement',
                    constraint=models.UniqueConstraint(fields=('judging', 'answer', 'kind'), name='judgement_once'),
                ),
                migrations.AddConstraint(
                    model_name='judgement',
                    constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='judgement_state_known'),
                ),
                migrations.AddConstraint(
                    model_name='judgement',
                    constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['faithfulness', 'relevance', 'completeness', 'correctness', 'claims'])), name='judgement_kind_known'),
                ),
                migrations.AddConstraint(
                    model_name='judgement',
                    constraint=models.CheckConstraint(condition=models.Q(('score__isnull', True), models.Q(('score__gte', 0), ('score__lte', 10)), _connector='OR'), name='judgement_score_in_range'),
                ),
                migrations.AddConstraint(
                    model_name='judgement',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('state', 'done'), models.Q(('score__isnull', False), ('reason__isnull', False), _connector='OR')), models.Q(('error__isnull', False), ('score__isnull', True), ('state', 'failed')), ('state__in', ['queued', 'running']), _connector='OR'), name='judgement_result_fits_state'),
                ),
                migrations.AddConstraint(
                    model_name='layerbuild',
                    constraint=models.UniqueConstraint(fields=('conversation', 'config_sha256'), name='layer_build_once'),
                ),
                migrations.AddConstraint(
                    model_name='layerbuild',
                    constraint=models.CheckConstraint(condition=models.Q(('finished_at', None), ('failure', None), _connector='OR'), name='layer_build_finished_or_failed'),
                ),
                migrations.AddConstraint(
                    model_name='primarymetric',
                    constraint=models.CheckConstraint(condition=models.Q(('margin__gt', 0), ('margin__lt', 1)), name='primary_margin_is_a_share'),
                ),
                migrations.AddIndex(
                    model_name='probing',
                    index=models.Index(fields=['project', 'judge_sha256', 'kind'], name='probing_of_judge'),
                ),
                migrations.AddConstraint(
                    model_name='probing',
                    constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='probing_state_known'),
                ),
                migrations.AddConstraint(
                    model_name='probing',
                    constraint=models.CheckConstraint(condition=models.Q(('kind__in', ['faithfulness', 'relevance', 'completeness', 'correctness', 'claims'])), name='probing_kind_known'),
                ),
                migrations.AddConstraint(
                    model_name='probing',
                    constraint=models.UniqueConstraint(condition=models.Q(('state__in', ['queued', 'running'])), fields=('project', 'kind', 'judge_sha256'), name='probing_one_open', violation_error_message='The probes are being asked already.'),
                ),
                migrations.AddConstraint(
                    model_name='rating',
                    constraint=models.UniqueConstraint(fields=('case', 'position', 'judge'), name='rating_once_per_judge'),
                ),
                migrations.AddConstraint(
                    model_name='rating',
                    constraint=models.CheckConstraint(condition=models.Q(('score__in', [0, 1, 2])), name='rating_score_known', violation_error_message='A rating is 0, 1 or 2.'),
                ),
                migrations.AddConstraint(
                    model_name='ratedlabel',
                    constraint=models.UniqueConstraint(fields=('panel', 'number'), name='rated_label_number_once'),
                ),
                migrations.AddConstraint(
                    model_name='ratedlabel',
                    constraint=models.UniqueConstraint(fields=('case', 'position'), name='rated_label_once'),
                ),
                migrations.AddConstraint(
                    model_name='run',
                    constraint=models.CheckConstraint(condition=models.Q(('repetitions__gte', 1)), name='run_repeats_at_least_once'),
                ),
                migrations.AddConstraint(
                    model_name='run',
                    constraint=models.CheckConstraint(condition=models.Q(('concurrency__gte', 1)), name='run_works_on_a_case_at_least'),
                ),
                migrations.AddConstraint(
                    model_name='run',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('budget_cost__isnull', True), ('budget_cost__gt', 0), _connector='OR'), models.Q(('budget_tokens__isnull', True), ('budget_tokens__gt', 0), _connector='OR')), name='run_budget_is_above_zero', violation_error_message='A budget is more than nothing.'),
                ),
                migrations.AddConstraint(
                    model_name='run',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('split', 'test'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='run_on_test_has_reason', violation_error_message='Say why the test split is looked at.'),
                ),
                migrations.AddConstraint(
                    model_name='ratingpanel',
                    constraint=models.CheckConstraint(condition=models.Q(('counted__lte', models.F('changes'))), name='rating_panel_counts_what_changed'),
                ),
                migrations.AddIndex(
                    model_name='chosenbaseline',
                    index=models.Index(fields=['release', 'split', 'id'], name='baselines_of_gold'),
                ),
                migrations.AddIndex(
                    model_name='caserun',
                    index=models.Index(fields=['run', 'state', 'lease_expires_at', 'id'], name='case_open'),
                ),
                migrations.AddIndex(
                    model_name='caserun',
                    index=models.Index(fields=['run', 'state', 'error_class', 'exposure'], name='case_counted'),
                ),
                migrations.AddIndex(
                    model_name='caserun',
                    index=models.Index(condition=models.Q(('earlier_failures', []), _negated=True), fields=['run'], name='case_retried'),
                ),
                migrations.AddIndex(
                    model_name='caserun',
                    index=models.Index(fields=['run', 'finished_at'], name='case_ended'),
                ),
                migrations.AddConstraint(
                    model_name='caserun',
                    constraint=models.UniqueConstraint(fields=('run', 'item', 'part', 'repetition'), name='case_once_per_repetition'),
                ),
                migrations.AddConstraint(
                    model_name='caserun',
                    constraint=models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='case_state_known'),
                ),
                migrations.AddConstraint(
                    model_name='caserun',
                    constraint=models.CheckConstraint(condition=models.Q(('exposure__in', ['', 'seen', 'left_out', 'unseen'])), name='case_exposure_known'),
                ),
                migrations.AddConstraint(
                    model_name='caserun',
                    constraint=models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('output__isnull', False), ('state', 'done')), models.Q(('error__isnull', False), ('state', 'failed')), ('state__in', ['queued', 'running']), _connector='OR'), name='case_result_fits_state'),
                ),
                migrations.AddConstraint(
                    model_name='aggregate',
                    constraint=models.UniqueConstraint(fields=('run', 'metric', 'metric_version'), name='aggregate_once'),
                ),
                migrations.AddConstraint(
                    model_name='aggregate',
                    constraint=models.CheckConstraint(condition=models.Q(('mean__isnull', False), ('reason__isnull', False), _connector='OR'), name='aggregate_undefined_has_reason'),
                ),
                migrations.AddIndex(
                    model_name='runtag',
                    index=models.Index(fields=['tag', 'run'], name='runs_of_tag'),
                ),
                migrations.AddConstraint(
                    model_name='runtag',
                    constraint=models.UniqueConstraint(fields=('run', 'tag'), name='run_tag_once'),
                ),
                migrations.AddConstraint(
                    model_name='sampledanswer',
                    constraint=models.UniqueConstraint(fields=('sample', 'answer'), name='sampled_answer_once'),
                ),
                migrations.AddConstraint(
                    model_name='sampledanswer',
                    constraint=models.UniqueConstraint(fields=('sample', 'number'), name='sampled_number_once'),
                ),
                migrations.AddConstraint(
                    model_name='score',
                    constraint=models.UniqueConstraint(fields=('case', 'metric', 'metric_version'), name='score_once'),
                ),
                migrations.AddConstraint(
                    model_name='score',
                    constraint=models.CheckConstraint(condition=models.Q(('value__isnull', False), ('reason__isnull', False), _connector='OR'), name='score_undefined_has_reason'),
                ),
                migrations.AddConstraint(
                    model_name='slot',
                    constraint=models.UniqueConstraint(fields=('run', 'number'), name='slot_once'),
                ),
                migrations.AddConstraint(
                    model_name='stagetrace',
                    constraint=models.UniqueConstraint(fields=('case', 'checkpoint'), name='trace_once'),
                ),
                migrations.AddConstraint(
                    model_name='stagetrace',
                    constraint=models.CheckConstraint(condition=models.Q(('checkpoint__in', ['candidates', 'reranked', 'selected'])), name='trace_checkpoint_known'),
                ),
                migrations.AddConstraint(
                    model_name='trialconversation',
                    constraint=models.UniqueConstraint(fields=('trial', 'external_id'), name='trial_conversation_once'),
                ),
                migrations.AddIndex(
                    model_name='trialcase',
                    index=models.Index(fields=['trial', 'state'], name='trial_case_open'),
                ),
                migrations.AddConstraint(
                    model_name='yardstick',
                    constraint=models.UniqueConstraint(fields=('release', 'settings_sha256', 'pipeline', 'pipeline_version', 'config_sha256'), name='yardstick_once'),
                ),
                migrations.AddConstraint(
                    model_name='yardstickcase',
                    constraint=models.UniqueConstraint(fields=('yardstick', 'item', 'part'), name='yardstick_case_once'),
                ),
            ]
        ),
    ]
