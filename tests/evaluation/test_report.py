"""Reports in every form: what they say, what they hold back, and that they are harmless."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from io import StringIO
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from evaluation.metrics.registry import METRICS
from evaluation.models import Aggregate, Run, Score
from evaluation.report import junit, markdown
from evaluation.views.plots import picture_of
from labeling.domain.facts import Fact
from labeling.models import Conversation, Look
from labeling.work import blindness
from pipelines.types import Case, Output
from tests.evaluation.conftest import perfect, requirement, work
from tests.evaluation.launching import launch as launched

pytestmark = pytest.mark.django_db

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    """Every tag with its attributes, and the text of style sheets."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sheets: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1][0] == "style" and data.strip():
            self.sheets.append(data)


def half_right(case: Case) -> Output:
    """The first case fails, the second has a label that nobody expects, the third is right."""
    if case.case_id == "case-000":
        raise ValueError(EVIL)
    if case.case_id == "case-001":
        extra = requirement(9, title=EVIL, action=EVIL)
        return {"requirements": [*perfect(case)["requirements"], extra]}
    return perfect(case)


@pytest.fixture
def runs(script: Any, finished: Any) -> tuple[Run, Run]:
    """A baseline without a fault, and a worse run."""
    script(perfect)
    baseline = finished(seed=1)
    script(half_right)
    return baseline, finished(seed=2, name=f"@everybody {EVIL} [x](http://evil.example) | `a` #1")


def address(run: Run, ending: str) -> str:
    return reverse("run-report", args=[run.pk, ending])


def report(*arguments: Any, **options: Any) -> tuple[int, str]:
    out = StringIO()
    try:
        call_command("report", *map(str, arguments), stdout=out, stderr=StringIO(), **options)
    except CommandError as error:
        return error.returncode, str(error)
    return 0, out.getvalue()


def test_the_html_report_stands_alone_and_texts_of_people_stay_texts(runs, signed_in):
    baseline, run = runs

    response = signed_in("noor").get(address(run, "html"))

    page = response.content.decode()
    parsed = Tags(page)
    assert not {"script", "img", "link", "iframe", "form", "object"} & {t for t, _ in parsed.tags}
    attributes = [(name, value) for _, attrs in parsed.tags for name, value in attrs.items()]
    assert not [name for name, _ in attributes if name in ("style", "src") or name[:2] == "on"]
    links = {value for name, value in attributes if name == "href"}
    assert links == {f"http://testserver{run.get_absolute_url()}"}
    digest = base64.b64encode(hashlib.sha256(parsed.sheets[0].encode()).digest()).decode()
    (policy,) = [attrs["content"] for tag, attrs in parsed.tags if "http-equiv" in attrs]
    for stated in (policy or "", response["Content-Security-Policy"]):
        assert "default-src 'none'" in stated
        assert f"style-src 'sha256-{digest}'" in stated
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") >= 3  # name, error, label
    assert f"Whether run {run.pk} is better or worse than run {baseline.pk} is undecided" in page
    assert "Requirement F1 is defined in 3 of 3 cases (100 %)" in page
    assert "The pipeline failed in 1 case" in page
    assert "I must sign in by way 1" in page  # the conversation of a bad case
    assert "I must sign in by way 2" not in page  # that of the perfect one


def test_a_report_without_a_public_address_leads_nowhere_and_counts_repetitions_as_such(
    finished, settings
):
    settings.PUBLIC_URL = ""
    run = finished(pipeline="nothing", repetitions=2)

    status, page = report(run.pk, "--format", "html")

    assert status == 0
    assert not [tag for tag, _ in Tags(page).tags if tag == "a"]
    assert run.get_absolute_url() in page
    assert "6 results, 2 repetitions of each case" in page


def test_the_picture_sets_the_run_beside_people_on_the_same_cases_like_its_page() -> None:
    metric = METRICS["requirement_f1"]
    skill = {"mean": 0.5, "ci_low": 0.4, "ci_high": 0.6, "floor": "nothing", "n": 2}
    skill |= {"at_floor": 0.0, "at_run": 0.4, "at_ceiling": 0.8}
    all_cases = {"metric": metric.id, "mean": 0.9, "ci_low": 0.85, "ci_high": 0.95, "n": 9}
    people = {"mean": 0.8, "ci_low": 0.7, "ci_high": 0.9, "n": 2}
    stored = {"skill": skill, "floors": {"nothing": people | {"mean": 0.0}}}

    drawn = picture_of(Aggregate(**all_cases, yardsticks=stored))

    assert (drawn.start, drawn.at, drawn.stop, drawn.floors) == (0, 50, 100, [])
    assert (drawn.low, drawn.high) == (40, 60)
    assert (drawn.left.text, drawn.right.text) == ("0.000", "0.800")


def test_the_markdown_report_is_short_and_nothing_in_it_acts(runs: tuple[Run, Run]) -> None:
    baseline, run = runs

    status, text = report(run.pk, "--format", "markdown", "--baseline", baseline.pk)

    assert status == 0
    assert len(text.splitlines()) < 60
    head = text.splitlines()[0]
    assert "\\@\u200beverybody" in head
    assert "\\#\u200b1" in head
    assert "<script" not in text.replace("\\<", "")
    assert "\\<script\\>" in head
    assert not re.search(r"(?<!\\)\]\(", text)
    assert "http://evil" not in text
    assert "🟡 **Requirement F1: undecided.**" in text
    assert "| Requirement F1 ↑ | **0.556** |" in text
    assert "Cases: 2 regressions, 0 improvements, 1 ties, 0 undefined." in text


def test_the_junit_report_has_a_test_case_for_each_case_of_gold(runs: tuple[Run, Run]) -> None:
    import junitparser

    _baseline, run = runs
    first = run.cases.order_by("pk").first()
    run.cases.filter(pk=first.pk).update(error=Fact("legacy.text", text="<a> \x01 \ufffe & b"))
    Score.objects.filter(case__run=run, metric="requirement_f1", value__lt=1, value__gt=0).update(
        value=0.0
    )

    status, text = report(run.pk, "--format", "junit")

    assert status == 0
    root = ElementTree.fromstring(text)
    assert root.tag == "testsuites"
    (cases,) = root.findall("testsuite")
    broken, wrong, _good = cases.findall("testcase")
    assert broken.find("error").get("message") == "<a> \ufffd \ufffd & b"
    assert "worst value" in (wrong.find("failure").get("message") or "")
    read = junitparser.JUnitXml.fromstring(text.encode())
    assert [[type(said) for said in case.result] for case in next(iter(read))] == [
        [junitparser.Error],
        [junitparser.Failure],
        [],
    ]
    for suite in (*read, read):
        assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (3, 1, 1, 0)


def test_a_case_fails_by_the_threshold_of_its_run() -> None:
    recall, rate = METRICS["requirement_recall"], METRICS["false_inference_rate"]
    assert junit._why_failed(0.8, recall, 0.8) == ""
    assert junit._why_failed(0.5, recall, 0.8) == "requirement_recall 0.5 is below 0.8"
    assert junit._why_failed(0.2, rate, 0.15) == "false_inference_rate 0.2 is above 0.15"
    assert junit._why_failed(0.5, recall, None) == ""
    assert "worst" in junit._why_failed(0.0, recall, None)


def test_predictions_that_leave_come_back_with_equal_scores(runs, tmp_path):
    _baseline, run = runs
    file = tmp_path / "out.jsonl"

    status, _ = report(run.pk, "--format", "predictions", "--output", file)
    call_command("evaluate", gold="demo", predictions=file, stdout=StringIO())

    again = Run.objects.latest("pk")
    assert status == 0
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [line["case_id"] for line in lines] == ["case-001", "case-002"]  # one failed
    assert lines[1]["scores"]["requirement_f1"] == 1.0
    assert _values(again) == _values(run)


def _values(run: Run) -> dict[tuple[str, str], float | None]:
    rows = Score.objects.filter(case__run=run).values_list("case__item__item_id", "metric", "value")
    return {(item, metric): value for item, metric, value in rows}


def test_a_run_without_figures_has_no_report(launch: Any, signed_in: Any) -> None:
    run = launch()

    for ending in ("html", "xml", "jsonl"):
        assert signed_in("noor").get(address(run, ending)).status_code == 302
    refused = signed_in("noor").get(reverse("api-run-report", args=[run.pk]))
    assert (refused.status_code, refused.json()["code"]) == (400, "report_refused")
    status, said = report(run.pk)
    assert (status, "no figures yet" in said) == (2, True)
    assert signed_in("noor").get(address(run, "pdf")).status_code == 404


def test_blind_conversations_are_in_no_report(runs, signed_in, monkeypatch):
    _baseline, run = runs
    blind = Conversation.objects.filter(external_id="case-001")
    monkeypatch.setattr(blindness, "again", lambda user: blind)

    page = signed_in("noor").get(address(run, "html")).content.decode()

    assert "I must sign in by way 1" not in page
    assert "I must sign in by way 0" in page
    assert "1 case is left out below" in page


def test_figures_of_test_items_are_asked_for_and_compared_for_a_reason(
    make_release, people, signed_in, script
):
    script(perfect)
    release = make_release(3, splits=("test",))
    first, run = (
        work(launched(release, pipeline="everything", requested_by=people["noor"], reason="Final"))
        for _ in range(2)
    )
    noor: Client = signed_in("noor")

    rita = signed_in("rita").get(address(run, "html"), follow=True)
    own = noor.get(address(run, "html")).content.decode()
    named = noor.get(address(run, "html"), {"baseline": first.pk}, follow=True).content.decode()
    looks = Look.objects.count()
    silent = report(run.pk)

    assert "why do you look?" in rita.content.decode()
    assert f"to compare with run {first.pk} is another look" in own
    assert "This is look 2 of 2 at these 3 test items" in own
    assert "why do you look?" in named
    assert silent[0] == 2
    assert "Say --reason" in silent[1]
    assert report(run.pk, "--reason", "CI")[0] == 0
    assert Look.objects.count() == looks + 1


@pytest.mark.parametrize(
    "text",
    [
        *("https://a.example", "1https://a", "_https://a", "éHTTP://a", "git+ssh://a"),
        *("_www.a.example", "GH-1", "xgh-12", "mailto:a", "xxmpp:a"),
    ],
)
def test_no_text_of_people_becomes_a_link_in_markdown(text: str) -> None:
    shown = markdown.plain(text)

    assert shown.replace(markdown.BREAK, "").replace("\\", "") == text
    assert not re.search(r"\w://|www\.|GH-\d|mailto:|xmpp:", shown, re.IGNORECASE)
