"""Conversations of files, by the same rules as the page and the command."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from labeling.conversations import conversations
from labeling.conversations.formats.conversations import AUTO, FORMATS
from labeling.conversations.formats.talks import ENCODINGS, HowToRead
from labeling.conversations.forms.uploads import check_size
from labeling.conversations.rules.importing import SPLITS
from labeling.core.api.records import serializer_with
from labeling.core.api.requests import checked_by
from labeling.domain.errors import FileFault
from labeling.models import Project
from labeling.words import words


class ConversationsIn(serializers.Serializer[Any]):
    file = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True), max_length=100, allow_empty=False
    )
    format = serializers.ChoiceField(choices=FORMATS, default=AUTO)
    columns = serializers.CharField(default="", allow_blank=True, max_length=10_000)
    roles = serializers.CharField(default="", allow_blank=True, max_length=100_000)
    encoding = serializers.ChoiceField(choices=ENCODINGS, default="", allow_blank=True)
    split = serializers.ChoiceField(choices=SPLITS, default="", allow_blank=True)
    leave_out = serializers.ChoiceField(
        choices=conversations.LEAVE_OUT, default=conversations.UNREADABLE
    )
    dry_run = serializers.BooleanField(default=False)

    def validate_file(self, files: list[UploadedFile]) -> list[UploadedFile]:
        check = partial(check_size, command="import_conversations")
        checked_by(check, sum(file.size or 0 for file in files))
        return files

    def validate(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            asked["how"] = HowToRead.written(*map(asked.pop, ("columns", "roles", "encoding")))
        except FileFault as fault:
            raise serializers.ValidationError(words(fault.fact)) from None
        return asked


ImportOut = serializer_with("ImportReportOut", conversations.ImportReport, project_created=None)


def store(project: Project, request: Request) -> Response:
    sent = request.data if isinstance(request.data, dict) else {}
    data = {name: sent[name] for name in sent if name != "file"}
    asked = ConversationsIn(data={**data, "file": request.FILES.getlist("file")})
    asked.is_valid(raise_exception=True)
    options = dict(asked.validated_data)
    files = [(file.name or "file", file) for file in options.pop("file")]
    report = conversations.import_files(
        project_slug=project.slug, files=files, actor=request.user, **options
    )
    is_stored = report.has_changes and not options["dry_run"]
    return Response(ImportOut(report).data, status=201 if is_stored else 200)
