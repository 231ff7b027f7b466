from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from labeling.forms.uploads import UploadForm
from labeling.models import Conversation, Project


class ConversationFilter(forms.Form):
    """Narrows a project's conversations; a value that is not offered narrows nothing."""

    search = forms.CharField(label=_("Id contains"), required=False, max_length=200)
    domain = forms.ChoiceField(required=False)
    difficulty = forms.ChoiceField(
        required=False, choices=[("", _("any")), *Conversation.Difficulty.choices]
    )
    split = forms.ChoiceField(required=False, choices=[("", _("any")), *Conversation.Split.choices])
    origin = forms.ChoiceField(
        label=_("Origin"), required=False, choices=[("", _("any")), *Conversation.Origin.choices]
    )

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        domains = project.conversations.order_by("domain").values_list("domain", flat=True)
        offered = [(domain, domain) for domain in domains.distinct() if domain]
        field: forms.ChoiceField = self.fields["domain"]  # type: ignore[assignment]
        field.choices = [("", _("any")), *offered]

    def narrow(self, conversations: QuerySet[Conversation]) -> QuerySet[Conversation]:
        self.is_valid()
        asked = {name: value for name, value in self.cleaned_data.items() if value}
        search = asked.pop("search", "").strip()
        if search:
            conversations = conversations.filter(external_id__icontains=search)
        return conversations.filter(**asked)


class ConversationUploadForm(UploadForm):
    """A file with conversations."""

    command = "import_conversations"

    split = forms.ChoiceField(
        label=_("Split of the conversations that name none"),
        required=False,
        choices=[("", "–"), *Conversation.Split.choices],
        help_text=_("A conversation that names another one is refused."),
    )


class ConversationStoreForm(ConversationUploadForm):
    """What a preview was asked for, and the file that was kept for it."""

    file = None  # type: ignore[assignment]
    upload = forms.CharField()
