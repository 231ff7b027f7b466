"""Who reads and joins the discussion of a round, and what is shown of one disagreement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

from django.core.exceptions import PermissionDenied
from django.db.models import Count
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from labeling.agreement.discussions import UnitPlace, found_in, letters_of
from labeling.agreement.rules.disagreements import Split
from labeling.agreement.rules.units import sources_of
from labeling.core import access
from labeling.models import Assignment, Comment, Disagreement, GuidelineReason, Project, Round
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


def names_in(discussed: Round, reader: Any) -> dict[str, str]:
    """What the annotators of a round are called in its discussion: by name or by letter.

    Leads and others who did not label the round keep their names.
    """
    letters = letters_of(discussed)
    if not discussed.anonymous:
        return {name: name for name in letters}
    own = reader.get_username()
    if own in letters:
        letters[own] = _("{letter} (you)").format(letter=letters[own])
    return letters


class Side(NamedTuple):
    """One annotator's choice, and the labels because of which they made it."""

    annotator: str
    choice: Any
    labels: Sequence[Mapping[str, Any]]
    username: str


class Remark(NamedTuple):
    author: str
    body: str
    created_at: datetime


@dataclass(frozen=True)
class Entry:
    """One disagreement; ``row`` is not stored before somebody has spoken of it."""

    place: UnitPlace
    split: Split
    row: Disagreement
    names: dict[str, str]

    def name(self, username: str) -> str:
        return self.names.get(username, username)

    @cached_property
    def payloads(self) -> dict[str, Payload]:
        """What everybody submitted, by annotator."""
        rows = Assignment.objects.filter(
            round=self.row.round_id,
            conversation=self.place.conversation,
            annotation__status="submitted",
        )
        return dict(rows.values_list("annotator__username", "annotation__payload"))

    @property
    def choices(self) -> list[Side]:
        """Without labels, for which the answers must be read."""
        sides = [
            Side(self.name(name), choice, (), name) for name, choice in self.split.labels.items()
        ]
        return sorted(sides, key=lambda side: side.annotator)

    @cached_property
    def sides(self) -> list[Side]:
        return [side._replace(labels=self._labels(side.username)) for side in self.choices]

    def _labels(self, name: str) -> list[Mapping[str, Any]]:
        """The labels because of which somebody marked the unit."""
        split, layer = self.split, self.place.layer
        labels = self.payloads.get(name, {}).get(LAYERS[layer].key, [])
        uids = {pair.a_uid for pair in split.candidates if pair.a == name}
        uids |= {pair.b_uid for pair in split.candidates if pair.b == name}
        if split.name:
            uids.update(split.uids.get(name, []))
        return [
            label
            for label in labels
            if label["uid"] in uids
            or (not split.name and split.message in sources_of(layer, label))
        ]

    @property
    def in_short(self) -> str:
        """“ana ≠ ben, cleo”: those who say the same are next to each other."""
        by_choice: dict[Any, list[str]] = defaultdict(list)
        for side in self.choices:
            by_choice[side.choice].append(side.annotator)
        groups = sorted(map(", ".join, by_choice.values()))
        if len(groups) == 1:  # they wrote different labels about it
            pairs = self.split.candidates
            groups = sorted({self.name(who) for pair in pairs for who in (pair.a, pair.b)})
        return " ≠ ".join(groups)

    @property
    def thread(self) -> list[Remark]:
        said = Comment.objects.filter(disagreement=self.row.pk, disagreement__isnull=False)
        return [
            Remark(self.name(one.author.get_username()), one.body, one.created_at)
            for one in said.select_related("author").order_by("pk")
        ]

    @property
    def n_remarks(self) -> int:
        return getattr(self.row, "n_remarks", 0)

    @property
    def answered_in(self) -> list[int]:
        """The versions of the guidelines that were written because of it."""
        answers = GuidelineReason.objects.filter(disagreement=self.row.pk)
        versions = answers.order_by("guideline__version")
        return list(versions.values_list("guideline__version", flat=True))


@dataclass(frozen=True)
class Discussion:
    """The disagreements of a closed round on one layer, as a reader sees them."""

    round: Round
    layer: str
    reader: Any

    @cached_property
    def found(self) -> dict[UnitPlace, Split]:
        return found_in(self.round, self.layer)

    @cached_property
    def rows(self) -> dict[UnitPlace, Disagreement]:
        """Those that somebody has spoken of or decided; ``n_remarks`` counted."""
        stored = self.round.disagreements.filter(layer=self.layer).select_related("decided_by")
        return {
            UnitPlace(row.conversation_id, int(row.unit), self.layer): row
            for row in stored.annotate(n_remarks=Count("comments"))
        }

    @property
    def progress(self) -> dict[str, int]:
        """How many there are, and have been spoken of and decided."""
        known = [self.rows[place] for place in self.found if place in self.rows]
        decided = sum(bool(row.outcome) for row in known)
        return {"total": len(self.found), "discussed": len(known), "decided": decided}

    @cached_property
    def names(self) -> dict[str, str]:
        return names_in(self.round, self.reader)

    def entry(self, place: UnitPlace) -> Entry:
        """404 where nobody disagrees."""
        split = self.found.get(place)
        if split is None:
            raise Http404
        row = self.rows.get(place) or Disagreement(
            round=self.round, conversation_id=place.conversation, layer=place.layer
        )
        return Entry(place, split, row, self.names)

    def fitting(self, state: str = "") -> list[UnitPlace]:
        """Those that are ``open`` or ``decided``; without a state all."""
        return [
            place
            for place in self.found
            if not state or state == ("decided" if self._is_decided(place) else "open")
        ]

    def _is_decided(self, place: UnitPlace) -> bool:
        return place in self.rows and bool(self.rows[place].outcome)

    @cached_property
    def order(self) -> dict[UnitPlace, int]:
        return {place: number for number, place in enumerate(self.found)}

    def behind(self, place: UnitPlace | None, state: str = "") -> list[UnitPlace]:
        """Those behind one of the disagreements; without it all."""
        at = self.order.get(place, -1) if place else -1
        return [each for each in self.fitting(state) if self.order[each] > at]
