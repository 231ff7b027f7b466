"""Whatever is changed of gold, in the database or in a folder, ``assay verify`` names it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from labeling.conversations.rules.transcripts import Message
from labeling.core import audit, events
from labeling.core.models import guards
from labeling.domain.canonical import canonical_json
from labeling.exchange.export import export
from labeling.gold import looks, signing, verification
from labeling.gold.rules import older
from labeling.gold.rules.signatures import Signer, fingerprint, make_key
from labeling.gold.rules.statement import listing, parsed
from labeling.models import (
    Event,
    GoldItem,
    GoldRelease,
    Look,
    LookBudget,
    Project,
    Transcript,
)
from tests import factories

HERE = Path(__file__).parent
FORMAT_2 = HERE / "gold_format_2"
"""One of version 0.3.0, with the events of then."""
KEY_2 = "YXNzYXktdGVzdC1rZXktb2YtZ29sZC1mb3JtYXQtMiE="

STRANGER = Signer(make_key())


def said(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    call_command("verify", **options)
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], **options: Any) -> str:
    with pytest.raises(CommandError) as error:
        call_command("verify", **options)
    return capsys.readouterr().err + str(error.value)


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# --- in the database ------------------------------------------------------------------------------


@pytest.fixture
def release(project: Project, rita: User) -> GoldRelease:
    """The second version; a third one follows. Two looks at test items, with a budget."""
    factories.make_conversations(project, 3)
    project.conversations.update(split="test")
    first = factories.make_release(project, by=rita, message="For the first study")
    budget = {"looks": 5, "reason": "Five are enough"}  # as 0.6.0 set one
    LookBudget.objects.create(project=project, by=rita, **budget)
    events.record("looks.budget_set", project, project=project, actor=rita, **budget)
    sight = looks.Sight(Look.Purpose.EXPORT)
    looks.state(rita, [first], sight, "To publish it")
    looks.record(rita, first, looks.Sight(Look.Purpose.RUN), reason="To measure", n_items=3)
    factories.answer_all(factories.open_full(project, 1))
    return factories.make_release(project, items=1, by=rita)


def change(table: str, pk: int, **columns: Any) -> None:
    """As somebody with full power over the database would."""
    names = ", ".join(f'"{name}" = %s' for name in columns)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET {names} WHERE id = %s", [*columns.values(), pk])


def remove(table: str, pk: int) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {table} WHERE id = %s", [pk])


def item_of(release: GoldRelease) -> GoldItem:
    return release.items.get(item_id="c-002")


def item_changed(release: GoldRelease) -> None:
    item = item_of(release)
    change("labeling_golditem", item.pk, canonical=item.canonical.replace("must", "could"))


def item_with_its_hash(release: GoldRelease) -> None:
    item = item_of(release)
    text = item.canonical.replace("must", "could")
    change("labeling_golditem", item.pk, canonical=text, sha256=sha256(text))


def item_with_all_hashes(release: GoldRelease, signer: Signer | None = None) -> None:
    """Signed anew, if there is a key; the audit log is left as it is."""
    before = item_of(release).sha256
    item_with_its_hash(release)
    listing = release.listing.replace(before, item_of(release).sha256)
    lines = "".join(item.canonical + "\n" for item in release.items.all())
    stated = json.loads(release.header)
    stated["files"] |= {"items.jsonl": sha256(lines), "items.sha256": sha256(listing)}
    columns = {"listing": listing}
    if signer:
        stated["files"]["public_key.pem"] = sha256(signer.public_key)
        stated["key"] = fingerprint(signer.public_key)
        columns["public_key"] = signer.public_key
    header = canonical_json(stated)
    if signer:
        files = {**stated["files"], "manifest.json": sha256(header)}
        columns["signature"] = signer.sign(str(release), files)
    columns |= {"header": header, "sha256": sha256(header)}
    change("labeling_goldrelease", release.pk, **columns)


def unsigned(release: GoldRelease) -> None:
    """Passed off as one of format 1, in other words, with every hash and the event changed."""
    item_with_its_hash(release)
    kept = ("project", "layer", "name", "version", "message", "schema_version", "guideline_version")
    stated = json.loads(release.header)
    header = {name: stated[name] for name in kept}
    hashes = list(release.items.order_by("position").values_list("sha256", flat=True))
    sum_of_all = sha256(canonical_json({"header": header, "items": hashes}))
    nothing = dict.fromkeys(("signature", "public_key", "meaning", "listing"), "")
    columns = {"header": canonical_json(header), "sha256": sum_of_all}
    change("labeling_goldrelease", release.pk, **columns, **nothing)
    event = Event.objects.get(verb="gold.frozen", object_id=str(release.pk))
    data = json.dumps(event.data | {"sha256": sum_of_all})
    change("labeling_event", event.pk, data=data)


def all_unsigned(release: GoldRelease) -> None:
    for each in GoldRelease.objects.order_by("-pk"):
        unsigned(each)


def newest_deleted(release: GoldRelease) -> None:
    release.items.all().delete()
    remove("labeling_goldrelease", release.pk)


def conversation_changed(release: GoldRelease) -> None:
    told = Transcript.objects.filter(conversation=item_of(release).conversation_id)
    told.update(messages=told.get().messages.replace("order", "pizza"))


def event_of(verb: str) -> Event:
    return Event.objects.filter(verb=verb).order_by("pk")[0]


def event_put_in(release: GoldRelease) -> None:
    event = event_of("gold.looked_at")
    remove("labeling_event", event.pk)
    event.data = event.data | {"reason": "To read it"}
    event.save(force_insert=True)


def key_twice(release: GoldRelease) -> None:
    header = release.header.replace('{"agreement"', '{"agreement":null,"agreement"', 1)
    change("labeling_goldrelease", release.pk, header=header, sha256=sha256(header))


DATABASE: dict[str, tuple[Callable[[GoldRelease], object], str]] = {
    "item": (item_changed, "orders@2 c-002: The content does not match its hash"),
    "item with its hash": (item_with_its_hash, "orders@2 c-002: The item fits its hash, but"),
    "item with all hashes": (item_with_all_hashes, "manifest.json is not what was signed"),
    "stranger's signature": (
        lambda release: item_with_all_hashes(release, STRANGER),
        f"Signed with {fingerprint(STRANGER.public_key)}, which is not a key",
    ),
    "not a hash": (
        lambda release: change("labeling_golditem", item_of(release).pk, sha256="zz"),
        "orders@2 c-002: The content does not match its hash",
    ),
    "item removed": (
        lambda release: remove("labeling_golditem", item_of(release).pk),
        "orders@2 c-002: The release has this item, but it is not there",
    ),
    "items moved": (
        lambda release: change("labeling_golditem", item_of(release).pk, position=99),
        "items.jsonl is not what was signed",
    ),
    "split of an item": (
        lambda release: change("labeling_golditem", item_of(release).pk, split="dev"),
        "orders@2 c-002: The item's columns do not match",
    ),
    "conversation": (conversation_changed, "orders@2 c-002: The conversation is not the one"),
    "statement gone": (
        lambda release: change("labeling_goldrelease", release.pk, header="{}"),
        "its statement is gone",
    ),
    "message": (
        lambda release: change("labeling_goldrelease", release.pk, message="x"),
        "“message” is not what the release states",
    ),
    "relabeled": (
        lambda release: change("labeling_goldrelease", release.pk, version=7),
        "“version” is not what the release states",
    ),
    "parent": (
        lambda release: change("labeling_goldrelease", release.pk, parent_id=None),
        "“parent” is not what the release states",
    ),
    "guidelines": (
        lambda release: change("labeling_guideline", release.guideline_id, body="Label nothing."),
        "Version 1 of the guidelines is not the text that was frozen",
    ),
    "equal keys": (key_twice, "its statement is gone"),
    "stripped signature": (
        lambda release: change("labeling_goldrelease", release.pk, signature=""),
        "The signature does not fit",
    ),
    "rewritten as unsigned": (unsigned, "orders@2: Nobody signed it"),
    "all rewritten as unsigned": (all_unsigned, "orders@1: Nobody signed it"),
    "newest release deleted": (newest_deleted, "orders: orders@2 was frozen (event"),
    "event of the freeze": (
        lambda release: change("labeling_event", event_of("gold.frozen").pk, verb="gold.thawed"),
        "orders@1: The audit log does not say that this release was frozen",
    ),
    "look deleted": (
        lambda release: remove("labeling_look", Look.objects.get(purpose="run").pk),
        "orders: A look at orders@1 (event",
    ),
    "look changed": (
        lambda release: change(
            "labeling_look", Look.objects.get(purpose="export").pk, reason="To read it"
        ),
        "orders: A look at orders@1 (event",
    ),
    "budget edited": (
        lambda release: change("labeling_lookbudget", LookBudget.objects.get().pk, looks=500),
        "orders: The budgets of looks are not those that were set",
    ),
    "event changed": (event_put_in, "orders: The audit log up to event"),
    "event removed": (
        lambda release: remove("labeling_event", event_of("round.opened").pk),
        "orders: The audit log up to event",
    ),
}


def test_verify_names_what_somebody_with_the_database_did(release, capsys):
    assert "orders@2 is intact" in said(capsys, project="orders")
    guards.remove(connection)
    for name, (tamper, message) in DATABASE.items():
        before = transaction.savepoint()
        tamper(GoldRelease.objects.get(pk=release.pk))
        assert message in refused(capsys, project="orders"), name
        transaction.savepoint_rollback(before)
    assert "orders@2 is intact" in said(capsys, project="orders")


def test_a_jump_of_the_clock_breaks_nothing(project, capsys):
    early = events.record("round.closed", project, project=project)
    guards.remove(connection)
    change("labeling_event", early.pk, at=early.at + timedelta(days=1))
    events.record("round.closed", project, project=project)
    factories.make_release(project)

    assert "orders@1 is intact: 3 items" in said(capsys, project="orders")


def test_an_event_that_was_committed_late_is_covered_by_the_next_release(release):
    """PostgreSQL shows events when they are committed, in another order than they are numbered."""
    event = event_of("round.opened")
    guards.remove(connection)
    remove("labeling_event", event.pk)
    before = audit.state(release.project)
    event.save(force_insert=True)

    assert event.pk in before["open"]
    assert list(audit.faults(release.project, before)) == []
    after = audit.state(release.project)
    assert after["number"] == before["number"] + 1


def test_a_former_key_stays_trusted_where_the_settings_say_so(release, settings, capsys):
    former = signing.fingerprint()
    settings.GOLD_KEY = make_key()
    assert f"Signed with {former}, which is not a key" in refused(capsys, project="orders")
    assert "is intact" in said(capsys, project="orders", any_key=True)
    assert "is intact" in said(capsys, project="orders", key=[former])

    settings.GOLD_TRUSTED_KEYS = [former]

    assert "is intact" in said(capsys, project="orders")


# --- in a folder ----------------------------------------------------------------------------------


@pytest.fixture
def folder(project: Project, tmp_path: Path) -> Path:
    export(factories.make_release(project), format="native", folder=tmp_path / "orders")
    return tmp_path / "orders"


def edit(name: str, change: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def put(name: str, old: str, new: str) -> Callable[[Path], object]:
    def replaced(content: bytes) -> bytes:
        assert old.encode() in content
        return content.replace(old.encode(), new.encode(), 1)

    return edit(name, replaced)


def state(folder: Path, signer: Signer | None, **stated: Any) -> None:
    """Another manifest with the right hashes, signed by somebody, or by nobody."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8")) | stated
    if signer:
        (folder / "public_key.pem").write_text(signer.public_key)
        manifest["key"] = fingerprint(signer.public_key)
    hashes = [
        (json.loads(line)["item_id"], sha256(line))
        for line in (folder / "items.jsonl").read_text("utf-8").splitlines()
    ]
    (folder / "items.sha256").write_text(listing(hashes), encoding="utf-8")
    files = {path.name: path for path in folder.iterdir()}
    for name in ("manifest.json", "model.sig"):
        files.pop(name, None)
    whole = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    text = canonical_json({**manifest, "files": whole})
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    if signer:
        signed = {**whole, "manifest.json": sha256(text)}
        (folder / "model.sig").write_text(signer.sign("orders@1", signed))
    else:
        (folder / "model.sig").unlink(missing_ok=True)


FOLDER: dict[str, tuple[Callable[[Path], object], str]] = {
    "item": (put("items.jsonl", "must", "could"), "orders@1 c-001: The content does not match"),
    "items as they are said to be": (
        lambda folder: (put("items.jsonl", "must", "could")(folder), state(folder, None)),
        "Nobody signed it",
    ),
    "format dropped": (put("manifest.json", '"format":"assay-gold/3",', ""), "is not the manifest"),
    "format set to the first": (
        put("manifest.json", "assay-gold/3", "assay-gold/1"),
        "is not the manifest",
    ),
    "relabeled": (put("manifest.json", '"version":1', '"version":2'), "manifest.json is not what"),
    "stranger's signature": (
        lambda folder: state(folder, STRANGER, message="Forged"),
        f"Signed with {fingerprint(STRANGER.public_key)}, which is not a key",
    ),
    "stranger's key alone": (
        lambda folder: (folder / "public_key.pem").write_text(STRANGER.public_key),
        "The signature does not fit",
    ),
    "stripped signature": (lambda folder: (folder / "model.sig").unlink(), "Nobody signed it"),
    "key gone": (lambda folder: (folder / "public_key.pem").unlink(), "public_key.pem was signed"),
    "not a hash": (
        edit("items.sha256", lambda content: b"zz" + content[64:]),
        "items.sha256 is not what was signed",
    ),
    "equal keys": (
        put("manifest.json", '"version":1', '"version":1,"version":1'),
        "is not a JSON object, or has a key twice",
    ),
    "equal keys in an item": (put("items.jsonl", '"gold"', '"gold":{},"gold"'), "has no such item"),
    "broken byte": (
        edit("items.jsonl", lambda content: content.replace(b"must", b"mu\xff\xfe", 1)),
        "orders@1 c-001: The content does not match",
    ),
    "case without a line end": (
        edit("items.jsonl", lambda content: content + b'{"item_id":"c-009"}'),
        "orders@1 line 4: The release has no such item",
    ),
    "an item three times": (
        edit("items.jsonl", lambda content: content + content.splitlines(True)[0] * 2),
        "orders@1 c-001: The release has no such item",
    ),
    "item left out": (
        edit("items.jsonl", lambda content: b"".join(content.splitlines(True)[:2])),
        "orders@1 c-003: The release has this item, but it is not there",
    ),
    "lost last line end": (
        edit("items.jsonl", lambda content: content[:-1]),
        "items.jsonl is not what was signed",
    ),
    "guidelines": (edit("guidelines.md", lambda _: b"Label nothing."), "guidelines.md is not what"),
    "another file": (
        lambda folder: (folder / "more.jsonl").write_text("{}"),
        "more.jsonl was not signed",
    ),
    "nonsense": (edit("manifest.json", lambda _: b"[" * 100_000), "is not a JSON object"),
    "bundle of nonsense": (edit("model.sig", lambda _: b'{"a": [1]}'), "signature does not fit"),
}


@pytest.mark.parametrize("name", FOLDER)
def test_verify_names_what_somebody_did_with_a_folder_and_an_import_refuses_it_or_says_who_signed(
    folder, capsys, name
):
    tamper, message = FOLDER[name]
    assert f"intact: 3 items, sha256 {sha256((folder / 'manifest.json').read_text())}" in said(
        capsys, folder=folder
    )
    tamper(folder)
    assert message in refused(capsys, folder=folder)

    options = {"project": "elsewhere", "layer": "extraction"}
    verified = {"Nobody signed it": "unverified"}
    if message.startswith("Signed with"):
        verified[message] = fingerprint(STRANGER.public_key)
    if message not in verified:
        with pytest.raises((CommandError, SystemExit)):
            call_command("import_gold", folder, **options)
        assert not GoldRelease.objects.filter(project__slug="elsewhere").exists()
        return
    call_command("import_gold", folder, **options)
    release = GoldRelease.objects.get(project__slug="elsewhere")
    (source,) = json.loads(release.header)["imported_from"]
    assert (source["release"], source["signed_by"]) == ("orders@1", verified[message])


def test_a_stranger_verifies_a_folder_with_the_tool_of_model_signing(folder, tmp_path):
    tool, key = Path(sys.executable).parent / "model_signing", tmp_path / "publisher.pem"
    key.write_text(signing.signer().public_key)

    def verify() -> subprocess.CompletedProcess[str]:
        options = ["--signature", folder / "model.sig", "--public_key", key]
        command = [tool, "verify", "key", folder, *options]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    assert verify().returncode == 0
    put("items.jsonl", "must", "could")(folder)

    changed = verify()
    assert changed.returncode == 1
    assert "items.jsonl" in changed.stdout + changed.stderr


def test_who_publishes_a_folder_is_known_by_the_key_that_they_told(folder, capsys):
    assert "signed with" in said(capsys, folder=folder, key=[signing.fingerprint().upper()])
    assert "which is not a key" in refused(capsys, folder=folder, key=[""])
    state(folder, STRANGER)
    assert "is intact" in said(capsys, folder=folder, key=[fingerprint(STRANGER.public_key)])
    assert "is intact" in said(capsys, folder=folder, any_key=True)


# --- releases of before 0.4 -----------------------------------------------------------------------


OLD_FOLDER: dict[str, tuple[Callable[[Path], object], str]] = {
    "item": (put("items.jsonl", "must", "could"), "c-001: The content does not match"),
    "relabeled": (put("manifest.json", "orders@1", "orders@2"), "“release” is not what"),
    "statement": (put("statement.json", '"version":1', '"version":2'), "signature does not fit"),
    "hash": (put("manifest.json", '"sha256": "', '"sha256": "x'), "does not match"),
    "signature": (
        edit(
            "manifest.json",
            lambda content: b'"signature": "x'.join(content.rsplit(b'"signature": "', 1)),
        ),
        "signature does not fit",
    ),
    "guidelines": (edit("guidelines.md", lambda _: b"Label nothing."), "Version 1 of the"),
    "line end": (edit("items.jsonl", lambda content: content[:-1]), "items.jsonl is not what"),
    "item left out": (
        edit("items.jsonl", lambda content: b"".join(content.splitlines(True)[:2])),
        "The items are not those that the statement is about",
    ),
}


@pytest.mark.parametrize("name", OLD_FOLDER)
def test_a_folder_of_format_2_is_checked_as_it_was_signed(tmp_path, capsys, db, name):
    tamper, message = OLD_FOLDER[name]
    key = [older.fingerprint(older.public_key_of(KEY_2))]
    assert "orders@1 is intact: 3 items" in said(capsys, folder=FORMAT_2, key=key)
    folder = Path(shutil.copytree(FORMAT_2, tmp_path / "copy"))

    tamper(folder)

    assert message in refused(capsys, folder=folder, key=key)


def stored(project: Project, folder: Path, header: str, **columns: Any) -> GoldRelease:
    """A release as the database of then holds it, after all migrations."""
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    release = GoldRelease.objects.create(
        project=project,
        layer="extraction",
        name="orders",
        version=1,
        guideline=project.guidelines.get(),
        header=header,
        sha256=manifest["sha256"],
        **columns,
    )
    for position, line in enumerate((folder / "items.jsonl").read_text("utf-8").splitlines()):
        content, row = json.loads(line), manifest["items"][position]
        turns = [Message(**message) for message in content["conversation"]]
        conversation = factories.make_talk(project, content["item_id"], turns)
        GoldItem.objects.create(
            release=release, conversation=conversation, position=position, canonical=line, **row
        )
    events.record("gold.frozen", release, project=project, sha256=release.sha256)
    return release


def test_a_release_of_format_2_verifies(project, rita, settings):
    settings.GOLD_KEY = KEY_2
    header = (FORMAT_2 / "statement.json").read_text("utf-8")
    manifest = json.loads((FORMAT_2 / "manifest.json").read_text("utf-8"))
    stated = parsed(header)
    shown = ("meaning", "message", "agreement", "overrides", "left_out", "waivers", "frozen_at")
    columns = {name: stated[name] for name in shown}
    signed = {name: manifest[name] for name in ("signature", "public_key")}
    release = stored(project, FORMAT_2, header, frozen_by=rita, **columns, **signed)
    release.refresh_from_db()
    assert verification.verify(release) == []

    guards.remove(connection)
    item_with_its_hash(release)

    codes = [fault.fact.code for fault in verification.verify(release)]
    assert "verify.items" in codes


# --- what is on record ----------------------------------------------------------------------------


def test_the_page_says_what_came_of_verifying(project, monkeypatch, researcher):
    release = factories.make_release(project)
    address = f"{release.get_absolute_url()}verify/"
    assert "Verified just now" in researcher.post(address).content.decode()

    guards.remove(connection)
    change("labeling_goldrelease", release.pk, message="x")

    shown = researcher.post(address).content.decode()
    assert "Not what was frozen." in shown
    assert "“message” is not what the release states." in shown

    monkeypatch.setattr(verification, "AT_ONCE", 2)
    told = researcher.post(address, follow=True).content.decode()
    assert "the command assay verify checks it" in told
