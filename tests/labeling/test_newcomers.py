"""Newcomers after a passed round calibrate before full labeling, or are let in by a reason."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from labeling.core import members
from labeling.models import (
    Admission,
    Annotation,
    Event,
    Membership,
    Project,
    Qualification,
    Round,
)
from labeling.screening import check_scores, newcomers, tries
from labeling.work import admission, annotations, assignments, rounds
from tests import factories
from tests.labeling.checked import do_try
from tests.pages import page

State = Qualification.State


def passed_round(project: Project, number: int = 6, **fields: object) -> Round:
    round_ = factories.open_calibration(project, number, **fields)
    factories.answer_all(round_)
    round_.refresh_from_db()
    assert round_.state == "passed"
    return round_


@pytest.fixture
def dan(project: Project, people: dict[str, User]) -> User:
    """Joins after a passed round, and is planned in for full labeling."""
    passed_round(project)
    user = User.objects.create_user("dan", password=factories.PASSWORD)
    Membership.objects.create(project=project, user=user, role="annotator")
    return user


def test_who_has_calibrated_is_admitted_on_its_layers_and_may_take_from_pools(project, dan, ana):
    factories.open_full(project, 2, pool=True, overlap=1)
    assert not assignments.pools_for(dan).exists()
    assert assignments.next_for(ana).purpose == "labelling"

    do_try(dan, project, tries.CALIBRATION)

    admitted = Admission.objects.get(user=dan)
    assert (admitted.layer, admitted.how) == ("extraction", "calibrated")
    assert assignments.pools_for(dan).exists()
    assert not rounds.unplanned(project).exists()


def test_a_newcomer_may_take_part_in_calibration_rounds(project, dan):
    opened = factories.open_calibration(project, 1)

    assert assignments.next_for(dan).round == opened
    factories.answer_all(opened)

    assert Admission.objects.get(user=dan).round == opened


def test_the_gate_measures_a_newcomer_by_kappa_and_by_the_labels(project, dan):
    """The others marked message 0; other messages have no κ above the threshold."""
    tried = do_try(dan, project, tries.CALIBRATION, (1,))

    result = tried.layers["extraction"]
    assert (tried.state, result["outcome"]) == (State.BETWEEN, "failed")
    # 5 conversations of 4 messages: p_o = 10/20, p_e = (5·5 + 15·15)/20² = 0.625, κ = -1/3
    assert result["value"] == pytest.approx(-1 / 3)
    assert (result["threshold"], result["f1_threshold"]) == (0.75, 0.5)
    with pytest.raises(admission.NotCalibrated, match="calibration_not_passed"):
        assignments.next_for(dan)


def test_a_skip_leaves_no_figure(project, dan):
    tried = do_try(dan, project, tries.CALIBRATION, skip=1)

    result = tried.layers["extraction"]
    assert (tried.state, result["value"]) == (State.BETWEEN, None)
    assert result["reason"]["code"] == "calibration.incomplete"


def test_another_try_takes_other_conversations_and_tries_end(project, dan, rita):
    passed_round(project, 5, annotators=list(assignments.annotators(project).exclude(pk=dan.pk)))
    first = do_try(dan, project, tries.CALIBRATION, (1,))
    seen = set(
        tries.parts_of(dan, project, tries.CALIBRATION).values_list("conversation", flat=True)
    )

    assert do_try(dan, project, tries.CALIBRATION, (1,)).state == State.FAILED

    again = set(
        tries.parts_of(dan, project, tries.CALIBRATION).values_list("conversation", flat=True)
    )
    assert len(again) == len(seen) == 5
    assert not seen & again
    assert tries.allow_another_try(project, dan, by=rita)
    with pytest.raises(tries.TryImpossible, match="too_few settled=1 wanted=5"):
        tries.begin(project, dan, tries.CALIBRATION)
    assert first.tries == 1


def test_conversations_without_an_outcome_are_not_calibrated_on(project, people, dan):
    names = ["ana", "ben", "cleo"]
    failed = factories.open_calibration(project, 5, annotators=[people[name] for name in names])
    factories.answer_each(failed, lambda who: [names.index(who)])

    begun = tries.begin(project, dan, tries.CALIBRATION)

    chosen = tries.parts_of(dan, project, tries.CALIBRATION)
    assert begun.state == State.TRYING
    assert not chosen.filter(conversation__rounds=failed).exists()


def test_nobody_calibrates_on_a_round_whose_discussion_they_may_read(project, dan):
    """Dan answered one of two conversations; the other was never his, but he reads it all."""
    others = list(assignments.annotators(project).exclude(pk=dan.pk))
    shared = passed_round(project, 2, annotators=others)
    own = shared.conversations.first()
    Annotation.objects.create(
        assignment=shared.assignments.create(conversation=own, annotator=dan, slot=None),
        guideline=shared.guideline,
        status="skipped",
        skip_reason="Not in English.",
    )

    tries.begin(project, dan, tries.CALIBRATION)

    assert (
        not tries.parts_of(dan, project, tries.CALIBRATION)
        .filter(conversation__rounds=shared)
        .exists()
    )


def test_people_who_read_the_labels_cannot_calibrate_blind(project, noor, rita):
    passed_round(project)
    Membership.objects.create(project=project, user=noor, role="annotator")

    with pytest.raises(tries.TryImpossible, match="reads_labels leads=rita"):
        tries.begin(project, noor, tries.CALIBRATION)


def test_a_lead_lets_somebody_in_by_a_reason_and_gold_says_so(project, dan, rita, ana):
    tries.let_in(project, dan, tries.CALIBRATION, by=rita, reason="Wrote the guidelines.")
    factories.answer_all(factories.open_full(project, 1, annotators=[dan, ana], overlap=2))

    release = factories.freeze(project)
    full = [item for item in release.items.all() if item.conversation.rounds.filter(kind="full")]
    rows = {
        row["username"]: row for row in factories.with_names(full[0])["provenance"]["annotators"]
    }
    let_in = {"how": "let_in", "reason": "Wrote the guidelines."}
    assert rows["dan"]["without_calibration"] == {"extraction": let_in}
    assert "without_calibration" not in rows["ana"]
    assert Event.objects.get(verb="admission.let_in").data == {
        "user": "dan",
        "layers": ["extraction"],
        "reason": "Wrote the guidelines.",
    }
    with pytest.raises(tries.AdmissionImpossible, match="nothing_to_let_in"):
        tries.let_in(project, dan, tries.CALIBRATION, by=rita, reason="Again.")


def test_each_layer_has_a_gate_of_its_own(project, dan, ana):
    """A layer on which a round passes later is one that earlier people have to calibrate on."""
    do_try(dan, project, tries.CALIBRATION)
    assert not admission.not_calibrated_on(project, dan)
    project.layers = ["extraction", "inference"]
    project.save()
    assert not admission.not_calibrated_on(project, dan)
    ben, cleo = User.objects.filter(username__in=["ben", "cleo"]).order_by("username")
    later = factories.open_calibration(project, 1, annotators=[ben, cleo])
    admission.admit_those_who_calibrated(later, ["inference"])
    assert admission.calibrated_layers(project) == ["extraction"]  # nobody has submitted
    factories.answer_all(later)
    admission.admit_those_who_calibrated(later, ["inference"])

    assert admission.not_calibrated_on(project, dan) == ["inference"]
    assert admission.not_calibrated_on(project, ana) == ["inference"]
    assert not admission.not_calibrated_on(project, ben)


def test_who_was_let_in_and_calibrates_later_is_calibrated_from_then_on(project, dan, rita):
    tries.let_in(project, dan, tries.CALIBRATION, by=rita, reason="Short of people.")
    before = Admission.objects.get(user=dan)
    passed_round(project, 1)

    after = Admission.objects.get(user=dan)
    assert (before.calibrated_at, after.how) == (None, "let_in")
    assert after.calibrated_at is not None


def test_a_try_is_held_to_the_outcomes_and_layers_it_began_with(project, dan, monkeypatch):
    tries.begin(project, dan, tries.CALIBRATION)
    monkeypatch.setattr(newcomers, "outcomes", lambda *_: {})
    both = ["extraction", "inference"]
    monkeypatch.setattr(admission, "not_calibrated_on", lambda *_: both)

    tried = do_try(dan, project, tries.CALIBRATION)

    assert tried.state == State.PASSED
    assert list(tried.layers) == ["extraction"]
    assert [row.layer for row in Admission.objects.filter(user=dan)] == ["extraction"]


def test_who_reads_labels_during_a_try_does_not_pass_it_also_when_the_role_is_gone(
    project, dan, rita
):
    tries.begin(project, dan, tries.CALIBRATION)
    role = members.add_member(project=project, username="dan", role="researcher", by=rita)
    members.remove_member(membership=role, by=rita)
    parts = list(tries.parts_of(dan, project, tries.CALIBRATION))
    for part in parts:
        annotations.submit(part, factories.save_of(factories.labels([0])))
        check_scores.score(part.pk, ruler=factories.ruler())

    tried = Qualification.objects.get(user=dan)
    assert tried.state == State.FAILED
    assert tried.layers["extraction"]["reason"]["code"] == "calibration.has_read"
    assert not Admission.objects.filter(user=dan).exists()
    tries.allow_another_try(project, dan, by=rita)
    with pytest.raises(tries.TryImpossible, match="reads_labels"):
        tries.begin(project, dan, tries.CALIBRATION)


def test_a_lead_decides_on_the_page_of_the_person_and_a_researcher_reads_it(
    project, dan, signed_in, lead, researcher
):
    address, own = f"/projects/orders/checks/people/{dan.pk}/", "/projects/orders/screening/"
    decided = {"what": "let-in", "reason": "Wrote the guidelines."}
    begun = signed_in(dan).post(own, {"what": "calibration"})
    assert begun.url == tries.parts_of(dan, project, tries.CALIBRATION)[0].get_absolute_url()
    assert "0 of 5 done" in page(signed_in(dan), own)
    assert "calibrates first 0 of 5 done" in page(researcher, address)

    assert researcher.post(address, decided).status_code == 403
    empty = lead.post(address, {"what": "let-in", "reason": " "})
    assert (empty.status_code, Admission.objects.filter(user=dan).exists()) == (400, False)
    assert lead.post(address, decided).status_code == 302

    assert Admission.objects.get(user=dan).how == "let_in"
    assert "rita: Wrote the guidelines." in page(lead, "/projects/orders/checks/")
    assert "You may do full labeling." in page(signed_in(dan), own)
