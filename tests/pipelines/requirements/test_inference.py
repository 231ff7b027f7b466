"""What follows from what was stated, and what does not."""

import re

import pytest

from pipelines.requirements.inference import rules
from pipelines.requirements.inference.local import fire, infer
from pipelines.requirements.inference.rules import rule_base
from tests.fakes import WordOverlap


def stated(action, *, uid="r1", title="", condition=None):
    return {"uid": uid, "id": "REQ-001", "title": title, "action": action, "condition": condition}


def found(*requirements, encoder=None, infer_above=0.0, stated_above=0.75, **options):
    return infer(
        requirements,
        encoder=encoder,
        infer_above=infer_above,
        stated_above=stated_above,
        **options,
    )


def names(*requirements, refused=()):
    return {one.rule.id for one in fire(requirements, refused=refused)}


@pytest.mark.parametrize(
    ("action", "rule"),
    [
        ("Log in with e-mail and password", "login-lockout"),
        ("Pay by credit card", "payment-pci"),
        ("Search products by name", "search-speed"),
        ("Upload photos of the damage", "upload-safety"),
        ("Book an appointment online", "booking-conflict"),
        ("Send a text message the day before", "notify-optout"),
    ],
)
def test_what_a_requirement_touches_sets_off_a_rule(action, rule):
    assert rule in names(stated(action))


def test_nothing_follows_from_nothing_or_from_what_no_rule_knows():
    assert found() == []
    assert found(stated("Turn the wheel to the left")) == []


def test_a_weight_or_a_price_is_no_load():
    assert "volume" in rule_base().touched("Serve 9,000 claims in two days")
    for measure in ("1,000 kg", "2,500 euros", "1,200 litres", "10,000 m"):
        assert "volume" not in rule_base().touched(f"Convert {measure} at once")


def test_what_is_stated_already_is_not_inferred():
    login = stated("Log in with a password")
    lock = stated("Lock the account after five failed attempts", uid="r2")

    assert "login-lockout" in names(login)
    assert "login-lockout" not in names(login, lock)


def test_what_is_stated_in_like_words_is_not_inferred_either():
    login = stated("Log in with a password")
    alike = stated("Reset a forgotten password via mail", uid="r2", title="Password Reset")

    def titles(**options):
        return [one["title"] for one in found(login, alike, encoder=WordOverlap(), **options)]

    assert "Password Storage" in titles(stated_above=0.9)
    assert "Password Storage" not in titles(stated_above=0.1)


def test_every_requirement_that_sets_it_off_is_named_and_makes_it_surer():
    one = found(stated("Pay by card", uid="a"))
    two = found(stated("Pay by card", uid="a"), stated("Check out online", uid="b"))

    def pci(labels):
        return next(label for label in labels if label["title"] == "PCI DSS Compliance")

    assert pci(one)["triggered_by"] == ["a"]
    assert pci(two)["triggered_by"] == ["a", "b"]
    assert pci(two)["confidence"] == pytest.approx(pci(one)["confidence"] + 0.1)


def test_no_word_about_the_domain_sets_a_rule_off_but_what_is_asked_for_does():
    assert "health-law" in names(stated("Show the record of a patient"))
    assert "health-law" not in names(stated("Print the opening hours of the clinic"))


def test_an_inference_is_never_surer_than_what_it_follows_from():
    unsure = stated("Pay by card", uid="a") | {"confidence": 0.55}
    surer = stated("Pay with a card online", uid="b") | {"confidence": 0.7}

    assert {one["confidence"] for one in found(unsure)} == {0.55}
    both = next(one for one in found(unsure, surer) if one["title"] == "PCI DSS Compliance")
    assert (both["confidence"], both["triggered_by"]) == (0.7, ["a", "b"])


def test_it_counts_how_surely_something_is_wanted_not_how_its_wording_matches():
    badly_put = stated("Pay by card", uid="a") | {"confidence": 0.1, "wanted": 0.7}
    hardly = stated("Pay by card", uid="a") | {"confidence": 0.9, "wanted": 0.3}

    assert max(one["confidence"] for one in found(badly_put)) == 0.7
    assert found(hardly) == []


def test_what_is_hardly_a_requirement_itself_sets_nothing_off():
    doubtful = stated("Pay by card", uid="a") | {"confidence": 0.49}

    assert found(doubtful) == []
    with_another = found(doubtful, stated("Pay online", uid="b"))
    assert {tuple(one["triggered_by"]) for one in with_another} == {("b",)}


def test_what_is_denied_sets_nothing_off():
    assert names(stated("Show the menu without any login")) == set()
    assert names(stated("Never store passwords")) == set()
    assert "login-lockout" in names(stated("Log in, not only by password"))


def test_what_the_client_refused_is_not_inferred_again():
    book = stated("Book a table")

    assert "booking-confirmation" in names(book)
    refused = ["a confirmation by mail"]
    assert "booking-confirmation" not in names(book, refused=refused)
    alike = found(book, encoder=WordOverlap(), stated_above=0.3, refused=["cancel a booking"])
    assert "Booking Cancellation" not in {one["title"] for one in alike}


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
    labels = found(stated("Log in and pay by card"), infer_above=0.7)

    confidences = [label["confidence"] for label in labels]
    assert confidences == sorted(confidences, reverse=True)
    assert min(confidences) >= 0.7
    assert [label["id"] for label in labels][:2] == ["INF-001", "INF-002"]


def test_requirements_without_a_uid_are_named_by_their_number():
    labels = found({"id": "REQ-007", "title": "Login", "action": "Log in"})

    assert {tuple(label["triggered_by"]) for label in labels} == {("REQ-007",)}


def test_words_of_others_inside_a_word_set_nothing_off():
    assert names(stated("Show the blogins of the repayables")) == set()


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
