import subprocess
import sys

import numpy as np
import pytest
from scipy.special import erf

from labeling.domain.encoding import light, network
from labeling.domain.encoding.light import LightNetwork

TEXTS = ["a short text", "", "Grüße, 你好 🙂", "\ud800", "word " * 300, "a short text too"]


def test_its_vectors_are_those_of_the_network_except_for_the_last_bits():
    folder = network.packaged_folder()
    expected = network.Network(folder).sentences(TEXTS)

    assert LightNetwork(folder).sentences(TEXTS) == pytest.approx(expected, abs=1e-6)
    assert LightNetwork(folder).sentences([]).shape == (0, network.DIMENSIONS)


def test_its_gelu_is_exact_to_the_sixth_decimal():
    rows = np.linspace(-9, 9, 3000, dtype=np.float32).reshape(50, 60)
    expected = 0.5 * rows.astype(float) * (1 + erf(rows.astype(float) / np.sqrt(2)))

    assert light._gelu(rows.copy()) == pytest.approx(expected, abs=1e-6)


def test_it_answers_without_torch():
    asked = "from labeling.domain.encoding import light, network\n"
    asked += "light.LightNetwork(network.packaged_folder()).sentences(['a'])\n"
    asked += "import sys; sys.exit('torch' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", asked], check=False).returncode == 0
