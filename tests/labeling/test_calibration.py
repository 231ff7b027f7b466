from __future__ import annotations

import re

import pytest

from labeling.templatetags.figures import figure
from labeling.work import guidelines, rounds
from tests import factories
from tests.pages import page, text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/calibration/"
NEW = "/projects/orders/rounds/new/"
MARKED = {"ana": [0, 1, 2], "ben": [0], "cleo": [0]}


def answered(project, number=4, marked=MARKED):
    opened = factories.open_calibration(project, number)
    return factories.answer_each(opened, marked.get)


def write_version(project, version=2):
    guidelines.add_version(
        project=project, body=f"# {version}", summary="New", by=None, base_version=version - 1
    )


# --- the way to full labeling -------------------------------------------------------------------


def test_the_page_says_what_is_next_and_who_is_waited_for(project, lead):
    def step() -> tuple[str, str] | None:
        found = lead.get(URL).context["step"]
        return found and (str(found.title), found.who)

    assert step() == ("Open a calibration round", "")
    opened = factories.open_calibration(project, 4)
    for assignment in opened.assignments.exclude(annotator__username="cleo"):
        factories.answer(assignment, MARKED[assignment.annotator.username])
    assert step() == ("Label it blind", "cleo (4 left)")
    for assignment in opened.assignments.filter(annotator__username="cleo"):
        factories.answer(assignment, MARKED["cleo"])
    assert step() == ("Discuss the disagreements", "")
    write_version(project)
    assert step() == ("Open the next calibration round", "")
    answered(project, 4, {"ana": [0], "ben": [0], "cleo": [0]})
    assert step() == ("Open a calibration round", "")  # it passed, and is too small
    factories.pass_gate(project)
    assert step() == ("Open full labeling", "")
    factories.open_full(project, 2, override_reason="")
    assert step() is None


def test_nothing_of_an_open_round_is_shown(signed_in, project, people):
    opened = factories.open_calibration(project, 2)
    for assignment in opened.assignments.all()[:5]:
        factories.answer(assignment)

    for who in ("rita", "noor", "admin"):
        shown = page(signed_in(people[who]), URL)
        assert "No calibration round has closed yet." in shown


def test_every_round_stands_in_the_table(project, researcher):
    failed = answered(project)
    answered(project, 4, {"ana": [0], "ben": [0], "cleo": [0]})

    response = researcher.get(URL)

    shown = text_of(response)
    first = response.context["rows"][0][1]
    pair = min(failed.agreement["pairs"], key=lambda pair: pair["kappa"])
    assert (first.value, *first.interval) == (pair["kappa"], pair["ci_low"], pair["ci_high"])
    low, high = map(figure, first.interval)
    assert f"{figure(first.value)} {low} to {high} more than 0.75" in shown
    low = response.context["rows"][1][1].interval[0]  # no disagreement in four conversations
    assert 0 < low < 1
    assert f"1.00 {figure(low)} to 1.00 more than 0.75" in shown


def test_a_round_without_kappa_says_why(project, lead):
    answered(project, 2, {name: [0, 1, 2, 3] for name in MARKED})

    response = lead.get(URL)

    assert "both used one and the same label" in text_of(response)


# --- the next round -----------------------------------------------------------------------------


def test_the_next_round_takes_the_same_batch_by_the_second_button(project, lead):
    failed = answered(project, 3)
    assert "Discuss the disagreements Next round: Fresh batch" in page(lead, URL)
    html = lead.get(URL).content.decode()
    assert re.findall(r'class="button primary"[^>]*>([^<]+)', html) == ["Discuss the disagreements"]

    form = lead.get(f"{NEW}?same_as=1").context["form"]

    asked = {
        name: form.initial.get(name, "") for name in ("kind", "source", "batch", "seed", "seen")
    }
    response = lead.post(NEW, {**asked, "annotators": form.initial["annotators"]})
    assert response.status_code == 302
    again = project.rounds.get(number=2)
    assert (again.kind, again.overlap) == ("calibration", 3)
    assert set(again.conversations.all()) == set(failed.conversations.all())
    factories.answer_each(again, MARKED.get)
    assert "3 conversations of round 2 were in an earlier calibration round" in page(lead, URL)


def test_the_next_round_takes_a_fresh_batch_by_the_first(project, rita, ana, ben, lead):
    factories.make_conversations(project, 8)
    opened = rounds.open_round(
        project=project,
        kind="calibration",
        by=rita,
        conversations=list(project.conversations.all()[:3]),
        annotators=[ana, ben],
    )
    factories.answer_each(opened, MARKED.get)

    form = lead.get(f"{NEW}?fresh_after=1").context["form"]

    assert (form.initial["source"], form.initial["batch"]) == ("", 3)
    assert set(form.initial["annotators"]) == {ana.pk, ben.pk}
