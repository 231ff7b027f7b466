"""Pages of lists in the API."""

from base64 import urlsafe_b64encode

import pytest

from tests import factories

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]


def test_lists_go_on_behind_the_last_row_and_take_a_limit(project, ana, signed_in):
    factories.open_full(project, 5)
    client, address, seen = signed_in(ana), "/api/queue/?limit=2", []
    while address is not None:
        shown = client.get(address).json()
        assert len(shown["results"]) <= 2
        seen += [row["id"] for row in shown["results"]]
        address = shown["next"]

    assert seen == [row["id"] for row in client.get("/api/queue/").json()["results"]]
    assert len(set(seen)) == 5
    unsigned = urlsafe_b64encode(b'["a", 1, 1, 1, 1]').decode()
    for wrong in ("limit=0", "limit=501", "cursor=x", f"cursor={unsigned}", "cursor=%00"):
        assert client.get(f"/api/queue/?{wrong}").status_code == 400, wrong
