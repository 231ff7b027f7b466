import pytest

from labeling.domain.facts import Fact
from tests.fakes import record_agreement, requirement

LOGIN, EXPORT, DELETE = "Log in with a password", "Export the report", "Delete my account"


def test_two_people_are_compared_like_a_pipeline_with_gold(ruler):
    labels = {
        "ben": {"c1": [requirement(LOGIN), requirement(DELETE)], "c2": []},
        "ana": {"c1": [requirement(LOGIN), requirement(EXPORT)], "c2": [], "c3": []},
    }

    [pair] = record_agreement(labels, ruler=ruler)

    assert (pair.a, pair.b, pair.conversations) == ("ana", "ben", 2)
    assert (pair.matches, pair.a_records, pair.b_records) == (1, 2, 2)
    assert pair.record_f1 == 0.75  # c1: 2·1/4; c2: both say "nothing here", 1
    assert pair.micro_f1 == 0.5  # 2·1/(2 + 2)
    assert pair.undefined == {}


def test_fields_are_compared_where_the_text_is_alike(ruler):
    labels = {
        "ana": {"c": [requirement(LOGIN), requirement(EXPORT, source_messages=[1, 2])]},
        "ben": {
            "c": [
                requirement(LOGIN, type="security", priority="could"),
                requirement(EXPORT, actor="admin", source_messages=[2, 3]),
            ]
        },
    }

    [pair] = record_agreement(labels, ruler=ruler)

    assert (pair.matches, pair.text_matches, pair.record_f1) == (0, 2, 0.0)
    assert pair.type_agreement == pair.actor_agreement == pair.priority_agreement == 0.5
    assert pair.source_overlap == pytest.approx((1 + 1 / 3) / 2)


def test_without_common_samples_there_is_no_figure(ruler):
    labels = {"ana": {"c1": []}, "ben": {"c2": []}}

    [pair] = record_agreement(labels, ruler=ruler)

    assert (pair.record_f1, pair.micro_f1, pair.type_agreement) == (None, None, None)
    assert pair.undefined["record_f1"] == Fact("agreement.nothing_in_common")
    assert pair.undefined["fields"] == Fact("agreement.no_similar_text")
