from labeling.accounts.models import Tries, WorkerPulse
from labeling.agreement.models import (
    Comment,
    ConversationAgreement,
    Disagreement,
    GuidelineCheck,
    GuidelineReason,
    Measurement,
    PendingUpdate,
)
from labeling.conversations.models.conversations import (
    Conversation,
    ConversationFingerprint,
    FingerprintKey,
    ImportReport,
    Transcript,
)
from labeling.core.models.entry import ApiToken, Invitation
from labeling.core.models.events import Event
from labeling.core.models.projects import Guideline, Membership, Project, Pseudonym
from labeling.core.models.vectors import TextVector
from labeling.gold.models.gold import GoldItem, GoldRelease, LintReport, Look, LookBudget
from labeling.gold.models.reopenings import Reopening
from labeling.jobs.models import Job
from labeling.operation.models import Webhook, WebhookDelivery
from labeling.screening.models import (
    Admission,
    CheckPlan,
    GoldCheck,
    Pause,
    Qualification,
)
from labeling.settling.models import Adjudication, Merge, Review
from labeling.work.models.annotations import Annotation, AnnotationRevision
from labeling.work.models.assignments import Assignment
from labeling.work.models.rounds import Round, RoundConversation
from labeling.work.models.suggestions import FirstPass, Suggestion
