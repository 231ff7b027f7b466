"""What the documents show of pipelines, from what these say of themselves."""

from collections.abc import Iterable

from labeling.operation.views.docs import LIVE
from pipelines.registry import PIPELINES


def register() -> None:
    LIVE["pipelines"] = pipelines
    LIVE["pipeline-settings"] = settings


def pipelines() -> str:
    return _table(
        ("name", "what it does", "language model"),
        (
            (
                f"`{one.name}`",
                ("A floor. " if one.floor else "") + one.summary,
                "needed" if one.needs_model else "",
            )
            for one in PIPELINES.own.values()
        ),
    )


def settings() -> str:
    return _table(
        ("pipeline", "setting", "default", "range", "what it does"),
        (
            (
                f"`{one.name}`",
                f"`{each['name']}`",
                str(each["default"]).lower(),
                _range(each["choices"], each["minimum"], each["maximum"]),
                each["help"] or "",
            )
            for one in PIPELINES.own.values()
            for each in one.settings
        ),
    )


def _range(choices: list[str] | None, least: float | None, most: float | None) -> str:
    if choices:
        return ", ".join(choices)
    return "" if least is None else f"{least:,}–{most:,}"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [head, ["---" for _ in head], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
