from django.urls import path

from evaluation.report.reading import run_report
from evaluation.views.answers import run_judge
from evaluation.views.comparison import run_compare, run_compare_case
from evaluation.views.document import case_document, case_document_file
from evaluation.views.drilldown import case_reopen, run_case
from evaluation.views.gates import (
    gate_thresholds,
    gate_thresholds_store,
    primary_metric_store,
    run_baseline,
    run_gate,
)
from evaluation.views.judges import judge_list, judge_page
from evaluation.views.launch import (
    release_planning,
    run_new,
    run_planning,
)
from evaluation.views.live import run_progress
from evaluation.views.ratings import (
    rating,
    rating_list,
    rating_store,
    run_ratings,
    run_ratings_change,
)
from evaluation.views.run import (
    run_carry,
    run_control,
    run_note,
    run_page,
    run_verdict,
)
from evaluation.views.runs import experiment_file, run_list
from evaluation.views.unmeasured import ask as suggestions_ask
from evaluation.views.unmeasured import overview as suggestions
from evaluation.views.unmeasured import (
    run_delete,
    run_labels,
    run_outputs,
    run_suggest,
)
from evaluation.views.unmeasured import switch as suggestions_switch

urlpatterns = [
    path("projects/<slug:slug>/suggestions/", suggestions, name="suggestions"),
    path("projects/<slug:slug>/suggestions/ask/", suggestions_ask, name="suggestions-ask"),
    path("projects/<slug:slug>/suggestions/switch/", suggestions_switch, name="suggestions-switch"),
    path(
        "projects/<slug:slug>/gold/<str:name>/<int:version>/planning/",
        release_planning,
        name="gold-planning",
    ),
    path("runs/", run_list, name="runs"),
    path("runs/new/", run_new, {"on": "gold"}, name="run-new"),
    path("runs/new/conversations/", run_new, {"on": "conversations"}, name="unmeasured-new"),
    path("runs/new/predictions/", run_new, {"on": "predictions"}, name="run-predictions"),
    path("runs/new/planning/", run_planning, name="run-planning"),
    path("runs/compare/", run_compare, name="run-compare"),
    path(
        "runs/compare/<int:baseline>/<int:run>/cases/<int:pk>/",
        run_compare_case,
        name="run-compare-case",
    ),
    path("runs/experiments.csv", experiment_file, name="experiment-file"),
    path("runs/<int:pk>/", run_page, name="run"),
    path("runs/<int:pk>/verdict/", run_verdict, name="run-verdict"),
    path("runs/<int:pk>/progress/", run_progress, name="run-progress"),
    path("runs/<int:pk>/control/", run_control, name="run-control"),
    path("runs/<int:pk>/delete/", run_delete, name="run-delete"),
    path("runs/<int:pk>/suggest/", run_suggest, name="run-suggest"),
    path("runs/<int:pk>/predictions.jsonl", run_outputs, name="run-outputs"),
    path("runs/<int:pk>/labels.csv", run_labels, name="run-labels"),
    path("runs/<int:pk>/note/", run_note, name="run-note"),
    path("runs/<int:pk>/report.<str:ending>", run_report, name="run-report"),
    path("runs/<int:pk>/gate/", run_gate, name="run-gate"),
    path("runs/<int:pk>/baseline/", run_baseline, name="run-baseline"),
    path("projects/<slug:slug>/gate/", gate_thresholds, name="gate-thresholds"),
    path("projects/<slug:slug>/gate/store/", gate_thresholds_store, name="gate-thresholds-store"),
    path(
        "projects/<slug:slug>/gate/primary-metric/",
        primary_metric_store,
        name="primary-metric-store",
    ),
    path("runs/<int:pk>/ratings/", run_ratings, name="run-ratings"),
    path("runs/<int:pk>/ratings/change/", run_ratings_change, name="run-ratings-change"),
    path("ratings/", rating_list, name="ratings"),
    path("ratings/<uuid:code>/", rating, name="rating"),
    path("ratings/<uuid:code>/<int:number>/", rating_store, name="rating-store"),
    path("runs/<int:pk>/judge/", run_judge, name="run-judge"),
    path("judges/", judge_list, name="judges"),
    path("judges/<slug:slug>/<slug:kind>/<slug:sha256>/", judge_page, name="judge"),
    path("runs/<int:run_pk>/cases/<int:pk>/", run_case, name="run-case"),
    path("runs/<int:pk>/carry/", run_carry, name="run-carry"),
    path("runs/<int:run_pk>/cases/<int:pk>/reopen/", case_reopen, name="run-case-reopen"),
    path("runs/<int:run_pk>/cases/<int:pk>/document/", case_document, name="run-case-document"),
    path(
        "runs/<int:run_pk>/cases/<int:pk>/document.<str:form>",
        case_document_file,
        name="run-case-document-file",
    ),
]
