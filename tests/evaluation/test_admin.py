from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

pytestmark = pytest.mark.django_db

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
