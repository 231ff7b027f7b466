import pytest

from labeling.agreement.matching.matchers import Rules
from labeling.agreement.matching.matching import match_events
from labeling.agreement.rules.records import event_counts, summed_events
from labeling.agreement.rules.units import judged, units
from labeling.domain.facts import Fact
from labeling.schema import REQUIREMENT_FIELDS
from labeling.words import in_english
from tests.fakes import requirement

LOGIN = requirement("User Login")
EXPORT = requirement("Data Export")


class TestMessages:
    def test_a_message_is_marked_if_any_label_cites_it(self):
        payload = {"requirements": [{"source_messages": [0, 2]}, {"source_messages": [2, 3]}]}

        result = units("extraction", {"ana": payload, "ben": {}}, message_count=5)

        assert result.names == ["0", "1", "2", "3", "4"]
        assert result.labels == {"ana": [1, 0, 1, 1, 0], "ben": [0] * 5}

    @pytest.mark.parametrize("index", [-1, 3])
    def test_a_message_that_does_not_exist_is_refused(self, index):
        payload = {"questions": [{"evidence": [index]}]}

        with pytest.raises(ValueError, match=f"message {index} is cited, there are 3"):
            units("qa", {"ana": payload}, message_count=3)

    def test_events_have_no_units(self):
        with pytest.raises(ValueError, match="compared by F1"):
            units("events", {"ana": {}}, message_count=3)


class TestRequirements:
    def measure(self, layer, payloads, ruler):
        base = judged(layer, payloads, Rules(ruler))
        return units(layer, payloads, message_count=1, base=base)

    def test_a_requirement_triggers_an_inference_or_does_not(self, ruler):
        inferred = {"uid": "i", "triggered_by": ["user-login"]}
        payloads = {
            "ana": {"requirements": [LOGIN, EXPORT], "inferred_requirements": [inferred]},
            "ben": {"requirements": [{**LOGIN, "uid": "x"}], "inferred_requirements": []},
        }

        measured = self.measure("inference", payloads, ruler)

        # Ben has no Data Export, so he could not judge it
        assert measured.names == ["Data Export", "User Login"]
        assert measured.labels == {"ana": [0, 1], "ben": [None, 0]}

    def test_each_field_of_a_requirement_is_a_slot_for_issues(self, ruler):
        issue = {"uid": "p", "requirement": "user-login", "field": "actor"}
        payloads = {
            "ana": {"requirements": [LOGIN], "issues": [issue]},
            "ben": {"requirements": [{**LOGIN, "uid": "x"}], "issues": []},
        }

        measured = self.measure("validation", payloads, ruler)

        assert measured.names[2] == "User Login · actor"
        assert measured.labels["ana"] == [int(field == "actor") for field in REQUIREMENT_FIELDS]
        assert measured.labels["ben"] == [0] * len(REQUIREMENT_FIELDS)

    def test_a_rating_is_the_label_and_missing_where_none_was_given(self, ruler):
        payloads = {
            "ana": {"requirements": [LOGIN], "ratings": [{"target": "user-login", "score": 2}]},
            "ben": {"requirements": [LOGIN], "ratings": []},
        }

        assert self.measure("relevance", payloads, ruler).labels == {"ana": [2], "ben": [None]}

    def test_units_of_equal_titles_are_told_apart(self, ruler):
        twins = [LOGIN, {**LOGIN, "uid": "two", "type": "security"}]

        measured = self.measure("inference", {"ana": {"requirements": twins}}, ruler)

        assert measured.names == ["User Login", "User Login (2)"]


def event(start, end, *, message=0, type="order"):
    return {"type": type, "trigger": {"message": message, "start": start, "end": end}}


def _agreement(events):
    left, right = events.values()
    counts = {name: event_counts(left[name], right[name]) for name in left.keys() & right.keys()}
    rules = {"threshold": 0.75, "statistic": "min"}
    return summed_events(events, {tuple(events): counts}, **rules)


class TestEvents:
    def test_triggers_must_overlap_and_types_be_equal(self):
        left = [event(0, 5), event(10, 12), event(20, 25), event(30, 35)]
        right = [event(4, 8), event(12, 14), event(20, 25, type="refund"), event(30, 35, message=1)]

        # 1 code point of 8 in common; the others touch, have another type, another message
        assert [(m.left, m.right, m.similarity) for m in match_events(left, right)] == [
            (0, 0, 0.125)
        ]

    def test_the_figure_of_a_pair_is_its_f1_and_the_gate_looks_at_it(self):
        events = {
            "ana": {"c1": [event(0, 5)], "c2": [event(0, 5), event(7, 9)]},
            "ben": {"c1": [event(0, 5)], "c2": [event(1, 5)]},
        }

        result = _agreement(events)

        # 2 matches; 3 events of Ana, 2 of Ben: 2·2/5
        assert result.measure == "f1"
        assert result.value == result.pairs[0].positive_f1 == 0.8
        assert result.passed
        assert result.pairs[0].kappa is None
        assert result.pairs[0].undefined == Fact("agreement.events_without_units")

    def test_without_any_event_there_is_no_figure_and_the_gate_stays_closed(self):
        result = _agreement({"ana": {"c1": []}, "ben": {"c1": []}})

        assert result.value is None
        assert not result.passed
        assert in_english(result.reasons["value"]) == "ana and ben: neither marked an event"
