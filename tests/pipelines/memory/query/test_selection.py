import pytest

from pipelines.memory.query.selection import Worth, choose

RECALL = Worth(precision=0.0, price=0.1)


def test_a_message_is_taken_while_it_brings_more_recall_than_it_costs():
    # One of 2 expected: .8/2 = .4, .6/2 = .3, .3/2 = .15 are above the price of .1; .1/2 is not.
    assert choose([0.8, 0.6, 0.3, 0.1], RECALL, expected=2.0) == 3


def test_precision_shortens_the_answer():
    # Beside recall: 1 id .9/1.2 + .9 − .1 = 1.55; 2 ids 1.1/1.2 + .55 − .2 = 1.27.
    assert choose([0.9, 0.2, 0.1], Worth(precision=1.0, price=0.1), expected=1.2) == 1
    assert choose([0.9, 0.2, 0.1], RECALL, expected=1.2) == 2


def test_the_cap_is_soft():
    worth = Worth(precision=0.0, price=0.05, most=2, beyond=2.0)

    assert choose([0.9, 0.9, 0.9, 0.9], worth, expected=4.0) == 4
    assert choose([0.9, 0.9, 0.3, 0.3], worth, expected=3.2) == 2


def test_the_least_is_returned_whatever_it_is_worth():
    assert choose([0.01, 0.01, 0.01], Worth(precision=0.0, price=0.5, least=2), expected=1.0) == 2


@pytest.mark.parametrize("least", [0, 3])
def test_of_nothing_nothing_is_taken(least):
    assert choose([], Worth(precision=0.3, price=0.1, least=least), expected=0.0) == 0
