from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('labeling', '0010_checks_against_gold'),
    ]

    operations = [
        migrations.AddField(
            model_name='suggestionrequest',
            name='budget_cost',
            field=models.FloatField(help_text='Money that language models may cost; empty: no limit', null=True),
        ),
        migrations.AddField(
            model_name='suggestionrequest',
            name='budget_tokens',
            field=models.PositiveBigIntegerField(help_text='Tokens that language models may use; empty: no limit', null=True),
        ),
        migrations.AddField(
            model_name='suggestionrequest',
            name='usage',
            field=models.JSONField(default=dict, help_text='What language models were asked and cost'),
        ),
    ]
