"""Signing in: counted, noted, and ended; passwords that are changed or forgotten."""

from __future__ import annotations

import json
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.db import connection
from django.test import Client, RequestFactory
from django.utils import timezone

from labeling.accounts import passwords, signing_in
from labeling.accounts.demo_accounts import FOLDER
from labeling.core.views.callers import address_of
from labeling.models import Event, Tries
from tests import factories

pytestmark = pytest.mark.django_db
RIGHT = factories.PASSWORD
NEW = "another-horse-7-battery"


def sign_in(client: Client, name: str = "ana", password: str = "wrong", **extra: Any) -> Any:
    return client.post("/sign-in/", {"username": name, "password": password}, **extra)


def verbs() -> list[str]:
    return list(Event.objects.order_by("pk").values_list("verb", flat=True))


@pytest.fixture
def people() -> dict[str, User]:
    return factories.make_people()


def test_wrong_passwords_are_followed_by_pauses_that_say_how_long(people):
    client = Client()
    answers = [sign_in(client) for _ in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert int(answers[-1]["Retry-After"]) <= 10
    assert "Try again in" in answers[-1].content.decode()
    assert sign_in(client, password=RIGHT).status_code == 429  # not looked at
    Tries.objects.update(until=timezone.now())
    assert sign_in(client, password=RIGHT).status_code == 302
    assert verbs().count("sign_in.failed") == 5
    assert verbs().count("sign_in.throttled") == 1  # once for each pause
    assert verbs()[-1] == "sign_in.succeeded"


def test_an_account_that_does_not_exist_gets_the_same_answers(people):
    seen = []
    for name in ("ana", "nobody-at-all"):
        pages = [sign_in(Client(), name, REMOTE_ADDR=f"192.0.2.{len(name)}") for _ in range(6)]
        bodies = [re.sub(r'value="[^"]*"|in \d+ sec', "", page.content.decode()) for page in pages]
        seen.append([(page.status_code, body) for page, body in zip(pages, bodies, strict=True)])
    assert seen[0] == seen[1]
    failures = Event.objects.filter(verb="sign_in.failed").order_by("pk")
    notes = list(failures.values_list("data", flat=True))
    assert [note.get("user") for note in notes] == ["ana"] * 5 + [None] * 5
    assert not any("nobody" in json.dumps(note) for note in notes)


def test_a_stranger_keeps_nobody_out_for_long(people):
    known = Client()
    assert sign_in(known, password=RIGHT, REMOTE_ADDR="192.0.2.1").status_code == 302
    known.post("/sign-out/")
    for number in range(60):
        sign_in(Client(), REMOTE_ADDR=f"198.51.100.{number}")
        Tries.objects.update(until=None)
    sign_in(Client(), REMOTE_ADDR="198.51.100.77")
    pause = sign_in(Client(), password=RIGHT, REMOTE_ADDR="203.0.113.1")
    assert pause.status_code == 429
    assert int(pause["Retry-After"]) <= 60
    assert sign_in(known, password=RIGHT, REMOTE_ADDR="192.0.2.1").status_code == 302


def test_tries_are_forgotten_after_an_hour(people):
    client = Client()
    for _ in range(7):
        sign_in(client)
    Tries.objects.update(last_at=timezone.now() - timedelta(minutes=61), until=None)
    assert [sign_in(client).status_code for _ in range(4)] == [200] * 4


def test_the_administration_has_no_door_of_its_own(people):
    data = {"username": "admin", "password": RIGHT}
    answer = Client().post("/admin/login/?next=/admin/", data)
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in/?next=%2Fadmin%2F"


def test_a_demo_account_opens_on_this_machine_alone(people, settings):
    person = json.loads((FOLDER / "people.json").read_text())[0]
    name, password = person["username"], person["password"]
    user, _ = User.objects.get_or_create(username=name)
    user.set_password(password)
    user.save()
    far = {"REMOTE_ADDR": "192.0.2.9", "HTTP_HOST": "localhost"}
    here = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost"}
    refused = sign_in(Client(), name, password, **far)
    assert "demo account" in refused.content.decode()
    by_proxy = sign_in(Client(), name, password, HTTP_X_FORWARDED_FOR="192.0.2.9", **here)
    assert "demo account" in by_proxy.content.decode()
    assert verbs() == ["sign_in.demo_refused"] * 2
    assert sign_in(Client(), name, password, **here).status_code == 302
    settings.DEMO_EVERYWHERE = True
    assert sign_in(Client(), name, password, **far).status_code == 302
    settings.DEMO_EVERYWHERE = False
    user.set_password(RIGHT)
    user.save()
    assert sign_in(Client(), name, RIGHT, **far).status_code == 302


def test_who_knows_the_passwords_of_the_demo_fills_no_log(people):
    person = json.loads((FOLDER / "people.json").read_text())[0]
    far = {"REMOTE_ADDR": "192.0.2.9", "HTTP_HOST": "localhost"}
    answers = [sign_in(Client(), person["username"], person["password"], **far) for _ in range(9)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 4
    assert verbs() == ["sign_in.demo_refused"] * 5 + ["sign_in.throttled"]


def test_a_name_in_capitals_forgives_no_tries_at_another(people):
    """Somebody signs in as “ANA”, and tries “ana” in between, in the same browser."""
    User.objects.create_user("ANA", password=NEW)
    client = Client()
    tried = []
    for _ in range(3):
        assert sign_in(client, "ANA", NEW).status_code == 302
        client.post("/sign-out/")
        tried += [sign_in(client).status_code for _ in range(2)]
    assert tried == [200] * 5 + [429]


def test_a_new_password_ends_all_other_sessions(people):
    here, elsewhere = Client(), Client()
    for client in (here, elsewhere):
        sign_in(client, password=RIGHT)
    answer = here.post(
        "/account/password/",
        {"old_password": RIGHT, "new_password1": NEW, "new_password2": NEW},
        follow=True,
    )
    assert "you are signed out everywhere else" in answer.content.decode()
    assert elsewhere.get("/").status_code == 302
    assert here.get("/account/").status_code == 200


def test_whoever_sits_at_an_open_page_tries_a_few_passwords(people):
    client = Client()
    client.force_login(people["ana"])
    wrong = {"old_password": "x", "new_password1": NEW, "new_password2": NEW}
    answers = [client.post("/account/password/", wrong).status_code for _ in range(6)]
    assert answers == [400] * 5 + [429]


def join_mails() -> None:
    for thread in threading.enumerate():
        if thread.name == "mail":
            thread.join()


def test_names_like_an_address_keep_no_mail_from_its_owner(people, settings):
    address = "ana@example.org"
    for name in (address, address.upper(), address.title()):
        User.objects.create_user(name, email=f"{name[:1]}@example.com", password=RIGHT)
    User.objects.create_user("zoe", email=address, password=RIGHT)
    users = [user.username for user in passwords._reachable(address)]
    assert (users[0], len(users)) == ("zoe", 4)


def test_a_try_that_is_refused_writes_no_row(people):
    caller = signing_in.Caller(address="192.0.2.1")

    def tried(name: str) -> int:
        counts = signing_in.counts_of(name, caller)
        return signing_in.begin(counts, username=name, caller=caller).wait

    while not tried(f"nobody-{Tries.objects.count()}"):
        pass
    rows = Tries.objects.count()
    assert all(tried(f"somebody-{n}") for n in range(3))
    assert Tries.objects.count() == rows


@pytest.mark.django_db(transaction=True)
def test_a_link_comes_by_mail_and_nothing_tells_whether_there_is_an_account(settings):
    settings.MAIL_URL = "smtp://mail.example.org"
    people = factories.make_people()
    User.objects.filter(username="ana").update(email="ana@example.org")
    answers = []
    for name in ("ana@example.org", "ben", "nobody"):
        answers.append(Client().post("/password/forgotten/", {"name": name}))
        passwords.send_links(name, lambda parts: "/".join(parts)).join()
    assert {(answer.status_code, answer["Location"]) for answer in answers} == {
        (302, "/password/forgotten/?sent")
    }
    assert {tuple(message.to) for message in mail.outbox} == {("ana@example.org",)}
    code, token = re.findall(r"([^/\s]+)/([^/\s]+-[^/\s]+)/?$", mail.outbox[-1].body, re.M)[-1]
    page = Client().get(f"/password/{code}/{token}/", follow=True)
    assert people["ana"].username in page.content.decode()


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_right_passwords_at_the_same_time_are_all_let_in():
    """Counting, forgiving and forgetting meet in the same rows."""
    caller = signing_in.Caller(address="192.0.2.1")
    counts = signing_in.counts_of("ana", caller)

    def sign_in(_: int) -> None:
        try:
            for _ in range(10):
                ticket = signing_in.begin(counts, username="ana", caller=caller)
                signing_in.succeeded(ticket)
                signing_in.forget()
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(sign_in, range(4)))

    assert signing_in.begin(counts, username="ana", caller=caller).wait == 0


@pytest.mark.parametrize(
    ("remote", "forwarded", "proxies", "address"),
    [
        ("10.0.0.1", "203.0.113.9, 198.51.100.7", 1, "198.51.100.7"),
        ("10.0.0.1", "203.0.113.9", 0, "10.0.0.1"),
        ("10.0.0.1", "203.0.113.9", 2, "10.0.0.1"),
        ("2001:db8::17", "", 0, "2001:db8::"),
        ("::ffff:192.0.2.1", "", 0, "192.0.2.1"),
        ("?", "", 0, ""),
    ],
)
def test_who_calls_is_known_by_what_trusted_proxies_say(
    settings, remote, forwarded, proxies, address
):
    settings.PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR=remote, HTTP_X_FORWARDED_FOR=forwarded)

    assert address_of(request) == address
