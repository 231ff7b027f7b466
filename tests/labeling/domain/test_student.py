"""Student's t beside scipy, which no page needs to load."""

import subprocess
import sys

import pytest
from scipy import special

from labeling.domain.student import normal_quantile, t_below, t_quantile

CHANCES = (0.0005, 0.025, 0.3, 0.5, 0.51, 0.95, 0.975, 0.9995)


@pytest.mark.parametrize("df", [0.3, 1, 2.5, 7, 39.9, 40.1, 1234.5, 99_999, 100_001, 1e8])
def test_quantiles_and_chances_are_those_of_scipy(df):
    for chance in CHANCES:
        expected = special.stdtrit(df, chance)
        assert t_quantile(chance, df) == pytest.approx(expected, rel=1e-10, abs=1e-10)
        assert t_below(1.3 * expected + 0.1, df) == pytest.approx(
            special.stdtr(df, 1.3 * expected + 0.1), rel=1e-10, abs=1e-12
        )


def test_normal_quantiles_are_those_of_scipy():
    for chance in (0.0, 1e-9, *CHANCES, 1.0):
        assert normal_quantile(chance) == pytest.approx(special.ndtri(chance), rel=1e-10)


def test_an_interval_and_a_p_value_need_no_scipy():
    """It takes 18 MB in every web process."""
    work = (
        "import sys; from labeling.domain.uncertainty import t_p_value, t_quantile;"
        "t_quantile(7.0), t_p_value(2.0, 7.0); print('scipy' in sys.modules)"
    )
    said = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "False"
