"""The tables of version 0.6.0; older databases are brought there by 0.6.0 itself."""

import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models

from labeling.migrations._at_once import CreateTables


NAMES = """
0001_initial 0002_memory_and_judging 0003_layer_builds 0004_run_budget
0005_ratings_ceilings_gates 0006_answers 0007_judge_certificates 0008_facts
0009_chance_levels 0010_judge_samples 0011_shares 0012_violations_as_facts
0013_primary_metrics 0014_yardsticks 0015_carried_runs 0016_looks_in_one_ledger
0017_no_split_access 0018_case_exposure 0019_case_ended 0020_gate_coverage 0021_slots
0022_run_notes 0023_plain_names 0024_scored_cases 0025_chosen_baselines 0026_trials
0027_counted_cases 0028_run_spending 0029_reply_sizes 0029_yardsticks_under_way
0030_doubted_counts 0001_squashed_0030_doubted_counts 0031_saved_views 0032_figures_by_run
0033_run_command_until 0034_experiments_are_runs 0035_models_by_name
0036_certificates_by_people 0037_one_rating_system 0038_one_job_table
0001_squashed_0038_one_job_table 0039_trials_are_runs
0001_squashed_0039_trials_are_runs
0040_layers_are_jobs 0041_plain_words_and_views
""".split()


class Migration(migrations.Migration):

    replaces = [('evaluation', name) for name in NAMES]

    initial = True

    dependencies = [
        ('auth', '__first__'),
        ('labeling', '0001_squashed_0006_membership_as_it_counts'),
    ]

    operations = [CreateTables([
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('expires_at', models.DateTimeField(db_index=True, help_text='Without gold alone', null=True)),
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
                ('command_until', models.DateTimeField(help_text='Until then it is left to the command that works on it', null=True)),
                ('turn_at', models.DateTimeField(help_text='When a worker last took it up', null=True)),
                ('scoring_owner', models.UUIDField(null=True)),
                ('scoring_expires_at', models.DateTimeField(null=True)),
                ('scored_cases', models.PositiveIntegerField(db_default=0, default=0, help_text='While it is scored: of how many cases the scores are stored')),
                ('scored_at', models.DateTimeField(null=True)),
                ('first_scored_at', models.DateTimeField(help_text='Since when its figures could be seen; scoring again leaves it', null=True)),
                ('carried_from', models.ForeignKey(help_text='The run on other gold whose outputs this one took over: no pipeline ran', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='carried', to='evaluation.run')),
                ('look', models.OneToOneField(help_text='At test items, written down when it was launched; empty: it has none', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='run', to='labeling.look')),
                ('project', models.ForeignKey(help_text='Without gold: whose leads see it; empty: only who launched it', null=True, on_delete=django.db.models.deletion.CASCADE, related_name='unmeasured_runs', to='labeling.project')),
                ('release', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='runs', to='labeling.goldrelease')),
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('repetitions__gte', 1)), name='run_repeats_at_least_once'), models.CheckConstraint(condition=models.Q(('concurrency__gte', 1)), name='run_works_on_a_case_at_least'), models.CheckConstraint(condition=models.Q(models.Q(('budget_cost__isnull', True), ('budget_cost__gt', 0), _connector='OR'), models.Q(('budget_tokens__isnull', True), ('budget_tokens__gt', 0), _connector='OR')), name='run_budget_is_above_zero', violation_error_message='A budget is more than nothing.'), models.CheckConstraint(condition=models.Q(models.Q(('split', 'test'), _negated=True), models.Q(('reason', ''), _negated=True), _connector='OR'), name='run_on_test_has_reason', violation_error_message='Say why the test split is looked at.')],
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
                'indexes': [models.Index(models.F('size'), name='reply_size')],
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
                ('item', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='case_runs', to='labeling.golditem')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='evaluation.run')),
            ],
            options={
                'verbose_name': 'case',
                'verbose_name_plural': 'cases',
                'ordering': ['run', 'item__position', 'repetition'],
                'indexes': [models.Index(fields=['run', 'state', 'lease_expires_at', 'id'], name='case_open'), models.Index(fields=['run', 'state', 'error_class', 'exposure'], name='case_counted'), models.Index(condition=models.Q(('earlier_failures', []), _negated=True), fields=['run'], name='case_retried'), models.Index(fields=['run', 'finished_at'], name='case_ended')],
                'constraints': [models.UniqueConstraint(fields=('run', 'item', 'part', 'repetition'), name='case_once_per_repetition'), models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='case_state_known'), models.CheckConstraint(condition=models.Q(('exposure__in', ['', 'seen', 'left_out', 'unseen'])), name='case_exposure_known'), models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('output__isnull', False), ('state', 'done')), models.Q(('error__isnull', False), ('state', 'failed')), ('state__in', ['queued', 'running']), _connector='OR'), name='case_result_fits_state')],
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
                ('case', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='answer', to='evaluation.caserun')),
            ],
            options={
                'ordering': ['case'],
                'indexes': [models.Index(fields=['state', 'lease_expires_at', 'id'], name='answer_open')],
                'constraints': [models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='answer_state_known'), models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('state', 'done'), models.Q(('text', ''), _negated=True)), models.Q(('error__isnull', False), ('state', 'failed'), ('text', '')), ('state__in', ['queued', 'running']), _connector='OR'), name='answer_result_fits_state')],
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
                ('changed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='gate_thresholds', to='labeling.project')),
            ],
            options={
                'verbose_name': 'run thresholds',
                'verbose_name_plural': 'run thresholds',
                'constraints': [models.CheckConstraint(condition=models.Q(('min_coverage__isnull', True), models.Q(('min_coverage__gt', 0), ('min_coverage__lte', 1)), _connector='OR'), name='gate_coverage_is_a_share')],
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
                ('requested_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgings', to='evaluation.run')),
            ],
            options={
                'verbose_name': 'judging of answers',
                'verbose_name_plural': 'judgings of answers',
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
                ('answer', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='evaluation.answer')),
                ('judging', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judgements', to='evaluation.judging')),
            ],
            options={
                'verbose_name': 'judgment of an answer',
                'verbose_name_plural': 'judgments of answers',
                'ordering': ['judging', 'answer', 'pk'],
                'indexes': [models.Index(fields=['judging', 'state', 'lease_expires_at', 'id'], name='judgement_open')],
                'constraints': [models.UniqueConstraint(fields=('judging', 'answer', 'kind'), name='judgement_once'), models.CheckConstraint(condition=models.Q(('state__in', ['queued', 'running', 'done', 'failed'])), name='judgement_state_known'), models.CheckConstraint(condition=models.Q(('kind__in', ['faithfulness', 'relevance', 'completeness', 'correctness', 'claims'])), name='judgement_kind_known'), models.CheckConstraint(condition=models.Q(('score__isnull', True), models.Q(('score__gte', 0), ('score__lte', 10)), _connector='OR'), name='judgement_score_in_range'), models.CheckConstraint(condition=models.Q(models.Q(('error__isnull', True), ('state', 'done'), models.Q(('score__isnull', False), ('reason__isnull', False), _connector='OR')), models.Q(('error__isnull', False), ('score__isnull', True), ('state', 'failed')), ('state__in', ['queued', 'running']), _connector='OR'), name='judgement_result_fits_state')],
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
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='primary_metrics', to='labeling.project')),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('margin__gt', 0), ('margin__lt', 1)), name='primary_margin_is_a_share')],
            },
        ),
        migrations.CreateModel(
            name='Rating',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('need', 'Need'), ('faithfulness', 'Faithfulness'), ('relevance', 'Relevance'), ('completeness', 'Completeness'), ('correctness', 'Correctness')], max_length=12)),
                ('position', models.PositiveIntegerField(default=0, help_text='Of the label, from 0')),
                ('score', models.PositiveSmallIntegerField()),
                ('note', models.TextField(blank=True)),
                ('rated_at', models.DateTimeField(auto_now=True)),
                ('frozen', models.BooleanField(default=False, help_text='Its sample is closed')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='ratings', to='evaluation.caserun')),
                ('rater', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'rating',
                'verbose_name_plural': 'ratings',
                'ordering': ['case', 'kind', 'position', 'rater'],
                'constraints': [models.UniqueConstraint(fields=('case', 'kind', 'position', 'rater'), name='rating_once_per_rater'), models.CheckConstraint(condition=models.Q(('kind__in', ['need', 'faithfulness', 'relevance', 'completeness', 'correctness'])), name='rating_kind_known'), models.CheckConstraint(condition=models.Q(('score__lte', 2), models.Q(models.Q(('kind', 'need'), _negated=True), ('score__lte', 10)), _connector='OR'), name='rating_in_range', violation_error_message='A rating is 0, 1 or 2; of an answer, 0 to 10.')],
            },
        ),
        migrations.CreateModel(
            name='RatingPanel',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('code', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('opened_at', models.DateTimeField(auto_now_add=True)),
                ('invited', models.ManyToManyField(blank=True, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('opened_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='panel', to='evaluation.run')),
            ],
            options={
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='RatingSample',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(choices=[('need', 'Need'), ('faithfulness', 'Faithfulness'), ('relevance', 'Relevance'), ('completeness', 'Completeness'), ('correctness', 'Correctness')], max_length=12)),
                ('seed', models.PositiveBigIntegerField(help_text='That it was drawn with')),
                ('drawn_from', models.PositiveIntegerField(help_text='How many places could have been drawn')),
                ('drawn_at', models.DateTimeField(auto_now_add=True)),
                ('closed_at', models.DateTimeField(null=True)),
                ('given_up', models.BooleanField(default=False, help_text='Its ratings count for nothing')),
                ('reason', models.TextField(blank=True, help_text='Why it was given up, or why few of its answers have two raters')),
                ('closed_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('drawn_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('panel', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='samples', to='evaluation.ratingpanel')),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['need', 'faithfulness', 'relevance', 'completeness', 'correctness'])), name='sample_kind_known'), models.CheckConstraint(condition=models.Q(('given_up', False), ('closed_at__isnull', False), _connector='OR'), name='sample_given_up_is_closed'), models.UniqueConstraint(condition=models.Q(('closed_at__isnull', True)), fields=('panel', 'kind'), name='sample_one_open')],
            },
        ),
        migrations.CreateModel(
            name='RatedPlace',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveIntegerField()),
                ('position', models.PositiveIntegerField(default=0, help_text='Of the label, from 0')),
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='evaluation.caserun')),
                ('sample', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='places', to='evaluation.ratingsample')),
            ],
            options={
                'ordering': ['sample', 'number'],
                'constraints': [models.UniqueConstraint(fields=('sample', 'case', 'position'), name='rated_place_once'), models.UniqueConstraint(fields=('sample', 'number'), name='rated_number_once')],
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
                ('passed', models.BooleanField()),
                ('reasons', models.JSONField(default=list, help_text='Why it was refused')),
                ('issued_at', models.DateTimeField(auto_now_add=True)),
                ('issued_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='judge_certificates', to='labeling.project')),
                ('sample', models.ForeignKey(help_text='The newest of those that it rests on', null=True, on_delete=django.db.models.deletion.RESTRICT, related_name='certificates', to='evaluation.ratingsample')),
            ],
            options={
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['project', 'judge_sha256', 'kind'], name='certificate_of_judge')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['faithfulness', 'relevance', 'completeness', 'correctness', 'claims'])), name='certificate_kind_known'), models.UniqueConstraint(condition=models.Q(('sample__isnull', False)), fields=('sample', 'judge_sha256', 'served_model'), name='certificate_once_per_sample')],
            },
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
                ('estimated', models.IntegerField(default=0, help_text='Pieces of work of which some tokens are our estimate')),
                ('cached_tokens', models.FloatField(default=0, help_text='Of the prompts, what the provider had kept from before')),
                ('reasoning_tokens', models.FloatField(default=0)),
                ('schema_by', models.JSONField(default=list, help_text='How schemas were asked for where the server took no strict ones')),
                ('served_by', models.JSONField(default=list, help_text='The models that replied, as the server named them')),
            ],
            options={
                'verbose_name': 'spending',
                'verbose_name_plural': 'spending',
            },
        ),
        migrations.CreateModel(
            name='GateResult',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('passed', models.BooleanField()),
                ('checks', models.JSONField(help_text='Every threshold and every drop that was looked at')),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('asked_by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('baseline', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.run')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='gate_results', to='evaluation.run')),
            ],
            options={
                'verbose_name': 'gate decision',
                'verbose_name_plural': 'gate decisions',
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='ChosenBaseline',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('split', models.CharField(blank=True, help_text='As in the run', max_length=5)),
                ('at', models.DateTimeField(auto_now_add=True)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='chosen_baselines', to='labeling.goldrelease')),
                ('run', models.ForeignKey(help_text='Empty: none any more', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='evaluation.run')),
            ],
            options={
                'verbose_name': 'baseline',
                'verbose_name_plural': 'baselines',
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['release', 'split', 'id'], name='baselines_of_gold')],
            },
        ),
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
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='aggregates', to='evaluation.run')),
            ],
            options={
                'verbose_name': 'figure',
                'verbose_name_plural': 'figures',
                'ordering': ['-run_id', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('run', 'metric', 'metric_version'), name='aggregate_once'), models.CheckConstraint(condition=models.Q(('mean__isnull', False), ('reason__isnull', False), _connector='OR'), name='aggregate_undefined_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='RunConversation',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('position', models.PositiveIntegerField()),
                ('external_id', models.CharField(max_length=200)),
                ('domain', models.CharField(blank=True, max_length=100)),
                ('n_messages', models.PositiveIntegerField()),
                ('text', models.TextField(blank=True, help_text="Empty: that of the project's conversation")),
                ('conversation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='run_conversations', to='labeling.conversation')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='conversations', to='evaluation.run')),
            ],
            options={
                'ordering': ['run', 'position'],
                'constraints': [models.UniqueConstraint(fields=('run', 'external_id'), name='run_conversation_once')],
            },
        ),
        migrations.AddField(
            model_name='caserun',
            name='talk',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='evaluation.runconversation'),
        ),
        migrations.CreateModel(
            name='RunNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('text', models.TextField()),
                ('run', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='note', to='evaluation.run')),
            ],
        ),
        migrations.CreateModel(
            name='RunTag',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tag', models.CharField(max_length=40)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='tags', to='evaluation.run')),
            ],
            options={
                'ordering': ['run', 'tag'],
                'indexes': [models.Index(fields=['tag', 'run'], name='runs_of_tag')],
                'constraints': [models.UniqueConstraint(fields=('run', 'tag'), name='run_tag_once')],
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
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='scores', to='evaluation.caserun')),
            ],
            options={
                'verbose_name': 'score of a case',
                'verbose_name_plural': 'scores of cases',
                'ordering': ['case', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('case', 'metric', 'metric_version'), name='score_once'), models.CheckConstraint(condition=models.Q(('value__isnull', False), ('reason__isnull', False), _connector='OR'), name='score_undefined_has_reason')],
            },
        ),
        migrations.CreateModel(
            name='Slot',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('number', models.PositiveSmallIntegerField(help_text='From 1; above the concurrency: leaves')),
                ('owner', models.UUIDField(unique=True)),
                ('taken_at', models.DateTimeField(auto_now_add=True)),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='slots', to='evaluation.run')),
                ('worker', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.workerpulse')),
            ],
            options={
                'ordering': ['run', 'number'],
                'constraints': [models.UniqueConstraint(fields=('run', 'number'), name='slot_once')],
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
                ('case', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='traces', to='evaluation.caserun')),
            ],
            options={
                'ordering': ['case', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('case', 'checkpoint'), name='trace_once'), models.CheckConstraint(condition=models.Q(('checkpoint__in', ['candidates', 'reranked', 'selected'])), name='trace_checkpoint_known')],
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
                ('release', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='yardsticks', to='labeling.goldrelease')),
            ],
            options={
                'ordering': ['release', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('release', 'settings_sha256', 'pipeline', 'pipeline_version', 'config_sha256'), name='yardstick_once')],
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
                ('item', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='labeling.golditem')),
                ('yardstick', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='cases', to='evaluation.yardstick')),
            ],
            options={
                'ordering': ['yardstick', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('yardstick', 'item', 'part'), name='yardstick_case_once')],
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
                ('conversation', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='built_layers', to='labeling.conversation')),
            ],
            options={
                'ordering': ['conversation', 'kind'],
                'constraints': [models.UniqueConstraint(fields=('conversation', 'kind', 'config_sha256'), name='built_layer_once'), models.CheckConstraint(condition=models.Q(('kind__in', ['topics', 'signals', 'threads'])), name='built_layer_kind_known')],
            },
        ),
        migrations.AddConstraint(
            model_name='caserun',
            constraint=models.UniqueConstraint(fields=('talk', 'part'), name='case_once_per_talk'),
        ),
        migrations.AddConstraint(
            model_name='caserun',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('item__isnull', False), ('talk__isnull', True)), models.Q(('item__isnull', True), ('talk__isnull', False)), _connector='OR'), name='case_of_gold_or_conversation'),
        ),
    ])]
