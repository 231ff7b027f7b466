"""What a project needs before somebody can label in it: the next step first, the others folded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from labeling.accounts import invitations
from labeling.conversations.forms.conversations import ConversationUploadForm
from labeling.core.forms.members import PeopleForm
from labeling.core.views.markdown import render_markdown
from labeling.models import Guideline, Invitation, Membership, Project, Round
from labeling.work.forms.rounds import CALIBRATORS
from labeling.work.guideline_starters import starter_for
from labeling.work.rounds import unplanned

FIRST_BATCH = 20
AGREEING = 2
"""Agreement is measured between at least two people."""


@dataclass(frozen=True, slots=True)
class Start:
    """How far a project is that nobody has answered in. ``step`` is what comes next."""

    conversations: int
    unplanned: int
    guideline: Guideline | None
    annotators: list[Membership]
    invited: list[Invitation]
    round: Round | None
    assigned: int

    @property
    def step(self) -> str:
        if not self.conversations:
            return "conversations"
        if self.guideline is None:
            return "guidelines"
        if self.round is None and not self.has_people:
            return "people"
        return "round" if self.round is None else "answers"

    @property
    def has_people(self) -> bool:
        return len(self.annotators) >= AGREEING

    @property
    def may_open(self) -> bool:
        """Whether a calibration round has something to hand out, and enough people to agree."""
        return bool(self.unplanned and self.guideline and self.has_people)

    @property
    def is_waited_for(self) -> bool:
        """Whether the page looks again by itself: people join, or give their first answer."""
        return self.step == "answers" or (bool(self.invited) and self.round is None)

    @property
    def calibrators(self) -> list[Membership]:
        return self.annotators[:CALIBRATORS]

    @property
    def batch(self) -> int:
        return min(FIRST_BATCH, self.unplanned)

    @property
    def n_done(self) -> int:
        done = (self.conversations, self.guideline, self.has_people or self.round, self.round)
        return sum(map(bool, done))


def start_of(project: Project, rounds: list[Any]) -> Start | None:
    """None once somebody has answered, or gold came in from elsewhere. ``rounds`` count work."""
    if len(rounds) > 1 or (not rounds and project.gold_releases.exists()):
        return None
    if any(round_.n_done or round_.state != Round.State.OPEN for round_ in rounds):
        return None
    people = project.memberships.filter(role=Membership.Role.ANNOTATOR, user__is_active=True)
    invited = invitations.of_project(project).filter(role=Membership.Role.ANNOTATOR)
    return Start(
        conversations=project.conversations.count(),
        unplanned=unplanned(project).count(),
        guideline=project.guidelines.only("version", "project").first(),
        annotators=list(people.select_related("user").order_by("user__username")),
        invited=list(invited.exclude(invitee="")),
        round=rounds[0] if rounds else None,
        assigned=sum(round_.n_assigned for round_ in rounds),
    )


def start_context(project: Project, rounds: list[Any]) -> dict[str, Any]:
    """What the checklist shows."""
    start = start_of(project, rounds)
    if start is None:
        return {}
    context: dict[str, Any] = {
        "start": start,
        "upload_form": ConversationUploadForm(auto_id="start_%s"),
        "people_form": PeopleForm(auto_id="start_%s"),
    }
    if start.step == "guidelines":
        context["starter"] = render_markdown(starter_for(project.layers))
    return context
