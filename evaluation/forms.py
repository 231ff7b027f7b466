"""The form that launches a run, on the runs screen and in the admin.

Every pipeline's settings are generated from its own description, so that a new pipeline or
setting needs no change here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from evaluation import judge
from evaluation.models import OPEN, Judging, Kind, Run
from evaluation.services.judging import judgings
from evaluation.services.language_models.budgets import Estimate
from evaluation.services.launch import launch, predictions
from evaluation.services.launch.launch import (
    LONGEST_NAME,
    MAX_SEED,
    MOST_REPETITIONS,
    LaunchRefused,
    LaunchRequest,
)
from labeling.domain.errors import RuleError
from labeling.models import Conversation, GoldRelease
from labeling.translation import lazy
from labeling.words import words
from pipelines.registry import PipelineRow, SettingRow, describe
from pipelines.types import Config


def _number(least: float | None, most: float | None, *, whole: bool = True) -> forms.NumberInput:
    """A browser keeps to the limits; whether a value makes sense, ``launch.check`` says."""
    limits = {"min": least, "max": most, "step": None if whole else "any"}
    return forms.NumberInput({name: limit for name, limit in limits.items() if limit is not None})


SPLITS = [
    (OPEN, _("All but the test split")),
    *Conversation.Split.choices,
    ("", _("Every split, test included")),
]


class PipelineFields(PipelineRow):
    """A pipeline with the bound fields of its settings."""

    fields: list[forms.BoundField]


class LaunchForm(forms.Form):
    """``releases`` limits what can be chosen; the admin hands in the ones that were ticked."""

    release = forms.ModelChoiceField(
        GoldRelease.objects.none(), label=_("Gold release"), empty_label=_("Choose…")
    )
    pipeline = forms.ChoiceField(label=_("Pipeline"))
    split = forms.ChoiceField(label=_("Split"), choices=SPLITS, initial=OPEN, required=False)
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=500,
        help_text=_(
            "Needed for test items, once: why you look at them. It is printed with the result."
        ),
    )
    name = forms.CharField(
        label=_("Name"),
        required=False,
        widget=forms.TextInput({"maxlength": LONGEST_NAME}),
        help_text=_("What is tried, for the log of experiments."),
    )
    repetitions = forms.IntegerField(
        label=_("Repetitions"), initial=1, required=False, widget=_number(1, MOST_REPETITIONS)
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        initial=0,
        required=False,
        widget=_number(0, MAX_SEED),
        help_text=_("Kept with the run. No interval is drawn at random any more."),
    )
    evaluate_answers = forms.BooleanField(
        label=_("Evaluate answers"),
        required=False,
        help_text=_(
            "For questions and arcs: a language model answers from what the pipeline found, and a "
            "judge scores the answers."
        ),
    )
    budget_cost = forms.FloatField(
        label=_("Budget in money"),
        required=False,
        widget=_number(0, None, whole=False),
        help_text=_(
            "What language models may cost; empty: no limit. The run pauses when it is used up."
        ),
    )
    budget_tokens = forms.IntegerField(
        label=_("Budget in tokens"),
        required=False,
        widget=_number(1, None),
        help_text=_("The same in tokens of prompts and replies together."),
    )

    def __init__(self, *args: Any, releases: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pipelines = describe()
        choices = [(row["name"], lazy(row["title"])) for row in self.pipelines]
        self.fields["pipeline"] = forms.ChoiceField(label=_("Pipeline"), choices=choices)
        if releases is None:
            del self.fields["release"]
        else:
            self.fields["release"].queryset = releases  # type: ignore[attr-defined]
        for row in self.pipelines:
            for setting in row["config"]:
                self.fields[_name(row["name"], setting["name"])] = _field(setting)

    @property
    def settings(self) -> list[PipelineFields]:
        """Each pipeline with the bound fields of its settings, for the template."""
        return [
            {
                **row,
                "fields": [self[_name(row["name"], setting["name"])] for setting in row["config"]],
            }
            for row in self.pipelines
        ]

    def config(self) -> Config:
        """The settings of the chosen pipeline; an empty one takes its default."""
        chosen = self.cleaned_data["pipeline"]
        names = [
            setting["name"]
            for row in self.pipelines
            if row["name"] == chosen
            for setting in row["config"]
        ]
        values = {name: self.cleaned_data[_name(chosen, name)] for name in names}
        return {name: value for name, value in values.items() if value not in (None, "")}

    def estimate(self, release: GoldRelease) -> Estimate | None:
        """What the run will probably cost, or None with the faults written on the form."""
        try:
            return launch.estimate(self.request(release))
        except LaunchRefused as error:
            self._show(error)
            return None

    def launch(self, releases: Sequence[GoldRelease], *, by: Any) -> list[Run]:
        """A run for each release, or none, with the faults written on the form."""
        try:
            with transaction.atomic():
                return [launch.launch(self.request(release, by=by)) for release in releases]
        except LaunchRefused as error:
            self._show(error)
            return []

    def request(self, release: GoldRelease, *, by: Any = None) -> LaunchRequest:
        data = self.cleaned_data
        return LaunchRequest(
            release=release,
            pipeline=data["pipeline"],
            config=self.config(),
            split=data["split"],
            reason=data["reason"],
            repetitions=1 if data["repetitions"] is None else data["repetitions"],
            seed=data["seed"] or 0,
            name=data["name"],
            evaluate_answers=data["evaluate_answers"],
            budget_cost=data["budget_cost"],
            budget_tokens=data["budget_tokens"],
            requested_by=by,
        )

    def _show(self, error: LaunchRefused) -> None:
        """Each fault at the field that it is about."""
        settings = {"config": _name(self.cleaned_data["pipeline"], "")}
        _show_faults(self, error, settings)


class BudgetForm(forms.Form):
    """A new budget for a run that used up its budget; empty fields stay as they are."""

    budget_cost = LaunchForm.base_fields["budget_cost"]
    budget_tokens = LaunchForm.base_fields["budget_tokens"]


class JudgeForm(BudgetForm):
    """The prompts of another judging, each as it is sent; a budget replaces that of the run."""

    def __init__(self, *args: Any, prompts: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind, text in prompts.items():
            self.fields[kind] = forms.CharField(
                label=Kind(kind).label,
                initial=text,
                max_length=judge.MOST_CHARACTERS,
                widget=forms.Textarea({"rows": 14, "spellcheck": "false"}),
            )
        self.kinds = list(prompts)

    @property
    def prompt_fields(self) -> list[forms.BoundField]:
        return [self[kind] for kind in self.kinds]

    def request(self, run: Run, *, by: Any) -> Judging | None:
        """The judging, or None with the rule that was broken written on the form."""
        data = self.cleaned_data
        budget = {name: data[name] for name in ("budget_cost", "budget_tokens")}
        prompts = {kind: data[kind] for kind in self.kinds}
        try:
            return judgings.request(run, by=by, prompts=prompts, **budget)
        except judge.PromptRefused as error:
            self.add_error(error.details["kind"], words(error.fact))
        except RuleError as error:
            self.add_error(None, words(error.fact))
        return None


def _show_faults(form: forms.Form, error: LaunchRefused, names: Mapping[str, str]) -> None:
    """``names`` says what a field of the request, or the first part of its name, is called here."""
    for fault in error.faults:
        group, _, setting = fault.field.partition(".")
        name = f"{names.get(group, group)}{setting}"
        form.add_error(name if name in form.fields else None, words(fault.fact))


def _name(pipeline: str, setting: str) -> str:
    return f"{pipeline}.{setting}"


def _field(setting: SettingRow) -> forms.Field:
    common: dict[str, Any] = {
        "label": lazy(setting["label"]),
        "help_text": lazy(setting["help"]) if setting["help"] else "",
        "initial": setting["default"],
        "required": False,
    }
    limits = setting["minimum"], setting["maximum"]
    if setting["choices"]:
        return forms.ChoiceField(
            choices=[_choice(choice) for choice in setting["choices"]], **common
        )
    if setting["type"] == "boolean":
        return forms.BooleanField(**common)
    if setting["type"] == "integer":
        return forms.IntegerField(widget=_number(*limits), **common)
    if setting["type"] == "number":
        return forms.FloatField(widget=_number(*limits, whole=False), **common)
    if setting["type"] == "string":
        return forms.CharField(**common)
    return forms.JSONField(**common)


def _choice(value: str) -> tuple[str, str]:
    """A phrase in the language of the reader; a single word is a name, as files write it."""
    return value, lazy(value) if " " in value else value


# --- files of predictions -------------------------------------------------------------------------


class PredictionsForm(forms.Form):
    """``releases`` limits what can be chosen."""

    release = forms.ModelChoiceField(
        GoldRelease.objects.none(), label=_("Gold release"), empty_label=_("Choose…")
    )
    file = forms.FileField(label=_("File"), allow_empty_file=True)
    split = forms.ChoiceField(label=_("Split"), choices=SPLITS, initial=OPEN, required=False)
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=500,
        help_text=_("Needed for test items, once."),
    )
    name = forms.CharField(
        label=_("Name"),
        required=False,
        widget=forms.TextInput({"maxlength": LONGEST_NAME}),
        help_text=_("What is tried, for the log of experiments."),
    )
    metrics = forms.JSONField(
        label=_("Settings of the metrics"),
        required=False,
        initial=dict,
        help_text=_('For events, as JSON: {"cot": {"enabled": true}}. Empty: the defaults.'),
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, releases: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "predictions_%s"} | kwargs)
        self.fields["release"].queryset = releases  # type: ignore[attr-defined]

    def clean_file(self) -> UploadedFile:
        file: UploadedFile = self.cleaned_data["file"]
        if (file.size or 0) > predictions.MAX_BYTES:
            raise forms.ValidationError(
                _(
                    "The file is larger than 100 MB: measure it with "
                    "manage.py evaluate --predictions."
                )
            )
        return file

    def clean_metrics(self) -> dict[str, Any]:
        settings = self.cleaned_data["metrics"]
        if settings is not None and not isinstance(settings, dict):
            shown = json.dumps(settings, ensure_ascii=False)[:50]
            raise forms.ValidationError(
                _("Settings are an object with names, not %(told)s."), params={"told": shown}
            )
        return settings or {}

    def launch(self, *, by: Any) -> Run | None:
        """The run, or None with what is wrong written on the form."""
        data = self.cleaned_data
        file = data["file"]
        request = LaunchRequest(
            release=data["release"],
            predictions=predictions.from_file(file, file.name or "file"),
            metrics=data["metrics"],
            split=data["split"],
            reason=data["reason"],
            name=data["name"],
            requested_by=by,
        )
        try:
            return launch.launch(request)
        except LaunchRefused as error:
            _show_faults(self, error, {"predictions": "file"})
            return None
