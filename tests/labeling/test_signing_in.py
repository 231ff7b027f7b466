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
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from labeling.accounts import accounts, invitations, passwords, signing_in
from labeling.accounts.demo_accounts import FOLDER
from labeling.core import tokens
from labeling.models import Event, Membership, Tries
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


@pytest.fixture
def led(people: dict[str, User]) -> Any:
    return factories.make_project()


def test_wrong_passwords_are_followed_by_pauses_that_say_how_long(people: Any) -> None:
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


def test_an_account_that_does_not_exist_gets_the_same_answers(people: Any) -> None:
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


def test_a_stranger_keeps_nobody_out_for_long(people: Any) -> None:
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


def test_tries_are_forgotten_after_an_hour(people: Any) -> None:
    client = Client()
    for _ in range(7):
        sign_in(client)
    Tries.objects.update(last_at=timezone.now() - timedelta(minutes=61), until=None)
    assert [sign_in(client).status_code for _ in range(4)] == [200] * 4


def test_the_administration_has_no_door_of_its_own(people: Any) -> None:
    data = {"username": "admin", "password": RIGHT}
    answer = Client().post("/admin/login/?next=/admin/", data)
    assert answer.status_code == 302
    assert answer["Location"] == "/sign-in/?next=%2Fadmin%2F"


def test_a_demo_account_opens_on_this_machine_alone(people: Any, settings: Any) -> None:
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


def test_who_knows_the_passwords_of_the_demo_fills_no_log(people: Any) -> None:
    person = json.loads((FOLDER / "people.json").read_text())[0]
    far = {"REMOTE_ADDR": "192.0.2.9", "HTTP_HOST": "localhost"}
    answers = [sign_in(Client(), person["username"], person["password"], **far) for _ in range(9)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 4
    assert verbs() == ["sign_in.demo_refused"] * 5 + ["sign_in.throttled"]


def test_a_name_in_capitals_forgives_no_tries_at_another(people: Any) -> None:
    """Somebody signs in as “ANA”, and tries “ana” in between, in the same browser."""
    User.objects.create_user("ANA", password=NEW)
    client = Client()
    tried = []
    for _ in range(3):
        assert sign_in(client, "ANA", NEW).status_code == 302
        client.post("/sign-out/")
        tried += [sign_in(client).status_code for _ in range(2)]
    assert tried == [200] * 5 + [429]


def test_nobody_takes_a_name_that_differs_in_capitals(people: Any, led: Any) -> None:
    link = invitations.invite(project=led, role="annotator", by=people["rita"])
    with pytest.raises(accounts.NameInUse):
        invitations.accept_as_new(link.invitation, username="Rita", password=NEW)


def test_a_new_password_ends_all_other_sessions(people: Any) -> None:
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


def test_whoever_sits_at_an_open_page_tries_a_few_passwords(people: Any) -> None:
    client = Client()
    client.force_login(people["ana"])
    wrong = {"old_password": "x", "new_password1": NEW, "new_password2": NEW}
    answers = [client.post("/account/password/", wrong).status_code for _ in range(6)]
    assert answers == [400] * 5 + [429]


def test_an_administrator_alone_makes_a_link_that_works_once(people: Any, led: Any) -> None:
    lead, staff, ana = Client(), Client(), Client()
    lead.force_login(people["rita"])
    staff.force_login(people["admin"])
    sign_in(ana, password=RIGHT)
    member = Membership.objects.get(project=led, user=people["ana"])
    address = reverse("password-link", args=[led.slug, member.pk])
    assert lead.post(address).status_code == 403
    page = staff.post(address, follow=True).content.decode()
    found = re.search(r'value="(http[^"]*/password/[^"]+)"', page)
    assert found is not None
    assert "/password/" not in staff.get(address).content.decode().replace(address, "")
    link = found[1].split("testserver")[1]
    form = Client()
    shown = form.get(link, follow=True)
    assert "set-password" in shown.redirect_chain[-1][0]  # the secret has left the address
    new = {"new_password1": NEW, "new_password2": NEW}
    assert form.post(shown.redirect_chain[-1][0], new).status_code == 302
    assert ana.get("/").status_code == 302
    assert "This link is over" in Client().get(link, follow=True).content.decode()
    assert sign_in(Client(), password=NEW).status_code == 302
    assert [verb for verb in verbs() if verb.startswith("password")] == [
        "password.link_made",
        "password.set_again",
    ]


@pytest.mark.django_db(transaction=True)
def test_the_owner_gets_a_mail_about_a_link(settings: Any) -> None:
    settings.MAIL_URL = "smtp://mail.example.org"
    people = factories.make_people()
    ana = people["ana"]
    passwords.make_link(ana, by=people["admin"])
    ana.email = "ana@example.org"
    _, token = passwords.make_link(ana, by=people["admin"])
    join_mails()
    assert [message.to for message in mail.outbox] == [["ana@example.org"]]
    assert "admin has made a link" in mail.outbox[0].body
    assert token not in mail.outbox[0].body


def join_mails() -> None:
    for thread in threading.enumerate():
        if thread.name == "mail":
            thread.join()


def ask_to_confirm(user: User, address: str) -> tuple[Client, str]:
    client = Client()
    client.force_login(user)
    client.post("/account/mail/", {"email": address, "password": RIGHT})
    join_mails()
    link = re.search(r"https?://[^/]+(/account/mail/\S+)", mail.outbox[-1].body)
    assert link is not None
    return client, link[1]


def test_an_address_counts_once_its_owner_has_confirmed_it(people: Any, settings: Any) -> None:
    settings.MAIL_URL = "smtp://mail.example.org"
    address = "boss@example.org"
    client, link = ask_to_confirm(people["ben"], address)

    def stored() -> str:
        return User.objects.get(username="ben").email

    boss = Client()
    boss.force_login(people["ana"])  # who gets the mail, and is somebody else
    assert "This link is over" in boss.get(link).content.decode()
    boss.post(link)
    client.get(link)  # a mail program may do that by itself
    assert stored() == ""

    assert client.post(link).status_code == 302
    assert stored() == address
    assert "This link is over" in client.get(link).content.decode()
    client.post("/account/mail/", {"email": "", "password": RIGHT})
    assert stored() == ""
    assert verbs() == ["mail_address.given", "mail_address.changed", "mail_address.changed"]


def test_a_link_is_over_once_another_address_is_stored(people: Any, settings: Any) -> None:
    settings.MAIL_URL = "smtp://mail.example.org"
    client, first = ask_to_confirm(people["ben"], "ben@example.org")
    client, second = ask_to_confirm(people["ben"], "ben@example.com")
    client.post(second)
    client.post(first)
    assert User.objects.get(username="ben").email == "ben@example.com"


def test_without_mail_nobody_gives_an_address_that_is_not_confirmed(people: Any) -> None:
    client = Client()
    client.force_login(people["ben"])
    answer = client.post("/account/mail/", {"email": "ben@example.org", "password": RIGHT})
    assert "sends no mail" in answer.content.decode()
    assert User.objects.get(username="ben").email == ""


def test_nobody_is_sent_mails_without_end_to_confirm(people: Any, settings: Any) -> None:
    settings.MAIL_URL = "smtp://mail.example.org"
    data = {"email": "victim@example.org", "password": RIGHT}
    client = Client()
    client.force_login(people["ana"])
    answers = [client.post("/account/mail/", data) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [302, 302, 302, 429, 429]
    assert "Try again in" in answers[-1].content.decode()
    caller = signing_in.Caller(address="192.0.2.1")
    account, _ = signing_in.counts_of_mail("victim@example.org", caller)
    assert signing_in.begin([account], username="", caller=caller).wait == 0  # of the owner


def test_names_like_an_address_keep_no_mail_from_its_owner(people: Any, settings: Any) -> None:
    address = "ana@example.org"
    for name in (address, address.upper(), address.title()):
        User.objects.create_user(name, email=f"{name[:1]}@example.com", password=RIGHT)
    User.objects.create_user("zoe", email=address, password=RIGHT)
    users = [user.username for user in passwords._reachable(address)]
    assert (users[0], len(users)) == ("zoe", 4)


def test_a_try_that_is_refused_writes_no_row(people: Any) -> None:
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
def test_a_link_comes_by_mail_and_nothing_tells_whether_there_is_an_account(settings: Any) -> None:
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


def test_all_tokens_end_at_once(people: Any) -> None:
    client = Client()
    client.force_login(people["ana"])
    secrets = [tokens.issue(user=people["ana"], name=name).secret for name in "ab"]
    client.post("/tokens/revoke/")
    assert [tokens.use(secret) for secret in secrets] == [None, None]


def test_no_log_line_holds_a_link(settings: Any) -> None:
    from config.logs import OF_OURS

    assert settings.PASSWORD_RESET_TIMEOUT == 24 * 3600
    for path in ("password/MQ/5_d3jv1k", "account/mail/WzJd:1wc"):
        line = f"GET /{path}-0c2b1d8a9e7f6c5b4a39281706f5e4d3/ 302"
        assert "0c2b1d8a" not in OF_OURS.sub("…", line)


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_right_passwords_at_the_same_time_are_all_let_in() -> None:
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
