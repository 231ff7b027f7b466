from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from labeling.agreement.matching.matching import (
    DEFAULT_SYNONYMS,
    assign,
    match_requirements,
    match_texts,
    same_actor,
)
from labeling.agreement.matching.similarity import Ruler
from tests.fakes import WordOverlap, requirement

shapes = st.tuples(st.integers(0, 5), st.integers(0, 5))
tables = shapes.flatmap(
    lambda shape: st.tuples(
        arrays(float, shape, elements=st.integers(-4, 4).map(lambda n: n / 4)),
        arrays(bool, shape),
    )
)


def best_by_trying_all(similarities, allowed):
    """Number and total of the best matching, found by going through all of them."""
    if similarities.shape[0] > similarities.shape[1]:
        similarities, allowed = similarities.T, allowed.T
    rows, columns = similarities.shape
    outcomes = []
    for order in permutations(range(columns), rows):
        pairs = [(i, j) for i, j in enumerate(order) if allowed[i, j]]
        outcomes.append((len(pairs), sum(similarities[pair] for pair in pairs)))
    return max(outcomes)


@given(tables)
def test_as_many_as_possible_then_as_similar_as_possible(table):
    similarities, allowed = table

    matches = assign(similarities, allowed)

    number, total = best_by_trying_all(similarities, allowed)
    assert len(matches) == number
    assert sum(match.similarity for match in matches) == pytest.approx(total)
    assert all(allowed[match.left, match.right] for match in matches)
    assert len({match.left for match in matches}) == len({match.right for match in matches})


@given(tables)
def test_preference_decides_only_between_equals(table):
    similarities, allowed = table
    plain = assign(similarities, allowed)

    preferring = assign(similarities, allowed, prefer=lambda i, j: (i * 7 + j * 3) % 5 / 4)

    assert len(preferring) == len(plain)
    total = sum(match.similarity for match in plain)
    assert sum(match.similarity for match in preferring) == pytest.approx(total)


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("user", "user", True),
        (" User ", "user", True),
        ("customer", "End-User", True),
        ("end-user", "CUSTOMER", True),
        ("system", "platform", True),
        ("superuser", "admin", True),
        ("user", "admin", False),
        ("auditor", "auditor", True),
        ("auditor", "user", False),
        ("", "", False),
        ("  ", "user", False),
        (None, "user", False),
        (None, None, False),
    ],
)
def test_actors(a, b, same):
    assert same_actor(a, b) is same
    assert same_actor(b, a) is same


def test_a_project_adds_synonyms_and_they_do_not_chain():
    groups = [*DEFAULT_SYNONYMS, ["Nurse", "carer"], ["carer", "user"]]

    assert same_actor("nurse", "Carer", groups)
    assert same_actor("carer", "user", groups)
    assert not same_actor("nurse", "user", groups)


@pytest.mark.parametrize(
    ("changes", "matched"),
    [
        ({}, True),
        ({"actor": "Customer"}, True),
        ({"type": "security"}, False),
        ({"actor": "admin"}, False),
        ({"actor": None}, False),
        ({"type": None}, False),
        ({"title": "Export report"}, False),
        ({"priority": "could", "source_messages": [7], "confidence": 0.1}, True),
    ],
)
def test_text_type_and_actor_decide(ruler, changes, matched):
    gold = requirement("Log in with a password")
    predicted = gold | changes

    assert bool(match_requirements([gold], [predicted], ruler=ruler)) is matched
    assert bool(match_requirements([predicted], [gold], ruler=ruler)) is matched


def test_the_threshold_itself_is_not_a_match(ruler):
    left, right = [requirement("a b c d")], [requirement("a b c d", uid="other")]

    assert match_requirements(left, right, ruler=ruler, threshold=0.999999)
    assert not match_requirements(left, right, ruler=ruler, threshold=1.0)
    # three words of four in common: 3/(2·√3) … cos = 3/√(4·3) = 0.866025
    assert match_texts(["a b c d"], ["a b c"], ruler=ruler, threshold=0.866024)
    assert not match_texts(["a b c d"], ["a b c"], ruler=ruler, threshold=0.866025)


requirements = st.lists(
    st.builds(
        requirement,
        title=st.sampled_from(["a b c d e f g h", "a b c d e f g", "b c d e f g h", "x y"]),
        type=st.sampled_from(["functional", "security"]),
        actor=st.sampled_from(["user", "client", "system", None]),
        priority=st.sampled_from(["must", "could"]),
    ),
    max_size=5,
)


@given(requirements, requirements, st.randoms(use_true_random=False))
def test_what_is_matched_does_not_depend_on_order(left, right, random):
    ruler = Ruler(WordOverlap())
    contents = lambda left, right: sorted(  # noqa: E731
        repr((left[i], right[j])) for i, j, _ in match_requirements(left, right, ruler=ruler)
    )
    before = contents(left, right)

    random.shuffle(left)
    random.shuffle(right)

    assert contents(left, right) == before


@given(requirements, requirements)
def test_matching_is_symmetric_in_number_and_total(left, right):
    ruler = Ruler(WordOverlap())
    there = match_requirements(left, right, ruler=ruler)
    back = match_requirements(right, left, ruler=ruler)

    assert len(there) == len(back)
    assert sum(m.similarity for m in there) == pytest.approx(sum(m.similarity for m in back))


def test_people_and_pipelines_find_the_known_similarities(encoder):
    ruler = Ruler(encoder)
    extracted = [
        requirement("User Login", action="Authenticate with email"),
        requirement("Password Reset", action="Reset password via email"),
    ]
    gold = [
        requirement("User Authentication", action="Log in with email and password"),
        requirement("Password Recovery", action="Reset forgotten password"),
        requirement("Session Management", action="Expire idle sessions"),
    ]

    matches = match_requirements(gold, extracted, ruler=ruler)

    assert [(match.left, match.right) for match in matches] == [(0, 0)]
    assert matches[0].similarity == pytest.approx(0.927, abs=5e-4)
