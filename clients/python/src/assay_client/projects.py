"""Projects: people, conversations, guidelines, rounds, and what comes of their answers."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Literal

from assay_client import models
from assay_client.adjudications import Adjudications, Disagreements, Reviews
from assay_client.errors import Conflict
from assay_client.gold import Freeze, Freezes, Lint
from assay_client.paging import Rows
from assay_client.part import Part, said
from assay_client.transport import File, uploads
from assay_client.waiting import wait_until

Role = Literal["annotator", "researcher", "lead"]


class Projects(Part):
    def list(self) -> Rows[models.Project]:
        """The projects that you have a role in."""
        return self._rows(self._path("projects"), models.Project.model_validate)

    def create(
        self,
        name: str,
        *,
        slug: str | None = None,
        description: str | None = None,
        layers: Sequence[str] | None = None,
        overlap: int | None = None,
        kappa_threshold: float | None = None,
        kappa_statistic: str | None = None,
        label_f1_threshold: float | None = None,
    ) -> models.Project:
        """A new project, which you lead. What is left out is as the server has it by default."""
        body = said(
            name=name,
            slug=slug,
            description=description,
            layers=layers,
            overlap=overlap,
            kappa_threshold=kappa_threshold,
            kappa_statistic=kappa_statistic,
            label_f1_threshold=label_f1_threshold,
        )
        return models.Project.model_validate(self._transport.post(self._path("projects"), body))

    def get(self, slug: str) -> models.ProjectDetail:
        return self[slug].get()

    def join(self, link: str) -> ProjectPart:
        """Accept an invitation, by its link."""
        joined = self._transport.post(self._path("invitations", "accept"), {"secret": link})
        return self[joined["project"]]

    def __getitem__(self, slug: str) -> ProjectPart:
        return ProjectPart(self._transport, self._path("projects", slug), slug)


class ProjectPart(Part):
    """One project."""

    def __init__(self, transport: Any, root: str, slug: str) -> None:
        super().__init__(transport, root)
        self.slug = slug
        self.members = Members(transport, root)
        self.invitations = Invitations(transport, root)
        self.conversations = Conversations(transport, root)
        self.guidelines = Guidelines(transport, root)
        self.rounds = Rounds(transport, root)
        self.adjudications = Adjudications(transport, root)
        self.reviews = Reviews(transport, root)
        self.freezes = Freezes(transport, root)
        self.lint = Lint(transport, root)
        self.labels = LabelFiles(transport, root)

    def get(self) -> models.ProjectDetail:
        """With its rounds and progress (leads and researchers)."""
        return models.ProjectDetail.model_validate(self._transport.get(self._root))

    def freeze(self, layer: str, **options: Any) -> Freeze:
        """Have a worker freeze what is settled: ``freeze(…).wait()`` is the release (leads)."""
        return self.freezes.ask(layer, **options)

    def gate(self) -> models.SettlingGate:
        """Whether calibration lets full labeling begin."""
        return models.SettlingGate.model_validate(self._transport.get(self._path("gate")))

    def progress(self) -> dict[str, Any]:
        """How far conversations and people are."""
        progress: dict[str, Any] = self._transport.get(self._path("progress"))
        return progress

    def settings(self) -> dict[str, Any]:
        settings: dict[str, Any] = self._transport.get(self._path("settings"))
        return settings

    def change(self, **settings: Any) -> dict[str, Any]:
        """Change settings (leads); they are refused if somebody else has changed them meanwhile."""
        now = self.settings()
        base = {name: now[name] for name in settings if name in now}
        answer = self._transport.patch(self._path("settings"), {**settings, "base": base})
        changed: dict[str, Any] = answer["settings"]
        return changed

    def events(
        self,
        *,
        actor: str | None = None,
        verb: str | None = None,
        object_type: str | None = None,
        object_id: str | None = None,
        since: date | None = None,
        until: date | None = None,
    ) -> Rows[models.Event]:
        """The audit log, newest first."""
        query = said(
            actor=actor,
            verb=verb,
            object_type=object_type,
            object_id=object_id,
            since=since and since.isoformat(),
            until=until and until.isoformat(),
        )
        return self._rows(self._path("events"), models.Event.model_validate, query)

    def status(self) -> models.Status:
        """What workers do and have to do for it."""
        return models.Status.model_validate(self._transport.get(self._path("status")))

    def __repr__(self) -> str:
        return f"<Project {self.slug}>"


class Members(Part):
    def list(self) -> Rows[models.Member]:
        return self._rows(self._path("members"), models.Member.model_validate)

    def get(self, id: int) -> models.MemberDetail:
        """One role, with the open work that goes with it."""
        return models.MemberDetail.model_validate(self._transport.get(self._path("members", id)))

    def add(self, username: str, role: Role) -> models.Member:
        body = {"username": username, "role": role}
        return models.Member.model_validate(self._transport.post(self._path("members"), body))

    def change(self, member: models.Member, role: Role, *, to: str = "") -> models.Member:
        """Another role; open work goes to ``to``, or to the others of its round."""
        body = {"role": role, "to": to}
        path = self._path("members", member.id)
        return models.Member.model_validate(self._transport.patch(path, body))

    def remove(self, member: models.Member, *, to: str = "") -> models.HandedOn:
        path = self._path("members", member.id)
        return models.HandedOn.model_validate(self._transport.delete(path, {"to": to or None}))


class Invitations(Part):
    def list(self) -> Rows[models.Invitation]:
        return self._rows(self._path("invitations"), models.Invitation.model_validate)

    def create(self, role: Role, *, uses: int = 1, days: int | None = None) -> models.NewInvitation:
        """A link for one or several people; it is shown this once."""
        body = said(role=role, uses=uses, days=days)
        path = self._path("invitations")
        return models.NewInvitation.model_validate(self._transport.post(path, body))

    def withdraw(self, invitation: models.Invitation) -> None:
        self._transport.delete(self._path("invitations", invitation.id))


class Conversations(Part):
    def list(
        self,
        *,
        search: str | None = None,
        domain: str | None = None,
        split: str | None = None,
        stage: str | None = None,
    ) -> Rows[models.Conversation]:
        query = said(search=search, domain=domain, split=split, stage=stage)
        return self._rows(self._path("conversations"), models.Conversation.model_validate, query)

    def get(self, id: int) -> models.ConversationDetail:
        """With its messages."""
        path = self._path("conversations", id)
        return models.ConversationDetail.model_validate(self._transport.get(path))

    def answers(self, id: int) -> models.Answers:
        """What everybody answered, side by side (leads and researchers)."""
        path = self._path("conversations", id, "answers")
        return models.Answers.model_validate(self._transport.get(path))

    def store(
        self,
        *files: File,
        format: str | None = None,
        columns: str | None = None,
        roles: str | None = None,
        encoding: str | None = None,
        split: str | None = None,
        dry_run: bool = False,
    ) -> models.Imported:
        """Store the conversations of files, all or none; with ``dry_run`` only say what."""
        fields = said(format=format, columns=columns, roles=roles, encoding=encoding, split=split)
        if dry_run:
            fields["dry_run"] = "true"
        answer = self._transport.upload(self._path("conversations"), uploads(files), fields)
        return models.Imported.model_validate(answer)


class Guidelines(Part):
    def list(self) -> Rows[models.Guideline]:
        """The versions, newest first."""
        return self._rows(self._path("guidelines"), models.Guideline.model_validate)

    def get(self, version: int) -> models.GuidelineDetail:
        path = self._path("guidelines", version)
        return models.GuidelineDetail.model_validate(self._transport.get(path))

    def write(
        self, body: str, summary: str, *, base_version: int, because: Sequence[int] = ()
    ) -> models.Guideline:
        """The next version after ``base_version``, the newest that you know (0: none).

        ``because``: the disagreements that it answers.
        """
        sent = {
            "body": body,
            "summary": summary,
            "base_version": base_version,
            "because": list(because),
        }
        path = self._path("guidelines")
        return models.Guideline.model_validate(self._transport.post(path, sent))


class LabelFiles(Part):
    """Everybody's labels as files."""

    def download(
        self,
        to: str | os.PathLike[str],
        form: Literal["native", "labelstudio"] = "native",
    ) -> Path:
        """All submitted and skipped answers: JSON Lines or JSON."""
        return self._transport.download(self._path("labels"), to, {"form": form})

    def store(
        self,
        file: File,
        *,
        format: str | None = None,
        create_annotators: bool = False,
        reason: str | None = None,
        dry_run: bool = False,
    ) -> models.StoredLabels:
        """Store the answers of a file, all or none (leads); with ``dry_run`` only say what."""
        fields = said(format=format, reason=reason)
        fields |= {
            name: "true"
            for name, is_set in (("create_annotators", create_annotators), ("dry_run", dry_run))
            if is_set
        }
        answer = self._transport.upload(self._path("labels"), uploads([file]), fields)
        return models.StoredLabels.model_validate(answer)


class Rounds(Part):
    def list(self) -> Rows[models.Round]:
        """Newest first."""
        return self._rows(self._path("rounds"), models.Round.model_validate)

    def get(self, number: int) -> models.Round:
        return models.Round.model_validate(self._transport.get(self._path("rounds", number)))

    def open(
        self,
        kind: Literal["calibration", "full"],
        *,
        conversations: Sequence[str] | None = None,
        number: int | None = None,
        same_as: int | None = None,
        annotators: Sequence[str] | None = None,
        overlap: int | None = None,
        pool: bool = False,
        quotas: Mapping[str, int] | None = None,
        percents: Mapping[str, int] | None = None,
        override_reason: str | None = None,
        seed: int = 0,
    ) -> models.Round:
        """Open a round on conversations by id, on ``number`` drawn ones, or on those of a round."""
        body = said(
            kind=kind,
            conversations=conversations,
            number=number,
            same_as=same_as,
            annotators=annotators,
            overlap=overlap,
            pool=pool,
            quotas=quotas,
            percents=percents,
            override_reason=override_reason,
            seed=seed,
        )
        return models.Round.model_validate(self._transport.post(self._path("rounds"), body))

    def plan(self, kind: Literal["calibration", "full"], **options: Any) -> models.RoundPlan:
        """What :meth:`open` would hand out with these options."""
        body = said(kind=kind, dry_run=True, **options)
        answer = self._transport.post(self._path("rounds"), body, again=True)
        return models.RoundPlan.model_validate(answer)

    def add(
        self,
        to: int,
        *,
        conversations: Sequence[str] | None = None,
        number: int | None = None,
        **options: Any,
    ) -> int:
        """Add conversations to open full labeling (leads). Says how many it were."""
        body = said(conversations=conversations, number=number, **options)
        added: int = self._transport.post(self._path("rounds", to, "conversations"), body)["added"]
        return added

    def state_empty(self, number: int, layer: str) -> None:
        """State that nothing was to be found on a layer that nobody used (leads)."""
        self._transport.put(self._path("rounds", number, "layers", layer, "empty"), {})

    def withdraw_empty(self, number: int, layer: str) -> None:
        self._transport.delete(self._path("rounds", number, "layers", layer, "empty"))

    def take_off(self, number: int, layer: str) -> None:
        """Label such a layer no longer in the project (leads)."""
        self._transport.post(self._path("rounds", number, "layers", layer, "off"))

    def ratings(
        self,
        number: int,
        to: str | os.PathLike[str],
        *,
        layer: str | None = None,
        shape: Literal["long", "wide"] = "long",
    ) -> Path:
        """What annotators said, unit by unit, as CSV."""
        path, query = self._path("rounds", number, "agreement", "ratings"), said(layer=layer)
        return self._transport.download(path, to, {**query, "shape": shape})

    def agreement_by_conversation(
        self, number: int, layer: str | None = None
    ) -> Rows[models.ConversationAgreement]:
        """Most disagreement first, once agreement is measured."""
        path = self._path("rounds", number, "agreement", "conversations")
        return self._rows(path, models.ConversationAgreement.model_validate, said(layer=layer))

    def close(self, number: int) -> models.Round:
        """End full labeling."""
        path = self._path("rounds", number, "close")
        return models.Round.model_validate(self._transport.post(path))

    def wait(
        self,
        number: int,
        *,
        timeout: float | None = None,
        progress: Callable[[models.Round], object] | None = None,
    ) -> models.Round:
        """Until a calibration is closed, or every place of full labeling has its answer."""
        return wait_until(
            lambda: self.get(number),
            lambda round: round.is_over,
            what=f"Round {number}",
            timeout=timeout,
            progress=progress,
            sleep=self._transport.sleep,
        )

    def agreement(
        self, number: int, layer: str | None = None, *, timeout: float | None = 60.0
    ) -> models.Agreement:
        """How far annotators agree; waits until a worker has measured the newest answers."""
        path, query = self._path("rounds", number, "agreement"), said(layer=layer)

        def look() -> models.Agreement | None:
            try:
                return models.Agreement.model_validate(self._transport.get(path, query))
            except Conflict as error:
                if error.code != "not_measured":
                    raise
                return None

        measured = wait_until(
            look,
            lambda figures: figures is not None,
            what="Agreement",
            timeout=timeout,
            sleep=self._transport.sleep,
        )
        assert measured is not None
        return measured

    def disagreements(self, number: int) -> Disagreements:
        """What annotators of a closed round marked differently, to be discussed."""
        return Disagreements(self._transport, self._path("rounds", number))
