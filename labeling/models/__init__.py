from labeling.models.adjudications import Adjudication
from labeling.models.annotations import Annotation, AnnotationRevision
from labeling.models.assignments import Assignment
from labeling.models.conversations import Conversation, Message
from labeling.models.events import Event
from labeling.models.gold import GoldItem, GoldRelease
from labeling.models.projects import Guideline, Membership, Project
from labeling.models.rounds import Round, RoundConversation
from labeling.models.vectors import TextVector

__all__ = [
    "Adjudication",
    "Annotation",
    "AnnotationRevision",
    "Assignment",
    "Conversation",
    "Event",
    "GoldItem",
    "GoldRelease",
    "Guideline",
    "Membership",
    "Message",
    "Project",
    "Round",
    "RoundConversation",
    "TextVector",
]
