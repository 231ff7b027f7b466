from evaluation.models.answers import (
    Answer,
    Judgement,
    Judging,
    Kind,
)
from evaluation.models.certificates import JudgeCertificate
from evaluation.models.gates import (
    ChosenBaseline,
    GateResult,
    GateThresholds,
    PrimaryMetric,
)
from evaluation.models.kept import BuiltLayer, CachedReply
from evaluation.models.ratings import (
    RatedPlace,
    Rating,
    RatingKind,
    RatingPanel,
    RatingSample,
)
from evaluation.models.results import Aggregate, Score
from evaluation.models.runs import (
    EVERY,
    OPEN,
    SELECTIONS,
    CaseRun,
    Run,
    RunNote,
    RunSpending,
    Slot,
    of_split,
    selected,
)
from evaluation.models.spec import RunSpec
from evaluation.models.talks import RunConversation
from evaluation.models.work import Work, WorkQuerySet
from evaluation.models.yardsticks import Yardstick, YardstickCase
