import subprocess
import sys

import numpy as np
import pytest

from labeling.domain.encoding import light, network
from labeling.domain.encoding.light import LightNetwork
from labeling.domain.encoding.network import BATCH_TOKENS, batches, in_layout, product


@pytest.mark.parametrize("quick", [True, False])
def test_a_layer_gives_what_torch_gives(quick, monkeypatch):
    import torch

    if not quick:
        monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    layer = torch.nn.Linear(384, 16)
    rows = torch.randn((2, 5, 384), generator=torch.Generator().manual_seed(1))

    result = product(
        rows.flatten(0, 1), in_layout(layer.weight.detach()), in_layout(layer.bias.detach())
    )

    assert result.view(2, 5, 16).numpy() == pytest.approx(layer(rows).detach().numpy(), abs=1e-5)


def test_batches_hold_every_text_once_and_no_more_tokens_than_are_quick():
    lengths = [(at, length) for at, length in enumerate([3, 250, 250, 12, 256, 256, 256])]

    result = list(batches(lengths))

    assert [at for batch in result for at in batch] == list(range(7))
    assert all(sum(lengths[at][1] for at in batch) <= BATCH_TOKENS for batch in result)
    assert len(result) == 3


@pytest.mark.parametrize("short", [False, True])
def test_a_text_has_the_same_vector_in_any_company(short):
    model = network.Network(network.packaged_folder(), short=short)
    texts = ["short", "a text that is somewhat longer", "short too", "word " * 100]
    alone = np.concatenate([model.sentences([text]) for text in texts])

    assert model.sentences(texts) == pytest.approx(alone, abs=1e-6)
    assert np.stack([text.sentence for text in model.both(texts)]) == pytest.approx(alone, abs=1e-6)


def test_short_numbers_change_a_vector_by_little():
    """On a processor without them torch computes them by others, and the test holds as well."""
    folder = network.packaged_folder()
    texts = ["short", "a text that is somewhat longer", "word " * 100]
    long = network.Network(folder).sentences(texts)

    short = network.Network(folder, short=True).sentences(texts)

    assert short == pytest.approx(long, abs=5e-3)
    assert not np.array_equal(short, long)


# --- the light network -------------------------------------------------------------------------


MANY = ["a short text", "", "Grüße, 你好 🙂", "\ud800", "word " * 300, "a short text too"]


def test_its_vectors_are_those_of_the_network_except_for_the_last_bits():
    folder = network.packaged_folder()
    expected = network.Network(folder).sentences(MANY)

    assert LightNetwork(folder).sentences(MANY) == pytest.approx(expected, abs=1e-6)
    assert LightNetwork(folder).sentences([]).shape == (0, network.DIMENSIONS)


def test_its_gelu_is_exact_to_the_sixth_decimal():
    from scipy.special import erf

    rows = np.linspace(-9, 9, 3000, dtype=np.float32).reshape(50, 60)
    expected = 0.5 * rows.astype(float) * (1 + erf(rows.astype(float) / np.sqrt(2)))

    assert light._gelu(rows.copy()) == pytest.approx(expected, abs=1e-6)


def test_it_answers_without_torch():
    asked = "from labeling.domain.encoding import light, network\n"
    asked += "light.LightNetwork(network.packaged_folder()).sentences(['a'])\n"
    asked += "import sys; sys.exit('torch' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0
