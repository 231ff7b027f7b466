"""The page of a case of a run."""

from __future__ import annotations

from evaluation.models import Yardstick, YardstickCase
from pipelines.types import Case, Output
from tests.evaluation.conftest import perfect, requirement
from tests.evaluation.screens import queries, text


def mixed(case: Case) -> Output:
    """One match, one that differs in type and message, one extra; gold has one requirement."""
    number = int(case.case_id[-3:])
    same = requirement(number, type="security", source_messages=[1])
    extra = requirement(77, title="Coffee machine", action="Brew espresso daily")
    return {"requirements": [same, extra], "model": None}


def test_a_case_shows_gold_and_prediction_aligned_with_the_people_behind_the_gold(
    finished, script, signed_in
):
    script(mixed)
    run = finished()
    case = run.cases.order_by("pk")[1]

    response = signed_in("noor").get(case.get_absolute_url())

    page = text(response)
    near, extra = response.context["rows"]
    assert (near.kind, near.why_not) == ("near", "type differs")
    assert extra.kind == "extra"
    differing = {field.title for field in near.fields if field.differs}
    assert differing == {"Type", "Source messages"}
    first, second = response.context["conversation"]
    assert (first.gold, first.predicted) == ([1], [2])
    assert (second.gold, second.predicted) == ([], [1])
    assert "ana" in page
    assert "by ana; in other words by ana;" in page
    assert "not by ben<" in page
    assert "version 2" in page
    assert "Label what they want." in page
    assert 'rel="prev"' in page
    assert 'rel="next"' in page
    assert page.index('id="conversation-heading"') < page.index('id="pairs-heading"')
    assert (near.gold_name, near.predicted_name) == ("Login 1", "Login 1")
    assert "<kbd>Shift+F</kbd>" in page


def test_a_case_leads_to_the_failures_around_it_and_says_what_people_reach(
    make_release, finished, script, signed_in
):
    def fail_at_the_ends(case: Case) -> Output:
        if case.case_id.endswith("4"):
            raise ValueError("It broke.")
        number = int(case.case_id[-3:])
        return {"requirements": [], "model": None} if number == 0 else perfect(case)

    script(fail_at_the_ends)
    run = finished(release=make_release(5, name="five"))
    keys = list(run.cases.order_by("pk").values_list("pk", flat=True))
    noor, middle = signed_in("noor"), run.cases.get(pk=keys[2])
    people = Yardstick.objects.get(release=run.release, pipeline="")
    reached = {"requirement_f1": {"ana": [1.0, 1.0], "ben": [0.5, 1.0]}}
    YardstickCase.objects.create(yardstick=people, item=middle.item, by_person=reached)

    context = noor.get(middle.get_absolute_url()).context
    few = queries(noor, middle.get_absolute_url())

    assert [context[name].pk for name in ("previous_failure", "next_failure")] == [
        keys[0],
        keys[4],
    ]
    assert (context["primary"].value, context["people"]) == (1.0, 0.75)
    larger = finished(release=make_release(40, name="forty"))
    assert queries(noor, larger.cases.order_by("pk")[2].get_absolute_url()) == few
