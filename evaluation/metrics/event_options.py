"""How event extraction is measured: the settings under ``metrics:`` in a configuration file."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from typing import Any

from labeling.domain.errors import FileFault
from labeling.domain.facts import Fact


class WrongOption(FileFault):
    """A setting that does not exist, or a value that it cannot have."""


SPECIFICATION = "2.0"
"""The published specification of these metrics, which names them and their settings as we do.

It stays readable when a later version of our metrics computes something else otherwise; where we
depart from it today is in ``templates/docs/departures.md``.
"""

OptionsByGroup = dict[str, dict[str, str | float | bool]]
"""The settings as a configuration file nests them."""


@dataclass(frozen=True, slots=True)
class EventOptions:
    """Every setting, by its key with ``_`` for the dots; the defaults are the specification's."""

    relaxed_match_mode: str = "include_or_char_overlap"
    relaxed_char_overlap_threshold: float = 0.5
    relaxed_span_iou_threshold: float = 0.5
    schema_mode: str = "schema_strict"
    hallucination_match_mode: str = "normalized_substring"
    cot_enabled: bool = False
    cot_require_thought_block: bool = False

    def as_json(self) -> OptionsByGroup:
        """Nested as in the file."""
        nested: OptionsByGroup = {}
        values = asdict(self)
        for key in KEYS:
            group, name = key.split(".")
            nested.setdefault(group, {})[name] = values[key.replace(".", "_")]
        return nested


KEYS: dict[str, tuple[str, ...] | type] = {
    "relaxed.match_mode": ("include_or_char_overlap", "span_iou"),
    "relaxed.char_overlap_threshold": float,
    "relaxed.span_iou_threshold": float,
    "schema.mode": ("syntax_only", "schema_strict"),
    "hallucination.match_mode": ("normalized_substring", "exact_span"),
    "cot.enabled": bool,
    "cot.require_thought_block": bool,
}
"""Each setting with its choices or its type; a number is a threshold in (0, 1]."""


def read_options(settings: Mapping[str, Any]) -> EventOptions:
    """The settings of a ``metrics:`` mapping, nested or with dots; what is not named is default.

    Raises
    ------
    WrongOption
        For a key that does not exist, naming the nearest one that does, and for a wrong value.

    Examples
    --------
    >>> read_options({"relaxed": {"match_mode": "span_iou"}}).relaxed_match_mode
    'span_iou'
    >>> read_options({"relaxed": {"match_mod": "span_iou"}})
    Traceback (most recent call last):
        ...
    evaluation.metrics.event_options.WrongOption: metrics.unknown_setting \
key=relaxed.match_mod hint=(hint.nearest name=metrics.relaxed.match_mode)
    """
    return EventOptions(
        **{key.replace(".", "_"): _checked(key, value) for key, value in _flat(settings)}
    )


def _flat(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping) and key not in KEYS:
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _checked(key: str, value: Any) -> Any:
    if key not in KEYS:
        raise WrongOption("metrics.unknown_setting", key=key, hint=_hint(key))
    allowed = KEYS[key]
    if isinstance(allowed, tuple):
        if value not in allowed:
            raise WrongOption(
                "metrics.must_be_one_of", key=key, known=list(allowed), value=repr(value)
            )
        return value
    if allowed is bool:
        if not isinstance(value, bool):
            raise WrongOption("metrics.must_be_bool", key=key, value=repr(value))
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= 1:
        raise WrongOption("metrics.must_be_share", key=key, value=repr(value))
    return float(value)


def _hint(key: str) -> Fact:
    nearest = get_close_matches(key, list(KEYS), n=1, cutoff=0.4)
    if nearest:
        return Fact("hint.nearest", name=f"metrics.{nearest[0]}")
    return Fact("hint.known", names=[f"metrics.{name}" for name in KEYS])
