"""What the qualification test and the calibration of newcomers both promise."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from django.contrib.auth.models import User

from labeling.models import Event, Membership, Project, Qualification
from labeling.screening import check_turns, tries
from labeling.work import admission, annotations, assignments
from tests import factories
from tests.labeling.checked import do_try

State = Qualification.State


class Kind(NamedTuple):
    name: str
    refusal: type[Exception]
    verb: str
    let_in: str


KINDS = [
    Kind("test", admission.NotQualified, "qualification", "qualification.waived"),
    Kind("calibration", admission.NotCalibrated, "calibration", "admission.let_in"),
]


@pytest.fixture(params=KINDS, ids=[kind.name for kind in KINDS])
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture
def dan(project: Project, people: dict[str, User], rita: User, kind: Kind) -> User:
    """A newcomer with two tries, and with a conversation of full labeling that waits."""
    if kind.name == "test":
        factories.make_release(project, items=2)
        check_turns.set_plan(project, by=rita, test=True, pass_at=0.9, tries=2)
    else:
        for number in (6, 5):
            factories.answer_all(factories.open_calibration(project, number))
    user = User.objects.create_user("dan")
    Membership.objects.create(project=project, user=user, role="annotator")
    factories.open_full(project, 1, annotators=[user], overlap=1)
    return user


def test_it_comes_first_and_opens_the_work_when_passed(project, dan, kind):
    waiting = dan.assignments.get()
    with pytest.raises(kind.refusal, match=f"{kind.name}_first"):
        assignments.next_for(dan)
    assert assignments.take(dan) is None
    with pytest.raises(kind.refusal):
        annotations.save_draft(waiting, factories.save_of(factories.labels([0])))

    tries.begin(project, dan, kind.name)
    assert assignments.next_for(dan).purpose == tries.KINDS[kind.name].purpose
    again = do_try(dan, project, kind.name)

    assert (again.state, again.tries) == (State.PASSED, 1)
    assert Event.objects.filter(verb=f"{kind.verb}.begun").count() == 1
    assert assignments.next_for(dan) == waiting


def test_tries_end_and_each_is_recorded(project, dan, kind):
    first = do_try(dan, project, kind.name, ())
    assert (first.state, first.tries) == (State.BETWEEN, 1)
    second = do_try(dan, project, kind.name, ())

    assert (second.state, second.tries) == (State.FAILED, 2)
    with pytest.raises(kind.refusal, match=rf"{kind.name}_failed .*leads=rita"):
        assignments.next_for(dan)
    with pytest.raises(tries.TryImpossible, match="over"):
        tries.begin(project, dan, kind.name)
    failed = Event.objects.filter(verb=f"{kind.verb}.failed").order_by("pk")
    assert [one.data["tries"] for one in failed] == [1, 2]


def test_the_second_try_may_pass(project, dan, kind):
    do_try(dan, project, kind.name, ())

    assert do_try(dan, project, kind.name).state == State.PASSED


def test_a_lead_lets_somebody_work_by_a_reason_on_record(project, dan, rita, kind):
    tries.begin(project, dan, kind.name)
    with pytest.raises(tries.AdmissionImpossible):
        tries.let_in(project, dan, kind.name, by=rita, reason=" ")

    tries.let_in(project, dan, kind.name, by=rita, reason="Wrote the guidelines.")

    assert assignments.next_for(dan).purpose == "labelling"
    assert tries.row_of(project, dan, kind.name).state == State.WAIVED
    data = Event.objects.get(verb=kind.let_in).data
    assert (data["user"], data["reason"]) == ("dan", "Wrote the guidelines.")
    with pytest.raises(tries.AdmissionImpossible, match="nothing_to"):
        tries.let_in(project, dan, kind.name, by=rita, reason="Again.")
