"""The form that launches a run.

Every pipeline's settings are generated from its own description, so that a new pipeline or
setting needs no change here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from evaluation import judge
from evaluation.layers import GOLD_LAYERS
from evaluation.models import EVERY, OPEN, Judging, Kind, Run
from evaluation.services.judging import answers, judgings
from evaluation.services.language_models import endpoints
from evaluation.services.language_models.budgets import Estimate
from evaluation.services.launch import cloning, launch, predictions
from evaluation.services.launch.launch import (
    LONGEST_NAME,
    MAX_SEED,
    MOST_REPETITIONS,
    LaunchRefused,
    LaunchRequest,
)
from evaluation.services.run import kept
from evaluation.services.work.steering import MOST_CONCURRENCY
from labeling.domain.errors import RuleError
from labeling.domain.numbers import whole_number
from labeling.models import Conversation, GoldItem, GoldRelease
from labeling.translation import lazy
from labeling.words import words
from pipelines.chat.endpoint import DEFAULT, JUDGE
from pipelines.registry import PipelineRow, SettingRow, describe
from pipelines.types import Config


def _number(least: float | None, most: float | None, *, whole: bool = True) -> forms.NumberInput:
    """A browser keeps to the limits; whether a value makes sense, ``launch.check`` says."""
    limits = {"min": least, "max": most, "step": None if whole else "any"}
    return forms.NumberInput({name: limit for name, limit in limits.items() if limit is not None})


SPLITS = [
    (OPEN, _("All but the test split")),
    *Conversation.Split.choices,
    (EVERY, _("Every split, test included")),
]


class PipelineFields(PipelineRow):
    """A pipeline with the bound fields of its settings."""

    fields: list[forms.BoundField]
    chosen: bool
    """Not, where another pipeline is."""
    unfold: bool
    """Whether a setting was changed or refused."""


class ReleaseSelect(forms.Select):
    """Each release says its layer and whether it has test items: the page offers what fits."""

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        option = super().create_option(name, value, *args, **kwargs)
        release = getattr(value, "instance", None)
        if release is not None:
            option["attrs"]["data-layer"] = release.layer
            if release.has_test_items:
                option["attrs"]["data-test-items"] = ""
        return option


def _release_field() -> forms.ModelChoiceField:
    return forms.ModelChoiceField(
        GoldRelease.objects.none(),
        label=_("Gold release"),
        empty_label=_("Choose…"),
        widget=ReleaseSelect,
    )


class PipelineSelect(forms.Select):
    """``layers`` are those of the chosen gold: what doesn't make them can't be chosen.

    All pipelines are in the page, so that a script can offer others for other gold.
    """

    def __init__(self, pipelines: Sequence[PipelineRow], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.rows = {row["name"]: row for row in pipelines}
        self.layers: set[str] = set()
        self.has_model = bool(endpoints.choices())

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        option = super().create_option(name, value, *args, **kwargs)
        row, attrs = self.rows.get(value), option["attrs"]
        if row is None:
            return option
        attrs["data-layers"] = " ".join(row["layers"])
        if not self.layers <= {*row["layers"]}:
            attrs |= {"hidden": True, "disabled": True}
        if row["needs_model"] and not self.has_model:
            attrs |= {"disabled": True, "data-without-model": ""}
            option["label"] = _("%(pipeline)s (no language model is set up)") % {
                "pipeline": option["label"]
            }
        return option


class KeptLine(NamedTuple):
    line: str
    words: str


class KeptField(forms.Field):
    """What a run was launched with beyond the other fields, a tick for each line."""

    widget = forms.CheckboxSelectMultiple

    def clean(self, value: Any) -> kept.Kept:
        try:
            return kept.read(super().clean(value) or [])
        except kept.WrongLine as error:
            raise forms.ValidationError(words(error.fact)) from error


class PipelineForm(forms.Form):
    """A form with a field ``pipeline`` and the settings of each pipeline that can be chosen."""

    pipelines: list[PipelineRow]

    def add_settings(self, pipelines: list[PipelineRow]) -> None:
        self.pipelines = pipelines
        for row in pipelines:
            for setting in row["config"]:
                self.fields[setting_name(row["name"], setting["name"])] = setting_field(setting)

    def settings_fields(self, row: PipelineRow) -> list[forms.BoundField]:
        return [self[setting_name(row["name"], setting["name"])] for setting in row["config"]]

    def config(self) -> Config:
        """The settings of the chosen pipeline; an empty one takes its default."""
        chosen = self.cleaned_data.get("pipeline", "")
        names = [
            setting["name"]
            for row in self.pipelines
            if row["name"] == chosen
            for setting in row["config"]
        ]
        values = {name: self.cleaned_data.get(setting_name(chosen, name)) for name in names}
        return {name: value for name, value in values.items() if value not in (None, "")}


class MeasuringForm(forms.Form):
    """On which gold something is measured; ``releases`` limits what can be chosen."""

    release = _release_field()
    split = forms.ChoiceField(label=_("Split"), choices=SPLITS, initial=OPEN, required=False)
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=500,
        widget=forms.TextInput({"dir": "auto"}),
        help_text=_(
            "Needed for test items, once: why you look at them. It is printed with the result."
        ),
    )
    name = forms.CharField(
        label=_("Name"),
        required=False,
        widget=forms.TextInput({"maxlength": LONGEST_NAME, "dir": "auto"}),
        help_text=_("What is tried, for the log of experiments."),
    )

    def __init__(self, *args: Any, releases: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        tests = GoldItem.objects.filter(release=OuterRef("pk"), split=Conversation.Split.TEST)
        tested = releases.annotate(has_test_items=Exists(tests))
        self.fields["release"].queryset = tested  # type: ignore[attr-defined]
        number = whole_number(str(self["release"].value() or ""))
        self.chosen = tested.filter(pk=number).first()

    @property
    def needs_reason(self) -> bool:
        has_tests = self.chosen is None or self.chosen.has_test_items
        return has_tests and self["split"].value() in (EVERY, Conversation.Split.TEST)


class LaunchForm(PipelineForm, MeasuringForm):
    pipeline = forms.ChoiceField(label=_("Pipeline"))
    repetitions = forms.IntegerField(
        label=_("Repetitions"), initial=1, required=False, widget=_number(1, MOST_REPETITIONS)
    )
    seed = forms.IntegerField(
        label=_("Seed"),
        initial=0,
        required=False,
        widget=_number(0, MAX_SEED),
        help_text=_("Kept with the run. Intervals are computed: none is drawn at random."),
    )
    evaluate_answers = forms.BooleanField(
        label=_("Evaluate answers"),
        required=False,
        help_text=_(
            "For questions and arcs: a language model answers from what the pipeline found, and a "
            "judge scores the answers."
        ),
    )
    concurrency = forms.IntegerField(
        label=_("Concurrency"),
        required=False,
        widget=_number(1, MOST_CONCURRENCY),
        help_text=_("Cases worked on at a time; empty: as the settings say. It can be changed."),
    )
    model = forms.ChoiceField(
        label=_("Language model"),
        required=False,
        help_text=_("Which of the declared ones is asked."),
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

    kept = KeptField(required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        pipelines = describe()
        self.fields["pipeline"] = forms.ChoiceField(
            label=_("Pipeline"), choices=_grouped(pipelines), widget=PipelineSelect(pipelines)
        )
        self.fields["model"].choices = [(name, name) for name in endpoints.choices()]  # type: ignore[attr-defined]
        self.add_settings(pipelines)
        for kind in judge.KINDS:
            self.fields[setting_name(PROMPTS, kind)] = _prompt_field(kind, judge.shipped(kind).text)
        self.chosen_layers = {self.chosen.layer} if self.chosen else set[str]()
        select: Any = self.fields["pipeline"].widget
        select.layers = self.chosen_layers

    @classmethod
    def as_in(cls, run: Run) -> dict[str, Any]:
        """What somebody would have chosen for this run, to begin another from it."""
        settings = {setting_name(run.pipeline, name): value for name, value in run.config.items()}
        return {
            "release": run.release_id,
            "pipeline": run.pipeline,
            "split": run.split or cloning.every(run),
            "name": run.name,
            "repetitions": run.repetitions,
            "seed": run.seed,
            "evaluate_answers": run.spec.asks_for_answers,
            **{
                setting_name(PROMPTS, kind): text
                for kind, text in answers.judge_prompts_of(run).items()
            },
            "model": endpoints.name_in(run.spec.model) if run.spec.model else DEFAULT,
            "budget_cost": run.budget_cost,
            "budget_tokens": run.budget_tokens,
            "concurrency": run.concurrency,
            "kept": kept.lines_of(run),
            **settings,
        }

    @property
    def kept_lines(self) -> list[KeptLine]:
        """Of the run that this one begins with; what is not ticked any more is not kept."""
        return [KeptLine(line, words(kept.fact_of(line))) for line in self["kept"].value() or []]

    @property
    def settings(self) -> list[PipelineFields]:
        """Each pipeline with the bound fields of its settings, for the template."""
        chosen = self["pipeline"].value()
        rows: list[PipelineFields] = []
        for row in self.pipelines:
            fields = self.settings_fields(row)
            unfold = any(map(self._differs, fields))
            fits = self.chosen_layers <= {*row["layers"]}
            is_chosen = row["name"] == chosen if chosen else fits
            rows.append({**row, "fields": fields, "chosen": is_chosen, "unfold": unfold})
        return rows

    def _differs(self, field: forms.BoundField) -> bool:
        if self.is_bound:
            return bool(field.errors) or field.name in self._changed
        return bool(self.initial.get(field.name, field.field.initial) != field.field.initial)

    @cached_property
    def _changed(self) -> set[str]:
        return {*self.changed_data}

    @property
    def unfold_more(self) -> bool:
        return any(self._differs(self[name]) for name in self.MORE)

    @property
    def more(self) -> list[forms.BoundField]:
        """What most runs leave as it is. A budget only where a language model can be asked."""
        names = self.MORE if self.has_model else self.MORE[:3]
        if len(endpoints.choices()) > 1:
            names = ("model", *names)
        return [self[name] for name in names]

    @property
    def has_model(self) -> bool:
        return bool(endpoints.choices())

    @property
    def can_judge(self) -> bool:
        """Whether answers can be written and judged, of a layer that asks questions."""
        return self.has_model and not endpoints.missing_setting(JUDGE)

    @property
    def judge_prompts(self) -> list[forms.BoundField]:
        return [self[setting_name(PROMPTS, kind)] for kind in judge.KINDS]

    @property
    def unfold_prompts(self) -> bool:
        return any(map(self._differs, self.judge_prompts))

    def _edited_prompts(self) -> dict[str, str]:
        """What differs from what is shipped; an empty field is the shipped prompt."""
        texts = {
            kind: self.cleaned_data.get(setting_name(PROMPTS, kind), "") for kind in judge.KINDS
        }
        return {
            kind: text
            for kind, text in texts.items()
            if judge.as_sent(text) not in ("", judge.shipped(kind).text)
        }

    @property
    def asking_layers(self) -> list[str]:
        return answers.asking_layers()

    @property
    def may_have_answers(self) -> bool:
        """Of the gold that is chosen; of any, where none is."""
        return self.chosen_layers <= {*self.asking_layers}

    def estimate(self, release: GoldRelease) -> Estimate | None:
        """What the run will probably cost, or None with the faults written on the form."""
        try:
            return launch.estimate(self.request(release))
        except LaunchRefused as error:
            self._show(error)
            return None

    def launch(self, *, by: Any) -> Run | None:
        """The run, or None with the faults written on the form."""
        try:
            return launch.launch(self.request(self.cleaned_data["release"], by=by))
        except LaunchRefused as error:
            self._show(error)
            return None

    def request(self, release: GoldRelease, *, by: Any = None) -> LaunchRequest:
        """Of a form that has faults, what is right in it: what it takes is shown all the same."""
        data = self.cleaned_data
        repetitions = data.get("repetitions")
        return LaunchRequest(
            release=release,
            pipeline=data.get("pipeline", ""),
            config=self.config(),
            split=data.get("split", OPEN),
            reason=data.get("reason", ""),
            repetitions=1 if repetitions is None else repetitions,
            seed=data.get("seed") or 0,
            name=data.get("name", ""),
            evaluate_answers=data.get("evaluate_answers", False),
            # of gold without questions the page hides them, like the settings of other pipelines
            judge_prompts=self._edited_prompts() if release.layer in self.asking_layers else {},
            model=data.get("model") or DEFAULT,
            budget_cost=data.get("budget_cost"),
            budget_tokens=data.get("budget_tokens"),
            concurrency=data.get("concurrency"),
            **(data.get("kept") or {}),
            requested_by=by,
        )

    MORE = ("repetitions", "seed", "concurrency", "budget_cost", "budget_tokens")

    def _show(self, error: LaunchRefused) -> None:
        """Each fault at the field that it is about."""
        names = {
            "config": setting_name(self.cleaned_data["pipeline"], ""),
            "judge_prompts": setting_name(PROMPTS, ""),
            **dict.fromkeys(("size", "metrics", "thresholds"), "kept"),
        }
        _show_faults(self, error, names)


class BudgetForm(forms.Form):
    """A new budget for a run that used up its budget; empty fields stay as they are."""

    budget_cost = LaunchForm.base_fields["budget_cost"]
    budget_tokens = LaunchForm.base_fields["budget_tokens"]


class JudgeForm(BudgetForm):
    """The prompts of another judging, each as it is sent; a budget replaces that of the run."""

    def __init__(self, *args: Any, prompts: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind, text in prompts.items():
            self.fields[kind] = _prompt_field(kind, text, required=True)
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


PROMPTS = "judge"
"""The first part of the names of the fields of prompts."""


def _prompt_field(kind: str, text: str, *, required: bool = False) -> forms.CharField:
    return forms.CharField(
        label=Kind(kind).label,
        initial=text,
        required=required,
        max_length=judge.MOST_CHARACTERS,
        widget=forms.Textarea({"rows": 14, "spellcheck": "false", "dir": "auto"}),
    )


def _show_faults(form: forms.Form, error: LaunchRefused, names: Mapping[str, str]) -> None:
    """``names`` says what a field of the request, or the first part of its name, is called here."""
    for fault in error.faults:
        group, _, setting = fault.field.partition(".")
        name = f"{names.get(group, group)}{setting}"
        form.add_error(name if name in form.fields else None, words(fault.fact))


def _grouped(pipelines: Sequence[PipelineRow]) -> list[Any]:
    """Those that are tried, then the floors that show what a score is worth."""
    choices = [
        [(row["name"], lazy(row["title"])) for row in pipelines if row["floor"] == floor]
        for floor in (False, True)
    ]
    return [("", _("Choose…")), *choices[0], (_("Floors"), choices[1])]


def setting_name(pipeline: str, setting: str) -> str:
    """Of the form's field of a setting."""
    return f"{pipeline}.{setting}"


def setting_field(setting: SettingRow) -> forms.Field:
    """By its own description: a number, a choice, a line of text or JSON."""
    label, about = setting["label"], setting["help"]
    common: dict[str, Any] = {
        "label": lazy(label),
        "help_text": lazy(about) if about else "",
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


def small_enough(file: UploadedFile) -> UploadedFile:
    """A file of predictions that a request may bring; Django's ValidationError otherwise."""
    if (file.size or 0) > predictions.MAX_BYTES:
        raise forms.ValidationError(
            _("The file is larger than 100 MB: measure it with assay evaluate --predictions.")
        )
    return file


class PredictionsForm(MeasuringForm):
    file = forms.FileField(label=_("File"), allow_empty_file=True)
    metrics = forms.JSONField(
        label=_("Settings of the metrics"),
        required=False,
        initial=dict,
        help_text=_('For events, as JSON: {"cot": {"enabled": true}}. Empty: the defaults.'),
        widget=forms.Textarea(attrs={"rows": 2}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{"auto_id": "predictions_%s"} | kwargs)

    @property
    def layers_with_settings(self) -> list[str]:
        """Of the metrics."""
        return [name for name, layer in GOLD_LAYERS.items() if layer.has_options]

    @property
    def may_have_settings(self) -> bool:
        return self.chosen is None or self.chosen.layer in self.layers_with_settings

    def clean_file(self) -> UploadedFile:
        return small_enough(self.cleaned_data["file"])

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
