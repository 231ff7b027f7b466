from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponseBase
from django.urls import path

from labeling.api.adjudications import AdjudicationView
from labeling.api.agreement import AgreementView
from labeling.api.annotations import AnnotationViewSet
from labeling.api.comments import CommentsView, MentionsView, ResolveView
from labeling.api.conversations import ConversationsView
from labeling.api.gold import GoldListView, GoldView
from labeling.api.looks import LooksView
from labeling.api.newcomers import (
    AdmissionsView,
    AdmissionView,
    AnotherTryView,
    OwnCalibrationView,
)
from labeling.api.projects import ProjectListView, ProjectView
from labeling.api.queue import LeaseView, NextView, QueueView
from labeling.api.reviews import ReviewView
from labeling.api.suggestions import FirstPassView, SuggestionsView


@login_not_required  # as all of the API, which lets nobody in by itself
def schema(request: HttpRequest) -> HttpResponseBase:
    from labeling.api import documentation

    return documentation.schema(request)


@login_not_required
def docs(request: HttpRequest) -> HttpResponseBase:
    from labeling.api import documentation

    return documentation.page(request)


urlpatterns = [
    path("schema/", schema, name="api-schema"),
    path("docs/", docs, name="api-docs"),
    path("queue/", QueueView.as_view(), name="api-queue"),
    path("queue/next/", NextView.as_view(), name="api-queue-next"),
    path("queue/<int:pk>/lease/", LeaseView.as_view(), name="api-queue-lease"),
    path(
        "annotations/<int:pk>/",
        AnnotationViewSet.as_view({"get": "retrieve", "put": "update"}),
        name="api-annotation",
    ),
    path(
        "annotations/<int:pk>/submit/",
        AnnotationViewSet.as_view({"post": "submit"}),
        name="api-annotation-submit",
    ),
    path(
        "annotations/<int:pk>/skip/",
        AnnotationViewSet.as_view({"post": "skip"}),
        name="api-annotation-skip",
    ),
    path(
        "annotations/<int:pk>/reopen/",
        AnnotationViewSet.as_view({"post": "reopen"}),
        name="api-annotation-reopen",
    ),
    path(
        "annotations/<int:pk>/restore/",
        AnnotationViewSet.as_view({"post": "restore"}),
        name="api-annotation-restore",
    ),
    path(
        "annotations/<int:pk>/revisions/",
        AnnotationViewSet.as_view({"get": "revisions"}),
        name="api-annotation-revisions",
    ),
    path(
        "annotations/<int:pk>/revisions/<int:version>/",
        AnnotationViewSet.as_view({"get": "revision"}),
        name="api-annotation-revision",
    ),
    path(
        "annotations/<int:pk>/comments/",
        CommentsView.as_view(),
        name="api-annotation-comments",
    ),
    path(
        "annotations/<int:pk>/suggestions/",
        SuggestionsView.as_view(),
        name="api-annotation-suggestions",
    ),
    path(
        "annotations/<int:pk>/first-pass/",
        FirstPassView.as_view(),
        name="api-annotation-first-pass",
    ),
    path("comments/<int:pk>/resolve/", ResolveView.as_view(), name="api-comment-resolve"),
    path("mentions/", MentionsView.as_view(), name="api-mentions"),
    path("projects/", ProjectListView.as_view(), name="api-projects"),
    path("projects/<slug:slug>/", ProjectView.as_view(), name="api-project"),
    path(
        "projects/<slug:slug>/conversations/",
        ConversationsView.as_view(),
        name="api-conversations",
    ),
    path(
        "projects/<slug:slug>/calibration/",
        OwnCalibrationView.as_view(),
        name="api-calibration",
    ),
    path(
        "projects/<slug:slug>/admissions/",
        AdmissionsView.as_view(),
        name="api-admissions",
    ),
    path(
        "projects/<slug:slug>/admissions/<str:username>/",
        AdmissionView.as_view(),
        name="api-admission",
    ),
    path(
        "projects/<slug:slug>/admissions/<str:username>/another-try/",
        AnotherTryView.as_view(),
        name="api-another-try",
    ),
    path(
        "projects/<slug:slug>/rounds/<int:number>/agreement/",
        AgreementView.as_view(),
        name="api-agreement",
    ),
    path(
        "adjudications/<int:pk>/<str:layer>/", AdjudicationView.as_view(), name="api-adjudication"
    ),
    path("reviews/<int:pk>/", ReviewView.as_view(), name="api-review"),
    path("gold/", GoldListView.as_view(), name="api-gold"),
    path("looks/", LooksView.as_view(), name="api-looks"),
    path("gold/<str:name>/<int:version>/", GoldView.as_view(), name="api-gold-release"),
]
