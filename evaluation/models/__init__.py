from evaluation.models.access import SplitAccess
from evaluation.models.layers import BuiltLayer, LayerBuild
from evaluation.models.ratings import Rating
from evaluation.models.replies import CachedReply
from evaluation.models.results import Aggregate, Score
from evaluation.models.runs import CaseRun, Run
from evaluation.models.traces import StageTrace

__all__ = [
    "Aggregate",
    "BuiltLayer",
    "CachedReply",
    "CaseRun",
    "LayerBuild",
    "Rating",
    "Run",
    "Score",
    "SplitAccess",
    "StageTrace",
]
