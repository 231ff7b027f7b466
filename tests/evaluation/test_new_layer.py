"""A layer that only its entries know is labeled, agreed on, settled, frozen and scored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from evaluation.layers import GOLD_LAYERS, GoldLayer, checks
from evaluation.layers.base import Context, Example
from evaluation.metrics.metric import Metric, Value
from evaluation.metrics.registry import METRICS
from evaluation.models import Run
from evaluation.services.run import results
from labeling.agreement.matching.similarity import Ruler
from labeling.gold import gold
from labeling.schema import LAYERS
from labeling.schema.fields import Label, Messages, Prose, asked
from labeling.schema.layers import Layer, SameText, Words
from labeling.schema.layers import Messages as ByMessage
from tests import factories
from tests.fakes import WordOverlap
from tests.pages import page


class Wish(Label):
    """What somebody wishes for."""

    text: Prose = asked("Wish", help="In one sentence", widget="textarea")
    evidence: Messages = asked("Messages", help="Where they say it", widget="messages")


WISHES = Layer(
    name="wish",
    title="Wishes",
    key="wishes",
    label=Wish,
    prefix="WSH",
    heading="text",
    matching=SameText("text", cites="evidence"),
    units=ByMessage(),
    words=Words(units="The unit is the message that a wish cites."),
)


class Wishes(GoldLayer):
    name = "wish"
    headline = ("wish_recall",)
    shown = ("text", "evidence")

    def check(self, output: Mapping[str, Any], *, message_count: int) -> None:
        for path, label in checks.labels(output, self.key):
            checks.text(label.get("text"), path)

    def score(self, example: Example, context: Context) -> dict[str, Value]:
        texts = {label["text"] for label in self.predicted(example.output)}
        return {"wish_recall": Value(sum(one["text"] in texts for one in example.gold) / 1)}


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = Metric("wish_recall", 1, frozenset({"wish"}), "Wish recall", "The share found.")
    monkeypatch.setitem(LAYERS, "wish", WISHES)
    monkeypatch.setitem(GOLD_LAYERS, "wish", Wishes())
    monkeypatch.setitem(METRICS, metric.id, metric)


def wishes(uid: str, text: str = "Be told when it ships") -> dict[str, Any]:
    return {"wishes": [{"uid": uid, "text": text, "evidence": [0]}]}


def test_a_layer_needs_nothing_but_its_entries(registered, people, signed_in, tmp_path):
    project = factories.make_project(layers=["wish"])
    opened = factories.open_calibration(project, 2)
    factories.answer_each(opened, wishes)
    client = signed_in("rita")

    assert (opened.state, opened.agreement["layer"]) == ("passed", "wish")
    shown = page(client, opened.get_absolute_url())
    assert "The unit is the message that a wish cites." in shown
    assert client.get("/projects/orders/adjudication/").status_code == 200

    release = gold.freeze(project=project, layer="wish", ruler=Ruler(WordOverlap()))
    item = release.items.first()
    assert (item.how, item.content["gold"]["wishes"][0]["text"]) == (
        "unanimous",
        "Be told when it ships",
    )

    first, second = release.items.order_by("position")
    file = tmp_path / "predictions.jsonl"
    lines = [
        {"case_id": first.item_id, "output": wishes("p")},
        {"case_id": second.item_id, "output": wishes("p", "Pay by card")},
    ]
    file.write_text("\n".join(map(json.dumps, lines)) + "\n", encoding="utf-8")
    call_command("evaluate", gold=str(release), predictions=file, stdout=StringIO())

    run = Run.objects.get()
    assert [(row.metric, row.mean) for row in results.aggregates_of(run)] == [("wish_recall", 0.5)]
    assert client.get(run.get_absolute_url()).status_code == 200
    assert client.get(run.cases.all()[0].get_absolute_url()).status_code == 200
