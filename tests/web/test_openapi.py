"""The OpenAPI document is complete: every parameter and every field is described, with its unit where it has one."""

from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from app.facts.registry import load as load_registry

UNITS = {"_bytes": "byte", "_us": "microsecond", "_per_s": "second"}
# Fields whose name is the whole explanation, once for all schemas.
PLAIN = {"id", "name", "scores", "values", "source", "facts", "gpus", "block", "roofline", "steps", "moves", "computes"}
PLAIN |= {"row_max", "row_sum", "note", "kind", "title", "authors", "year", "field", "document", "place", "verified"}
PLAIN |= {"step", "m_block", "n_block", "algorithm", "direction", "causal", "head_dim", "model", "variant", "line"}
PLAIN |= {"status", "version", "chapters", "sums", "target", "seed", "block_m", "block_n", "outliers"}


@pytest.fixture(scope="module")
def document(app: FastAPI) -> dict[str, Any]:
    return app.openapi()


def test_every_parameter_is_described(document: dict[str, Any]) -> None:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            assert operation["summary"], path
            for parameter in operation.get("parameters", []):
                described = parameter.get("description") or parameter["schema"].get("description")
                assert described, (path, parameter["name"])


def test_every_field_is_described_and_names_its_unit(document: dict[str, Any]) -> None:
    for name, schema in document["components"]["schemas"].items():
        for field, content in schema.get("properties", {}).items():
            described = content.get("description", "")
            assert described or field in PLAIN or "$ref" in content, (name, field)
            for suffix, unit in UNITS.items():
                if field.endswith(suffix):
                    assert unit in described.lower(), (name, field)


def without_nulls(value: Any) -> Any:
    """OpenAPI documents leave nulls out."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def test_the_examples_are_real_answers(client: TestClient, document: dict[str, Any]) -> None:
    asked = {
        "/api/traffic": {},
        "/api/online-softmax": {"scores": "0.5,-1,1.5,0"},
        "/api/schedule": {"algorithm": "fa2", "blocks_m": 1, "blocks_n": 2},
    }
    for path, query in asked.items():
        content = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]
        assert content["example"] == without_nulls(client.get(path, params=query).json())


def test_every_fact_has_its_address(client: TestClient) -> None:
    ledger = load_registry().facts
    listed = {fact["id"]: fact for fact in client.get("/api/facts").json()["facts"]}
    assert list(listed) == list(ledger)
    for key, fact in listed.items():
        assert client.get(f"/api/facts/{key}").json() == fact
        assert fact["kind"]
        assert fact["unit"]
        assert fact["source"]["title"]
        assert fact["locator"]
