from evaluation.models.results import Aggregate, Score
from evaluation.models.runs import CaseRun, Run

__all__ = ["Aggregate", "CaseRun", "Run", "Score"]
