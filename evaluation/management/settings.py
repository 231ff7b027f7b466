"""Settings of a pipeline, from the file that a command names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from evaluation.services.launch import config_files
from labeling.words import in_english

NOT_USABLE = 2


def read_settings(path: Path | None) -> dict[str, Any]:
    """The settings in a YAML file; none without one."""
    if path is None:
        return {}
    try:
        settings = config_files.read_settings(path)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.", returncode=NOT_USABLE) from error
    except config_files.ConfigRefused as error:
        raise CommandError(in_english(error.fact), returncode=NOT_USABLE) from error
    if settings is not None and not isinstance(settings, dict):
        raise CommandError(f"{path} must hold settings as “name: value”.", returncode=NOT_USABLE)
    return settings or {}


def settings_in(settings: dict[str, Any], group: str) -> dict[str, Any]:
    """Take a group of settings out of the others; in the file it is a nested mapping."""
    values = settings.pop(group, None) or {}
    if not isinstance(values, dict):
        raise CommandError(f"“{group}” must hold its own settings.", returncode=NOT_USABLE)
    return values
