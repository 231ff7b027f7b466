"""Who reads and joins the discussion of a round, and what is shown of one disagreement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from labeling.agreement.discussions import UnitPlace, letters_of
from labeling.agreement.rules.disagreements import Split
from labeling.agreement.rules.units import sources_of
from labeling.core import access
from labeling.models import Assignment, Comment, Disagreement, Project, Round
from labeling.schema import LAYERS
from labeling.work import blindness

Payload = Mapping[str, Any]


def round_for(user: Any, slug: str, number: int) -> tuple[Project, Round]:
    """For leads and researchers, and for those who labeled the round."""
    project = access.any_role(user, slug)
    rounds = Round.objects.filter(project=project).select_related("project", "guideline")
    round_ = get_object_or_404(rounds.defer("guideline__body"), number=number)
    if not access.reads(user, project) and not labeled(round_, user):
        raise Http404
    return project, round_


def led_round(user: Any, slug: str, number: int) -> Round:
    """Who may read the discussion but not decide gets 403, everybody else 404."""
    project, round_ = round_for(user, slug, number)
    if not access.leads(user, project):
        raise PermissionDenied(_("Only a lead of the project may decide this."))
    refuse_blind(round_, user)
    return round_


def joined_round(user: Any, slug: str, number: int) -> Round:
    """For the leads and the annotators of the round, who discuss it."""
    project, round_ = round_for(user, slug, number)
    if not (access.leads(user, project) or labeled(round_, user)):
        raise PermissionDenied(_("Leads and the annotators of the round discuss it."))
    refuse_blind(round_, user)
    return round_


def refuse_blind(round_: Round, user: Any) -> None:
    """A blind round says itself that it is."""
    if not round_.is_blind:
        blindness.refuse(user, round_.conversations.all())


def labeled(round_: Round, user: Any) -> bool:
    return round_.assignments.answered_by(user).exists()


def stored_rows(round_: Round, layer: str) -> dict[UnitPlace, Disagreement]:
    """Of the disagreements that somebody has spoken of or decided; ``n_remarks`` counted."""
    stored = round_.disagreements.filter(layer=layer).select_related("decided_by")
    stored = stored.annotate(n_remarks=Count("comments"))
    return {UnitPlace(row.conversation_id, int(row.unit), layer): row for row in stored}


class People(NamedTuple):
    """What the annotators of a round are called in its discussion: by name or by letter."""

    letters: dict[str, str]
    shown: dict[str, str]

    @classmethod
    def of(cls, discussed: Round, reader: Any) -> People:
        letters = letters_of(discussed)
        if not discussed.anonymous:
            return cls(letters, {name: name for name in letters})
        own = reader.get_username()
        return cls(
            letters,
            {
                name: _("{letter} (you)").format(letter=letter) if name == own else letter
                for name, letter in letters.items()
            },
        )

    def name(self, username: str) -> str:
        """Leads and others who did not label the round keep their names."""
        return self.shown.get(username, username)


def payloads_of(discussed: Round, conversation: int) -> dict[str, Payload]:
    """What everybody submitted, by annotator."""
    rows = Assignment.objects.filter(
        round=discussed, conversation=conversation, annotation__status="submitted"
    )
    return dict(rows.values_list("annotator__username", "annotation__payload"))


def labels_behind(
    split: Split, name: str, payload: Payload, place: UnitPlace
) -> list[Mapping[str, Any]]:
    """The labels because of which somebody marked the unit."""
    labels = payload.get(LAYERS[place.layer].key, [])
    uids = {pair.a_uid for pair in split.candidates if pair.a == name}
    uids |= {pair.b_uid for pair in split.candidates if pair.b == name}
    if split.name:
        uids.update(split.uids.get(name, []))
        return [label for label in labels if label["uid"] in uids]
    return [
        label
        for label in labels
        if label["uid"] in uids or split.message in sources_of(place.layer, label)
    ]


def thread_of(row: Disagreement) -> list[Comment]:
    comments = Comment.objects.filter(disagreement=row).select_related("author")
    return list(comments.order_by("pk"))


def answered_in(row: Disagreement) -> list[int]:
    """The versions of the guidelines that were written because of it."""
    versions = row.answers.order_by("guideline__version")
    return list(versions.values_list("guideline__version", flat=True))
