"""What only the laboratory asks: the sweep with its formulas, extra lengths, CSV, wrong forms, drawn squares."""

import csv
import gzip
import io
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.web.stops import seqlen_stops

SETTINGS: list[dict[str, Any]] = [
    {},
    {"head_dim": 64, "block_m": 96, "block_n": 192, "causal": True, "gpu": "a100_sxm4_40"},
    {"direction": "backward", "num_heads": 16, "num_heads_kv": 4, "batch": 2, "dtype": "bf16"},
    {"dtype": "fp8", "block_m": 256, "block_n": 256},
]


def sweep(client: TestClient, **query: Any) -> dict[str, Any]:
    answer = client.get("/api/traffic/sweep", params=query)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


@pytest.mark.parametrize("setting", SETTINGS)
def test_formulas_stand_beside_the_counts_they_explain(client: TestClient, setting: dict[str, Any]) -> None:
    answer = sweep(client, **setting)
    assert len(answer["lab"]) == len(answer["points"]) == len(answer["seqlens"])
    for point, lab in zip(answer["points"], answer["lab"], strict=True):
        found = {(item["readout"], item["id"]): item for item in lab["formulas"]}
        for model, counted in point["models"].items():
            assert found["moves", model]["value"] == counted["total_bytes"]
            assert found["needs", model]["value"] == counted["needed_bytes"]
            assert found["computes", model]["value"] == point["flops"][model]
        assert found["fits", "smem"]["value"] == point["block"]["smem_bytes"]
        for resource in ("smem", "rmem"):
            pieces = [piece["bytes"] for piece in lab["holds"] if piece["resource"] == resource]
            assert sum(pieces) == point["block"][f"{resource}_bytes"]
        for model in ("fa1", "fa2"):
            moved = sum(part["read_bytes"] + part["written_bytes"] for part in lab["by_tensor_hbm"][model])
            assert moved == lab["bands"][model]["lower_bytes"] == point["models"][model]["lines"]["hbm"]["total_bytes"]
        for limits in lab["gpus"].values():
            assert (limits["standard"] is None) is (setting.get("dtype") in ("fp8", "fp32"))


def test_the_chosen_gpu_has_the_times_of_the_single_answer(client: TestClient) -> None:
    for gpu in ("a100_sxm4_40", "a100_sxm4_80", "h100_sxm5", "h200_sxm"):
        here = sweep(client, gpu="h100_sxm5")["lab"][12]["gpus"][gpu]
        single = client.get("/api/traffic", params={"seqlen": seqlen_stops()[12], "gpu": gpu}).json()
        for name, way in (("standard", "standard"), ("fa2", "fa2")):
            assert here[name]["time_us"] == single["roofline"][way]["time_us"]
            assert here[name]["bound"] == single["roofline"][way]["bound"]
        assert here["fits"] is single["block"]["fits"]


def test_other_lengths_come_in_their_place(client: TestClient) -> None:
    answer = sweep(client, also="5000,10000,512")
    assert answer["seqlens"] == sorted({*seqlen_stops(), 5000, 10_000})
    assert [point["shape"]["seqlen"] for point in answer["points"]] == answer["seqlens"]


@pytest.mark.parametrize("also", ["", "0", "-1", "1.5", "abc", "1048577", "1,2,3,4,5", "1,,2", "99999999999999999999"])
def test_a_damaged_list_of_lengths_is_refused_by_name(client: TestClient, also: str) -> None:
    answer = client.get("/api/traffic/sweep", params={"also": also})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["parameter"] == "also"


def test_the_default_sweep_travels_light(client: TestClient) -> None:
    body = client.get("/api/traffic/sweep").content
    assert len(gzip.compress(body, 6)) < 40_000


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_csv_is_the_sweep(client: TestClient, setting: dict[str, Any]) -> None:
    answer = client.get("/api/traffic/sweep.csv", params={**setting, "also": "777"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    text = answer.content.decode("ascii")
    assert text.endswith("\r\n")
    assert text.count("\n") == text.count("\r\n")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    expected = sweep(client, **setting, also="777")
    assert [int(row["seqlen (tokens)"]) for row in rows] == expected["seqlens"]
    gpu = setting.get("gpu", "h100_sxm5")
    for row, point, lab in zip(rows, expected["points"], expected["lab"], strict=True):
        assert all(header.endswith(")") for header in row)
        assert int(row["standard read over hbm (bytes)"]) == point["models"]["standard"]["read_bytes"]
        assert int(row["fa2 written over l2_to_sm (bytes)"]) == point["models"]["fa2"]["written_bytes"]
        assert int(row["fa2 HBM lower edge (bytes)"]) == lab["bands"]["fa2"]["lower_bytes"]
        assert int(row["fa2 computed (FLOP)"]) == point["flops"]["fa2"]
        time = row[f"standard least time on {gpu} (microseconds)"]
        least = lab["gpus"][gpu]["standard"]
        assert time == ("" if least is None else repr(least["time_us"]))


@pytest.mark.parametrize("kind", ["no_rescale", "no_running_max", "keep_s"])
def test_wrong_forms_are_answered_from_memory_the_second_time(client: TestClient, kind: str) -> None:
    first, second = (client.get("/api/broken", params={"kind": kind}) for _ in range(2))
    assert first.status_code == 200
    assert first.content == second.content
    assert first.headers["etag"] == second.headers["etag"]
    assert first.json()["kind"] == kind


def test_an_unknown_wrong_form_is_refused(client: TestClient) -> None:
    assert client.get("/api/broken", params={"kind": "everything"}).status_code == 422
    assert client.get("/api/broken").status_code == 422


@pytest.mark.parametrize(
    ("seqlen", "block", "squares", "in_one"),
    [(4096, 128, 32, 1), (4096, 64, 32, 2), (65_536, 96, 32, 22), (1000, 96, 11, 1)],
)
def test_a_drawn_square_stands_for_whole_blocks(
    client: TestClient, seqlen: int, block: int, squares: int, in_one: int
) -> None:
    query = {"algorithm": "fa2", "seqlen": seqlen, "blocks_m": 32, "blocks_n": 32, "block_m": block, "block_n": block}
    plan = client.get("/api/schedule", params=query).json()
    assert (plan["blocks_in_one_m"], plan["blocks_in_one_n"]) == (in_one, in_one)
    assert plan["block_m"] == in_one * block
    assert plan["blocks_m"] == squares
    if in_one == 1:
        counted = client.get("/api/traffic", params={"seqlen": seqlen, "block_m": block, "block_n": block}).json()
        assert plan["sums"]["l2_to_sm"]["total_bytes"] == counted["models"]["fa2"]["total_bytes"]
