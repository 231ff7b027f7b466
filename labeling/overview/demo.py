"""The demo project, loaded through the same services that people use."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID, uuid5

from django.contrib.auth.models import User
from django.db import transaction

from labeling.agreement.matching.similarity import Ruler
from labeling.conversations.conversations import import_files
from labeling.gold import gold, reopenings
from labeling.models import Assignment, GoldRelease, Membership, Project, Round
from labeling.schema import DEFAULT_LAYER, LAYERS
from labeling.settling import adjudications, processing
from labeling.work import annotations, guidelines, rounds

SEED = 7
FIRST_ROUND = (
    "The first calibration round was labeled under version 1, before its disagreements led to "
    "version 2. It stays in this release; nobody has labeled it again."
)
_NAMES = UUID("6f1d1c5e-5a0e-4c43-8a39-6b1f6a7d0c11")  # for repeatable client ids


Described = dict[str, Any]
"""What a file of the demo says of a person, the project, a round or an answer."""


def people(folder: Path) -> list[Described]:
    """The demo accounts, with their passwords in plain text: the demo is not secret."""
    accounts: list[Described] = json.loads((folder / "people.json").read_text())
    return accounts


@transaction.atomic
def load(folder: Path, *, ruler: Ruler) -> GoldRelease | None:
    """Load everything, or do nothing if the demo project is there already."""
    described: Described = json.loads((folder / "project.json").read_text())
    if Project.objects.filter(slug=described["slug"]).exists():
        return None
    users = _accounts(folder)
    project = _project(folder, described, users)
    for each in described["rounds"]:
        _catch_up_guidelines(folder, project, each["guideline"], by=users["rita"])
        opened = _round(project, each, users)
        _answers(folder, opened)
        processing.process(project, ruler=lambda: ruler)
    for decided in _lines(folder / "adjudicated.jsonl"):
        adjudications.decide(
            conversation=project.conversations.get(external_id=decided["id"]),
            layer=DEFAULT_LAYER,
            payload={LAYERS[DEFAULT_LAYER].key: decided["requirements"]},
            reason=decided["reason"],
            by=users["rita"],
        )
    release = gold.freeze(
        project=project,
        layer=DEFAULT_LAYER,
        ruler=ruler,
        message="First release, from three rounds",
        waive={"superseded": FIRST_ROUND},
        by=users["rita"],
    )
    _doubt(release, by=users["noor"])
    return release


def _doubt(release: GoldRelease, *, by: User) -> None:
    """One about a label that cites several messages, for Rita to answer and decide."""
    for item in release.items.exclude(split="test"):
        for label in item.content["gold"][LAYERS[DEFAULT_LAYER].key]:
            if len(sources := label["source_messages"]) > 1:
                reopenings.ask(
                    item=item,
                    layer=DEFAULT_LAYER,
                    uid=label["uid"],
                    proposal={**label, "source_messages": sources[:1]},
                    reason="The later message only agrees with the first.",
                    by=by,
                )
                return


def _accounts(folder: Path) -> dict[str, User]:
    """The people; somebody who exists keeps their password."""
    users = {}
    for person in people(folder):
        first, _, last = person["full_name"].partition(" ")
        user, created = User.objects.get_or_create(
            username=person["username"],
            defaults={
                "first_name": first,
                "last_name": last,
                "is_staff": person["is_staff"],
                "is_superuser": person["is_superuser"],
            },
        )
        if created:
            user.set_password(person["password"])
            user.save()
        users[user.username] = user
    return users


def _project(folder: Path, described: Described, users: dict[str, User]) -> Project:
    project = Project.objects.create(
        slug=described["slug"],
        name=described["name"],
        layers=described["layers"],
        kappa_threshold=described["kappa_threshold"],
        kappa_statistic=described["kappa_statistic"],
        overlap=described["overlap"],
    )
    Membership.objects.bulk_create(
        Membership(project=project, user=users[person["username"]], role=role)
        for person in people(folder)
        for role in person["roles"]
    )
    with (folder / "conversations.jsonl").open("rb") as file:
        import_files(project_slug=project.slug, files=[("conversations.jsonl", file)])
    return project


def _catch_up_guidelines(folder: Path, project: Project, version: int, *, by: User) -> None:
    newest = project.guidelines.first()
    for number in range(newest.version + 1 if newest else 1, version + 1):
        guidelines.add_version(
            project=project,
            body=(folder / f"guidelines-v{number}.md").read_text(),
            summary="First version" if number == 1 else "What round 1 disagreed on",
            by=by,
            base_version=number - 1,
        )


def _round(project: Project, described: Described, users: dict[str, User]) -> Round:
    return rounds.open_round(
        project=project,
        kind=described["kind"],
        by=users["rita"],
        conversations=project.conversations.filter(external_id__in=described["conversations"]),
        annotators=[users[name] for name in described["annotators"]],
        seed=SEED,
    )


def _answers(folder: Path, opened: Round) -> None:
    """The answers of the three in this round; everything else remains to be labeled."""
    for assignment in opened.assignments.select_related(
        "round__project", "conversation", "annotator"
    ):
        path = folder / "labels" / f"{assignment.annotator.username}.jsonl"
        for line in _lines(path):
            if (line["id"], line["round"]) == (assignment.conversation.external_id, opened.number):
                _answer(assignment, line)


def _answer(assignment: Assignment, line: Described) -> None:
    save = annotations.Save(
        base_version=0,
        client=uuid5(_NAMES, str(assignment)),
        seq=1,
        payload={"requirements": line.get("requirements", [])},
        empty=line.get("empty", False),
        active_seconds=line.get("active_seconds", 0),
    )
    if "skipped" in line:
        annotations.skip(assignment, save, reason=line["skipped"])
    else:
        annotations.submit(assignment, save)


def _lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
