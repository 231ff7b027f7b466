from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from labeling.core import project_settings
from labeling.core.forms.choices import offer
from labeling.core.forms.projects import ProjectForm, below_one
from labeling.domain.canonical import with_line_feeds
from labeling.models import Project
from labeling.schema import LAYERS
from labeling.schema.hints import KINDS
from labeling.translation import lazy, translated_layers


class SettingsForm(ProjectForm):
    """The form of a new project for one that is there, with what is known only later.

    ``base`` is what was shown: what a person has not changed of it stays as others have set it.
    """

    slug = None  # type: ignore[assignment]  # it never changes

    match_threshold = forms.FloatField(
        label=_("Matching threshold"),
        help_text=_("Two texts mean the same when their similarity is greater than this."),
    )
    actor_synonyms = forms.CharField(
        label=_("Words for the same actor"),
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("A group in each line, with commas, for example: buyer, shopper"),
    )
    event_schema = forms.CharField(
        label=_("Event types and their roles"),
        required=False,
        max_length=100_000,
        widget=forms.Textarea(attrs={"rows": 4}),
        help_text=_(
            "A type in each line, then its roles, for example: Purchase: buyer, item. "
            "Without any, annotators name their own."
        ),
    )
    review_rate = forms.FloatField(
        label=_("Share of answers to review"),
        min_value=0,
        max_value=1,
        help_text=_("0.1 draws one answer in ten; 0 draws no sample."),
    )
    open_fields = forms.MultipleChoiceField(
        label=_("Fields that may stay empty"),
        required=False,
        choices=[],
        widget=forms.CheckboxSelectMultiple,
        help_text=_(
            "All others are required when an answer is submitted. A change holds from the next "
            "round on."
        ),
    )
    hints = forms.MultipleChoiceField(
        label=_("Label hints"),
        required=False,
        choices=[(kind, lazy(title)) for kind, title in KINDS.items()],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Notes at the field while somebody labels, by the rules of validation."),
    )
    hints_in_calibration = forms.BooleanField(
        label=_("Label hints in calibration"),
        required=False,
        help_text=_(
            "Otherwise blind rounds and qualification tests measure whether people agree without "
            "them."
        ),
    )
    publish_names = forms.BooleanField(
        label=_("Gold names people"),
        required=False,
        help_text=_(
            "Releases from now on, and what is exported of them, name annotators and adjudicators "
            "by their user names. Otherwise these have pseudonyms there."
        ),
    )
    base = forms.JSONField(widget=forms.HiddenInput)

    def __init__(self, project: Project, data: Any = None) -> None:
        self.now = values = project_settings.of(project)
        shown = {
            "actor_synonyms": "\n".join(", ".join(group) for group in values["actor_synonyms"]),
            "event_schema": "\n".join(
                f"{name}: {', '.join(roles)}".rstrip() for name, roles in values["event_schema"]
            ),
            "open_fields": [
                f"{layer}.{field}"
                for layer, names in values["open_fields"].items()
                for field in names
            ],
            "base": self.now,
        }
        super().__init__(data, initial={**values, **shown})
        fields = [
            (f"{layer['name']}.{field['name']}", f"{layer['title']}: {field['label']}")
            for layer in translated_layers(list(LAYERS), None)
            for field in layer["fields"]
            if field["name"] in LAYERS[layer["name"]].may_be_open
        ]
        offer(self, "open_fields", fields)

    def clean_description(self) -> str:
        text = _text(self.cleaned_data["description"])
        return str(self.now["description"]) if self._is_as_shown("description") else text

    def clean_match_threshold(self) -> float:
        return below_one(self.cleaned_data["match_threshold"])

    def clean_actor_synonyms(self) -> list[list[str]]:
        if self._is_as_shown("actor_synonyms"):
            return list(self.now["actor_synonyms"])
        groups = [_words(line) for line in _lines(self.cleaned_data["actor_synonyms"])]
        if any(len(group) < 2 for group in groups):
            raise forms.ValidationError(_("Write at least two words in a line: buyer, shopper"))
        return groups

    def clean_event_schema(self) -> dict[str, list[str]]:
        if self._is_as_shown("event_schema"):
            return dict(self.now["event_schema"])
        types: dict[str, list[str]] = {}
        for line in _lines(self.cleaned_data["event_schema"]):
            before, colon, after = line.rpartition(":")
            name, roles = (before.strip(), after) if colon else (line, "")
            if not name:
                raise forms.ValidationError(_("Write a type before the colon: Purchase: buyer"))
            if name in types:
                raise forms.ValidationError(_("Write each type once."))
            types[name] = _words(roles)
        return types

    def clean_open_fields(self) -> dict[str, list[str]]:
        by_layer: dict[str, list[str]] = {}
        for name in self.cleaned_data["open_fields"]:
            layer, _dot, field = name.partition(".")
            by_layer.setdefault(layer, []).append(field)
        return by_layer

    def clean_base(self) -> dict[str, Any]:
        base = self.cleaned_data["base"]
        return base if isinstance(base, dict) else {}

    def settings(self) -> dict[str, Any]:
        """What somebody has changed of what they saw."""
        wanted = {name: self.cleaned_data[name] for name in project_settings.FIELDS}
        base = {**self.now, **self.cleaned_data["base"]}
        return {name: wanted[name] for name in project_settings.changed(base, wanted)}

    def _is_as_shown(self, name: str) -> bool:
        """Untouched values stay as stored, including those that this page can't edit."""
        return _text(self.cleaned_data[name]) == _text(self.initial[name])


def _text(value: str) -> str:
    return with_line_feeds(value).strip()


def _lines(value: str) -> list[str]:
    return [line.strip() for line in value.splitlines() if line.strip()]


def _words(line: str) -> list[str]:
    return list(dict.fromkeys(word.strip() for word in line.split(",") if word.strip()))
