"""One name, one figure: run page, Compare, gate, API and command conclude from the same number.

The pair is constructed so that a mean over samples would say the opposite of the micro average.
"""

from __future__ import annotations

import json
from io import StringIO
from typing import Any
from urllib.parse import urlencode

import pytest
from django.core.management import call_command
from django.urls import reverse

from evaluation.models import Run, Score
from labeling.models import Project
from tests.evaluation.events import event, prediction
from tests.evaluation.releases import freeze, item, said
from tests.evaluation.test_predictions import measure
from tests.pages import text_of

SMALL, LARGE = 62, (16, 15, 15, 15) * 2
"""Samples with one argument, and arguments of the large samples."""
KEPT = 16
"""Small samples that the second run still has right."""


def content(name: str, size: int) -> dict[str, Any]:
    words = [f"{name}-{number}" for number in range(size)]
    text, arguments = " ".join(words), []
    for word in words:
        start = text.index(word)
        span = {"message": 0, "start": start, "end": start + len(word), "text": word}
        arguments.append({"role": f"Role {word}", "span": span})
    label = {"uid": name, "type": "Sale", "trigger": None, "arguments": arguments}
    return item(name, "events", {"events": [label]}, said([text], roles=("text",)))


def right(name: str, size: int) -> dict[str, Any]:
    return prediction(
        name, event("Sale", **{f"Role {name}-{at}": f"{name}-{at}" for at in range(size)})
    )


def wrong(name: str, size: int) -> dict[str, Any]:
    return prediction(name, event("Sale", **{f"Role {name}-{at}": "else" for at in range(size)}))


def lines(*predictions: dict[str, Any]) -> str:
    return "\n".join(json.dumps(line) for line in predictions)


@pytest.fixture
def pair(project: Project, tmp_path: Any) -> tuple[Run, Run]:
    """Micro F1 62/161 → 3/4; the mean of the samples' own F1 goes from 31/35 to 12/35."""
    small = [(f"small{number:02d}", 1) for number in range(SMALL)]
    large = [(f"large{number}", size) for number, size in enumerate(LARGE)]
    contents = [content(*sample) for sample in [*small, *large]]
    freeze(project, "events", name="pair", contents=contents)
    spoiled = zip(large, (10, 10, 9, 9) * 2, strict=True)
    runs = {
        "before": [right(*one) for one in small] + [wrong(name, n) for (name, _), n in spoiled],
        "after": [right(*one) if number < KEPT else wrong(*one) for number, one in enumerate(small)]
        + [right(*one) for one in large],
    }
    made = []
    for name, predictions in runs.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text(lines(*predictions))
        made.append(measure(path, gold="pair"))
    return made[0], made[1]


def mean_of_samples(run: Run) -> float:
    rows = Score.objects.filter(case__run=run, metric="strict_f1", value__isnull=False)
    values = list(rows.values_list("value", flat=True))
    return sum(values) / len(values)


@pytest.mark.postgres
def test_all_say_the_same_of_a_pair_whose_samples_go_the_other_way(pair, signed_in):
    before, after = pair
    noor = signed_in("noor")
    assert [round(mean_of_samples(run), 3) for run in pair] == [0.886, 0.343]

    pages = [text_of(noor.get(run.get_absolute_url())) for run in pair]
    asked = {"baseline": before.pk, "run": after.pk}
    compared = text_of(noor.get(f"{reverse('run-compare')}?{urlencode(asked)}"))
    figures = noor.get(reverse("api-compare"), asked).json()["runs"][0]["metrics"]["strict_f1"]
    printed, gated = StringIO(), StringIO()
    call_command("compare", before.pk, after.pk, stdout=printed)
    call_command("gate", after.pk, baseline=before.pk, stdout=gated)

    assert ["0.385" in pages[0], "0.750" in pages[1]] == [True, True]
    said = f"Whether run {after.pk} is better or worse than run {before.pk} is undecided"
    for text in (compared, printed.getvalue()):
        assert [word in text for word in (said, "+0.365", "0.385", "0.750")] == [True] * 4
    assert [figures[name] for name in ("before", "after", "difference")] == pytest.approx(
        [62 / 161, 3 / 4, 3 / 4 - 62 / 161]
    )
    strict = next(line for line in gated.getvalue().splitlines() if "strict_f1" in line)
    assert [word in strict for word in ("gain", "0.365", "undecided", "passed")] == [True] * 4
