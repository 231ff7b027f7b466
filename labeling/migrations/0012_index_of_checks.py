from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('labeling', '0011_suggestion_budget'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='assignment',
            index=models.Index(condition=models.Q(('purpose', 'labelling'), _negated=True), fields=['purpose'], name='assignment_check'),
        ),
    ]
