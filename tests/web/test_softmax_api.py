"""/api/online-softmax against exact arithmetic: the row of the exhibit, and rows that break a naive softmax."""

import math
from fractions import Fraction
from typing import Any

import pytest
from fastapi.testclient import TestClient

ROW = "0.5,-1,1.5,0,2.5,2,-0.5,1"
VALUES = "1,-2,3,0.5,-1,2,4,-0.5"


def ask(client: TestClient, **query: Any) -> dict[str, Any]:
    answer = client.get("/api/online-softmax", params=query)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def direct(scores: list[float], values: list[float]) -> float:
    """Softmax-weighted mean with weights in float64 and the sums exact."""
    top = max(scores)
    weights = [Fraction(math.exp(score - top)) for score in scores]
    return float(sum(w * Fraction(v) for w, v in zip(weights, values, strict=True)) / sum(weights))


def test_the_row_of_the_exhibit(client: TestClient) -> None:
    """Expected: the worked example of the ledger, entries own-softmax-steps and own-softmax-output."""
    wanted = ("own-softmax-steps", "own-softmax-output")
    facts = {item: client.get(f"/api/facts/{item}").json()["value"] for item in wanted}
    answer = ask(client, scores=ROW, values=VALUES, block=2)
    assert [[step["row_max"], step["row_sum"]] for step in answer["steps"]] == [
        pytest.approx(step, rel=1e-14) for step in facts["own-softmax-steps"]
    ]
    assert answer["output"] == pytest.approx(facts["own-softmax-output"], rel=1e-14)
    assert answer["difference"] < 1e-15


@pytest.mark.parametrize(
    "scores",
    ["1e308,-1e308,0", "700,710,720", "-1e300,-1e300", "5,5,5,5", "4,3,2,1,0,-1", "0", "1e-320,0"],
)
@pytest.mark.parametrize("block", [1, 2, 3, 64])
def test_rows_that_break_a_softmax_without_a_running_maximum(client: TestClient, scores: str, block: int) -> None:
    numbers = [float(item) for item in scores.split(",")]
    values = [float(index) for index in range(len(numbers))]
    answer = ask(client, scores=scores, values=",".join(map(str, values)), block=block)
    assert answer["output"] == pytest.approx(direct(numbers, values), rel=1e-12, abs=1e-300)
    assert answer["row_max"] == max(numbers)
    assert len(answer["steps"]) == -(-len(numbers) // block)
