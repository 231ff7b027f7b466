"""The calibration gate: κ on the units, the labels themselves, and layers that nobody used."""

import pytest

from labeling.agreement.rules.agreement import read_agreement
from labeling.agreement.rules.calibration import evidence
from labeling.models import Assignment, Project, Round
from labeling.templatetags.figures import figure
from labeling.work import rounds
from tests import factories
from tests.pages import page
from tests.refusals import refused

pytestmark = pytest.mark.django_db
URL = "/projects/orders/calibration/"
TEXTS = {
    "ana": ("Track parcels", "show where the parcel travels now"),
    "ben": ("Pay by invoice", "send a monthly bill to companies"),
    "cleo": ("Delete accounts", "erase everything about former members"),
}


def in_words_of(who):
    title, action = TEXTS[who]
    return {"requirements": [factories.requirement(title=title, action=action)]}


def answered(project, *, alike=False, number=6):
    """Everybody marks message 0 alone; in their own words, unless ``alike``."""
    opened = factories.open_calibration(project, number)
    return factories.answer_each(opened, lambda who: in_words_of("ana" if alike else who))


class TestContent:
    def test_the_same_messages_with_different_labels_do_not_pass(self, project, lead):
        closed = answered(project)

        shown = page(lead, URL)

        assert closed.state == Round.State.FAILED
        assert closed.agreement["value"] == 1.0  # κ alone would have passed
        assert closed.agreement["content"]["value"] == 0.0
        why = "they mark the same messages and write different requirements"
        high = figure(closed.agreement["content"]["high"])  # six labels each, none of them shared
        assert 0.2 < closed.agreement["content"]["high"] < 0.5
        assert f"Labels match F1 0.00 0.00 to {high} ✗ at least 0.5 needed {why}" in shown
        assert f"label F1 0.00 where at least 0.5 is needed ({why})" in shown  # in the gate's box
        assert "Requirements not passed" in shown

    def test_the_same_labels_pass(self, project, lead):
        closed = answered(project, alike=True)

        assert closed.state == Round.State.PASSED
        assert closed.agreement["content"] == {
            **closed.agreement["content"],
            "value": 1.0,
            "threshold": 0.5,
            "passed": True,
            "reason": None,
        }
        assert "true κ above 0.75:" in page(lead, URL)

    def test_zero_turns_it_off(self, project):
        Project.objects.filter(pk=project.pk).update(label_f1_threshold=0)
        project.refresh_from_db()

        closed = answered(project)

        assert closed.state == Round.State.PASSED
        assert closed.agreement["content"]["value"] == 0.0

    def test_what_held_when_the_round_was_opened_counts(self, project):
        opened = factories.open_calibration(project, 2)
        Project.objects.filter(pk=project.pk).update(label_f1_threshold=0)

        assert opened.label_f1_threshold == 0.5
        factories.answer_all(opened)
        opened.refresh_from_db()
        assert opened.agreement["content"]["threshold"] == 0.5

    def test_the_mean_of_the_pairs_counts_where_the_mean_of_kappa_does(self, project):
        opened = factories.open_calibration(project, 6)
        factories.answer_each(opened, lambda who: in_words_of("ben" if who == "cleo" else "ana"))
        for statistic, expected in (("min", 0.0), ("mean", 1 / 3)):  # F1 of pairs: 1, 0, 0
            Project.objects.filter(pk=project.pk).update(kappa_statistic=statistic)
            Round.objects.filter(pk=opened.pk).update(agreement=None)
            opened = Round.objects.get(pk=opened.pk)
            factories.measure(opened)
            figures = opened.measurements.get(layer="extraction").figures
            assert figures["content"]["value"] == pytest.approx(expected)

    def test_a_round_from_before_keeps_its_verdict_and_says_what_it_lacks(self, project, lead):
        closed = answered(project, alike=True)
        figures = closed.agreement
        for one in (figures, figures["layers"]["extraction"]):
            later = ("content", "outcome", "chance_above", "outlook", "intervals", "ordinal")
            for name in ("by_origin", *later):
                one.pop(name)
            for pair in one["pairs"]:
                del pair["chance_above"], pair["intervals"]
        Round.objects.filter(pk=closed.pk).update(agreement=figures)

        read = read_agreement(figures["layers"]["extraction"])
        shown = page(lead, URL)

        assert (read.outcome, read.content, read.chance_above) == ("passed", None, None)
        assert read.pairs[0].chance_above is None
        assert "Requirements passed" in shown
        assert "not measured when this round closed" in shown
        assert "ana" in page(lead, f"/projects/orders/rounds/{closed.number}/agreement/")


@pytest.fixture
def two_layers(people):
    return factories.make_project(layers=["extraction", "inference"])


class TestUnusedLayer:
    def test_it_neither_passes_nor_fails_the_others(self, two_layers, lead):
        closed = answered(two_layers, alike=True, number=13)

        shown = page(lead, URL)

        assert closed.state == Round.State.PASSED
        assert closed.agreement["layer"] == "extraction"
        assert closed.agreement["layers"]["inference"]["outcome"] == "not_measured"
        assert "Inferred requirements not measured Nobody used this layer" in shown
        assert "nothing on inferred requirements (nobody used this layer" in shown

    def test_the_others_can_still_fail(self, two_layers):
        assert answered(two_layers).state == Round.State.FAILED

    def test_a_round_without_any_label_does_not_pass(self, two_layers):
        opened = factories.open_calibration(two_layers, 2)
        factories.answer_all(opened, [])
        opened.refresh_from_db()

        assert opened.state == Round.State.FAILED
        assert opened.agreement["outcome"] == "not_measured"
        assert opened.agreement["reasons"]["value"]["code"] == "agreement.nothing_measured"

    def test_it_is_not_the_same_as_a_kappa_that_is_undefined(self, project):
        """All mark every message: used, and chance alone explains the agreement."""
        opened = factories.open_calibration(project, 2)
        factories.answer_all(opened, [0, 1, 2, 3])
        opened.refresh_from_db()

        assert opened.agreement["outcome"] == "failed"
        assert opened.agreement["reasons"]["value"]["code"] == "agreement.undefined"


class TestPerhapsTheSame:
    """Labels about the same messages, next to each other, field by field."""

    def test_they_are_discussed_although_everybody_marked_the_message(self, project, lead):
        closed = answered(project, number=2)
        address = "/projects/orders/rounds/1/disagreements/"

        shown = page(lead, address)

        assert "All 3 marked it, and wrote different labels" in shown
        assert "Title differs Track parcels Pay by invoice" in shown
        assert "The same: Type, Actor" in shown
        lead.post(
            f"{address}decide/",
            {"place": f"{closed.conversations.order_by('pk')[0].pk}-0", "outcome": "guideline"},
        )
        assert "1 decided" in page(lead, address)

    def test_adjudication_gets_them(self, project, lead):
        opened = factories.answer_each(factories.open_full(project, 1), in_words_of)
        factories.work(project)
        conversation = opened.conversations.get()

        desk = lead.get(f"/adjudicate/{conversation.pk}/")
        cluster = desk.context["page"]["clusters"][0]
        lone = [side for side in cluster["sides"] if side["label"] is None]

        assert len(lone) == 2
        assert all(side["perhaps"]["source_messages"] == [0] for side in lone)
        assert {"title", "action"} <= set(cluster["apart"])


def test_the_right_words_on_the_wrong_messages_do_not_pass(project):
    """Both mark messages 0 and 1 and write the same two labels, each on the other's message."""
    opened = factories.open_calibration(project, 10)

    def crossed(who):
        places = [0, 1] if who == "ana" else [1, 0]
        labels = [
            factories.requirement(at, title=title, action=action, sources=[places[at - 1]])
            for at, (title, action) in enumerate(list(TEXTS.values())[:2], start=1)
        ]
        return {"requirements": labels}

    factories.answer_each(opened, crossed)

    assert opened.agreement["value"] == 1.0
    assert opened.agreement["content"]["value"] == 0.0
    assert opened.state == Round.State.FAILED


# --- enough to stand on ------------------------------------------------------------------------


def a_round(project, number, *, messages=4, marked=("ana", "ben", "cleo")):
    """Those marked cite message 0, and the others message 1."""
    opened = rounds.open_round(
        project=project,
        kind=Round.Kind.CALIBRATION,
        by=None,
        conversations=factories.make_conversations(project, number, messages=messages),
    )
    return factories.answer_each(opened, lambda who: [0 if who in marked else 1])


@pytest.mark.parametrize(
    ("conversations", "messages", "is_open"),
    [(9, 8, False), (10, 4, False), (10, 5, True)],
)
def test_a_round_opens_full_labeling_only_on_enough(project, conversations, messages, is_open):
    closed = a_round(project, conversations, messages=messages)

    assert (closed.state, closed.agreement["value"]) == (Round.State.PASSED, 1.0)
    assert rounds.gate_is_open(project) == is_open


def test_a_round_that_is_too_small_says_what_is_needed_and_a_reason_goes_past_it(project, lead):
    a_round(project, 1, messages=2)
    why = (
        "Round 1 passed, but it is too small to open full labeling: it needs at least 10 "
        "conversations and 50 units of each layer that every pair has answered, and has 1 and 2."
    )

    with refused(rounds.GateLocked, match=why):
        factories.open_full(project, 2, override_reason="")
    shown = page(lead, URL)

    assert why in shown
    assert "It needs at least 10 conversations and 50 units of each used layer" in shown
    assert factories.open_full(project, 2, override_reason="Six talks are all.").override_reason


def test_what_only_one_of_a_pair_answered_is_no_evidence(project):
    opened = rounds.open_round(
        project=project,
        kind=Round.Kind.CALIBRATION,
        by=None,
        conversations=factories.make_conversations(project, 10, messages=6),
    )
    skipped, *others = opened.assignments.all()
    for assignment in others:
        factories.answer(assignment)
    factories.skip(skipped)
    opened.refresh_from_db()

    assert (opened.state, evidence(opened.agreement).conversations) == (Round.State.PASSED, 9)
    assert not rounds.gate_is_open(project)


def test_the_newest_completed_round_decides(project):
    factories.pass_gate(project)
    full = factories.open_full(project, 2)
    assert full.override_reason == ""

    under_way = factories.open_calibration(project, 4)
    assert rounds.gate_is_open(project)  # it says nothing before it has closed
    factories.answer_each(under_way, lambda who: [0] if who == "ana" else [1])

    assert not rounds.gate_is_open(project)
    with pytest.raises(rounds.GateLocked):
        factories.open_full(project, 2, override_reason="")
    first: Assignment = full.assignments.all()[0]
    assert factories.answer(first).status == "submitted"  # work under way goes on

    factories.pass_gate(project)
    assert rounds.gate_is_open(project)
