import numpy as np
import pytest
import torch

from pipelines.products import similarities


@pytest.mark.parametrize("quick", [True, False])
def test_every_row_is_compared_with_every_row(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not quick:
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    random = np.random.default_rng(1)
    many, few = (random.standard_normal((rows, 384), dtype=np.float32) for rows in (50, 7))

    found = similarities(many, few)

    assert found == pytest.approx(many @ few.T, abs=1e-4)
    assert found.dtype == np.float32
