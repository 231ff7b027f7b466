from __future__ import annotations

from typing import Any

from django import forms

from labeling.models import Project
from labeling.schema.targets import MOST, title_of, wanted

PARTS = ("layers", "difficulty")


class TargetsForm(forms.Form):
    """One number for each layer of the project and for each difficulty."""

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for part, numbers in wanted(project.targets, project.layers).items():
            for name, number in numbers.items():
                title = title_of(name) if part == "layers" else name.capitalize()
                self.fields[f"{part}-{name}"] = forms.IntegerField(
                    label=title, initial=number, min_value=0, max_value=MOST
                )

    def targets(self) -> dict[str, dict[str, int]]:
        targets: dict[str, dict[str, int]] = {part: {} for part in PARTS}
        for field, number in self.cleaned_data.items():
            part, _, name = field.partition("-")
            targets[part][name] = number
        return targets

    def by_layer(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith("layers-")]

    def by_difficulty(self) -> list[forms.BoundField]:
        return [field for field in self if field.name.startswith("difficulty-")]
