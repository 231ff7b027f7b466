"""The forms that launch runs: on gold, on conversations without it, on predictions.

Every pipeline's settings are generated from its own description, so that a new pipeline or
setting needs no change here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from io import BytesIO
from typing import Any, ClassVar, NamedTuple, cast

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext_lazy as _

from evaluation import judge
from evaluation.models import EVERY, OPEN, Judging, Kind, Run
from evaluation.services.judging import answers, judgings
from evaluation.services.language_models import endpoints
from evaluation.services.launch import cloning, launch, predictions
from evaluation.services.launch.launch import (
    LAUNCHED,
    LONGEST_NAME,
    MAX_SEED,
    MOST_REPETITIONS,
    LaunchRefused,
    LaunchRequest,
)
from evaluation.services.run import planning
from evaluation.services.run.planning import Foreseen
from evaluation.services.unmeasured import launching, predicting
from evaluation.services.unmeasured.predicting import Task, TrialRefused
from evaluation.services.work.steering import MOST_CONCURRENCY
from labeling.conversations.formats.conversations import AUTO
from labeling.conversations.formats.talks import HowToRead
from labeling.conversations.forms.uploads import SeveralFilesField
from labeling.conversations.rules.importing import Record
from labeling.domain.errors import FileFault, RuleError
from labeling.domain.msgids import msgid
from labeling.domain.numbers import whole_number
from labeling.models import Conversation, GoldItem, GoldRelease, Membership, Project
from labeling.translation import lazy
from labeling.words import words
from pipelines.chat.endpoint import DEFAULT, JUDGE
from pipelines.registry import MEMORY, PIPELINES, Entry, Setting
from pipelines.types import Config


def _number(least: float | None, most: float | None, *, whole: bool = True) -> forms.NumberInput:
    """A browser keeps to the limits; whether a value makes sense, ``launch.check`` says."""
    limits = {"min": least, "max": most, "step": None if whole else "any"}
    return forms.NumberInput({name: limit for name, limit in limits.items() if limit is not None})


def _whole(
    label: Any, least: int, most: int | None, about: Any = "", initial: int | None = None
) -> forms.IntegerField:
    """May be left out."""
    widget = _number(least, most)
    return forms.IntegerField(
        label=label, required=False, widget=widget, help_text=about, initial=initial
    )


SPLITS = [
    (OPEN, _("All but the test split")),
    *Conversation.Split.choices,
    (EVERY, _("Every split, test included")),
]


class PipelineFields(NamedTuple):
    """A pipeline with the bound fields of its settings."""

    entry: Entry
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


class PipelineSelect(forms.Select):
    """``layers`` are those of the chosen gold: what doesn't make them can't be chosen.

    All pipelines are in the page, so that a script can offer others for other gold.
    """

    def __init__(self, pipelines: Sequence[Entry], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.entries = {entry.name: entry for entry in pipelines}
        self.layers: set[str] = set()
        self.has_model = bool(endpoints.choices())

    def create_option(self, name: str, value: Any, *args: Any, **kwargs: Any) -> Any:
        option = super().create_option(name, value, *args, **kwargs)
        entry, attrs = self.entries.get(value), option["attrs"]
        if entry is None:
            return option
        attrs["data-layers"] = " ".join(entry.layers)
        if not self.layers <= {*entry.layers}:
            attrs |= {"hidden": True, "disabled": True}
        if entry.needs_model and not self.has_model:
            attrs |= {"disabled": True, "data-without-model": ""}
            option["label"] = _("%(pipeline)s (no language model is set up)") % {
                "pipeline": option["label"]
            }
        return option


def _text(**attrs: str) -> forms.TextInput:
    return forms.TextInput({"dir": "auto", **attrs})


class StartingForm(forms.Form):
    """A form that launches a run; ``reader`` limits what can be chosen."""

    name = forms.CharField(
        label=_("Name"),
        required=False,
        widget=_text(maxlength=str(LONGEST_NAME)),
        help_text=_("What is tried, for the log of experiments."),
    )
    names: ClassVar[Mapping[str, str]] = {}
    """What a field of the request, or the first part of its name, is called here."""

    @classmethod
    def start(cls, asked: Mapping[str, str], reader: Any) -> dict[str, Any]:
        """What the address asks for."""
        return {}

    def _begin(self, reader: Any) -> Run:
        raise NotImplementedError

    def launch(self, *, by: Any) -> Run | None:
        """The run, or None with what is wrong written on the form."""
        try:
            return self._begin(by)
        except LaunchRefused as error:
            for fault in error.faults:
                group, _, setting = fault.field.partition(".")
                name = f"{self.names.get(group, group)}{setting}"
                self.add_error(name if name in self.fields else None, words(fault.fact))
        except (RuleError, FileFault) as error:
            self.add_error(None, words(error.fact))
        return None


class BudgetForm(forms.Form):
    """A new budget for a run that used up its budget; empty fields stay as they are."""

    budget_cost = forms.FloatField(
        label=_("Budget in money"),
        required=False,
        widget=_number(0, None, whole=False),
        help_text=_(
            "What language models may cost; empty: no limit. The run pauses when it is used up."
        ),
    )
    budget_tokens = _whole(
        _("Budget in tokens"), 1, None, _("The same in tokens of prompts and replies together.")
    )


class PipelineForm(BudgetForm, StartingForm):
    """A pipeline, and the settings of each that can be chosen."""

    pipeline = forms.ChoiceField(label=_("Pipeline"))
    model = forms.ChoiceField(
        label=_("Language model"),
        required=False,
        help_text=_("Which of the declared ones is asked."),
    )
    layers: frozenset[str] = frozenset()
    """What the pipeline has to make."""
    more_names: tuple[str, ...] = ("model", "budget_cost", "budget_tokens")

    def __init__(self, *args: Any, entries: Iterable[Entry] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        declared = endpoints.choices()
        self.has_model = bool(declared)
        self.fields["model"].choices = [(name, name) for name in declared]  # type: ignore[attr-defined]
        if len(declared) < 2:
            self.more_names = tuple(name for name in self.more_names if name != "model")
        self.pipelines = list(PIPELINES.values() if entries is None else entries)
        self.fields["pipeline"] = forms.ChoiceField(
            label=_("Pipeline"),
            choices=_grouped(self.pipelines),
            widget=PipelineSelect(self.pipelines),
        )
        for entry in self.pipelines:
            for setting in entry.settings:
                self.fields[setting_name(entry.name, setting["name"])] = setting_field(setting)

    def of_layers(self, layers: Iterable[str]) -> None:
        self.layers = frozenset(layers)
        select: Any = self.fields["pipeline"].widget
        select.layers = self.layers

    @property
    def settings(self) -> list[PipelineFields]:
        """Each pipeline with the bound fields of its settings, for the template."""
        chosen = self["pipeline"].value()
        rows: list[PipelineFields] = []
        for entry in self.pipelines:
            fields = [self[setting_name(entry.name, each["name"])] for each in entry.settings]
            is_chosen = entry.name == chosen if chosen else self.layers <= {*entry.layers}
            unfold = any(map(self.differs, fields))
            rows.append(PipelineFields(entry, fields, is_chosen, unfold))
        return rows

    def config(self) -> Config:
        """The settings of the chosen pipeline; an empty one takes its default."""
        start = setting_name(self.cleaned_data.get("pipeline", ""), "")
        return {
            name.removeprefix(start): value
            for name, value in self.cleaned_data.items()
            if name.startswith(start) and value not in (None, "")
        }

    def differs(self, field: forms.BoundField) -> bool:
        if self.is_bound:
            return bool(field.errors) or field.name in self._changed
        return bool(self.initial.get(field.name, field.field.initial) != field.field.initial)

    @cached_property
    def _changed(self) -> set[str]:
        return {*self.changed_data}

    @property
    def more(self) -> list[forms.BoundField]:
        """What most runs leave as it is. A budget only where a language model can be asked."""
        of_models = () if self.has_model else BudgetForm.base_fields
        return [self[name] for name in self.more_names if name not in of_models]

    @property
    def unfold_more(self) -> bool:
        return any(map(self.differs, self.more))


class MeasuringForm(StartingForm):
    """On which gold something is measured."""

    shown: tuple[str, ...] = ("split", "reason", "name")
    """Fields of the request that it asks for."""
    release = forms.ModelChoiceField(
        GoldRelease.objects.none(),
        label=_("Gold release"),
        empty_label=_("Choose…"),
        widget=ReleaseSelect,
    )
    split = forms.ChoiceField(label=_("Split"), choices=SPLITS, initial=OPEN, required=False)
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=500,
        widget=_text(),
        help_text=_(
            "Needed for test items, once: why you look at them. It is printed with the result."
        ),
    )

    def __init__(self, *args: Any, reader: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reader = reader
        tests = GoldItem.objects.filter(release=OuterRef("pk"), split=Conversation.Split.TEST)
        tested = _releases(reader).annotate(has_test_items=Exists(tests))
        self.fields["release"].queryset = tested  # type: ignore[attr-defined]
        number = whole_number(str(self["release"].value() or ""))
        self.chosen = tested.filter(pk=number).first()

    @classmethod
    def start(cls, asked: Mapping[str, str], reader: Any) -> dict[str, Any]:
        """The gold by its name."""
        name, _, version = asked.get("release", "").rpartition("@")
        named = _releases(reader).filter(name=name, version=whole_number(version) or 0)
        return {"release": named.values_list("pk", flat=True).first()} if name else {}

    @property
    def can_begin(self) -> bool:
        return bool(self.fields["release"].queryset.exists())  # type: ignore[attr-defined]

    @property
    def needs_reason(self) -> bool:
        has_tests = self.chosen is None or self.chosen.has_test_items
        return has_tests and self["split"].value() in (EVERY, Conversation.Split.TEST)

    def request(self, release: GoldRelease, *, by: Any = None) -> LaunchRequest:
        """Of a form that has faults, what is right in it: what it takes is shown all the same."""
        data = self.cleaned_data
        left_out = {name: LAUNCHED[name] for name in self.shown if data.get(name) in (None, "")}
        named: dict[str, Any] = {name: data.get(name) for name in self.shown} | left_out
        return replace(self._asked(release, by), **named)

    def _asked(self, release: GoldRelease, by: Any) -> LaunchRequest:
        return LaunchRequest(release=release, requested_by=by)

    def foreseen(self) -> Foreseen | None:
        """What the run would take and could show; None without gold."""
        form = self
        if not self.is_bound:
            start = {name: value for name, value in self.initial.items() if value is not None}
            form = type(self)(start | {"split": self["split"].value()}, reader=self.reader)
        form.is_valid()
        release = form.cleaned_data.get("release")
        return planning.foresee(form.request(release), by=self.reader) if release else None

    def _begin(self, reader: Any) -> Run:
        return launch.launch(self.request(self.cleaned_data["release"], by=reader))


def _releases(reader: Any) -> Any:
    return GoldRelease.objects.visible_to(reader).light()


class LaunchForm(PipelineForm, MeasuringForm):
    repetitions = _whole(_("Repetitions"), 1, MOST_REPETITIONS, initial=1)
    seed = _whole(
        _("Seed"),
        0,
        MAX_SEED,
        _("Kept with the run. Intervals are computed: none is drawn at random."),
        initial=0,
    )
    evaluate_answers = forms.BooleanField(
        label=_("Evaluate answers"),
        required=False,
        help_text=_(
            "For questions and arcs: a language model answers from what the pipeline found, and a "
            "judge scores the answers."
        ),
    )
    concurrency = _whole(
        _("Concurrency"),
        1,
        MOST_CONCURRENCY,
        _("Cases worked on at a time; empty: as the settings say."),
    )
    like = forms.IntegerField(required=False, widget=forms.HiddenInput)
    shown = (
        *MeasuringForm.shown,
        *("pipeline", "repetitions", "seed", "evaluate_answers", "concurrency", "model"),
        *BudgetForm.base_fields,
    )
    more_names = ("repetitions", "seed", "concurrency", *PipelineForm.more_names)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        number = whole_number(str(self["like"].value() or "")) or 0
        self.begins_with = Run.objects.visible_to(self.reader).filter(pk=number).first()
        self.of_layers({self.chosen.layer} if self.chosen else ())

    @classmethod
    def start(cls, asked: Mapping[str, str], reader: Any) -> dict[str, Any]:
        """Also everything as it was in a run."""
        number = whole_number(asked.get("like", ""))
        run = Run.objects.visible_to(reader).filter(pk=number).first() if number else None
        if run is None or run.pipeline == predictions.NAME or run.carried_from_id:
            return super().start(asked, reader)
        before = cloning.request(run, by=reader)
        same = {name: getattr(before, name) for name in cls.shown}
        config = {setting_name(run.pipeline, name): each for name, each in run.config.items()}
        like = {"release": run.release_id, "like": run.pk}
        return {**same, **like, **config, **super().start(asked, reader)}

    @property
    def can_judge(self) -> bool:
        """Whether answers can be written and judged, of a layer that asks questions."""
        return self.has_model and not endpoints.missing_setting(JUDGE)

    @property
    def asking_layers(self) -> list[str]:
        return answers.asking_layers()

    @property
    def may_have_answers(self) -> bool:
        """Of the gold that is chosen; of any, where none is."""
        return self.layers <= {*self.asking_layers}

    def request(self, release: GoldRelease, *, by: Any = None) -> LaunchRequest:
        return replace(super().request(release, by=by), config=self.config())

    def _asked(self, release: GoldRelease, by: Any) -> LaunchRequest:
        """As in the run that it begins with is also what the form does not show."""
        run = self.begins_with
        if run is None or run.release.layer != release.layer:
            return super()._asked(release, by)
        answers_too = self.cleaned_data.get("evaluate_answers", False)
        changes = {"release": release, "evaluate_answers": answers_too}
        return cloning.request(run, changes, by=by)

    @property
    def names(self) -> Mapping[str, str]:  # type: ignore[override]
        return {"config": setting_name(self.cleaned_data["pipeline"], "")}


class JudgeForm(BudgetForm):
    """The prompts of another judging, each as it is sent; a budget replaces that of the run."""

    def __init__(self, *args: Any, prompts: dict[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for kind, text in prompts.items():
            self.fields[kind] = forms.CharField(
                label=Kind(kind).label,
                initial=text,
                max_length=judge.MOST_CHARACTERS,
                widget=forms.Textarea({"rows": 14, "spellcheck": "false", "dir": "auto"}),
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


def _grouped(pipelines: Sequence[Entry]) -> list[Any]:
    """Those that are tried, then the floors that show what a score is worth."""
    choices = [
        [(entry.name, lazy(entry.title)) for entry in pipelines if entry.floor == floor]
        for floor in (False, True)
    ]
    floors = [(_("Floors"), choices[1])] if choices[1] else []
    return [("", _("Choose…")), *choices[0], *floors]


def setting_name(pipeline: str, setting: str) -> str:
    """Of the form's field of a setting."""
    return f"{pipeline}.{setting}"


def setting_field(setting: Setting) -> forms.Field:
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
            # a phrase in the language of the reader; a single word is a name, as files write it
            choices=[(each, lazy(each) if " " in each else each) for each in setting["choices"]],
            **common,
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
    names: ClassVar[Mapping[str, str]] = {"predictions": "file"}

    def clean_file(self) -> UploadedFile:
        return small_enough(self.cleaned_data["file"])

    def _begin(self, reader: Any) -> Run:
        data, file = self.cleaned_data, self.cleaned_data["file"]
        source = predictions.from_file(file, file.name or "file")
        asked = self.request(data["release"], by=reader)
        return launch.launch(replace(asked, predictions=source))


# --- conversations without gold -------------------------------------------------------------------

PREFERRED = "requirements-agent"
"""What most people come for; it writes a document, too."""
PASTED = _("Pasted transcript")
LISTED = 200


class ConversationsForm(PipelineForm):
    """Files, a transcript, or conversations of a project that the reader leads or researches."""

    file = SeveralFilesField(
        label=_("Files"),
        required=False,
        help_text=_("JSON, CSV, Parquet, text, WebVTT, SRT or ASS; up to 20 MB together."),
    )
    text = forms.CharField(
        label=_("Or paste a transcript"),
        required=False,
        strip=False,
        max_length=launching.MOST_BYTES,
        widget=forms.Textarea({"rows": 8, "dir": "auto", "spellcheck": "false"}),
        help_text=_("A line for each message: “Ana: What do you need?”. WebVTT works as well."),
    )
    roles = forms.CharField(
        label=_("Who is who"),
        required=False,
        max_length=2000,
        widget=_text(placeholder="Ana=analyst, *=user"),
        help_text=_("Which name is the analyst's and which the user's, where names do not say it."),
    )
    project = forms.ModelChoiceField(
        Project.objects.none(),
        label=_("Project"),
        required=False,
        to_field_name="slug",
        empty_label=_("None: only you see the results"),
        help_text=_("Its leads see the results, too. Events are looked for by its event types."),
    )
    questions = forms.CharField(
        label=_("Questions"),
        required=False,
        widget=forms.Textarea({"rows": 4, "dir": "auto"}),
        help_text=_("One a line; each is asked of every conversation."),
    )
    can_begin = True
    days = launching.KEPT_DAYS
    most_conversations, most_messages = launching.MOST_CONVERSATIONS, launching.MOST_MESSAGES

    def __init__(self, *args: Any, reader: Any, **kwargs: Any) -> None:
        super().__init__(*args, entries=predicting.offered(), **kwargs)
        roles = (Membership.Role.LEAD, Membership.Role.RESEARCHER)
        projects = Project.objects.with_role(reader, *roles).order_by("name")
        self.fields["project"].queryset = projects  # type: ignore[attr-defined]
        self.reader = reader

    @classmethod
    def start(cls, asked: Mapping[str, str], reader: Any) -> dict[str, Any]:
        named = {name: asked[name] for name in ("project", "pipeline") if name in asked}
        return {"pipeline": PREFERRED} | named

    @property
    def asking(self) -> list[str]:
        """The pipelines that answer questions."""
        return [entry.name for entry in self.pipelines if {*entry.layers} & {*MEMORY}]

    @property
    def of_project(self) -> Project | None:
        """Also of a form that nobody has sent yet."""
        field: Any = self.fields["project"]
        slug = str(self["project"].value() or "").replace("\x00", "")
        return cast("Project | None", field.queryset.filter(slug=slug).first())

    @property
    def listed(self) -> list[Conversation]:
        """Conversations of the project that can be chosen, the first of them."""
        project = self.of_project
        return list(launching.choosable(project)[:LISTED]) if project else []

    @property
    def ticked(self) -> set[str]:
        sent = self.data.getlist("conversation") if self.is_bound else []  # type: ignore[attr-defined]
        return {id.replace("\x00", "") for id in sent}

    def foreseen(self) -> Foreseen | None:
        """How many cases there are, and what a language model will cost; None before anything is
        given. Raises what is wrong."""
        if not self.is_bound or not self.is_valid():
            return None
        stored, records = self._sources()
        sizes = [
            *(sum(len(turn.content) for turn in each.turns) for each in records),
            *(sum(len(said.content) for said in each.messages) for each in stored),
        ]
        task = self._task()
        cases = len(sizes) * max(1, len(task.questions))
        return Foreseen(len(sizes), cases, launching.estimate(task, sizes))

    def _begin(self, reader: Any) -> Run:
        data, (stored, records) = self.cleaned_data, self._sources()
        wish = launching.Wish(
            by=reader,
            task=self._task(),
            name=data["name"] or self._name(stored),
            project=data["project"],
            budget_cost=data["budget_cost"],
            budget_tokens=data["budget_tokens"],
        )
        if stored:
            return launching.on_conversations(wish, stored)
        return launching.on_records(wish, records)

    def _task(self) -> Task:
        project, pipeline = self.cleaned_data["project"], self.cleaned_data["pipeline"]
        asked = self.cleaned_data["questions"] if pipeline in self.asking else ""
        return predicting.checked_task(
            pipeline,
            self.config(),
            questions=predicting.questions_in(asked),
            event_schema=project.event_schema if project else None,
            model=self.cleaned_data["model"] or DEFAULT,
        )

    @property
    def _files(self) -> list[UploadedFile]:
        return [file for file in self.cleaned_data.get("file") or [] if file]

    def _sources(self) -> tuple[Sequence[Conversation], Sequence[Record]]:
        text, files, ticked = self.cleaned_data["text"], self._files, self.ticked
        if sum(map(bool, (files, text.strip(), ticked))) != 1:
            raise TrialRefused(
                msgid(
                    "Give files, a pasted transcript, or conversations of a project: one of the "
                    "three."
                )
            )
        if ticked:
            return launching.chosen(self.cleaned_data["project"], ticked), []
        if sum(file.size or 0 for file in files) > launching.MOST_BYTES:
            raise TrialRefused(
                msgid("The files are larger than {most} MB: use assay run_pipeline for them."),
                most=launching.MOST_BYTES // 1024**2,
            )
        how = HowToRead.written("", self.cleaned_data["roles"])
        return [], launching.records_of(self._opened(), format=AUTO, how=how)

    def _opened(self) -> Iterator[tuple[str, Any]]:
        for file in self._files:
            file.seek(0)
            yield file.name or "file", file.file
        if not self._files:
            name = self.cleaned_data["name"] or str(PASTED)
            yield name, BytesIO(self.cleaned_data["text"].encode("utf-8", "replace"))

    def _name(self, stored: Sequence[Conversation]) -> str:
        named = [talk.external_id for talk in stored[:3]] + (["…"] if stored[3:] else [])
        return ", ".join(named or [str(file.name) for file in self._files] or [str(PASTED)])
