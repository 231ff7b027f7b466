"""The notebook of the documents runs, and shows what it says.

``make docs`` writes its output instead of comparing them. Cells with
the tag ``figures`` show what pipelines reach.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

import assay_client
from labeling.core import tokens
from labeling.operation.views.docs import NOTEBOOK
from tests.clients import notebooks
from tests.clients.conftest import new_client

REFRESH = bool(os.environ.get("ASSAY_REFRESH_DOCS"))


def test_the_notebook_runs_and_its_output_is_that_of_the_documents(
    server, people, tmp_path, monkeypatch
):
    User.objects.filter(username="rita").update(is_staff=True)  # who may begin a project
    for name in ("rita", "noor", "ana", "ben", "cleo"):
        secret = tokens.issue(user=people[name], name="notebook").secret
        monkeypatch.setenv(f"ASSAY_TOKEN_{name.upper()}", secret)
    monkeypatch.setenv("ASSAY_URL", "http://localhost")
    monkeypatch.setattr(assay_client, "Client", lambda url, token: new_client(server, token))
    shutil.copytree(settings.BASE_DIR / "fixtures" / "demo", tmp_path / "fixtures" / "demo")
    monkeypatch.chdir(tmp_path)

    written = notebooks.read(NOTEBOOK)
    ran = notebooks.executed(written)

    if REFRESH:
        notebooks.write(NOTEBOOK, ran)
    stored = notebooks.read(NOTEBOOK)
    assert list(map(_held, ran["cells"])) == list(map(_held, stored["cells"]))


def _held(cell: dict[str, Any]) -> Any:
    """What has to be the same. Figures of a pipeline change with it; that there are some, not."""
    outputs = cell.get("outputs", [])
    if "figures" in cell["metadata"].get("tags", []):
        return [output["output_type"] for output in outputs]
    return outputs
