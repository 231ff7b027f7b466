from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db.models import Prefetch
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from evaluation.access import require_reader
from evaluation.forms import small_enough
from evaluation.metrics.summary import FIGURES
from evaluation.models import Aggregate, Answer, CaseRun, Run, Score
from evaluation.services import job_kinds, looks
from evaluation.services.judging import corrections
from evaluation.services.launch import launch, predictions
from evaluation.services.launch.launch import LaunchRequest
from evaluation.services.run import exposures, lists, results
from evaluation.services.unmeasured import launching, predicting
from evaluation.services.work import steering
from labeling.core import access
from labeling.core.api.base import READING, RUNNING, ApiView
from labeling.core.api.described import extend_schema
from labeling.core.api.paging import PAGING, page, page_of
from labeling.core.api.parsing import ShallowJSONParser
from labeling.core.api.records import FactField, body_of, computed, row_of, serializer_of, username
from labeling.core.api.requests import asked, checked_by, sent
from labeling.gold import gold
from labeling.models import Conversation, GoldRelease
from labeling.operation import health
from labeling.work import blindness


class RunIn(
    body_of(  # type: ignore[misc]
        LaunchRequest,
        *("pipeline", "config", "metrics", "split", "reason", "repetitions", "seed", "name"),
        *("evaluate_answers", "judge_prompts", "model"),
        *("budget_cost", "budget_tokens", "concurrency"),
        gold=serializers.CharField(default="", allow_blank=True, help_text="name, or name@version"),
        project=serializers.CharField(
            default="", allow_blank=True, help_text="Without gold: whose conversations"
        ),
        conversations=serializers.ListField(
            child=serializers.CharField(max_length=200),
            default=list,
            help_text="In place of gold: ids in the project; nothing is measured",
        ),
        questions=serializers.ListField(
            child=serializers.CharField(max_length=predicting.LONGEST_QUESTION),
            default=list,
            help_text="Without gold, for pipelines that answer: asked of every conversation",
        ),
        predictions=serializers.ListField(
            child=serializers.DictField(),
            default=None,
            allow_null=True,
            help_text="Made elsewhere, {case_id, output} each: no pipeline is run",
        ),
    )
):
    """The shape of a request; what makes no sense is refused by ``launch.check``."""

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs["pipeline"] and attrs["predictions"] is None:
            raise serializers.ValidationError({"pipeline": "This field is required."})
        if bool(attrs["gold"]) == bool(attrs["conversations"]):
            raise serializers.ValidationError({"gold": "Name gold, or conversations."})
        return attrs


class ControlIn(serializers.Serializer[Any]):
    action = serializers.ChoiceField(sorted(steering.CONTROLS))
    budget_cost = serializers.FloatField(
        required=False, help_text="With resume: a new budget in place of the old"
    )
    budget_tokens = serializers.IntegerField(required=False, min_value=1, max_value=2**53)


AggregateOut = row_of(
    "AggregateOut",
    Aggregate,
    *("metric", "metric_version", *FIGURES, "chance"),
    reason=FactField(),
    over_chance=serializers.FloatField(
        allow_null=True, help_text="(mean − chance)/(1 − chance); null without a chance level"
    ),
    yardsticks=computed(
        serializers.DictField,
        results.yardsticks_as_json,
        help_text="Floors, people, skill and the figure without empty gold, as in results.json",
    ),
)
RunOut = row_of(
    "RunOut",
    Run,
    *("id", "name", "pipeline", "pipeline_version", "split", "repetitions"),
    *("created_at", "scored_at"),
    gold=serializers.CharField(
        source="release", allow_null=True, help_text="null: nothing is measured"
    ),
    status=serializers.CharField(help_text="Follows from the cases; it is not stored"),
    n_cases=serializers.IntegerField(),
    n_done=serializers.IntegerField(),
    n_failed=serializers.IntegerField(),
    requested_by=username("requested_by"),
)
TestLookOut = serializer_of(looks.TestLook)
ExposureOut = serializer_of(exposures.Exposures)
RunDetailOut = row_of(
    "RunDetailOut",
    Run,
    *("reason", "budget_cost", "budget_tokens", "concurrency", "config"),
    base=RunOut,
    spec=serializers.DictField(source="spec.as_json"),
    test_look=computed(
        TestLookOut,
        looks.test_look,
        allow_null=True,
        help_text="Which look at its test items it was; null: it has none",
    ),
    exposure=computed(
        ExposureOut,
        lambda run: exposures.of_run(run.pk),
        help_text="Cases by what the weights had to do with their conversation",
    ),
    failure=FactField(read_only=True),
    pause_reason=FactField(read_only=True),
    waiting_since=computed(
        serializers.DateTimeField,
        job_kinds.waiting_since,
        allow_null=True,
        help_text="Since when it waits for a worker; null: it does not",
    ),
    has_worker=computed(
        serializers.BooleanField,
        lambda run: health.has_worker(),
        help_text="Whether any worker runs: without one, nothing that waits begins",
    ),
    aggregates=AggregateOut(many=True),
    people_corrected=computed(
        serializers.DictField,
        lambda run: corrections.as_json(run) if run.is_measured else {},
        help_text="By metric the judged mean corrected by people, where its judge is certified",
    ),
)


ScoreOut = row_of("ScoreOut", Score, *("metric", "metric_version", "value"), reason=FactField())
CaseScoreOut = row_of(
    "CaseScoreOut",
    Score,
    *("chance", "numerator", "weight"),
    base=ScoreOut,
    detail=serializers.DictField(help_text="What the metric looked at, pair by pair"),
)
CaseOut = row_of(
    "CaseOut",
    CaseRun,
    *("id", "repetition", "state", "exposure", "attempts", "error_class"),
    *("earlier_failures", "seconds"),
    case_id=serializers.CharField(),
    error=FactField(read_only=True),
    scores=ScoreOut(many=True),
)
WrittenAnswerOut = row_of("WrittenAnswerOut", Answer, "state", "text")
CaseDetailOut = row_of(
    "CaseDetailOut",
    CaseRun,
    base=CaseOut,
    item_id=serializers.CharField(source="item.item_id", allow_null=True),
    split=serializers.CharField(source="item.split", allow_blank=True, allow_null=True),
    output=serializers.DictField(allow_null=True, help_text="null: there is none"),
    gold=serializers.DictField(
        source="item.content.gold", allow_null=True, help_text="The labels of the item"
    ),
    scores=CaseScoreOut(many=True),
    answer=computed(
        WrittenAnswerOut,
        lambda case: Answer.objects.filter(case=case).first(),
        allow_null=True,
        help_text="What was written from the messages; null unless the run evaluates answers",
    ),
)


class MineIn(serializers.Serializer[Any]):
    mine = serializers.BooleanField(default=False, help_text="Only those that I have launched")


class RunListView(ApiView, scopes=RUNNING):
    @extend_schema(
        parameters=[
            *PAGING,
            OpenApiParameter("pipeline", str),
            OpenApiParameter("gold", str, description="name@version"),
            OpenApiParameter("split", str, description="all: on every split"),
            OpenApiParameter("status", str, enum=Run.Status.values),
            OpenApiParameter("search", str, description="In names, pipelines and notes"),
            MineIn,
        ],
        responses=page_of(RunOut),
    )
    def get(self, request: Request) -> Response:
        """The runs I may read, newest first."""
        require_reader(request.user)
        rows = lists.filtered(_runs(request), _wanted(request), request.user)
        rows = rows.defer("spec", "config")
        return page(request, rows, RunOut, by=["-pk"])

    @extend_schema(request=RunIn, responses={201: RunDetailOut})
    def post(self, request: Request) -> Response:
        """Launch a run, of a pipeline or on predictions, on gold or on conversations without it;
        a worker carries it out."""
        require_reader(request.user)
        fields = sent(request, RunIn)
        if fields["conversations"]:
            run = _launch_unmeasured(request, fields)
        else:
            run = launch.launch(_asked(request, fields))
        return Response(_detail(request, run.pk), status=status.HTTP_201_CREATED)


class RunView(ApiView, scopes=RUNNING):
    @extend_schema(responses=RunDetailOut)
    def get(self, request: Request, pk: int) -> Response:
        """One run with its aggregates and everything needed to repeat it."""
        return Response(_detail(request, pk))


class RunCasesView(ApiView, scopes=READING):
    @extend_schema(parameters=PAGING, responses=page_of(CaseOut))
    def get(self, request: Request, pk: int) -> Response:
        """The cases of a run with their scores, 100 at a time."""
        run = _opened(request, pk)
        scores = Prefetch("scores", Score.objects.defer("detail", "by_person"))
        rows = run.cases.select_related("item", "talk")
        rows = rows.defer("output", "item__canonical", "talk__text")
        return page(request, rows.prefetch_related(scores), CaseOut)


class RunCaseView(ApiView, scopes=READING):
    @extend_schema(responses=CaseDetailOut)
    def get(self, request: Request, pk: int, case: int) -> Response:
        """One case: what came out, the gold next to it, and every score with its detail."""
        run = _opened(request, pk)
        rows = run.cases.select_related("item", "talk").prefetch_related("scores")
        shown = get_object_or_404(rows, pk=case)
        if run.is_measured:
            frozen = Conversation.objects.filter(pk=shown.item.conversation_id)
            blindness.refuse(request.user, frozen)  # gold is in the answer
        return Response(CaseDetailOut(shown).data)


class PredictionsIn(
    body_of(  # type: ignore[misc]
        LaunchRequest,
        *("split", "reason", "name"),
        file=serializers.FileField(help_text="JSON Lines: case_id and output"),
        gold=serializers.CharField(help_text="name, or name@version"),
        metrics=serializers.JSONField(default=dict, help_text="Settings of the metrics, an object"),
    )
):
    def validate_file(self, file: UploadedFile) -> UploadedFile:
        return checked_by(small_enough, file)

    def validate_metrics(self, settings: Any) -> dict[str, Any]:
        if not isinstance(settings, dict):
            raise serializers.ValidationError("Settings are an object with names.")
        return settings


class RunPredictionsView(ApiView, scopes=RUNNING):
    parser_classes = [MultiPartParser, ShallowJSONParser]  # a JSON body gets what is missing

    @extend_schema(
        request={"multipart/form-data": PredictionsIn},
        responses={201: RunDetailOut},
    )
    def post(self, request: Request) -> Response:
        """Launch a run on the predictions of a file, of at most 100 MB."""
        require_reader(request.user)
        run = launch.launch(_asked(request, sent(request, PredictionsIn)))
        return Response(_detail(request, run.pk), status=status.HTTP_201_CREATED)


class RunControlView(ApiView, scopes=RUNNING):
    @extend_schema(
        request=ControlIn,
        responses=RunDetailOut,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Pause, resume or cancel; try again what failed; or compute the scores again from the
        stored outputs."""
        run = get_object_or_404(_runs(request), pk=pk)
        looks.require(request.user, run)  # the answer has its figures
        values = sent(request, ControlIn)
        action = values.pop("action")
        steering.control(run, action, by=request.user, **values)
        return Response(_detail(request, pk))


def _launch_unmeasured(request: Request, fields: Mapping[str, Any]) -> Run:
    """Fields that only gold has a use for are left alone, as on the page."""
    project = access.readable(request.user, fields["project"])
    talks = launching.chosen(project, set(fields["conversations"]))
    task = predicting.checked_task(
        fields["pipeline"],
        fields["config"],
        questions=predicting.questions_in("\n".join(fields["questions"])),
        event_schema=project.event_schema,
        model=fields["model"],
    )
    budget = {name: fields[name] for name in ("budget_cost", "budget_tokens")}
    wish = launching.Wish(request.user, task, fields["name"], project, **budget)
    return launching.on_conversations(wish, talks)


def _asked(request: Request, fields: dict[str, Any]) -> LaunchRequest:
    """A run of a pipeline, or on the predictions that came with the request."""
    asked = dict(fields)
    for name in ("project", "conversations", "questions"):
        asked.pop(name, None)
    visible = GoldRelease.objects.visible_to(request.user).select_related("project")
    release = gold.find(asked.pop("gold"), among=visible)
    given = asked.pop("predictions", None)
    source = None if given is None else predictions.from_list(given)
    if file := asked.pop("file", None):
        source = predictions.from_file(file, file.name or "file")
    return LaunchRequest(release=release, predictions=source, requested_by=request.user, **asked)


def _wanted(request: Request) -> lists.Asked:
    wanted = request.query_params
    return lists.Asked(
        pipeline=wanted.get("pipeline", ""),
        release=wanted.get("gold", ""),
        split=wanted.get("split", ""),
        status=wanted.get("status", ""),
        search=wanted.get("search", ""),
        **asked(request, MineIn),
    )


def _runs(request: Request) -> Any:
    visible = Run.objects.with_unmeasured(request.user).with_progress()
    heavy = ("release__header", "release__agreement", "release__left_out")
    related = ("release__project", "requested_by", "look", "project")
    return visible.select_related(*related).defer(*heavy)


def _opened(request: Request, pk: int) -> Run:
    """For what a run says of its cases."""
    run: Run = get_object_or_404(_runs(request), pk=pk)
    if run.is_measured:
        looks.require(request.user, run)
    else:
        launching.refuse_hidden(request.user, run)
    return run


def _detail(request: Request, pk: int) -> dict[str, Any]:
    aggregates = Prefetch("aggregates", Aggregate.objects.defer("detail"))
    run = get_object_or_404(_runs(request).prefetch_related(aggregates), pk=pk)
    looks.require(request.user, run)
    return dict(RunDetailOut(run).data)
