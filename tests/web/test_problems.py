"""Every refusal is a problem document that names the parameter, what is allowed and what was received."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("/api/traffic", {"seqlen": 0}, "seqlen"),
    ("/api/traffic", {"seqlen": 1_048_577}, "seqlen"),
    ("/api/traffic", {"seqlen": "many"}, "seqlen"),
    ("/api/traffic", {"seqlen": "1e3"}, "seqlen"),
    ("/api/traffic", {"seqlen": "9" * 5000}, "seqlen"),
    ("/api/traffic", {"head_dim": 100}, "head_dim"),
    ("/api/traffic", {"head_dim": 264}, "head_dim"),
    ("/api/traffic", {"block_m": 8}, "block_m"),
    ("/api/traffic", {"block_n": 1024}, "block_n"),
    ("/api/traffic", {"gpu": "b200"}, "gpu"),
    ("/api/traffic", {"dtype": "int4"}, "dtype"),
    ("/api/traffic", {"causal": "maybe"}, "causal"),
    ("/api/traffic", {"direction": "sideways"}, "direction"),
    ("/api/traffic", {"seqlen": 1_048_576, "num_heads": 256, "batch": 1024}, "batch"),
    ("/api/traffic", {"sequence": 4096}, "sequence"),
    ("/api/traffic/sweep", {"seqlen": 4096}, "seqlen"),
    ("/api/online-softmax", {}, "scores"),
    ("/api/online-softmax", {"scores": ""}, "scores"),
    ("/api/online-softmax", {"scores": "1,,2"}, "scores"),
    ("/api/online-softmax", {"scores": "1,nan"}, "scores"),
    ("/api/online-softmax", {"scores": "1,inf"}, "scores"),
    ("/api/online-softmax", {"scores": "-inf,1"}, "scores"),
    ("/api/online-softmax", {"scores": ",".join(["1"] * 65)}, "scores"),
    ("/api/online-softmax", {"scores": "1,2", "values": "1"}, "values"),
    ("/api/online-softmax", {"scores": "1,2", "values": "1,nan"}, "values"),
    ("/api/online-softmax", {"scores": "1,2", "values": "1e301,1"}, "values"),
    ("/api/online-softmax", {"scores": "1,2", "block": 0}, "block"),
    ("/api/traffic", {"num_heads": 8, "num_heads_kv": 3}, "num_heads_kv"),
    ("/api/traffic", {"num_heads_kv": 2}, "num_heads_kv"),
    ("/api/exactness", {"seqlen": 1025}, "seqlen"),
    ("/api/exactness", {"seed": -1}, "seed"),
    ("/api/timings", {"seqlen": 0}, "seqlen"),
    ("/api/timings", {"l2": "hot"}, "l2"),
    ("/api/timings.csv", {"kernal": "standard"}, "kernal"),
    ("/api/timings.csv", {"record": "r" * 121}, "record"),
    ("/api/schedule", {}, "algorithm"),
    ("/api/schedule", {"algorithm": "fa9"}, "algorithm"),
    ("/api/schedule", {"algorithm": "fa2", "blocks_m": 33}, "blocks_m"),
]


@pytest.mark.parametrize(("path", "query", "parameter"), BAD)
def test_a_bad_parameter_is_named_with_what_is_allowed(
    client: TestClient, path: str, query: dict[str, Any], parameter: str
) -> None:
    answer = client.get(path, params=query)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == 422
    assert parameter in [item["parameter"] for item in problem["errors"]]
    item = next(item for item in problem["errors"] if item["parameter"] == parameter)
    assert item["message"]
    assert item["allowed"]
    assert len(answer.content) < 2000
    received = str(query.get(parameter, ""))
    assert (item["received"] or "")[:50] == received[:50]
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    "path", ["/api/nothing", "/api/", "/static/nothing.js", "/api/facts/nothing", "/api/timings/nothing"]
)
def test_an_unknown_address_is_a_problem_document(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", ["/api/traffic", "/static/icon.svg"])
def test_other_methods_are_refused(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["content-type"] == "application/problem+json"
    assert "GET" in answer.headers["allow"]
