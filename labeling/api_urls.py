from collections.abc import Callable
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponseBase
from django.urls import URLPattern, URLResolver, include, path

from labeling.agreement.api.agreement import AgreementView, RatingsView
from labeling.conversations.api.conversations import (
    AnswersView,
    ConversationsView,
    ConversationView,
)
from labeling.core.api.members import MembersView, MemberView
from labeling.gold.api.freezes import (
    FreezesView,
    FreezeView,
)
from labeling.gold.api.gold import (
    GoldExportView,
    GoldListView,
    GoldVerifyView,
    GoldView,
    LooksView,
)
from labeling.operation.api import StatusView
from labeling.overview.api.projects import ProjectListView, ProjectView
from labeling.settling.api.adjudications import AdjudicationView, CasesView
from labeling.settling.api.reviews import ReviewView
from labeling.work.api.annotations import AnnotationViewSet
from labeling.work.api.guidelines import GuidelinesView, GuidelineView
from labeling.work.api.queue import NextView, QueueView
from labeling.work.api.rounds import CloseView, RoundsView, RoundView
from labeling.work.api.suggestions import FirstPassView, SuggestionsView
from labeling.work.api.workspace import WorkspaceView

Addresses = list[URLPattern | URLResolver]


@login_not_required  # as all of the API, which lets nobody in by itself
def schema(request: HttpRequest) -> HttpResponseBase:
    from labeling.core.api import documentation

    return documentation.schema(request)


@login_not_required
def docs(request: HttpRequest) -> HttpResponseBase:
    from labeling.core.api import documentation

    return documentation.page(request)


def of_annotation(**methods: Any) -> Callable[..., HttpResponseBase]:
    return AnnotationViewSet.as_view(methods)


of_an_assignment: Addresses = [
    path("", of_annotation(get="retrieve", put="update"), name="api-annotation"),
    path("conversation/", WorkspaceView.as_view(), name="api-annotation-conversation"),
    path("submit/", of_annotation(post="submit"), name="api-annotation-submit"),
    path("skip/", of_annotation(post="skip"), name="api-annotation-skip"),
    path("reopen/", of_annotation(post="reopen"), name="api-annotation-reopen"),
    path("restore/", of_annotation(post="restore"), name="api-annotation-restore"),
    path("revisions/", of_annotation(get="revisions"), name="api-annotation-revisions"),
    path(
        "revisions/<int:version>/",
        of_annotation(get="revision"),
        name="api-annotation-revision",
    ),
    path("suggestions/", SuggestionsView.as_view(), name="api-annotation-suggestions"),
    path("first-pass/", FirstPassView.as_view(), name="api-annotation-first-pass"),
]

of_a_round: Addresses = [
    path("", RoundView.as_view(), name="api-round"),
    path("close/", CloseView.as_view(), name="api-round-close"),
    path("agreement/", AgreementView.as_view(), name="api-agreement"),
    path("agreement/ratings/", RatingsView.as_view(), name="api-agreement-ratings"),
]

of_a_project: Addresses = [
    path("", ProjectView.as_view(), name="api-project"),
    path("members/", MembersView.as_view(), name="api-members"),
    path("members/<int:pk>/", MemberView.as_view(), name="api-member"),
    path("conversations/", ConversationsView.as_view(), name="api-conversations"),
    path("conversations/<int:pk>/", ConversationView.as_view(), name="api-conversation"),
    path("conversations/<int:pk>/answers/", AnswersView.as_view(), name="api-answers"),
    path("guidelines/", GuidelinesView.as_view(), name="api-guidelines"),
    path("guidelines/<int:version>/", GuidelineView.as_view(), name="api-guideline"),
    path("rounds/", RoundsView.as_view(), name="api-rounds"),
    path("rounds/<int:number>/", include(of_a_round)),
    path("adjudications/", CasesView.as_view(), name="api-adjudications"),
]

urlpatterns = [
    path("schema/", schema, name="api-schema"),
    path("docs/", docs, name="api-docs"),
    path("queue/", QueueView.as_view(), name="api-queue"),
    path("queue/next/", NextView.as_view(), name="api-queue-next"),
    path("annotations/<int:pk>/", include(of_an_assignment)),
    path("projects/", ProjectListView.as_view(), name="api-projects"),
    path("projects/<slug:slug>/", include(of_a_project)),
    path(
        "adjudications/<int:pk>/<str:layer>/", AdjudicationView.as_view(), name="api-adjudication"
    ),
    path("reviews/<int:pk>/", ReviewView.as_view(), name="api-review"),
    path("gold/", GoldListView.as_view(), name="api-gold"),
    path("status/", StatusView.as_view(), name="api-status"),
    path("looks/", LooksView.as_view(), name="api-looks"),
    path("gold/<str:name>/<int:version>/", GoldView.as_view(), name="api-gold-release"),
    path("gold/<str:name>/<int:version>/export/", GoldExportView.as_view(), name="api-gold-export"),
    path("gold/<str:name>/<int:version>/verify/", GoldVerifyView.as_view(), name="api-gold-verify"),
    path("projects/<slug:slug>/freezes/", FreezesView.as_view(), name="api-freezes"),
    path("projects/<slug:slug>/freezes/<int:pk>/", FreezeView.as_view(), name="api-freeze"),
]
