"""What the benchmark sets up inside of Assay: people, rounds, and what is stored at the end.

python -m benchmarks.peers.assay_inside TARGET prepare|people|stored [ARGUMENT…]
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.contrib.auth.models import User  # noqa: E402

from labeling.models import Assignment, Guideline, Membership, Project  # noqa: E402
from labeling.work.rounds import open_round  # noqa: E402


def prepare(password: str) -> str:
    User.objects.create_superuser("lead", password=password)
    for slug in ("talks", "by-command"):
        project = Project.objects.create(slug=slug, name=slug, overlap=1)
        Guideline.objects.create(project=project, version=1, body="# Guide\n\nLabel orders.")
    return ""


def people(password: str, number: str, planned: str) -> str:
    """Two rounds: some conversations are handed out, the others are taken from a pool."""
    project = Project.objects.get(slug="talks")
    for n in range(int(number)):
        user = User.objects.create_user(f"person{n}", password=password)
        Membership.objects.create(project=project, user=user, role="annotator")
    talks = list(project.conversations.order_by("external_id"))
    count = int(number) * int(planned)
    for pool, chosen in ((False, talks[:count]), (True, talks[count:])):
        open_round(
            project=project,
            kind="full",
            by=None,
            conversations=chosen,
            pool=pool,
            override_reason="benchmark",
        )
    return ""


def stored() -> str:
    """The numbers of the assignments that have an answer."""
    done = Assignment.objects.filter(round__project__slug="talks", annotation__status="submitted")
    return json.dumps([str(pk) for pk in done.values_list("pk", flat=True)])


JOBS: dict[str, Callable[..., str]] = {"prepare": prepare, "people": people, "stored": stored}


if __name__ == "__main__":
    target, job, *arguments = sys.argv[1:]
    Path(target).write_text(JOBS[job](*arguments))
