"""Who gets in where. Every URL of ours has a row; a new one without a row fails."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from evaluation.models import Run
from labeling.core import tokens
from labeling.core.api.base import WRITING, ApiView
from labeling.core.rules.scopes import Scope
from labeling.models import Project
from tests import everything, factories

ALL = ("anonymous", "olga", "ana", "noor", "rita")


class Row(NamedTuple):
    """The status each person gets: not signed in, a stranger, an annotator, a researcher, a lead.

    The annotator is the owner of the assignment in the URL. ``post`` marks what only accepts POST.
    """

    anonymous: int
    olga: int
    ana: int
    noor: int
    rita: int
    post: bool = False


EVERYBODY = Row(302, 200, 200, 200, 200)
MEMBERS = Row(302, 404, 200, 200, 200)
READERS = Row(302, 404, 404, 200, 200)
API_EVERYBODY = Row(403, 200, 200, 200, 200)
API_READERS = Row(403, 404, 404, 200, 200)

EXPECTED = {
    # open to the world
    "sign-in": Row(200, 302, 302, 302, 302),
    "password-forgotten": Row(200, 200, 200, 200, 200),
    "password-set": Row(200, 200, 200, 200, 200),  # the page says that the link is over
    "healthz": Row(200, 200, 200, 200, 200),
    "status": Row(302, 403, 403, 403, 403),  # administrators
    "api-status": Row(403, 403, 403, 403, 403),
    "components": Row(302, 403, 403, 403, 403),  # staff
    "metrics": Row(403, 403, 403, 403, 403),  # this machine, and who has the key
    "readyz": Row(503, 503, 503, 503, 503),  # no worker is at work
    "set-language": Row(302, 302, 302, 302, 302, post=True),
    "invitation": Row(200, 200, 200, 200, 200),  # to whoever has its link
    # anybody signed in; each sees their own
    "home": EVERYBODY,
    "docs": EVERYBODY,
    "docs-page": EVERYBODY,
    "projects": EVERYBODY,
    "tokens": EVERYBODY,
    "token-revoke": Row(302, 404, 200, 404, 404),
    "account": EVERYBODY,
    "password-change": EVERYBODY,
    "admin-sign-in": Row(302, 302, 302, 302, 302),
    "sign-out": Row(302, 302, 302, 302, 302, post=True),
    "next-sample": Row(302, 302, 302, 302, 302, post=True),
    "project-new": Row(302, 403, 403, 403, 200),
    # the annotator's own work
    "workspace": Row(302, 404, 200, 404, 404),
    "api-annotation": Row(403, 404, 200, 404, 404),
    "api-annotation-conversation": Row(403, 404, 200, 404, 404),
    "api-annotation-submit": Row(403, 404, 400, 404, 404, post=True),
    "api-annotation-skip": Row(403, 404, 400, 404, 404, post=True),
    "api-annotation-reopen": Row(403, 404, 200, 404, 404, post=True),
    "api-annotation-restore": Row(403, 404, 400, 404, 404, post=True),
    "api-annotation-revisions": Row(403, 404, 200, 404, 404),
    "api-annotation-revision": Row(403, 404, 404, 404, 404),  # nothing was saved yet
    "comment-add": Row(302, 404, 404, 403, 302, post=True),
    "comment-reply": Row(302, 404, 302, 403, 302, post=True),
    "comment-resolve": Row(302, 404, 302, 403, 302, post=True),
    "work-comments": Row(302, 404, 200, 404, 404),
    "api-annotation-suggestions": Row(403, 404, 200, 404, 404),
    "api-annotation-first-pass": Row(403, 404, 409, 404, 404, post=True),  # nothing is suggested
    "api-queue": API_EVERYBODY,
    "lease-give-back": Row(302, 404, 302, 404, 404, post=True),
    "api-queue-next": Row(403, 200, 200, 200, 200, post=True),
    # read by everybody in the project
    "guidelines": MEMBERS,
    "guideline": MEMBERS,
    "screening": MEMBERS,
    "disagreements": Row(302, 404, 404, 200, 200),  # of annotators those who answered in it
    "disagreement-comment": Row(302, 404, 404, 403, 302, post=True),  # who answered in it
    # read by researchers and leads
    "calibration": READERS,
    "guideline-worklist": READERS,
    "project": READERS,
    "progress": READERS,
    "members": READERS,
    "audit": READERS,
    "table": READERS,
    "conversations": READERS,
    "checks": READERS,
    "check-person": READERS,
    "labels": READERS,
    "labels-export": READERS,
    "labels-preview": Row(302, 404, 404, 403, 400, post=True),
    "labels-import": Row(302, 404, 404, 403, 400, post=True),
    "conversation": READERS,
    "conversations-import": Row(302, 404, 404, 403, 200),
    "conversations-preview": Row(302, 404, 404, 403, 400, post=True),
    "conversations-store": Row(302, 404, 404, 403, 400, post=True),
    "agreement": READERS,
    "agreement-csv": Row(302, 404, 404, 409, 409),  # not measured yet
    "adjudication": READERS,
    "adjudication-next": Row(302, 404, 404, 302, 302),
    "adjudicate": READERS,
    "reviews": READERS,
    "review-next": Row(302, 404, 404, 302, 302),
    "review": READERS,
    "gold": READERS,
    "gold-release": READERS,
    "gold-compare": READERS,
    "gold-item": READERS,
    "gold-export": READERS,
    "gold-look": READERS,
    "looks": READERS,
    "reopening-new": READERS,
    "reopenings": READERS,
    "reopening": Row(302, 404, 404, 200, 302),  # a lead decides it
    "gold-lint": READERS,
    "gold-corrections": Row(302, 404, 404, 403, 302, post=True),
    "gold-verify": Row(302, 404, 404, 200, 200, post=True),
    "run": READERS,
    "run-case": READERS,
    "run-carry": Row(302, 404, 404, 302, 302, post=True),
    "run-case-reopen": READERS,
    "run-judge": Row(302, 404, 404, 302, 302),  # it has no answers to judge
    "run-case-document": READERS,
    "run-case-document-file": Row(302, 404, 404, 404, 404),  # none is written
    "run-progress": READERS,
    "run-verdict": READERS,
    "run-report": Row(302, 404, 404, 302, 302),  # it has no figures
    "runs": READERS,
    "run-compare": READERS,
    "run-compare-case": READERS,
    "experiment-file": READERS,
    "run-new": READERS,
    "run-planning": READERS,
    "run-note": Row(302, 404, 404, 302, 302, post=True),
    "gold-planning": READERS,
    "run-predictions": READERS,
    "run-control": Row(302, 404, 404, 302, 302, post=True),
    "run-gate": Row(302, 404, 404, 302, 302, post=True),
    "run-baseline": Row(302, 404, 404, 302, 302, post=True),
    "run-ratings": READERS,
    "run-ratings-change": Row(302, 404, 404, 403, 302, post=True),
    "ratings": EVERYBODY,
    "rating": READERS,  # annotators: when they are invited
    "judges": READERS,
    "judge": READERS,
    "rating-store": Row(302, 404, 404, 302, 302, post=True),
    "unmeasured-new": READERS,
    "run-suggest": Row(302, 404, 404, 404, 404, post=True),  # no project is named
    "run-outputs": READERS,
    "run-labels": READERS,
    "run-delete": Row(302, 404, 404, 302, 302, post=True),
    "gate-thresholds": READERS,
    "gate-thresholds-store": Row(302, 404, 404, 403, 302, post=True),
    "primary-metric-store": Row(302, 404, 404, 403, 400, post=True),
    # changed by leads
    "round-new": Row(302, 404, 404, 403, 200),
    "round-close": Row(302, 404, 404, 403, 200),
    "work-move": Row(302, 404, 404, 403, 200),
    "disagreement-decide": Row(302, 404, 404, 403, 302, post=True),
    "disagreement-names": Row(302, 404, 404, 403, 302, post=True),
    "suggestions": READERS,
    "suggestions-ask": Row(302, 404, 404, 403, 302, post=True),
    "suggestions-switch": Row(302, 404, 404, 403, 302, post=True),
    "guideline-check": Row(302, 404, 404, 403, 302, post=True),
    "guideline-new": Row(302, 404, 404, 403, 200),
    "member-remove": Row(302, 404, 404, 403, 200),
    "project-settings": Row(302, 404, 404, 403, 200),
    "people-invite": Row(302, 404, 404, 403, 302, post=True),
    "project-start": READERS,
    "guideline-start": Row(302, 404, 404, 403, 302, post=True),
    "invitation-revoke": Row(302, 404, 404, 403, 302, post=True),
    "gold-freeze": Row(302, 404, 404, 403, 400, post=True),
    "webhooks": Row(302, 404, 404, 403, 200),
    "webhook": Row(302, 404, 404, 403, 200),
    "webhook-resume": Row(302, 404, 404, 403, 302, post=True),
    "webhook-remove": Row(302, 404, 404, 403, 200),
    # the API
    "api-schema": API_EVERYBODY,
    "api-docs": API_EVERYBODY,
    "api-projects": API_EVERYBODY,
    "api-project": API_READERS,
    "api-members": API_READERS,
    "api-member": Row(403, 405, 405, 405, 405),
    "api-conversations": API_READERS,
    "api-conversation": API_READERS,
    "api-answers": API_READERS,
    "api-guidelines": Row(403, 404, 200, 200, 200),
    "api-guideline": Row(403, 404, 200, 200, 200),
    "api-rounds": API_READERS,
    "api-round": API_READERS,
    "api-agreement-ratings": Row(403, 404, 404, 409, 409),  # not measured yet
    "api-adjudications": API_READERS,
    "api-round-close": Row(403, 404, 404, 403, 200, post=True),
    "api-agreement": Row(403, 404, 404, 409, 409),  # not measured yet: a worker was asked
    "api-adjudication": API_READERS,
    "api-review": Row(403, 404, 404, 403, 400, post=True),
    "api-gold": API_EVERYBODY,
    "api-gold-release": API_READERS,
    "api-gold-export": API_READERS,
    "api-gold-verify": Row(403, 404, 404, 200, 200, post=True),
    "api-freezes": API_READERS,
    "api-freeze": Row(403, 404, 404, 404, 404),  # nobody has asked for one
    "api-looks": Row(403, 400, 400, 400, 400, post=True),
    "api-runs": API_READERS,
    "api-run": API_READERS,
    "api-run-cases": API_READERS,
    "api-pipelines": API_READERS,
    "api-run-predictions": Row(403, 404, 404, 400, 400, post=True),
    "api-run-case": API_READERS,
    "api-run-gate": API_READERS,
    "api-run-report": Row(403, 404, 404, 400, 400),  # it has no figures
    "api-compare": Row(403, 404, 404, 400, 400),  # no run is named
    "api-run-control": Row(403, 404, 404, 400, 400, post=True),
}


def our_url_names(patterns: Any = None) -> set[str]:
    """Every named URL below our own modules; the admin has its own test."""
    names = set()
    for pattern in patterns or get_resolver().url_patterns:
        if isinstance(pattern, URLPattern):
            names.add(str(pattern.name))
        elif isinstance(pattern, URLResolver) and pattern.app_name != "admin":
            names |= our_url_names(pattern.url_patterns)
    return names


def test_every_url_has_a_row() -> None:
    assert our_url_names() == set(EXPECTED)


@pytest.fixture
def addresses(project: Project, people: dict[str, User]) -> dict[str, list[Any]]:
    return everything.addresses(project, people)


def test_everybody_gets_what_the_table_says(addresses, people):
    """First what is only read; before each post the person signs in again."""
    given = {}
    readers = {who: _client(people.get(who)) for who in ALL}
    for name, row in sorted(EXPECTED.items(), key=lambda entry: entry[1].post):
        url = reverse(name, args=addresses.get(name, []))
        answers = [
            _client(people.get(who)).post(url, {}, "application/json")
            if row.post
            else readers[who].get(url)
            for who in ALL
        ]
        given[name] = Row(*[int(answer.status_code) for answer in answers], post=row.post)

    assert given == EXPECTED


def _client(user: User | None) -> Client:
    client = Client()
    if user:
        client.force_login(user)
    return client


def test_who_is_not_signed_in_is_sent_to_sign_in(addresses, client):
    for name in (name for name, row in EXPECTED.items() if row.anonymous == 302):
        if name == "set-language":  # also for who has not signed in yet
            continue
        response = client.get(reverse(name, args=addresses.get(name, [])))
        assert response.url.startswith("/sign-in/"), name


def test_a_project_shows_nothing_of_another(addresses, people):
    """Objects are looked up inside the project that the URL names, not among all of them."""
    other = factories.make_project("other")
    client = Client()
    client.force_login(people["rita"])
    for name in (
        "conversation",
        "member-remove",
        "gold-release",
        "gold-item",
        "gold-compare",
        "gold-export",
        "gold-look",
        "webhook",
        "webhook-remove",
    ):
        url = reverse(name, args=[other.slug, *addresses[name][1:]])
        assert client.get(url).status_code == 404, name
    assert Run.objects.count() == 3


def test_a_post_without_its_token_is_refused(addresses, people):
    client = Client(enforce_csrf_checks=True)
    client.force_login(people["rita"])
    for name in (name for name, row in EXPECTED.items() if row.post):
        url = reverse(name, args=addresses.get(name, []))
        assert client.post(url, {}, "application/json").status_code == 403, name


# --- tokens ---------------------------------------------------------------------------------------

NO_VIEWS = {"api-schema", "api-docs"}  # loaded when somebody asks for them


def api_views(patterns: Any = None) -> dict[str, tuple[type[ApiView], list[str]]]:
    """By name the view of each address of the API, and its methods."""
    views: dict[str, Any] = {}
    for pattern in patterns or get_resolver().url_patterns:
        if isinstance(pattern, URLResolver):
            if pattern.app_name != "admin":
                views |= api_views(pattern.url_patterns)
        elif str(pattern.name).startswith("api-") and pattern.name not in NO_VIEWS:
            view: Any = getattr(pattern.callback, "cls", pattern.callback)
            handlers = getattr(pattern.callback, "actions", None) or dir(view)
            methods = [method for method in ("GET", *WRITING) if method.lower() in handlers]
            views[pattern.name] = view, methods
    return views


@pytest.mark.no_database
def test_every_view_of_the_api_says_which_scope_each_method_needs() -> None:
    for name, (view, methods) in api_views().items():
        assert issubclass(view, ApiView), name
        for method in methods:
            assert view.scopes.get(method), (name, method)


def test_a_token_opens_nothing_beyond_its_projects_and_its_scopes(addresses, people):
    other = factories.make_project("other")

    def program(who: str, **limits: Any) -> Client:
        secret = tokens.issue(user=people[who], name="t", **limits).secret
        return Client(headers={"Authorization": f"Bearer {secret}"})

    elsewhere = {who: program(who, projects=[other]) for who in ("ana", "rita")}
    reader = program("rita", scopes=["read"])
    opened, written = [], []
    for name, (view, methods) in api_views().items():
        url, row = reverse(name, args=addresses.get(name, [])), EXPECTED[name]
        for client in elsewhere.values():
            answer = client.post(url, {}, "application/json") if row.post else client.get(url)
            text = b"".join(answer.streaming_content) if answer.streaming else answer.content
            if answer.status_code < 400 and (name in addresses or b"orders" in text):
                opened.append((name, answer.status_code))
        for method in (method for method in methods if method in WRITING):
            answer = reader.generic(method, url, "{}", "application/json")
            if Scope.READ not in view.scopes[method] and answer.status_code != 403:
                written.append((name, method, answer.status_code))
            for client in elsewhere.values():
                answer = client.generic(method, url, "{}", "application/json")
                if name in addresses and answer.status_code not in (403, 404):
                    written.append((name, method, answer.status_code))

    assert (opened, written) == ([], [])


@pytest.mark.parametrize("path", ["/sign-in/", "/api/queue/", "/nothing/here/", "/healthz"])
def test_every_answer_says_what_a_page_may_load(client: Client, path: str) -> None:
    policy = client.get(path)["Content-Security-Policy"]

    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
