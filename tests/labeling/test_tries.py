"""Who passes the qualification test, and who is let in to full labeling by a reason."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from labeling.models import Admission, Event, Membership, Project, Qualification, Round
from labeling.screening import check_turns, tries
from labeling.work import admission, annotations, assignments
from tests import factories
from tests.labeling.checked import do_try
from tests.pages import page

State = Qualification.State


def joined(project: Project) -> User:
    user = User.objects.create_user("dan", password=factories.PASSWORD)
    Membership.objects.create(project=project, user=user, role="annotator")
    return user


@pytest.fixture
def dan(project: Project, people: dict[str, User], rita: User) -> User:
    """A newcomer with two tries, and with a conversation of full labeling that waits."""
    factories.make_release(project, items=2)
    check_turns.set_plan(project, by=rita, test=True, pass_at=0.9, tries=2)
    user = joined(project)
    factories.open_full(project, 1, annotators=[user], overlap=1)
    return user


def test_it_comes_first_and_opens_the_work_when_passed(project, dan):
    waiting = dan.assignments.get()
    with pytest.raises(admission.NotQualified, match="test_first"):
        assignments.next_for(dan)
    assert assignments.take(dan) is None
    with pytest.raises(admission.NotQualified):
        annotations.save_draft(waiting, factories.save_of(factories.labels([0])))

    tries.begin(project, dan)
    assert assignments.next_for(dan).purpose == admission.TEST
    again = do_try(dan, project)

    assert (again.state, again.tries) == (State.PASSED, 1)
    assert Event.objects.filter(verb="qualification.begun").count() == 1
    assert assignments.next_for(dan) == waiting


def test_tries_end_and_each_is_recorded(project, dan):
    first = do_try(dan, project, ())
    assert (first.state, first.tries) == (State.BETWEEN, 1)
    second = do_try(dan, project, ())

    assert (second.state, second.tries) == (State.FAILED, 2)
    with pytest.raises(admission.NotQualified, match=r"test_failed .*leads=rita"):
        assignments.next_for(dan)
    with pytest.raises(tries.TryImpossible, match="over"):
        tries.begin(project, dan)
    failed = Event.objects.filter(verb="qualification.failed").order_by("pk")
    assert [one.data["tries"] for one in failed] == [1, 2]


def test_the_second_try_may_pass(project, dan):
    do_try(dan, project, ())

    assert do_try(dan, project).state == State.PASSED


def test_a_lead_waives_the_test_by_a_reason_on_record(project, dan, rita):
    tries.begin(project, dan)
    with pytest.raises(tries.AdmissionImpossible):
        tries.waive(project, dan, by=rita, reason=" ")

    tries.waive(project, dan, by=rita, reason="Wrote the guidelines.")

    assert assignments.next_for(dan).purpose == "labelling"
    assert tries.row_of(project, dan).state == State.WAIVED
    data = Event.objects.get(verb="qualification.waived").data
    assert (data["user"], data["reason"]) == ("dan", "Wrote the guidelines.")
    with pytest.raises(tries.AdmissionImpossible, match="nothing_to"):
        tries.waive(project, dan, by=rita, reason="Again.")


# --- full labeling --------------------------------------------------------------------------------


def passed_round(project: Project, number: int = 2, **fields: object) -> Round:
    round_ = factories.open_calibration(project, number, **fields)
    factories.answer_all(round_)
    round_.refresh_from_db()
    assert round_.state == "passed"
    return round_


@pytest.fixture
def newcomer(project: Project, people: dict[str, User]) -> User:
    """Joins after a passed round, and is planned in for full labeling."""
    passed_round(project)
    user = joined(project)
    factories.open_full(project, 1, annotators=[user], overlap=1)
    return user


def test_a_newcomer_gets_no_full_labeling_before_a_passed_round(
    project, newcomer, ana, lead, signed_in
):
    factories.open_full(project, 2, pool=True, overlap=1)
    assert not assignments.pools_for(newcomer).exists()
    with pytest.raises(admission.NotCalibrated, match="leads=rita"):
        assignments.next_for(newcomer)
    assert assignments.next_for(ana).purpose == "labelling"
    assert "ask rita to open one with you" in page(signed_in(newcomer), "/")
    assert "not calibrated" in page(lead, "/projects/orders/checks/")

    opened = factories.open_calibration(project, 1)
    assert assignments.next_for(newcomer).round == opened
    factories.answer_all(opened)

    assert Admission.objects.get(user=newcomer).round == opened
    assert assignments.pools_for(newcomer).exists()


def test_a_lead_lets_somebody_in_by_a_reason_and_gold_says_so(
    project, newcomer, rita, ana, lead, researcher
):
    address = f"/projects/orders/checks/people/{newcomer.pk}/"
    decided = {"what": "let-in", "reason": "Wrote the guidelines."}
    assert researcher.post(address, decided).status_code == 403
    empty = lead.post(address, {"what": "let-in", "reason": " "})
    assert (empty.status_code, Admission.objects.filter(user=newcomer).exists()) == (400, False)
    assert lead.post(address, decided).status_code == 302

    assert "rita: Wrote the guidelines." in page(lead, "/projects/orders/checks/")
    factories.answer_all(factories.open_full(project, 1, annotators=[newcomer, ana], overlap=2))
    release = factories.freeze(project)
    names = ("dan", "ana")
    rows = [
        {row["username"]: row for row in factories.with_names(item)["provenance"]["annotators"]}
        for item in release.items.all()
    ]
    (full,) = [row for row in rows if set(row) == set(names)]
    let_in = {"how": "let_in", "reason": "Wrote the guidelines."}
    assert full["dan"]["without_calibration"] == {"extraction": let_in}
    assert "without_calibration" not in full["ana"]
    assert Event.objects.get(verb="admission.let_in").data == {
        "user": "dan",
        "layers": ["extraction"],
        "reason": "Wrote the guidelines.",
    }
    with pytest.raises(tries.AdmissionImpossible, match="nothing_to_let_in"):
        tries.let_in(project, newcomer, by=rita, reason="Again.")


def test_each_layer_has_a_gate_of_its_own(project, newcomer, ana):
    """A layer on which a round passes later is one that earlier people have to calibrate on."""
    project.layers = ["extraction", "inference"]
    project.save()
    assert not admission.not_calibrated_on(project, ana)
    ben, cleo = User.objects.filter(username__in=["ben", "cleo"]).order_by("username")
    later = factories.open_calibration(project, 1, annotators=[ben, cleo])
    admission.admit_those_who_calibrated(later, ["inference"])
    assert admission.calibrated_layers(project) == ["extraction"]  # nobody has submitted
    factories.answer_all(later)
    admission.admit_those_who_calibrated(later, ["inference"])

    assert admission.not_calibrated_on(project, ana) == ["inference"]
    assert not admission.not_calibrated_on(project, ben)


def test_who_was_let_in_and_calibrates_later_is_calibrated_from_then_on(project, newcomer, rita):
    tries.let_in(project, newcomer, by=rita, reason="Short of people.")
    before = Admission.objects.get(user=newcomer)
    passed_round(project, 1)

    after = Admission.objects.get(user=newcomer)
    assert (before.calibrated_at, after.how) == (None, "let_in")
    assert after.calibrated_at is not None
