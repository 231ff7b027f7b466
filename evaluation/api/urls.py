from django.urls import path

from evaluation.api.pipelines import PipelinesView
from evaluation.api.results import ComparisonView, RunGateView, RunReportView
from evaluation.api.runs import (
    RunCasesView,
    RunCaseView,
    RunControlView,
    RunListView,
    RunPredictionsView,
    RunView,
)

urlpatterns = [
    path("runs/", RunListView.as_view(), name="api-runs"),
    path("pipelines/", PipelinesView.as_view(), name="api-pipelines"),
    path("runs/predictions/", RunPredictionsView.as_view(), name="api-run-predictions"),
    path("runs/compare/", ComparisonView.as_view(), name="api-compare"),
    path("runs/<int:pk>/", RunView.as_view(), name="api-run"),
    path("runs/<int:pk>/cases/", RunCasesView.as_view(), name="api-run-cases"),
    path("runs/<int:pk>/cases/<int:case>/", RunCaseView.as_view(), name="api-run-case"),
    path("runs/<int:pk>/gate/", RunGateView.as_view(), name="api-run-gate"),
    path("runs/<int:pk>/report/", RunReportView.as_view(), name="api-run-report"),
    path("runs/<int:pk>/control/", RunControlView.as_view(), name="api-run-control"),
]
