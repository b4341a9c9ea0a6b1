"""The whole schema under fire: thousands of good and bad questions, no 5xx, no answer that is not described."""

from collections import Counter

import schemathesis
from fastapi import FastAPI
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from app.main import create_app

LEAST_CASES = 2000
CASES_PER_ADDRESS = 300
CHECKS = (
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
)
asked: Counter[str] = Counter()
app: FastAPI = create_app()
schema = schemathesis.openapi.from_asgi("/openapi.json", app)


@schema.parametrize()
@settings(max_examples=CASES_PER_ADDRESS, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_documented(case: schemathesis.Case) -> None:
    asked[case.operation.label] += 1
    case.call_and_validate(checks=list(CHECKS))


def test_enough_was_asked() -> None:
    assert sum(asked.values()) >= LEAST_CASES, asked
