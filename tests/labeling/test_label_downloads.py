"""The ratings that a page offers give the page's figures, on every layer, by the command."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from labeling.agreement import measurements
from labeling.models import Round
from labeling.schema import LAYERS
from labeling.work import annotations
from tests import factories
from tests.layers import arc, event, inferred, issue, phase, question, rating
from tests.pages import page

pytestmark = pytest.mark.django_db
CSV = "/projects/orders/rounds/1/agreement.csv"
PAGE = "/projects/orders/rounds/1/agreement/"
NEEDS = {"inference": ["extraction"], "validation": ["extraction"], "relevance": ["extraction"]}


def given(layer: str, who: str, random: Random) -> dict[str, Any]:
    """What one person says: mostly the same as the others."""
    often = random.random() < 0.8
    own = [factories.requirement(n, uid=f"{who}-{n}", sources=[n % 3]) for n in (1, 2)]
    some = [label["uid"] for label in own if random.random() < 0.7]
    cited = [0, 1] if often else [1, 2]
    match layer:
        case "extraction":
            return factories.labels(cited)
        case "inference":
            labels = [
                inferred(f"Encrypt {uid[-1]}", triggered_by=[uid], id=f"INF-00{uid[-1]}")
                for uid in some
            ]
            return {"requirements": own, "inferred_requirements": labels}
        case "validation":
            return {"requirements": own, "issues": [issue(uid) for uid in some]}
        case "qa":
            return {"questions": [question("What do they track", evidence=cited)]}
        case "arc":
            return {"arcs": [arc("How it went", phase("Start", cited[:1]), phase("End", [3]))]}
    scores = [rating(uid, int(uid[-1]) if often else random.randrange(3)) for uid in some]
    return {"requirements": own, "ratings": scores}


def measured(layer: str) -> Round:
    random = Random(3)
    layers = [*NEEDS.get(layer, []), layer]
    project = factories.make_project(layers=layers, kappa_threshold=0.3, kappa_statistic="mean")
    User.objects.filter(username="cleo").update(username="+cleo")
    opened = factories.open_calibration(project, 8)
    for assignment in opened.assignments.select_related("annotator", "conversation"):
        if assignment.position == 5 and assignment.annotator.username == "ben":
            annotations.skip(assignment, factories.save_of({}), reason="Not in English.")
            factories.work(project)
        else:
            payload = given(layer, assignment.annotator.username, random)
            factories.answer_with(assignment, payload)
    opened.refresh_from_db()
    return opened


def of_file(path: Path, *options: str) -> dict[str, Any]:
    out = StringIO()
    call_command("agreement", "--from-csv", str(path), "--format", "json", *options, stdout=out)
    return json.loads(out.getvalue())


@pytest.mark.parametrize("layer", [name for name in LAYERS if name != "events"])
def test_the_download_of_a_page_gives_its_figures(people, tmp_path, layer, lead):
    shown = measurements.figures_of(measured(layer), layer)
    assert shown is not None
    assert shown["value"] is not None
    content = lead.get(CSV, {"layer": layer}).getvalue().decode()
    path = tmp_path / "ratings.csv"
    for separator in ",;":  # as a spreadsheet may save it again
        path.write_text(content.replace(",", separator))
        again = of_file(path)
        for name in ("value", "threshold", "statistic", "fleiss_kappa", "krippendorff_alpha"):
            assert again[name] == shown[name], name
        assert again["intervals"] == {name: list(pair) for name, pair in shown["intervals"].items()}
        compared = ("a", "b", "kappa", "n", "raw", "ac1", "ci_low", "ci_high", "conversations")
        assert [[pair[name] for name in compared] for pair in again["pairs"]] == [
            [pair[name] for name in compared] for pair in shown["pairs"]
        ]
        reached = shown["value"] > shown["threshold"]
        assert (again["passed"], again["outcome"]) == (reached, "passed" if reached else "failed")
        assert again["file"]["statistic"] == ("interval" if layer == "relevance" else "nominal")
    if layer == "relevance":  # another statistic than that of the page can be named
        assert of_file(path, "--statistic", "nominal")["value"] != shown["value"]


def test_events_have_no_ratings_to_download_and_say_so(people, lead):
    project = factories.make_project(layers=["events"], event_schema={"tracking": ["what"]})
    for assignment in factories.open_calibration(project, 1).assignments.all():
        factories.answer_with(assignment, {"events": [event(0, ("what", "order 0"))]})

    response = lead.get(CSV)

    assert response.status_code == 409
    assert "compared by F1" in response.content.decode()
    assert "Ratings, long" not in page(lead, PAGE)


class TestFile:
    def run(self, tmp_path: Path, content: str, *options: str) -> str:
        path, out = tmp_path / "a.csv", StringIO()
        path.write_text(content)
        call_command("agreement", "--from-csv", str(path), *options, stdout=out, stderr=out)
        return out.getvalue()

    def test_an_undefined_figure_has_not_passed(self, tmp_path):
        rows = "item,unit,annotator,label\nc,1,ana,x\nc,1,ben,x\n"

        assert "undefined, so not passed" in self.run(tmp_path, rows)
        assert not json.loads(self.run(tmp_path, rows, "--format", "json"))["passed"]

    def test_what_was_read_is_said_in_every_format(self, tmp_path):
        rows = "item,unit,annotator,label\nc,1,ana,1\nc,1,ben,1.0\nc,2,ana,2\nc,2,ben,\nc,3,ben,5\n"

        for format in ("table", "json"):
            said = self.run(tmp_path, rows, "--format", format)
            assert "Counted as one: “1” = “1.0”." in said
            assert "Missing labels: 1, written “”." in said
            assert "use --statistic ordinal or interval" in said

    @pytest.mark.parametrize("options", [["--layer", "qa"], ["--round", "1"]])
    def test_what_a_file_does_not_know_is_refused(self, tmp_path, options):
        rows = "item,unit,annotator,label\nc,1,ana,x\nc,1,ben,y\n"

        with pytest.raises(CommandError, match=f"{options[0]} does not go with --from-csv"):
            self.run(tmp_path, rows, *options)
