"""Imported once by the process that the children of a worker are forked from."""

import signal

import django
from django.conf import settings

signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends with the worker: see ``jobs.runner``
django.setup()

from evaluation.services.run import execution  # noqa: E402, F401
from labeling.gold import gold_requests  # noqa: E402, F401

if settings.LLM_MODEL or settings.JUDGE_MODEL or settings.MODELS:  # it takes half a second
    import openai  # noqa: F401
