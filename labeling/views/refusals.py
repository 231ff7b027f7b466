"""What was refused, as whoever sent it can show it: a script its text, a page its message."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from labeling.domain.errors import RuleError
from labeling.words import words


def refused(request: HttpRequest, why: RuleError | str, back_to: str) -> HttpResponse:
    sentence = words(why.fact) if isinstance(why, RuleError) else why
    if request.htmx:  # type: ignore[attr-defined]
        return HttpResponse(sentence, status=400, content_type="text/plain; charset=utf-8")
    messages.error(request, sentence)
    return redirect(back_to)
