"""/api/traffic against the reference counts, row by row, and its agreement with the sweep and the schedule."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.web.stops import seqlen_stops

CAUSAL_KEYS = {"standard": "std_fwd_causal_fused_mask", "fa1": "fa1_fwd_causal", "fa2": "fa2_fwd_causal"}


def ask(client: TestClient, **query: Any) -> dict[str, Any]:
    answer = client.get("/api/traffic", params=query)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def rows(reference: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = reference["grid"] + reference["partial_blocks"]
    assert len(found) == 176
    return found


def test_every_reference_row_is_answered_to_the_byte(client: TestClient, reference: dict[str, Any]) -> None:
    for row in rows(reference):
        shape = {"seqlen": row["n"], "head_dim": row["d"], "block_m": row["br"], "block_n": row["bc"]}
        models = ask(client, **shape)["models"]
        counted = {name: model["total_bytes"] for name, model in models.items()}
        expected = {name: row["bytes"][key] for name, key in EXPECTED.items()}
        assert counted == expected, shape
        causal = ask(client, **shape, causal=True)["models"]
        for name, key in CAUSAL_KEYS.items():
            assert causal[name]["total_bytes"] == row["bytes"][key], (shape, name)
        for name, model in models.items():
            assert isinstance(model["total_bytes"], int)
            assert model["read_bytes"] + model["written_bytes"] == model["total_bytes"]
            by_tensor = sum(part["read_bytes"] + part["written_bytes"] for part in model["by_tensor"])
            assert by_tensor == model["total_bytes"], (shape, name)


EXPECTED = {"least": "compulsory_fwd", "standard": "std_fwd", "fa1": "fa1_fwd", "fa2": "fa2_fwd"}


def test_operations_intensity_and_roofline_are_those_of_the_reference(
    client: TestClient, reference: dict[str, Any]
) -> None:
    names = {"standard": ("std_fwd", "std"), "fa2": ("fa2_fwd", "fa2_no_l2"), "least": ("compulsory_fwd", "compulsory")}
    for row in reference["grid"]:
        for gpu, times in row["roofline_fwd"].items():
            answer = ask(client, seqlen=row["n"], head_dim=row["d"], block_m=row["br"], block_n=row["bc"], gpu=gpu)
            assert answer["flops"]["standard"] == row["flops"]["fwd"]
            for name, (key, time_key) in names.items():
                assert answer["arithmetic_intensity"][name] == pytest.approx(row["intensity"][key], abs=5e-7)
                line = answer["roofline"][name]
                assert line["time_us"] == pytest.approx(times[time_key]["roofline_us"], abs=6e-5)
                assert line["bound"] == times[time_key]["bound"]


def test_block_limits_are_those_of_the_reference(client: TestClient, reference: dict[str, Any]) -> None:
    for row in reference["block_footprints"]:
        for gpu, fits in row["fits"].items():
            block = ask(client, head_dim=row["d"], block_m=row["br"], block_n=row["bc"], gpu=gpu)["block"]
            assert (block["smem_bytes"], block["rmem_bytes"]) == (row["smem"], row["regs"])
            assert block["fits"] is fits["fits"]
            broken = {item["resource"] for item in block["violations"]}
            assert ("smem" in broken) is (not fits["smem_ok_one_block"])
            assert ("rmem" in broken) is (not fits["regs_ok"])


def test_the_sweep_is_the_single_answers_side_by_side(client: TestClient) -> None:
    setting = {"head_dim": 64, "block_m": 96, "block_n": 192, "causal": True, "gpu": "a100_sxm4_40"}
    sweep = client.get("/api/traffic/sweep", params=setting).json()
    assert sweep["seqlens"] == list(seqlen_stops())
    assert sweep["seqlens"][0] == 512
    assert sweep["seqlens"][-1] == 65_536
    assert sweep["seqlens"] == sorted(set(sweep["seqlens"]))
    for seqlen, point in zip(sweep["seqlens"], sweep["points"], strict=True):
        assert point == ask(client, seqlen=seqlen, **setting)


@pytest.mark.parametrize("algorithm", ["standard", "fa2"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    ("seqlen", "blocks_m", "blocks_n"), [(4096, 8, 8), (1000, 8, 5), (4096, 32, 32), (513, 9, 2), (10, 8, 8)]
)
def test_the_moves_of_a_schedule_add_up_to_the_count(
    client: TestClient, algorithm: str, causal: bool, seqlen: int, blocks_m: int, blocks_n: int
) -> None:
    query = {"algorithm": algorithm, "causal": causal, "seqlen": seqlen, "blocks_m": blocks_m, "blocks_n": blocks_n}
    plan = client.get("/api/schedule", params=query).json()
    moved = {"hbm": 0, "l2_to_sm": 0}
    for move in plan["moves"]:
        moved["hbm" if "hbm" in (move["source"], move["target"]) else "l2_to_sm"] += move["bytes"]
    assert moved == {line: total["total_bytes"] for line, total in plan["sums"].items()}
    if min(plan["block_m"], plan["block_n"]) < 16 or max(plan["block_m"], plan["block_n"]) > 512:
        return  # outside the block sizes /api/traffic answers for
    shape = {"seqlen": seqlen, "causal": causal, "block_m": plan["block_m"], "block_n": plan["block_n"]}
    models = ask(client, **shape)["models"]
    own_line = models[algorithm]["line"]
    assert moved[own_line] == models[algorithm]["total_bytes"]
    if algorithm == "fa2":
        assert moved["hbm"] == models["least"]["total_bytes"]


def test_layers_count_every_head_and_sequence(client: TestClient) -> None:
    one = ask(client, seqlen=1000)["models"]
    many = ask(client, seqlen=1000, num_heads=16, batch=4)["models"]
    for name, model in one.items():
        assert many[name]["total_bytes"] == 64 * model["total_bytes"]


def test_rates_that_are_not_known_are_not_made_up(client: TestClient) -> None:
    assert ask(client, dtype="fp8")["roofline"] is None
    assert ask(client, dtype="bf16")["roofline"] is not None
