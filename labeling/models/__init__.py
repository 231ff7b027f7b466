from labeling.models.adjudications import Adjudication
from labeling.models.admissions import Admission
from labeling.models.annotations import Annotation, AnnotationRevision
from labeling.models.assignments import Assignment
from labeling.models.checks import CheckConversation, CheckPlan, GoldCheck, Pause, Qualification
from labeling.models.conversations import (
    Conversation,
    Transcript,
)
from labeling.models.discussions import (
    Comment,
    Disagreement,
    GuidelineCheck,
    GuidelineReason,
)
from labeling.models.entry import ApiToken, Invitation
from labeling.models.events import Event
from labeling.models.fingerprints import ConversationFingerprint, FingerprintKey
from labeling.models.gold import GoldItem, GoldRelease, ReleaseCheck
from labeling.models.imports import ImportReport
from labeling.models.jobs import Job
from labeling.models.lint import LintFinding, LintReport, LintWaiver
from labeling.models.looks import Look, LookBudget
from labeling.models.merges import Merge
from labeling.models.processing import (
    AgreementWithGold,
    ConversationAgreement,
    Measurement,
    PendingUpdate,
)
from labeling.models.projects import Guideline, Membership, Project
from labeling.models.pseudonyms import Pseudonym
from labeling.models.reopenings import Reopening
from labeling.models.reviews import Review
from labeling.models.rounds import EmptyLayer, Round, RoundConversation
from labeling.models.signing_in import SignIn, Tries, WorkerPulse
from labeling.models.suggestions import FirstPass, Suggestion, SuggestionRequest
from labeling.models.vectors import TextVector
from labeling.models.webhooks import Webhook, WebhookDelivery

__all__ = [
    "Adjudication",
    "Admission",
    "AgreementWithGold",
    "Annotation",
    "AnnotationRevision",
    "ApiToken",
    "Assignment",
    "CheckConversation",
    "CheckPlan",
    "Comment",
    "Conversation",
    "ConversationAgreement",
    "ConversationFingerprint",
    "Disagreement",
    "EmptyLayer",
    "Event",
    "FingerprintKey",
    "FirstPass",
    "GoldCheck",
    "GoldItem",
    "GoldRelease",
    "Guideline",
    "GuidelineCheck",
    "GuidelineReason",
    "ImportReport",
    "Invitation",
    "Job",
    "LintFinding",
    "LintReport",
    "LintWaiver",
    "Look",
    "LookBudget",
    "Measurement",
    "Membership",
    "Merge",
    "Pause",
    "PendingUpdate",
    "Project",
    "Pseudonym",
    "Qualification",
    "ReleaseCheck",
    "Reopening",
    "Review",
    "Round",
    "RoundConversation",
    "SignIn",
    "Suggestion",
    "SuggestionRequest",
    "TextVector",
    "Transcript",
    "Tries",
    "Webhook",
    "WebhookDelivery",
    "WorkerPulse",
]
