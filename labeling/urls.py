from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import set_language

from labeling.accounts.views.account import account, password_change
from labeling.accounts.views.invitations import (
    invitation,
    invitation_revoke,
    people_invite,
)
from labeling.accounts.views.signing_in import (
    PasswordLink,
    SignIn,
    SignOut,
    admin_sign_in,
    password_forgotten,
)
from labeling.accounts.views.tokens import token_revoke, tokens
from labeling.agreement.views.agreement import (
    agreement,
    agreement_csv,
)
from labeling.agreement.views.calibration import calibration
from labeling.agreement.views.disagreements import (
    disagreement_comment,
    disagreement_decide,
    disagreement_names,
    disagreements,
)
from labeling.conversations.views.conversation_files import (
    conversations_import,
    conversations_preview,
    conversations_store,
)
from labeling.core.views.members import member_remove, members
from labeling.exchange.views import label_files, labels_export, labels_import, labels_preview
from labeling.gold.views.gold import (
    gold,
    gold_export,
    gold_freeze,
    gold_item,
    gold_lint,
    gold_release,
    gold_verify,
)
from labeling.gold.views.gold_compare import gold_compare
from labeling.gold.views.looks import gold_look, looks
from labeling.gold.views.reopenings import gold_corrections, reopening, reopening_new, reopenings
from labeling.operation.views.docs import docs
from labeling.operation.views.health import healthz, metrics, readyz
from labeling.operation.views.status import (
    status,
)
from labeling.operation.views.webhooks import (
    webhook,
    webhook_remove,
    webhook_resume,
    webhooks,
)
from labeling.overview.views.activity import audit
from labeling.overview.views.conversations import conversation, conversations
from labeling.overview.views.home import home
from labeling.overview.views.progress import progress, table
from labeling.overview.views.projects import (
    project,
    project_list,
    project_new,
    project_start,
    settings_page,
)
from labeling.screening.views.checks import check_person, checks
from labeling.screening.views.screening import screening
from labeling.settling.views.adjudication import (
    adjudicate,
    adjudication,
    adjudication_next,
)
from labeling.settling.views.reviews import review, review_next, reviews
from labeling.work.views.comments import (
    comment_add,
    comment_reply,
    comment_resolve,
    work_comments,
)
from labeling.work.views.guideline_worklist import guideline_check, guideline_worklist
from labeling.work.views.guidelines import guideline_new, guideline_start, guidelines
from labeling.work.views.rounds import round_close, round_new, work_move
from labeling.work.views.workspace import lease_give_back, next_sample, workspace

of_a_project = [
    path("", project, name="project"),
    path("progress/", progress, name="progress"),
    path("settings/", settings_page, name="project-settings"),
    path("tables/<slug:name>.csv", table, name="table"),
    path("audit/", audit, name="audit"),
    path("members/", members, name="members"),
    path("members/<int:pk>/remove/", member_remove, name="member-remove"),
    path("webhooks/", webhooks, name="webhooks"),
    path("webhooks/<int:pk>/", webhook, name="webhook"),
    path("webhooks/<int:pk>/resume/", webhook_resume, name="webhook-resume"),
    path("webhooks/<int:pk>/remove/", webhook_remove, name="webhook-remove"),
    path("invitations/people/", people_invite, name="people-invite"),
    path("invitations/<int:pk>/revoke/", invitation_revoke, name="invitation-revoke"),
    path("start/", project_start, name="project-start"),
    path("guidelines/start/", guideline_start, name="guideline-start"),
    path("rounds/new/", round_new, name="round-new"),
    path("rounds/<int:number>/close/", round_close, name="round-close"),
    path("people/<int:pk>/move/", work_move, name="work-move"),
    path("rounds/<int:number>/agreement/", agreement, name="agreement"),
    path("rounds/<int:number>/agreement.csv", agreement_csv, name="agreement-csv"),
    path("calibration/", calibration, name="calibration"),
    path("rounds/<int:number>/disagreements/", disagreements, name="disagreements"),
    path(
        "rounds/<int:number>/disagreements/comment/",
        disagreement_comment,
        name="disagreement-comment",
    ),
    path(
        "rounds/<int:number>/disagreements/decide/", disagreement_decide, name="disagreement-decide"
    ),
    path("rounds/<int:number>/disagreements/names/", disagreement_names, name="disagreement-names"),
    path("guidelines/", guidelines, name="guidelines"),
    path("guidelines/worklist/", guideline_worklist, name="guideline-worklist"),
    path("guidelines/worklist/check/", guideline_check, name="guideline-check"),
    path("guidelines/new/", guideline_new, name="guideline-new"),
    path("guidelines/<int:version>/", guidelines, name="guideline"),
    path("checks/", checks, name="checks"),
    path("checks/people/<int:pk>/", check_person, name="check-person"),
    path("screening/", screening, name="screening"),
    path("conversations/", conversations, name="conversations"),
    path("conversations/import/", conversations_import, name="conversations-import"),
    path("conversations/import/preview/", conversations_preview, name="conversations-preview"),
    path("conversations/import/store/", conversations_store, name="conversations-store"),
    path("conversations/<int:pk>/", conversation, name="conversation"),
    path("conversations/<int:pk>/comments/", comment_add, name="comment-add"),
    path("labels/", label_files, name="labels"),
    path("labels/preview/", labels_preview, name="labels-preview"),
    path("labels/import/", labels_import, name="labels-import"),
    path("labels/export/", labels_export, name="labels-export"),
    path("adjudication/", adjudication, name="adjudication"),
    path("adjudication/next/", adjudication_next, name="adjudication-next"),
    path("review/", reviews, name="reviews"),
    path("review/next/", review_next, name="review-next"),
    path("gold/", gold, name="gold"),
    path("gold/freeze/", gold_freeze, name="gold-freeze"),
    path("gold/lint/", gold_lint, name="gold-lint"),
    path("gold/<str:name>/<int:version>/", gold_release, name="gold-release"),
    path("gold/<str:name>/<int:version>/compare/", gold_compare, name="gold-compare"),
    path(
        "gold/<str:name>/<int:version>/reopen/<path:item_id>/", reopening_new, name="reopening-new"
    ),
    path("gold/<str:name>/<int:version>/corrections/", gold_corrections, name="gold-corrections"),
    path("reopened/", reopenings, name="reopenings"),
    path("reopened/<int:pk>/", reopening, name="reopening"),
    path("gold/<str:name>/<int:version>/verify/", gold_verify, name="gold-verify"),
    path("gold/<str:name>/<int:version>/export/", gold_export, name="gold-export"),
    path("gold/<str:name>/<int:version>/look/", gold_look, name="gold-look"),
    path("looks/", looks, name="looks"),
    # the ids come from imported files and may hold slashes
    path("gold/<str:name>/<int:version>/items/<path:item_id>/", gold_item, name="gold-item"),
]

urlpatterns = [
    path("", home, name="home"),
    path("sign-in/", SignIn.as_view(), name="sign-in"),
    path("sign-out/", SignOut.as_view(), name="sign-out"),
    path("admin/login/", admin_sign_in, name="admin-sign-in"),
    path("password/forgotten/", password_forgotten, name="password-forgotten"),
    path("password/<str:uidb64>/<str:token>/", PasswordLink.as_view(), name="password-set"),
    path("account/", account, name="account"),
    path("account/password/", password_change, name="password-change"),
    path("language/", login_not_required(set_language), name="set-language"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
    path("status/", status, name="status"),
    path("label/next/", next_sample, name="next-sample"),
    path("label/<int:pk>/", workspace, name="workspace"),
    path("label/<int:pk>/comments/", work_comments, name="work-comments"),
    path("label/<int:pk>/give-back/", lease_give_back, name="lease-give-back"),
    path("adjudicate/<int:pk>/", adjudicate, name="adjudicate"),
    path("review/<int:pk>/", review, name="review"),
    path("comments/<int:pk>/reply/", comment_reply, name="comment-reply"),
    path("comments/<int:pk>/resolve/", comment_resolve, name="comment-resolve"),
    path("projects/", project_list, name="projects"),
    path("projects/new/", project_new, name="project-new"),
    path("projects/<slug:slug>/", include(of_a_project)),
    path("join/<str:secret>/", invitation, name="invitation"),
    path("tokens/", tokens, name="tokens"),
    path("tokens/<int:pk>/revoke/", token_revoke, name="token-revoke"),
    path("docs/", docs, name="docs"),
    path("docs/<slug:page>/", docs, name="docs-page"),
]
