import hypothesis
import pytest

from labeling.agreement.matching.similarity import Encoder, Ruler, load_minilm
from tests.fakes import WordOverlap

# A busy machine is not a failed law, and what held here holds there: the same examples each time.
slow = [hypothesis.HealthCheck.too_slow]
hypothesis.settings.register_profile(
    "patient", deadline=None, derandomize=True, suppress_health_check=slow
)
hypothesis.settings.load_profile("patient")


@pytest.fixture
def ruler() -> Ruler:
    """Counts words: quick, and exact enough to do by hand."""
    return Ruler(WordOverlap())


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The real one; takes some seconds to load."""
    return load_minilm()
