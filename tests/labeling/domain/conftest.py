import pytest

from labeling.agreement.matching.similarity import Encoder, load_minilm


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    """The real one; takes some seconds to load."""
    return load_minilm()
