"""What a lead changes of a project later: at once where it may be, in words where it may not."""

import json

import pytest

from labeling.core import project_settings
from labeling.jobs import pending
from labeling.models import Event, Project, Round
from labeling.work import annotations, rounds
from tests import factories, layers
from tests.pages import text_of

pytestmark = pytest.mark.django_db
URL = "/projects/orders/settings/"
BUY = {"Purchase": ["buyer", "item"], "Air:crash": []}


def sent(project, **changed):
    """What a browser sends from the page as it is, but for what somebody changes in it."""
    project.refresh_from_db()
    base = project_settings.of(project)
    page = {
        **{name: base[name] for name in ("name", "description", "layers", "overlap")},
        **{name: base[name] for name in ("kappa_threshold", "kappa_statistic")},
        "label_f1_threshold": base["label_f1_threshold"],
        "hints": base["hints"],
        **{name: base[name] for name in ("match_threshold", "review_rate")},
        "open_fields": [],
        "actor_synonyms": "\r\n".join(", ".join(group) for group in base["actor_synonyms"]),
        "event_schema": "\r\n".join(
            f"{name}: {', '.join(roles)}".strip() for name, roles in base["event_schema"]
        ),
        "base": json.dumps(base),
    }
    return page | changed


def set_up(project, **fields):
    Project.objects.filter(pk=project.pk).update(**fields)
    project.refresh_from_db()


@pytest.fixture
def told(monkeypatch):
    """The rounds that a worker measures anew, and whether it merges."""
    result = []
    ask = pending.request

    def request(project, *, conversation=None, measure=None):
        if not conversation:
            result.append(measure.number if measure else "merges")
        ask(project, conversation=conversation, measure=measure)

    monkeypatch.setattr("labeling.jobs.pending.request", request)
    return result


def marked(round_, by_name):
    return factories.answer_each(round_, by_name.get)


SPLIT = {"ana": [0], "ben": [1], "cleo": [1]}


def test_a_lead_changes_the_settings_and_the_log_says_from_what_to_what(lead, project):
    response = lead.post(
        URL,
        sent(
            project,
            name="Orders of 2027",
            kappa_threshold="0.6",
            overlap="2",
            layers=["extraction", "events"],
            actor_synonyms="buyer, shopper\r\n\r\nclerk,cashier,clerk",
            event_schema="Purchase: buyer, item\r\nAir:crash:\r\n",
            review_rate="0.1",
        ),
        follow=True,
    )

    project.refresh_from_db()
    assert response.redirect_chain[-1][0] == URL
    assert (project.name, project.slug, project.overlap) == ("Orders of 2027", "orders", 2)
    assert project.layers == ["extraction", "events"]
    assert project.actor_synonyms == [["buyer", "shopper"], ["clerk", "cashier"]]
    assert list(project.event_schema.items()) == list(BUY.items())
    event = Event.objects.get(verb="project.changed")
    assert event.data["was"]["kappa_threshold"] == 0.75
    assert event.data["now"]["kappa_threshold"] == 0.6
    assert set(event.data["fields"]) == event.data["now"].keys()
    assert "κ threshold (0.75 → 0.6)" in text_of(lead.get("/projects/orders/audit/"))


def test_the_same_again_changes_nothing_whatever_is_stored(lead, project):
    odd = {"a, b": ["x: y"], "Air:crash": []}
    set_up(
        project,
        layers=["events", "extraction"],
        event_schema=odd,
        actor_synonyms=[["a, b", "c"], ["alone"]],
        description="one\r\n\r\ntwo ",
    )

    response = lead.post(URL, sent(project), follow=True)

    assert "Nothing was changed." in response.content.decode()
    assert not Event.objects.filter(verb="project.changed").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layers", []),
        ("layers", ["extraction", "nope"]),
        ("layers", ["inference"]),
        ("kappa_threshold", "nan"),
        ("kappa_statistic", "max"),
        ("overlap", "0"),
        ("match_threshold", "1"),
        ("actor_synonyms", "alone"),
        ("event_schema", "A: x\nA: y"),
        ("event_schema", ": x"),
        ("review_rate", "2"),
        ("base", "x"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(lead, project, field, value):
    response = lead.post(URL, sent(project, **{field: value}))

    assert response.status_code == 400
    assert response.context["form"].errors.keys() == {field}
    assert not Event.objects.filter(verb="project.changed").exists()


def test_two_people_who_save_at_once_overwrite_only_what_both_have_changed(lead, project):
    mine = sent(project, overlap="2", kappa_threshold="0.7")
    theirs = {"kappa_threshold": "0.6", "name": "Renamed", "event_schema": "Sale: buyer"}
    lead.post(URL, sent(project, **theirs))

    lead.post(URL, mine)

    project.refresh_from_db()
    assert (project.name, project.event_schema) == ("Renamed", {"Sale": ["buyer"]})
    assert (project.kappa_threshold, project.overlap) == (0.7, 2)
    assert "κ threshold (0.6 → 0.7)" in text_of(lead.get("/projects/orders/audit/"))


def test_the_gate_asks_for_the_new_threshold_at_once(lead, project):
    lead.post(URL, sent(project, kappa_threshold="0.6"))
    assert "κ of more than 0.6 is needed" in text_of(lead.get("/projects/orders/calibration/"))

    lead.post(URL, sent(project, kappa_threshold="-0.99", label_f1_threshold="0"))
    assert marked(factories.open_calibration(project, 2), SPLIT).state == Round.State.PASSED


def test_a_closed_calibration_keeps_its_verdict_and_its_bar(lead, project):
    failed = marked(factories.open_calibration(project, 2), SPLIT)
    assert failed.state == Round.State.FAILED
    figures = factories.measure(failed)

    lead.post(URL, sent(project, kappa_threshold="-0.99", kappa_statistic="mean"))

    now = Round.objects.get(pk=failed.pk)
    assert (now.state, rounds.gate_is_open(now.project)) == (Round.State.FAILED, False)
    # what is printed on gold is measured by the rule of then
    assert factories.measure(now) == figures


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("layers", ["extraction", "qa"]),
        ("kappa_threshold", "0.6"),
        ("kappa_statistic", "mean"),
        ("match_threshold", "0.8"),
        ("actor_synonyms", "buyer, shopper"),
        ("event_schema", "A: x"),
    ],
)
def test_what_an_open_calibration_is_measured_by_stays(lead, project, field, value):
    factories.open_calibration(project, 2)

    response = lead.post(URL, sent(project, **{field: value}))

    assert response.status_code == 400
    assert "Calibration round 1 is open" in text_of(response)
    assert response.context["form"].errors.keys() == {field}


def test_an_open_round_keeps_its_overlap(lead, project):
    opened = factories.open_full(project, 2)

    lead.post(URL, sent(project, overlap="2"))

    opened.refresh_from_db()
    assert opened.overlap == 3
    project.refresh_from_db()
    assert factories.open_full(project, 2).overlap == 2


def test_what_is_labeled_does_not_change_while_a_round_is_open(lead, project):
    opened = factories.open_full(project, 2)
    response = lead.post(URL, sent(project, layers=["extraction", "qa"]))
    assert "Round 1 is open: close it" in text_of(response)

    rounds.close(opened, by=None)
    assert lead.post(URL, sent(project, layers=["extraction", "qa"])).status_code == 302


def test_what_nobody_was_asked_for_is_not_added_to_answers(lead, project):
    opened = factories.open_full(project, 2)
    factories.answer(opened.assignments.all()[0])
    rounds.close(opened, by=None)

    response = lead.post(URL, sent(project, layers=["extraction", "qa"]))

    assert response.status_code == 400
    assert "Answers were submitted when nobody was asked for “Questions" in text_of(response)


def test_what_has_labels_or_gold_stays(lead, project):
    set_up(project, layers=["extraction", "qa"])
    assert lead.post(URL, sent(project, layers=["qa"])).status_code == 302
    set_up(project, layers=["extraction", "qa"])
    factories.make_release(project, items=1)
    rounds.close(project.rounds.get(), by=None)

    response = lead.post(URL, sent(project, layers=["qa"]))

    assert "There are labels, decisions or gold of “Requirements”" in text_of(response)
    assert lead.post(URL, sent(project, layers=["extraction"])).status_code == 302


def test_types_and_roles_that_labels_use_stay(lead, project, ana):
    set_up(project, layers=["extraction", "events"], event_schema=BUY)
    opened = factories.open_full(project, 1)
    result = layers.event(0, ("buyer", "order 0"), type="Purchase")
    assignment = opened.assignments.get(annotator=ana)
    annotations.save_draft(assignment, factories.save_of({"events": [result]}))

    response = lead.post(URL, sent(project, event_schema="Purchase: item\nSale:"))
    assert "not in the list: Purchase: buyer. Add it again." in text_of(response)
    assert "list: Purchase. Add" in text_of(lead.post(URL, sent(project, event_schema="Sale:")))

    assert lead.post(URL, sent(project, event_schema="Purchase: buyer")).status_code == 302
    assert lead.post(URL, sent(project, event_schema="")).status_code == 302


def test_workers_compute_anew_what_hangs_on_a_setting(lead, project, told):
    failed = marked(factories.open_calibration(project, 2), SPLIT)
    full = factories.open_full(project, 2)
    rounds.close(full, by=None)
    Round.objects.filter(pk=full.pk).update(agreement=failed.agreement)
    told.clear()

    lead.post(URL, sent(project, name="Renamed", overlap="2", review_rate="0.5"))
    assert told == []
    lead.post(URL, sent(project, kappa_threshold="0.6"))
    assert told == [2, "merges"]
    told.clear()
    lead.post(URL, sent(project, match_threshold="0.8"))
    assert told == [1, 2, "merges"]
