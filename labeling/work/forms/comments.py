"""What a lead says on a conversation's page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.models import Annotation, Conversation, Round
from labeling.work import comments
from labeling.work.comments import Pin, ThreadPlace


class ReplyForm(forms.Form):
    body = forms.CharField(max_length=comments.MAX_LENGTH, strip=True)


class CommentForm(ReplyForm):
    """``about``: empty for the whole conversation, ``3`` for a message, ``17:uid`` for a label."""

    about = forms.CharField(required=False, max_length=100)

    def __init__(self, conversation: Conversation, *args: Any) -> None:
        super().__init__(*args)
        self.conversation = conversation

    def clean_about(self) -> tuple[ThreadPlace, Pin]:
        about: str = self.cleaned_data["about"]
        number, colon, uid = about.partition(":")
        if about and not (number.isdecimal() and len(number) < 10):
            raise forms.ValidationError(_("Choose a message or a label of this page."))
        if colon:
            return self._at_label(int(number), uid)
        pin = Pin(int(number)) if number else Pin()
        return comments.place_for_lead(self.conversation), pin

    def _at_label(self, pk: int, uid: str) -> tuple[ThreadPlace, Pin]:
        """Only of answers that a lead may see: submitted, and not in an open calibration."""
        blind = {"kind": Round.Kind.CALIBRATION, "state": Round.State.OPEN}
        answer = (
            Annotation.objects.filter(pk=pk, assignment__conversation=self.conversation)
            .filter(status=Annotation.Status.SUBMITTED)
            .exclude(assignment__round__in=Round.objects.filter(**blind))
            .select_related("assignment__round")
            .first()
        )
        if answer is None:
            raise forms.ValidationError(_("Choose a message or a label of this page."))
        return ThreadPlace(self.conversation, answer.assignment.round, answer), Pin(label_uid=uid)
