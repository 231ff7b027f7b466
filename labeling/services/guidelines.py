"""Guidelines: every change is a new version, because labels name the version they follow."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from labeling.domain.errors import RuleError, StaleVersion
from labeling.models import Guideline, Project
from labeling.services import events


class GuidelineUnchanged(RuleError):
    """The text equals the newest version."""

    code = "guideline_unchanged"


@transaction.atomic
def add_version(
    *, project: Project, body: str, summary: str, by: User | None, base_version: int
) -> Guideline:
    """Write the next version. ``base_version`` is the newest one that the writer has seen."""
    body = _one_newline(body)
    newest = project.guidelines.first()
    number = newest.version if newest else 0
    if number != base_version:
        raise _stale(base_version, number)
    if newest and newest.body == body:
        raise GuidelineUnchanged(f"This is the text of version {number}: nothing was changed.")
    try:
        with transaction.atomic():
            added = Guideline.objects.create(
                project=project,
                version=number + 1,
                body=body,
                summary=summary.strip(),
                created_by=by,
            )
    except IntegrityError:
        raise _stale(base_version, number + 1) from None
    events.record(
        "guideline.added", added, project=project, actor=by, version=added.version, summary=summary
    )
    return added


def _one_newline(text: str) -> str:
    """Browsers send CRLF; stored so, every line would differ from one that was loaded."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip() + "\n"


def _stale(base_version: int, current: int) -> StaleVersion:
    return StaleVersion(
        f"Version {current} was written meanwhile. Compare it with your text, then save again.",
        base_version=base_version,
        current_version=current,
    )
