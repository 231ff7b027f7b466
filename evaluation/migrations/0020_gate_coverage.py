from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0019_case_ended'),
    ]

    operations = [
        migrations.AddField(
            model_name='gatethresholds',
            name='min_coverage',
            field=models.FloatField(help_text='Share of the cases with a value of the primary metric; empty: not asked for', null=True),
        ),
        migrations.AddConstraint(
            model_name='gatethresholds',
            constraint=models.CheckConstraint(condition=models.Q(('min_coverage__isnull', True), models.Q(('min_coverage__gt', 0), ('min_coverage__lte', 1)), _connector='OR'), name='gate_coverage_is_a_share'),
        ),
    ]
