"""The bar above the pages of a project leads everywhere, and says where one is."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from evaluation.urls import urlpatterns
from labeling.templatetags.navigation import GROUPS, Bar
from labeling.urls import of_a_project
from tests import everything

pytestmark = pytest.mark.django_db

PAGES = [entry for group in GROUPS for entry in group.entries]


def bar(client: Client, url: str) -> Bar:
    shown: Bar = client.get(url).context["bar"]
    return shown


def test_each_page_has_one_place_in_the_five_groups() -> None:
    named = [name for entry in PAGES for name in (entry.name, *entry.below)]

    assert len(GROUPS) == 5
    assert len(named) == len(set(named))


def test_every_page_of_a_project_says_where_it_is(project, people, signed_in):
    client, addresses = signed_in(people["rita"]), everything.addresses(project, people)
    of_runs = [pattern for pattern in urlpatterns if str(pattern.pattern).startswith("projects/")]
    names = {str(pattern.name) for pattern in [*of_a_project, *of_runs]} & addresses.keys()
    here = {}
    for name in sorted(names):
        response = client.get(reverse(name, args=addresses[name]))
        if response.status_code == 200 and b"<html" in response.getvalue():
            here[name] = [group for group in response.context["bar"].groups if group.is_here]

    assert len(here) > 35
    assert [name for name, groups in here.items() if len(groups) != 1] == []


def test_the_bar_offers_each_what_they_may_open(project, people, signed_in):
    url = reverse("members", args=[project.slug])
    offered = {
        who: {
            link.title for group in bar(signed_in(people[who]), url).groups for link in group.links
        }
        for who in ("rita", "noor")
    }

    assert offered["rita"] == {entry.title for entry in PAGES}
    assert offered["rita"] - offered["noor"] == {"Project settings", "Webhooks"}
    assert bar(signed_in(people["ana"]), reverse("guidelines", args=[project.slug])) is None
