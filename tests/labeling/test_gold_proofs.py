"""Whatever is changed of a release, in the database or in a file, verify_gold names it."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from labeling import tasks
from labeling.domain.audit_chain import event_text, link_sha256
from labeling.domain.canonical import canonical_json
from labeling.domain.gold.release import release_sha256
from labeling.domain.gold.signatures import Signer, fingerprint, make_key
from labeling.domain.gold.tree import root_of
from labeling.domain.transcripts import Message
from labeling.models import (
    Event,
    EventLink,
    GoldItem,
    GoldRelease,
    Guideline,
    Project,
    ReleaseCheck,
    guards,
)
from labeling.services import audit_chain, events
from labeling.services.exchange.export import export
from labeling.services.exchange.native_files import proof_text
from labeling.services.gold import signing, verification
from labeling.services.gold.verification import verify
from tests import factories

FORMAT_1 = Path(__file__).parent / "gold_format_1"
"""A release that was frozen and exported before releases were signed, with its columns."""

pytestmark = pytest.mark.one_database
FOREIGN = Signer(make_key())


@pytest.fixture
def release(project: Project, rita: Any) -> GoldRelease:
    return factories.make_release(project, by=rita, message="For the first study")


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def change(table: str, pk: int, **columns: Any) -> None:
    """As somebody with full power over the database would."""
    guards.remove(connection)
    names = ", ".join(f'"{name}" = %s' for name in columns)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE {table} SET {names} WHERE id = %s",
            [*columns.values(), pk],
        )


def forge(release: GoldRelease, signer: Signer | None, **stated: Any) -> None:
    """Another statement with the right hash, signed anew if there is a key."""
    text = canonical_json(json.loads(release.header) | stated)
    columns = {"header": text, "sha256": sha256(text)}
    if signer:
        columns |= {"signature": signer.sign(text), "public_key": signer.public_key}
    change("labeling_goldrelease", release.pk, **columns)


def forge_item(release: GoldRelease, signer: Signer | None = None) -> GoldItem:
    """The second item in other words, with its hash and the root recomputed."""
    item = release.items.get(position=1)
    text = item.canonical.replace("must", "could")
    columns = {"canonical": text, "sha256": sha256(text)}
    if signer:
        columns["signature"] = signer.sign_item(columns["sha256"])
    change("labeling_golditem", item.pk, **columns)
    return item


def named(release: GoldRelease) -> set[tuple[str, str]]:
    """The faults as pairs of an item and a code, with the column where one is named."""
    faults = verify(GoldRelease.objects.get(pk=release.pk))
    return {
        (fault.item_id, str(fault.fact.values.get("column", fault.fact.code))) for fault in faults
    }


# --- in the database ------------------------------------------------------------------------------


@pytest.mark.postgres
def test_an_intact_release_has_no_fault(release: GoldRelease) -> None:
    assert named(release) == set()


def test_a_forged_item_with_all_hashes_recomputed_is_named(release: GoldRelease) -> None:
    item = forge_item(release)
    root = root_of(release.items.order_by("position").values_list("sha256", flat=True))
    forge(release, None, root=root)

    assert named(release) == {
        (item.item_id, "verify.forged"),
        ("", "verify.signature"),
        ("", "verify.event_hash"),
    }


def test_a_release_that_somebody_else_signed_is_named_with_their_key(release: GoldRelease) -> None:
    for item in release.items.all():
        change("labeling_golditem", item.pk, signature=FOREIGN.sign_item(item.sha256))
    forge_item(release, FOREIGN)
    root = root_of(release.items.order_by("position").values_list("sha256", flat=True))
    forge(release, FOREIGN, root=root, key=fingerprint(FOREIGN.public_key))

    assert named(release) == {("", "verify.unknown_key"), ("", "verify.event_hash")}


def test_the_signature_of_another_release_is_named(release: GoldRelease) -> None:
    factories.answer_all(factories.open_full(release.project, 1))
    following = factories.make_release(release.project, items=1)
    change("labeling_goldrelease", release.pk, signature=following.signature)

    assert named(release) == {("", "verify.signature")}
    assert named(following) == set()


def test_a_signature_of_another_key_than_the_statement_names_is_named(release: GoldRelease) -> None:
    change(
        "labeling_goldrelease",
        release.pk,
        signature=FOREIGN.sign(release.header),
        public_key=FOREIGN.public_key,
    )

    assert ("", "verify.other_key") in named(release)


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("message", "For another study"),
        ("name", "other"),
        ("layer", "arc"),
        ("version", 7),
        ("meaning", "9.0.0"),
        ("agreement", '{"rounds": []}'),
        ("overrides", "[]"),
        ("left_out", '[{"conversation": "c-009", "reason": {"code": "a.b", "values": {}}}]'),
        ("waivers", '[{"key": "x", "reason": "y", "by": null}]'),
        ("frozen_at", "2020-01-01 00:00:00+00:00"),
    ],
)
def test_every_column_that_pages_show_is_compared(
    release: GoldRelease, column: str, value: Any
) -> None:
    change("labeling_goldrelease", release.pk, **{column: value})

    assert named(release) == {("", column)}


def test_who_froze_it_what_came_before_and_the_guidelines_are_compared(
    release: GoldRelease, ana: Any
) -> None:
    other = Guideline.objects.create(project=release.project, version=2, body="Something else")
    foreign = factories.make_release(factories.make_project("other"), items=1)
    change(
        "labeling_goldrelease",
        release.pk,
        frozen_by_id=ana.pk,
        parent_id=foreign.pk,
        guideline_id=other.pk,
        project_id=foreign.project_id,
    )

    assert {("", "frozen_by"), ("", "parent"), ("", "guideline_version"), ("", "project")} <= named(
        release
    )


def test_conversations_and_guidelines_of_another_project_are_named(release: GoldRelease) -> None:
    """They say the same, and are shown to other people."""
    other = factories.make_project("other")
    first = release.items.get(position=0)
    change("labeling_conversation", first.conversation_id, project_id=other.pk)
    change("labeling_goldrelease", release.pk, guideline_id=other.guidelines.get(version=1).pk)

    assert named(release) == {(first.item_id, "verify.conversation"), ("", "verify.guideline")}


def test_a_rewritten_guideline_is_named_by_its_version(release: GoldRelease) -> None:
    change("labeling_guideline", release.guideline_id, body="Label nothing.")

    [fault] = verify(release)
    assert (fault.fact.code, fault.fact.values["version"]) == ("verify.guideline", 1)


def test_a_parent_that_was_changed_no_longer_is_the_parent(release: GoldRelease) -> None:
    factories.answer_all(factories.open_full(release.project, 1))
    following = factories.make_release(release.project, items=1)
    forge(release, None, message="x")

    assert ("", "parent") in named(following)


def test_an_item_of_another_release_in_its_place_is_noticed(release: GoldRelease) -> None:
    """It is signed, but it is not in the tree."""
    other = factories.make_release(factories.make_project("other"), items=1, sources=(1,))
    mine, theirs = release.items.get(position=0), other.items.get()
    change(
        "labeling_golditem",
        mine.pk,
        canonical=theirs.canonical,
        sha256=theirs.sha256,
        signature=theirs.signature,
    )

    assert ("", "verify.tree") in named(release)


def test_a_signed_release_cannot_pass_as_an_old_one(release: GoldRelease) -> None:
    change("labeling_goldrelease", release.pk, header="{}")
    assert ("", "verify.format") in named(release)

    columns = {"signature": "", "public_key": "", "meaning": ""}
    change("labeling_goldrelease", release.pk, **columns)
    assert ("", "verify.event_hash") not in named(release)  # its hash is as it was …
    assert ("", "verify.release_hash") in named(release)  # … and so is no longer that of its text


def unsign(release: GoldRelease) -> None:
    """Pass a release off as one of format 1, in other words, with every hash computed again."""
    forge_item(release)
    stated = json.loads(release.header)
    header = {name: stated[name] for name in stated.keys() - {"format", "meaning"}}
    hashes = list(release.items.order_by("position").values_list("sha256", flat=True))
    columns = {"header": canonical_json(header), "sha256": release_sha256(header, hashes)}
    nothing = dict.fromkeys(("signature", "public_key", "meaning"), "")
    change("labeling_goldrelease", release.pk, **columns, **nothing)
    for item in release.items.all():
        change("labeling_golditem", item.pk, signature="")
    event = Event.objects.get(verb="gold.frozen", object_id=str(release.pk))
    data = event.data | {"sha256": columns["sha256"]}
    change("labeling_event", event.pk, data=json.dumps(data))
    [record] = audit_chain._records(Event.objects.filter(pk=event.pk))
    link = EventLink.objects.get(event=event)
    link.sha256 = link_sha256(link.previous, event_text(record))
    link.save()


def test_an_unsigned_copy_of_a_signed_release_is_not_what_a_key_was_named_for(
    release: GoldRelease, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing was written since: only who knows the key, or another copy, can tell."""
    unsign(release)
    assert named(release) == set()

    call_command("verify_gold", "orders")
    assert "It is not signed" in capsys.readouterr().out
    assert "which is not signed" in refused(capsys, "orders", key=signing.fingerprint())


def test_an_unsigned_copy_is_named_by_the_link_after_it(release: GoldRelease) -> None:
    events.record("round.closed", release.project, project=release.project)
    audit_chain.link_events()
    unsign(release)

    assert named(release) == {("", "audit.link_broken")}


def test_an_unsigned_release_after_signed_ones_is_named(release: GoldRelease) -> None:
    factories.answer_all(factories.open_full(release.project, 1))
    following = factories.make_release(release.project, items=3)
    unsign(following)

    assert named(following) == {("", "verify.format")}


def test_a_release_that_the_audit_log_does_not_know_is_named(release: GoldRelease) -> None:
    event = Event.objects.get(verb="gold.frozen")
    change("labeling_event", event.pk, verb="gold.thawed")

    assert named(release) == {("", "verify.no_event")}


def test_former_keys_stay_trusted_where_the_settings_say_so(
    release: GoldRelease, settings: Any
) -> None:
    former = signing.fingerprint()
    settings.GOLD_KEY = make_key()
    assert named(release) == {("", "verify.unknown_key")}

    settings.GOLD_TRUSTED_KEYS = [former]

    assert named(release) == set()


def test_the_command_holds_a_release_to_the_key_that_was_told(
    release: GoldRelease, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("verify_gold", "orders@1.0.0", key=signing.fingerprint())

    with pytest.raises(CommandError, match="is not intact: 1 fault"):
        call_command("verify_gold", "orders", key="0" * 64)
    assert f"Signed with {signing.fingerprint()}" in capsys.readouterr().err


# --- in a folder ----------------------------------------------------------------------------------


@pytest.fixture
def folder(release: GoldRelease, tmp_path: Path) -> Path:
    export(release, format="native", folder=tmp_path)
    return tmp_path


def edit(path: Path, change: Callable[[Any], Any]) -> None:
    document = change(json.loads(path.read_text("utf-8")))
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def refused(capsys: pytest.CaptureFixture[str], *arguments: Any, **options: Any) -> str:
    with pytest.raises(CommandError, match="is not intact"):
        call_command("verify_gold", *map(str, arguments), **options)
    return capsys.readouterr().err


def test_a_folder_is_checked_with_its_signature(
    release: GoldRelease, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("verify_gold", str(folder))

    assert capsys.readouterr().out == (
        f"orders@1 is intact: 3 items, sha256 {release.sha256}\n"
        f"Signed with {signing.fingerprint()}, a key that this installation trusts.\n"
    )


def test_an_edited_item_of_a_folder_is_named(folder: Path, capsys: Any) -> None:
    items = folder / "items.jsonl"
    first, second, third = items.read_text("utf-8").splitlines()
    items.write_text("\n".join([first, second.replace("must", "could"), third, ""]))

    errors = refused(capsys, folder)

    assert "orders@1 c-002: The content does not match its hash" in errors
    assert "c-001" not in errors
    assert "do not lead to the root" in errors


def test_an_item_of_a_folder_that_was_forged_with_its_hash_is_named(
    folder: Path, capsys: Any
) -> None:
    items, changed = folder / "items.jsonl", ""
    first, second, third = items.read_text("utf-8").splitlines()
    changed = second.replace("must", "could")
    items.write_text("\n".join([first, changed, third, ""]))
    edit(
        folder / "manifest.json",
        lambda manifest: (
            manifest
            | {
                "items": [
                    row | ({"sha256": sha256(changed)} if row["item_id"] == "c-002" else {})
                    for row in manifest["items"]
                ]
            }
        ),
    )

    assert "orders@1 c-002: The item fits its hash, but the hash was never signed" in refused(
        capsys, folder
    )


def test_dropped_added_and_swapped_items_of_a_folder_are_named(folder: Path, capsys: Any) -> None:
    items = folder / "items.jsonl"
    first, second, third = items.read_text("utf-8").splitlines()

    items.write_text("\n".join([first, third, ""]))
    assert "c-002: The manifest names this item, but it is not there" in refused(capsys, folder)
    items.write_text("\n".join([first, second, second, third, ""]))
    assert "c-002: The manifest does not name this item" in refused(capsys, folder)
    items.write_text("\n".join([second, first, third, ""]))
    assert refused(capsys, folder).count("orders@1") == 1  # the tree alone: both are themselves


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("manifest.json", {"sha256": "0" * 64}, "does not match the release's hash"),
        ("manifest.json", {"release": "orders@2"}, "“release” is not what"),
        ("manifest.json", {"signature": ""}, "The signature does not fit"),
        ("manifest.json", {"public_key": FOREIGN.public_key}, "The signature does not fit"),
        (
            "manifest.json",
            {"left_out": [{"conversation": "c-009", "reason": "x", "code": "a.b"}]},
            "“left_out” is not what",
        ),
        ("statement.json", {"message": "For another study"}, "The signature does not fit"),
    ],
)
def test_an_edited_manifest_or_statement_is_named(
    folder: Path, capsys: Any, file: str, changes: dict[str, Any], message: str
) -> None:
    edit(folder / file, lambda document: document | changes)

    assert message in refused(capsys, folder)


def test_edited_guidelines_of_a_folder_are_named(folder: Path, capsys: Any) -> None:
    (folder / "guidelines.md").write_text("Label nothing.")
    assert "Version 1 of the guidelines is not the text that was frozen" in refused(capsys, folder)

    (folder / "guidelines.md").unlink()
    assert "Version 1 of the guidelines" in refused(capsys, folder)


def test_a_folder_that_somebody_else_signed_is_known_by_the_key(
    release: GoldRelease, folder: Path, capsys: Any
) -> None:
    text = canonical_json(
        json.loads(release.header) | {"key": fingerprint(FOREIGN.public_key), "message": "Forged"}
    )
    (folder / "statement.json").write_text(text, encoding="utf-8")
    edit(
        folder / "manifest.json",
        lambda manifest: (
            manifest
            | {
                "sha256": sha256(text),
                "signature": FOREIGN.sign(text),
                "public_key": FOREIGN.public_key,
                "items": [
                    row | {"signature": FOREIGN.sign_item(row["sha256"])}
                    for row in manifest["items"]
                ],
            }
        ),
    )

    call_command("verify_gold", str(folder))
    assert "which this installation does not know" in capsys.readouterr().out
    errors = refused(capsys, folder, key=signing.fingerprint())
    assert f"Signed with {fingerprint(FOREIGN.public_key)}, which is not a key" in errors


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, '{"format": "assay-gold/9"}'])
def test_what_is_not_an_export_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "manifest.json").write_text(text)

    with pytest.raises(CommandError, match=r"manifest\.json is not"):
        call_command("verify_gold", str(tmp_path))


def test_a_file_full_of_something_else_ends_in_faults_and_not_in_a_traceback(
    folder: Path, capsys: Any
) -> None:
    """Signed by a stranger, so that every check of the shape is reached."""
    item = canonical_json({"item_id": 7, "gold": [1], "given": "x", "provenance": {"how": []}})
    text = canonical_json({"guidelines": [{"version": "x"}, 3], "left_out": 7, "items": "many"})
    (folder / "items.jsonl").write_text(item + "\n\n{\n")
    (folder / "statement.json").write_text(text)
    document = {
        "format": "assay-gold/2",
        "sha256": sha256(text),
        "signature": FOREIGN.sign(text),
        "public_key": FOREIGN.public_key,
        "left_out": "x",
        "items": [
            {"sha256": sha256(item), "signature": FOREIGN.sign_item(sha256(item))},
            "x",
            {"item_id": "c-001"},
        ],
    }
    edit(folder / "manifest.json", lambda _: document)

    assert "not of the shape" in refused(capsys, folder)


# --- one item -------------------------------------------------------------------------------------


@pytest.fixture
def proof(release: GoldRelease, tmp_path: Path) -> Path:
    path = tmp_path / "c-002.proof.json"
    call_command("export_gold", "orders", item="c-002", output=path)
    return path


def test_one_item_is_proven_alone(release: GoldRelease, proof: Path, capsys: Any) -> None:
    call_command("verify_gold", proof=proof)

    assert f"c-002 is in orders@1, sha256 {release.sha256}" in capsys.readouterr().out
    document = json.loads(proof.read_text("utf-8"))
    assert "c-001" not in document["item"]
    assert len(document["path"]) == 2  # three items: two levels


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"position": 0}, "c-002: The item is not in the release"),
        ({"path": []}, "c-002: The item is not in the release"),
        ({"release": "orders@2"}, "“release” is not what"),
        ({"signature": "x"}, "The signature does not fit"),
        ({"statement": "{}"}, "The signature does not fit"),
        ({"format": "x"}, "This is not the proof of an item"),
        ({"path": ["zz"]}, "This is not the proof of an item"),
    ],
)
def test_a_proof_proves_nothing_else(
    proof: Path, capsys: Any, changes: dict[str, Any], message: str
) -> None:
    edit(proof, lambda document: document | changes)

    assert message in refused(capsys, proof=proof)


def test_an_item_in_other_words_is_not_proven(proof: Path, capsys: Any) -> None:
    edit(proof, lambda document: document | {"item": document["item"].replace("must", "could")})

    assert "c-002: The item is not in the release" in refused(capsys, proof=proof)


def test_every_item_of_a_release_can_be_proven(release: GoldRelease, tmp_path: Path) -> None:
    for item in release.items.all():
        path = tmp_path / f"{item.position}.json"
        path.write_text(proof_text(item), encoding="utf-8")
        call_command("verify_gold", proof=path)


def test_the_command_wants_one_thing_to_verify(db: None, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="Name a release, a folder, or a file"):
        call_command("verify_gold")
    with pytest.raises(CommandError, match=r"c\.json cannot be read"):
        call_command("verify_gold", proof=tmp_path / "c.json")


# --- releases of format 1 -------------------------------------------------------------------------


@pytest.fixture
def old(project: Project, rita: Any) -> GoldRelease:
    """The release as the database of then holds it, after all migrations."""
    manifest = json.loads((FORMAT_1 / "manifest.json").read_text("utf-8"))
    columns = json.loads((FORMAT_1 / "columns.json").read_text("utf-8"))
    release = GoldRelease.objects.create(
        project=project,
        layer="extraction",
        name="orders",
        version=1,
        guideline=project.guidelines.get(),
        message=manifest["header"]["message"],
        sha256=manifest["sha256"],
        frozen_by=rita,
        **columns,
    )
    for position, line in enumerate((FORMAT_1 / "items.jsonl").read_text("utf-8").splitlines()):
        content, row = json.loads(line), manifest["items"][position]
        turns = [Message(**message) for message in content["conversation"]]
        conversation = factories.make_talk(project, content["item_id"], turns)
        GoldItem.objects.create(
            release=release, conversation=conversation, position=position, canonical=line, **row
        )
    events.record("gold.frozen", release, project=project, sha256=release.sha256)
    return release


def test_a_release_of_format_1_verifies_by_the_rule_of_then(old: GoldRelease) -> None:
    assert named(old) == set()


@pytest.mark.parametrize(
    ("column", "value", "code"),
    [
        ("message", "x", "message"),
        ("overrides", "[]", "overrides"),
        ("header", '{"items": 3}', "verify.header"),
        ("sha256", "0" * 64, "verify.release_hash"),
        ("meaning", "1.0.0", "verify.format"),
    ],
)
def test_a_changed_release_of_format_1_is_named(
    old: GoldRelease, column: str, value: str, code: str
) -> None:
    change("labeling_goldrelease", old.pk, **{column: value})

    assert ("", code) in named(old)


DEEP = "[" * 900 + "]" * 900


@pytest.mark.parametrize("value", ["NaN", DEEP], ids=["NaN", "deep"])
def test_values_that_cannot_be_written_down_end_in_faults_and_not_in_a_traceback(
    old: GoldRelease, tmp_path: Path, capsys: Any, value: str
) -> None:
    change("labeling_goldrelease", old.pk, header=f'{{"audit_head":{value},"message":{value}}}')
    assert {("", "verify.release_hash"), ("", "message"), ("", "verify.audit_head")} <= named(old)
    assert list(audit_chain.faults()) == []

    folder = Path(shutil.copytree(FORMAT_1, tmp_path / "copy"))
    text = (folder / "manifest.json").read_text("utf-8").replace('"header":', '"_":', 1)
    (folder / "manifest.json").write_text(text.replace("{", f'{{"header":{{"x":{value}}},', 1))
    assert "The release hash does not match" in refused(capsys, folder)


def test_an_audit_head_too_deep_to_read_does_not_stop_the_check_of_the_log(
    old: GoldRelease,
) -> None:
    deep = "[" * 100_000
    change("labeling_goldrelease", old.pk, header=f'{{"audit_head":{deep}')

    assert list(audit_chain.faults()) == []


def test_a_changed_item_of_format_1_is_named(old: GoldRelease) -> None:
    item = old.items.get(position=1)
    change("labeling_golditem", item.pk, canonical=item.canonical.replace("must", "could"))

    assert named(old) == {(item.item_id, "verify.content")}


def test_an_exported_folder_of_format_1_is_checked(tmp_path: Path, capsys: Any) -> None:
    call_command("verify_gold", str(FORMAT_1))
    assert capsys.readouterr().out.startswith("orders@1 is intact: 3 items")

    folder = Path(shutil.copytree(FORMAT_1, tmp_path / "copy"))
    items = folder / "items.jsonl"
    items.write_text(items.read_text("utf-8").replace("must", "could", 1), encoding="utf-8")
    errors = refused(capsys, folder)
    assert "c-001: The content does not match its hash" in errors
    assert "The release hash does not match" in errors
    assert "not signed" in refused(capsys, FORMAT_1, key="0" * 64)


def test_the_version_after_one_of_format_1_counts_from_its_number(old: GoldRelease) -> None:
    following = factories.make_release(old.project, items=1)

    assert (str(following), following.meaning) == ("orders@2", "1.1.0")
    assert named(following) == set()


def test_an_item_of_format_1_cannot_be_proven_alone(old: GoldRelease, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="none of its items can be proven alone"):
        call_command("export_gold", "orders", item="c-001", output=tmp_path / "proof.json")


# --- checks on record -----------------------------------------------------------------------------


def test_the_page_says_when_a_release_was_verified_last(
    signed_in: Any, noor: Any, release: GoldRelease
) -> None:
    client, address = signed_in(noor), release.get_absolute_url()
    assert "Last verified</dt><dd>never" in client.get(address).content.decode()

    client.post(f"{address}verify/")

    assert ReleaseCheck.objects.get().by == noor
    shown = client.get(address).content.decode()
    assert "by noor" in shown
    assert "Verified just now" not in shown


def test_what_the_command_found_stands_on_the_page(
    signed_in: Any, noor: Any, release: GoldRelease
) -> None:
    change("labeling_goldrelease", release.pk, message="x")
    with pytest.raises(CommandError):
        call_command("verify_gold", "orders")

    shown = signed_in(noor).get(release.get_absolute_url()).content.decode()

    assert "Not what was frozen." in shown
    assert "“message” is not what the release states." in shown


def test_a_large_release_is_verified_by_a_worker(
    signed_in: Any, noor: Any, release: GoldRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "AT_ONCE", 2)
    asked: list[int] = []
    monkeypatch.setattr(verification, "wake", lambda task, pk: not asked.append(pk))

    client, address = signed_in(noor), release.get_absolute_url()
    response = client.post(f"{address}verify/", follow=True)

    assert "A worker is verifying the release" in response.content.decode()
    assert (asked, ReleaseCheck.objects.count()) == ([release.pk], 0)
    tasks.verify_gold(release.pk)
    assert "intact" in client.get(address).content.decode()


def test_a_release_keeps_a_few_faults_and_counts_all(
    release: GoldRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "KEPT", 1)
    for item in release.items.all():
        change("labeling_golditem", item.pk, canonical="{}")

    check = verification.check(release)

    assert (len(check.faults), check.n_faults > 3) == (1, True)


# --- what it needs of the audit log ---------------------------------------------------------------


def test_the_event_of_the_freeze_is_held_to_the_chain(release: GoldRelease) -> None:
    event = Event.objects.get(verb="gold.frozen")
    change("labeling_event", event.pk, data=json.dumps(event.data | {"items": 99}))

    assert named(release) == {("", "audit.event_changed")}


def test_a_log_that_lost_the_end_that_the_statement_names_is_noticed(release: GoldRelease) -> None:
    head = json.loads(release.header)["audit_head"]
    guards.remove(connection)
    EventLink.objects.filter(position=head["position"]).delete()

    assert ("", "verify.audit_head") in named(release)
