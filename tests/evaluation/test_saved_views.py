"""Named views of lists: kept by a person, opened again, taken away."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from evaluation.models import SavedView
from evaluation.services.run import saved_views
from tests.pages import queries, text_of

pytestmark = pytest.mark.django_db


def save(client: Client, page: str = "runs", **fields: Any) -> Any:
    return client.post(reverse("run-views"), {"page": page, "name": "Mine", **fields})


def test_a_view_is_kept_with_its_filters_order_and_columns_and_opened_again(
    finished: Any, signed_in: Any
) -> None:
    finished(name="wanted")
    noor = signed_in("noor")
    shown = noor.get(reverse("runs"), {"q": "wanted", "sort": "-primary", "before": "9"})
    [kept] = [query for query in _queries(shown) if query]

    response = save(noor, query=kept)

    asked = "q=wanted&sort=-primary"
    [view] = SavedView.objects.all()
    assert view.query.startswith(asked)  # and not which page of the list was open
    assert ("columns", "primary") in parse_qsl(view.query)
    assert response["Location"] == f"{reverse('runs')}?{view.query}"
    again = noor.get(response["Location"])
    assert f'href="?{view.query.replace("&", "&amp;")}" dir="auto" aria-current="page">Mine<' in (
        again.content.decode()
    )
    assert "wanted" in text_of(again)


def test_each_list_has_its_own_and_a_name_is_used_again(finished: Any, signed_in: Any) -> None:
    run, noor = finished(), signed_in("noor")
    save(noor, query="q=a")
    save(noor, query="q=b")
    response = save(noor, "cases", query="tab=cases&outcome=failure&after=3", run=run.pk)

    assert response["Location"] == f"{run.get_absolute_url()}?tab=cases&outcome=failure"
    rows = SavedView.objects.order_by("page").values_list("page", "query")
    assert list(rows) == [
        ("cases", "tab=cases&outcome=failure"),
        ("runs", "q=b"),
    ]
    other = finished()  # a view of cases serves every run
    assert ">Mine<" in noor.get(f"{other.get_absolute_url()}?tab=cases").content.decode()


def test_views_are_those_of_one_person(
    finished: Any, signed_in: Any, people: dict[str, User]
) -> None:
    finished()
    rita, noor = signed_in("rita"), signed_in("noor")
    save(rita, query="q=hers")

    assert "Mine" not in noor.get(reverse("runs")).content.decode()
    save(noor, action="remove")
    assert SavedView.objects.filter(user=people["rita"]).count() == 1
    save(rita, action="remove", query="q=hers")
    assert not SavedView.objects.exists()


def test_what_cannot_be_kept_says_so(project: Any, signed_in: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(saved_views, "MOST_VIEWS", 1)
    noor = signed_in("noor")

    def said(**fields: Any) -> str:
        response = noor.post(reverse("run-views"), {"page": "runs", **fields}, follow=True)
        return str(response.content.decode())

    assert "Give the view a name" in said(name="  ")
    assert "Give the view a name" in said(name="x" * 61)
    assert "too many filters" in said(name="long", query="q=" + "x" * 2000)
    assert "Saved." in said(name="one", query="q=1")
    assert "remove one first" in said(name="two")
    assert SavedView.objects.count() == 1


def test_nobody_is_led_elsewhere_and_no_other_site_can_save(
    finished: Any, signed_in: Any, people: dict[str, User]
) -> None:
    noor = signed_in("noor")

    for query in ("//elsewhere.example/", "https://elsewhere.example", "x&next=//e.example"):
        assert save(noor, query=query)["Location"].startswith("/runs/?")
    assert save(noor, "//elsewhere.example", query="q=a")["Location"] == "/runs/?q=a"
    assert save(noor, "cases", run="999999").status_code == 404
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(people["noor"])
    assert save(strict, query="q=a").status_code == 403
    assert noor.get(reverse("run-views")).status_code == 405


def test_views_cost_one_query_however_many(finished: Any, signed_in: Any) -> None:
    finished()
    noor = signed_in("noor")
    noor.get(reverse("runs"))
    before = len(queries(noor, reverse("runs")))

    for number in range(5):
        save(noor, name=f"view {number}", query="q=a")

    assert len(queries(noor, reverse("runs"))) == before


def _queries(response: Any) -> list[str]:
    """What the forms of the page would keep."""
    found = re.findall(r'name="query" value="([^"]*)"', response.content.decode())
    return [unescape(query) for query in found]
