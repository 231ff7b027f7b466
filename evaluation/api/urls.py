from django.urls import path

from evaluation.api.baselines import RunBaselineView
from evaluation.api.comparisons import ComparisonView
from evaluation.api.experiments import ExperimentFileView, ExperimentsView
from evaluation.api.gates import RunGateView
from evaluation.api.judges import JudgeView
from evaluation.api.pipelines import PipelinesView, PipelineView
from evaluation.api.primary_metrics import PrimaryMetricsView
from evaluation.api.reports import RunReportView
from evaluation.api.run_files import RunDocumentView, RunPlotView
from evaluation.api.runs import (
    RunCarryView,
    RunCasesView,
    RunCaseView,
    RunCloneView,
    RunControlView,
    RunEstimateView,
    RunListView,
    RunNotesView,
    RunPredictionsView,
    RunView,
)
from evaluation.api.thresholds import ThresholdsView
from evaluation.api.trials import (
    TrialCasesView,
    TrialControlView,
    TrialDocumentView,
    TrialFileView,
    TrialListView,
    TrialSuggestionsView,
    TrialView,
)

urlpatterns = [
    path("runs/", RunListView.as_view(), name="api-runs"),
    path("pipelines/", PipelinesView.as_view(), name="api-pipelines"),
    path("pipelines/<str:name>/", PipelineView.as_view(), name="api-pipeline"),
    path("experiments/", ExperimentsView.as_view(), name="api-experiments"),
    path("experiments/file/", ExperimentFileView.as_view(), name="api-experiments-file"),
    path("runs/predictions/", RunPredictionsView.as_view(), name="api-run-predictions"),
    path("runs/compare/", ComparisonView.as_view(), name="api-compare"),
    path("runs/estimate/", RunEstimateView.as_view(), name="api-run-estimate"),
    path("runs/<int:pk>/", RunView.as_view(), name="api-run"),
    path("runs/<int:pk>/cases/", RunCasesView.as_view(), name="api-run-cases"),
    path("runs/<int:pk>/cases/<int:case>/", RunCaseView.as_view(), name="api-run-case"),
    path(
        "runs/<int:pk>/cases/<int:case>/document/",
        RunDocumentView.as_view(),
        name="api-run-document",
    ),
    path("runs/<int:pk>/plots/<slug:name>/", RunPlotView.as_view(), name="api-run-plot"),
    path("runs/<int:pk>/notes/", RunNotesView.as_view(), name="api-run-notes"),
    path("runs/<int:pk>/carry/", RunCarryView.as_view(), name="api-run-carry"),
    path("runs/<int:pk>/baseline/", RunBaselineView.as_view(), name="api-run-baseline"),
    path("runs/<int:pk>/gate/", RunGateView.as_view(), name="api-run-gate"),
    path("runs/<int:pk>/report/", RunReportView.as_view(), name="api-run-report"),
    path("runs/<int:pk>/clone/", RunCloneView.as_view(), name="api-run-clone"),
    path("runs/<int:pk>/control/", RunControlView.as_view(), name="api-run-control"),
    path(
        "projects/<slug:slug>/gate-thresholds/",
        ThresholdsView.as_view(),
        name="api-gate-thresholds",
    ),
    path(
        "projects/<slug:slug>/primary-metrics/",
        PrimaryMetricsView.as_view(),
        name="api-primary-metrics",
    ),
    path(
        "projects/<slug:slug>/judges/<slug:kind>/<slug:sha256>/",
        JudgeView.as_view(),
        name="api-judge",
    ),
    path("trials/", TrialListView.as_view(), name="api-trials"),
    path("trials/<int:pk>/", TrialView.as_view(), name="api-trial"),
    path("trials/<int:pk>/cases/", TrialCasesView.as_view(), name="api-trial-cases"),
    path(
        "trials/<int:pk>/cases/<int:case>/document/",
        TrialDocumentView.as_view(),
        name="api-trial-document",
    ),
    path("trials/<int:pk>/control/", TrialControlView.as_view(), name="api-trial-control"),
    path("trials/<int:pk>/file/", TrialFileView.as_view(), name="api-trial-file"),
    path(
        "trials/<int:pk>/suggestions/",
        TrialSuggestionsView.as_view(),
        name="api-trial-suggestions",
    ),
]
