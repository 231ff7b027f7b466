"""Everybody who annotates today keeps their work.

Those who submitted in a passed calibration round are admitted by it, on the layers that it measured.
All other annotators of such a project are admitted as people who worked there before.
"""

from django.db import migrations


def admit(apps, schema_editor):
    Round = apps.get_model("labeling", "Round")
    passed = Round.objects.filter(kind="calibration", state="passed")
    for project in apps.get_model("labeling", "Project").objects.filter(
        pk__in=passed.order_by().values("project")
    ):
        _admit(apps, project, passed.filter(project=project).order_by("number"))


def _admit(apps, project, passed):
    Admission = apps.get_model("labeling", "Admission")
    Assignment = apps.get_model("labeling", "Assignment")
    admitted = {}
    for round_ in passed:
        layers = _layers(project, round_.agreement or {})
        people = Assignment.objects.filter(
            round=round_, purpose="labelling", annotation__status="submitted"
        )
        for user in people.order_by().values_list("annotator", flat=True).distinct():
            for layer in layers:
                admitted.setdefault((user, layer), ("round", round_.pk, round_.closed_at))
    layers = sorted({layer for _, layer in admitted})
    members = apps.get_model("labeling", "Membership").objects.filter(
        project=project, role="annotator"
    )
    for user in members.values_list("user", flat=True):
        for layer in layers:
            admitted.setdefault((user, layer), ("earlier", None, None))
    Admission.objects.bulk_create(
        [
            Admission(
                project=project,
                user_id=user,
                layer=layer,
                how=how,
                round_id=round_id,
                calibrated_at=at,
            )
            for (user, layer), (how, round_id, at) in admitted.items()
        ],
        ignore_conflicts=True,
    )


def _layers(project, figures):
    """Rounds from before there were several layers have the figures of the first one."""
    layers = figures.get("layers")
    if not layers:
        return project.layers[:1]
    return [name for name, of in layers.items() if of.get("outcome") != "not_measured"]


class Migration(migrations.Migration):
    dependencies = [("labeling", "0039_admissions")]

    operations = [migrations.RunPython(admit, migrations.RunPython.noop)]
