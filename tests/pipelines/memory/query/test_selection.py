import pytest

from pipelines.memory.query.selection import choose


@pytest.mark.parametrize(
    ("chances", "given", "number"),
    [
        # of 2 expected: .8/2 = .4, .6/2 = .3, .3/2 = .15 are above the price of .1; .1/2 is not
        ([0.8, 0.6, 0.3, 0.1], {"expected": 2.0}, 3),
        # beside recall: 1 id .9/1.2 + .9 − .1 = 1.55; 2 ids 1.1/1.2 + .55 − .2 = 1.27
        ([0.9, 0.2, 0.1], {"expected": 1.2, "precision": 1.0}, 1),
        ([0.9, 0.2, 0.1], {"expected": 1.2}, 2),
        # the cap is soft: beyond 2, a message costs .1 and brings .9/4, or .3/3.2
        ([0.9, 0.9, 0.9, 0.9], {"expected": 4.0, "price": 0.05, "most": 2}, 4),
        ([0.9, 0.9, 0.3, 0.3], {"expected": 3.2, "price": 0.05, "most": 2}, 2),
        # the least is returned whatever it is worth
        ([0.01, 0.01, 0.01], {"expected": 1.0, "price": 0.5, "least": 2}, 2),
        ([], {"expected": 0.0, "precision": 0.3, "least": 3}, 0),
    ],
)
def test_as_many_are_chosen_as_are_worth_their_price(chances, given, number):
    assert choose(chances, **{"precision": 0.0, "price": 0.1} | given) == number
