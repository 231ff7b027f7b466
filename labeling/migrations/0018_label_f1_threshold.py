
import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('labeling', '0017_facts_of_checks'),
    ]

    operations = [
        migrations.AddField(
            model_name='project',
            name='label_f1_threshold',
            field=models.FloatField(default=0.5, help_text='Lowest F1 of matched labels that a calibration round passes with; 0: any', validators=[django.core.validators.MinValueValidator(0), django.core.validators.MaxValueValidator(1)]),
        ),
        migrations.AddField(
            model_name='round',
            name='label_f1_threshold',
            field=models.FloatField(default=0.0, help_text="The project's when the round was opened; 0 in rounds from before"),
        ),
        migrations.AddConstraint(
            model_name='project',
            constraint=models.CheckConstraint(condition=models.Q(('label_f1_threshold__gte', 0), ('label_f1_threshold__lte', 1)), name='project_label_f1_threshold_in_range', violation_error_message='The threshold of the label F1 lies between 0 and 1.'),
        ),
    ]
