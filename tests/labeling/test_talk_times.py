"""Times into a recording are shown as such, not as a day of 1970."""

from datetime import UTC, datetime

import pytest

from labeling.templatetags.talks import said_at

pytestmark = pytest.mark.no_database


@pytest.mark.parametrize(
    "time",
    [
        datetime(1970, 1, 1, 0, 1, 2, tzinfo=UTC),
        datetime(1970, 1, 1, 0, 1, 2),  # noqa: DTZ001 - as gold may have it
        "1970-01-01T00:01:02+00:00",
        "1970-01-01T00:01:02.500000",
    ],
)
def test_how_far_into_a_recording_is_shown_without_a_day(time):
    assert said_at(time) == "0:01:02"
