import numpy as np
import pytest
import torch

from pipelines.products import in_layout, linear, similarities


@pytest.mark.parametrize("quick", [True, False])
def test_every_row_is_compared_with_every_row(quick: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not quick:
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    random = np.random.default_rng(1)
    many, few = (random.standard_normal((rows, 384), dtype=np.float32) for rows in (50, 7))

    for tensor in (torch.from_numpy(many), in_layout(torch.from_numpy(many))):
        products = similarities(tensor, few)

        assert products == pytest.approx(many @ few.T, abs=1e-4)
        assert products.dtype == np.float32


def test_a_layer_gives_what_torch_gives() -> None:
    layer = torch.nn.Linear(384, 16)
    rows = torch.randn((2, 5, 384), generator=torch.Generator().manual_seed(1))

    product = linear(rows, layer.weight, layer.bias)

    assert product.detach().numpy() == pytest.approx(layer(rows).detach().numpy(), abs=1e-5)
