"""The description of the API is valid, and no operation answers otherwise than it says."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
from django.db import transaction
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema

from labeling.core import tokens
from labeling.core.api.operations import url_name
from tests import everything, wsgi

EXAMPLES = int(os.environ.get("ASSAY_TEST_CONTRACT_EXAMPLES", "1"))
"""Unfitting requests per operation; fitting ones are twice as many, by two people."""
READERS, ANNOTATORS = ("rita", "noor"), ("ana", "rita")
OWN_WORK = ("annotations", "queue", "calibration")
Described = dict[str, Any]


@pytest.fixture(scope="module")
def described() -> Described:
    GENERATOR_STATS.reset()
    return dict(SchemaGenerator().get_schema(request=None, public=True))


def operations(described: Described) -> list[tuple[str, str, Described]]:
    return [
        (method, path, operation)
        for path, methods in described["paths"].items()
        for method, operation in methods.items()
    ]


def test_the_description_is_valid_and_making_it_warns_of_nothing(described: Described) -> None:
    validate_schema(described)
    warnings = {**GENERATOR_STATS._warn_cache, **GENERATOR_STATS._error_cache}
    assert list(warnings) == []


def test_every_operation_has_a_name_and_a_sentence(described: Described) -> None:
    names = Counter(operation["operationId"] for _, _, operation in operations(described))
    assert [name for name, number in names.items() if number > 1] == []
    silent = [names for _, _, names in operations(described) if not names.get("description")]
    assert [each["operationId"] for each in silent] == []


@pytest.mark.timeout(300 * EXAMPLES)
def test_no_operation_fails_or_answers_what_its_description_does_not_say(
    described, project, people
):
    import schemathesis
    from schemathesis import checks
    from schemathesis.core.failures import FailureGroup
    from schemathesis.generation import GenerationMode
    from schemathesis.generation.feedback import NO_FEEDBACK

    always = [
        checks.not_a_server_error,
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
    ]
    known = everything.addresses(project, people)
    api = schemathesis.openapi.from_dict(json.loads(json.dumps(described, default=str)))
    named = {*READERS, *ANNOTATORS}
    secrets = {name: tokens.issue(user=people[name], name="contract").secret for name in named}
    broken: dict[str, str] = {}
    carried_out = set()

    def ask(case: Any, person: str) -> None:
        headers = {"Authorization": f"Bearer {secrets[person]}"}
        before = transaction.savepoint()
        try:
            response = case.call(headers=headers)
            is_read_otherwise = _is_trimmed(case.body) or _is_left_out(case.query)
            refused = [] if is_read_otherwise else [checks.negative_data_rejection]
            case.validate_response(response, checks=[*always, *refused])
        except FailureGroup as failures:
            said = "; ".join(f"{each.title}: {each.message}" for each in failures.exceptions)
            sent = case.as_curl_command().replace(secrets[person], "…")
            answer = f"{person}: {said}\n{sent}\n{response.content[:400]!r}"
            broken.setdefault(case.operation.label, answer)
        else:
            if response.status_code < 300:
                carried_out.add(case.operation.label)
        finally:
            transaction.savepoint_rollback(before)

    with wsgi.server() as server:
        api.app = closed(server)
        for operation in (each.ok() for each in api.get_all_operations()):
            about = _path_parameters(operation, known)
            who = ANNOTATORS if operation.path.split("/")[2] in OWN_WORK else READERS
            numbers = {GenerationMode.POSITIVE: 2 * EXAMPLES, GenerationMode.NEGATIVE: EXAMPLES}
            for mode, number in numbers.items():
                strategy = operation.as_strategy(
                    generation_mode=mode, path_parameters=about, feedback=NO_FEEDBACK
                )
                _each(strategy, lambda case, turn, who=who: ask(case, who[turn % 2]), number)

    assert not broken, _report(broken)
    assert len(carried_out) > len(operations(described)) / 3


def closed(application: Any) -> Callable[..., list[bytes]]:
    """Reads an answer and closes it, as web servers do: schemathesis leaves files open."""

    def answered(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        answer = application(environ, start_response)
        try:
            return [b"".join(answer)]
        finally:
            answer.close()

    return answered


def _is_trimmed(body: Any) -> bool:
    """White space around a text is left out before its length is looked at."""
    values = body.values() if isinstance(body, dict) else []
    return any(isinstance(value, str) and value != value.strip() for value in values)


def _is_left_out(query: Any) -> bool:
    """A parameter without a value counts as not given; of several values, the last one counts."""
    values = query.values() if isinstance(query, dict) else []
    last = (value[-1] if isinstance(value, list) and value else value for value in values)
    return any(value in ("", None) for value in last)


def _path_parameters(operation: Any, known: dict[str, list[Any]]) -> dict[str, Any]:
    """Of something that exists."""
    names = [parameter.name for parameter in operation.path_parameters]
    values = known.get(url_name(operation.path), [])
    return dict(zip(names, values, strict=True)) if names else {}


def _each(strategy: Any, ask: Callable[[Any, int], None], examples: int) -> None:
    turns = iter(range(10**6))

    @hypothesis.settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(strategy)
    def run(case: Any) -> None:
        ask(case, next(turns))

    run()


def _report(broken: dict[str, str]) -> str:
    return "\n\n".join(f"{label}: {said}" for label, said in broken.items())
