"""What follows from what was stated, and what does not."""

import re

import pytest

from pipelines.requirements.inference import rules
from pipelines.requirements.inference.local import fire, infer
from pipelines.requirements.inference.rules import rule_base


def stated(action, *, uid="r1", title="", **fields):
    return {"uid": uid, "id": "REQ-001", "title": title, "action": action, **fields}


def found(*requirements, infer_above=0.0):
    return infer(requirements, infer_above=infer_above)


def names(*actions, refused=()):
    labels = [stated(action, uid=f"r{at}") for at, action in enumerate(actions)]
    return {one.rule.id for one in fire(labels, refused=refused)}


@pytest.mark.parametrize(
    ("action", "refused", "rule", "fires"),
    [
        ("Log in with e-mail and password", [], "login-lockout", True),
        ("Log in, not only by password", [], "login-lockout", True),
        ("Pay by credit card", [], "payment-pci", True),
        ("Search products by name", [], "search-speed", True),
        ("Upload photos of the damage", [], "upload-safety", True),
        ("Book an appointment online", [], "booking-conflict", True),
        ("Book a table", [], "booking-confirmation", True),
        ("Send a text message the day before", [], "notify-optout", True),
        ("Show the record of a patient", [], "health-law", True),
        ("Print the opening hours of the clinic", [], "health-law", False),
        ("Log in. Lock the account after five failed attempts", [], "login-lockout", False),
        ("Book a table", ["a confirmation by mail"], "booking-confirmation", False),
    ],
)
def test_what_a_requirement_touches_sets_off_a_rule_unless_it_is_stated_or_refused(
    action, refused, rule, fires
):
    assert (rule in names(*action.split(". "), refused=refused)) is fires


@pytest.mark.parametrize(
    "action",
    [
        "Turn the wheel to the left",
        "Show the menu without any login",
        "Never store passwords",
        "Show the blogins of the repayables",
    ],
)
def test_nothing_follows_from_what_is_denied_or_only_like_it(action):
    assert names(action) == names() == set()


def test_a_weight_or_a_price_is_no_load():
    assert "volume" in rule_base().touched("Serve 9,000 claims in two days")
    for measure in ("1,000 kg", "2,500 euros", "1,200 litres", "10,000 m"):
        assert "volume" not in rule_base().touched(f"Convert {measure} at once")


@pytest.mark.parametrize(
    ("labels", "triggers", "confidence"),
    [
        ([{}], ["r0"], 0.75),
        ([{}, {}], ["r0", "r1"], 0.85),  # both set it off
        ([{"confidence": 0.55}], ["r0"], 0.55),  # never surer than what it follows from
        ([{"confidence": 0.55}, {"confidence": 0.7}], ["r0", "r1"], 0.7),
        ([{"confidence": 0.1, "wanted": 0.7}], ["r0"], 0.7),  # not how its wording matches
        ([{"confidence": 0.49}, {}], ["r1"], 0.75),  # hardly a requirement itself
        ([{"confidence": 0.9, "wanted": 0.3}], None, None),
    ],
)
def test_an_inference_names_what_it_follows_from_and_is_no_surer(labels, triggers, confidence):
    result = found(*(stated("Pay by card", uid=f"r{at}", **one) for at, one in enumerate(labels)))

    pci = [one for one in result if one["title"] == "PCI DSS Compliance"]
    assert [(one["triggered_by"], one["confidence"]) for one in pci] == (
        [] if triggers is None else [(triggers, pytest.approx(confidence))]
    )


def test_one_need_is_inferred_once_with_all_that_it_follows_from():
    labels = found(
        stated("Show the record of a patient", uid="a"),
        stated("Keep the phone numbers of customers", uid="b"),
    )

    (law,) = [one for one in labels if one["inference_type"] == "compliance"]
    assert (law["title"], law["triggered_by"]) == ("Health Data Compliance", ["a", "b"])


def test_nobody_said_how_to_test_it_so_it_asks():
    for one in found(stated("Log in with a password"), stated("Search the books", uid="r2")):
        assert one["acceptance_criteria"] == []
        assert one["rationale"].endswith("?")
        assert not re.search(r"\d", f"{one['title']} {one['action']} {one['rationale']}")


def test_what_is_less_sure_is_left_out_and_the_rest_stands_surest_first():
    labels = found({"id": "REQ-007", "title": "", "action": "Log in, pay by card"}, infer_above=0.7)

    confidences = [label["confidence"] for label in labels]
    assert confidences == sorted(confidences, reverse=True)
    assert min(confidences) >= 0.7
    assert [label["id"] for label in labels][:2] == ["INF-001", "INF-002"]
    assert labels[0]["triggered_by"] == ["REQ-007"]  # by its number, as it has no name


def test_every_rule_can_be_set_off_and_no_two_are_alike():
    base = rule_base()

    assert len({rule.id for rule in base.rules}) == len(base.rules)
    assert len({(rule.title, rule.action) for rule in base.rules}) == len(base.rules)
    assert len({rule.inference_type for rule in base.rules}) == 5
    for rule in base.rules:
        assert not set(rule.touches) & set(rule.unless), rule.id


def test_a_slip_in_the_rules_is_found_when_they_are_read(tmp_path, monkeypatch):
    text = rules.FILE.read_text().replace("unless: [lockout,", "unless: [lockuot,", 1)
    (tmp_path / "rules.yaml").write_text(text)
    monkeypatch.setattr(rules, "FILE", tmp_path / "rules.yaml")

    with pytest.raises(ValueError, match=r"rule login-lockout names \['lockuot'\]"):
        rules.rule_base.__wrapped__()
