"""What somebody says about a conversation."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.work import comments

UNKNOWN = _("Choose a message of this page.")


class ReplyForm(forms.Form):
    body = forms.CharField(max_length=comments.MAX_LENGTH, strip=True)


class CommentForm(ReplyForm):
    """``about``: a message by its number, ``label`` by its uid; neither: the whole conversation."""

    about = forms.IntegerField(
        required=False, min_value=0, error_messages={"invalid": UNKNOWN, "min_value": UNKNOWN}
    )
    label = forms.CharField(required=False, max_length=64)
