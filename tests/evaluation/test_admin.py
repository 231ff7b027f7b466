from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import Permission
from django.urls import reverse

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

GOLD = "admin:labeling_goldrelease_changelist"


def tick(client: Any, *releases: Any) -> Any:
    chosen = [release.pk for release in releases]
    return client.post(reverse(GOLD), {"action": "evaluate", "_selected_action": chosen})


def test_a_gold_release_leads_to_the_form_that_launches_a_run_on_it(make_release, signed_in):
    one, two = make_release(1, name="one"), make_release(1, name="two")
    admin = signed_in("admin")

    page = admin.get(tick(admin, one)["Location"])

    assert page.context["form"]["release"].value() == one.pk
    both = {"action": "evaluate", "_selected_action": [one.pk, two.pk]}
    assert (
        "Select one gold release" in admin.post(reverse(GOLD), both, follow=True).content.decode()
    )


def test_staff_without_a_role_are_not_offered_to_launch(release, signed_in, people):
    people["olga"].is_staff = True  # without a role in any project
    people["olga"].save()
    allowed = Permission.objects.get(codename="view_goldrelease")
    people["olga"].user_permissions.add(allowed)
    olga = signed_in("olga")

    listed = olga.get(reverse(GOLD)).content.decode()

    assert "demo" in listed
    assert "Evaluate with a pipeline" not in listed


def test_runs_are_filtered_by_their_derived_status(launch, finished, signed_in):
    waiting, done = launch(), finished(pipeline="nothing")
    admin = signed_in("admin")

    page = admin.get(reverse("admin:evaluation_run_changelist"), {"status": "finished"})

    shown = {run.pk for run in page.context["cl"].result_list}
    assert done.pk in shown
    assert waiting.pk not in shown
