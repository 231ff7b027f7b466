from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from labeling.core import tokens
from labeling.models import ApiToken, Event
from tests import factories
from tests.pages import page

pytestmark = pytest.mark.django_db

NIGHTLY = {"name": "nightly export", "scopes": ["read", "label"], "days": 30}


def bearer(secret, **more):
    """A program: no cookies, and CSRF checks as in life."""
    return Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {secret}", **more})


def test_a_token_is_shown_once_and_only_its_digest_stored(annotator):
    response = annotator.post("/tokens/", NIGHTLY, follow=True)

    secret = response.content.decode().split('value="assay_')[1].split('"')[0]
    stored = ApiToken.objects.get()
    assert response["Cache-Control"].count("no-store")
    assert secret not in str(vars(stored))
    assert secret not in str(list(Event.objects.values()))
    assert "nightly export" in page(annotator, "/tokens/")
    assert secret not in annotator.get("/tokens/").content.decode()
    assert bearer(f"assay_{secret}").get("/api/queue/").status_code == 200


def test_a_token_counts_more_than_a_session_and_opens_no_page(project, ana, rita):
    client = bearer(tokens.issue(user=ana, name="t").secret)
    client.force_login(rita)

    assert client.get("/api/projects/orders/").status_code == 404
    program = bearer(tokens.issue(user=rita, name="t").secret)
    assert program.get("/projects/orders/").status_code == 302


@pytest.mark.parametrize("secret", ["", "assay_wrong", "\xff", "a b"])
def test_a_wrong_token_is_answered_with_401(project, secret):
    response = bearer(secret).get("/api/queue/")

    assert response.status_code == 401
    assert response.json()["code"] == "bad_token"
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_revoked_token_opens_nothing(ana, annotator):
    issued = tokens.issue(user=ana, name="old laptop")
    url = f"/tokens/{issued.token.pk}/revoke/"

    assert "Revoke “old laptop”?" in page(annotator, url)
    assert tokens.use(issued.secret).user == ana
    annotator.post(url)

    assert tokens.use(issued.secret) is None
    assert bearer(issued.secret).get("/api/queue/").status_code == 401
    assert "old laptop" not in page(annotator, "/tokens/").replace("“old laptop” opens", "")


def test_a_token_dies_with_its_owners_account(ana):
    secret = tokens.issue(user=ana, name="t").secret
    ana.is_active = False
    ana.save()

    assert bearer(secret).get("/api/queue/").status_code == 401


def test_the_last_use_is_written_once_a_minute(ana, django_assert_num_queries):
    issued = tokens.issue(user=ana, name="t")
    tokens.use(issued.secret)
    first = ApiToken.objects.get().last_used_at
    with django_assert_num_queries(1):
        tokens.use(issued.secret)
    assert ApiToken.objects.get().last_used_at == first

    ApiToken.objects.update(last_used_at=timezone.now() - timedelta(minutes=2))
    tokens.use(issued.secret)

    assert ApiToken.objects.get().last_used_at > first


def test_the_log_says_once_a_day_from_where_a_token_is_used(ana, django_assert_num_queries):
    issued = tokens.issue(user=ana, name="t")

    for address in ("198.51.100.7", "198.51.100.7", "203.0.113.9"):
        tokens.use(issued.secret, address=address)
    with django_assert_num_queries(1):
        tokens.use(issued.secret, address="198.51.100.7")
    ApiToken.objects.update(used_from={"198.51.100.7": "2026-01-01"})
    client = Client(headers={"authorization": f"Bearer {issued.secret}"})
    for number in range(30):
        client.get("/api/queue/", REMOTE_ADDR=f"192.0.2.{number}")

    used = Event.objects.filter(verb="token.used").order_by("pk")
    assert [event.data["address"] for event in used][:3] == [
        "198.51.100.7",
        "203.0.113.9",
        "192.0.2.0",
    ]
    assert {event.actor for event in used} == {ana}
    assert used.count() == 2 + tokens.MOST_ADDRESSES


# --- scopes, projects and expiry ------------------------------------------------------------------


def test_a_token_without_the_scope_is_told_which_it_needs(project, rita):
    program = bearer(tokens.issue(user=rita, name="reports", scopes=["read"]).secret)

    assert program.get("/api/projects/orders/").status_code == 200
    assert program.head("/api/projects/orders/").status_code == 200
    refused = program.post("/api/queue/next/")

    assert refused.status_code == 403
    assert refused.json()["code"] == "scope_missing"
    assert refused.json()["details"] == {"needed": ["label"], "scopes": ["read"]}
    assert "label" in refused.json()["message"]


def test_a_token_from_before_there_were_scopes_still_does_everything(project, ana):
    issued = tokens.issue(user=ana, name="old script")
    ApiToken.objects.update(scopes=None, expires_at=None, project_ids=None)

    assert bearer(issued.secret).post("/api/queue/next/").status_code == 200
    client = Client()
    client.force_login(ana)
    assert "everything (made before there were scopes)" in page(client, "/tokens/")


def test_an_expired_token_is_refused_and_its_owner_sees_why(ana, annotator):
    issued = tokens.issue(user=ana, name="last year")
    ApiToken.objects.update(expires_at=timezone.now())

    refused = bearer(issued.secret).get("/api/queue/")

    assert (refused.status_code, refused.json()["code"]) == (401, "token_expired")
    assert ApiToken.objects.get().last_used_at is None
    assert "expired" in page(annotator, "/tokens/")


def test_a_token_of_one_project_shows_only_this_and_gives_its_work(project, ana):
    other = factories.make_project("other")
    for each in (project, other):
        factories.open_full(each, 1)
    program = bearer(tokens.issue(user=ana, name="t", projects=[other]).secret)

    assert [row["slug"] for row in program.get("/api/projects/").json()["results"]] == ["other"]
    assert {row["project"] for row in program.get("/api/queue/").json()["results"]} == {"other"}
    (mine,) = program.get("/api/queue/").json()["results"]
    assert program.post("/api/queue/next/").json() == {"assignment": mine["id"]}


def test_a_token_outlives_its_only_project_and_opens_none(project, ana):
    program = bearer(tokens.issue(user=ana, name="t", projects=[project]).secret)
    ApiToken.objects.update(project_ids=[10**9])  # as after its project was deleted

    assert program.get("/api/projects/").json()["results"] == []


@pytest.mark.parametrize(
    "wish",
    [
        {"scopes": []},
        {"scopes": ["read", "everything"]},
        {"days": 0},
        {"days": 366},
    ],
)
def test_no_token_has_scopes_or_days_that_there_are_not(project, ana, olga, wish):
    with pytest.raises(tokens.TokenRefused):
        tokens.issue(user=ana, name="t", **wish)
    with pytest.raises(tokens.TokenRefused):  # nor is it limited to a project of others
        tokens.issue(user=olga, name="t", projects=[project])


def test_the_form_offers_own_projects_and_makes_what_was_chosen(project, ana, annotator):
    factories.make_project("secrets-of-others").memberships.filter(user=ana).delete()
    shown = page(annotator, "/tokens/")

    annotator.post("/tokens/", NIGHTLY | {"projects": [project.pk]})

    assert "Secrets-Of-Others" not in shown
    token = ApiToken.objects.get()
    assert (token.scopes, token.project_ids) == (["read", "label"], [project.pk])
    assert token.expires_at - token.created_at > timedelta(days=29)
