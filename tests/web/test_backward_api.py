"""Backward counts, variants, both lines, shared heads, precision: against the reference rows and each other."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.web.test_traffic_api import ask, rows

BACKWARD = {"standard": "std_bwd", "fa1": "fa1_bwd", "fa2": "fa2_bwd_kernel"}
BACKWARD_CAUSAL = {"fa1": "fa1_bwd_causal", "fa2": "fa2_bwd_kernel_causal"}
VARIANTS = {
    ("standard", "v_twice"): "handbook_fwd_16bit",
    ("fa1", "with_init"): "fa1_fwd_with_init",
    ("fa1", "acc32"): "fa1_fwd_acc32",
    ("fa2", "with_lse"): "fa2_fwd_with_lse",
}


def shape_of(row: dict[str, Any]) -> dict[str, Any]:
    return {"seqlen": row["n"], "head_dim": row["d"], "block_m": row["br"], "block_n": row["bc"]}


def variants_of(answer: dict[str, Any]) -> dict[tuple[str, str], int]:
    return {(item["model"], item["variant"]): item["total_bytes"] for item in answer["variants"]}


def test_backward_counts_are_those_of_the_reference(client: TestClient, reference: dict[str, Any]) -> None:
    for row in rows(reference):
        shape = shape_of(row)
        answer = ask(client, **shape, direction="backward")
        for model, key in BACKWARD.items():
            assert answer["models"][model]["total_bytes"] == row["bytes"][key], (shape, model)
        assert variants_of(answer)["fa2", "listed"] == row["bytes"]["fa2_bwd_listed"]
        assert answer["flops"]["standard"] == row["flops"]["bwd_standard"]
        assert answer["flops"]["fa2"] == row["flops"]["bwd_flash"]
        causal = ask(client, **shape, direction="backward", causal=True)["models"]
        for model, key in BACKWARD_CAUSAL.items():
            assert causal[model]["total_bytes"] == row["bytes"][key], (shape, model)


def test_other_forms_of_the_forward_pass_are_those_of_the_reference(
    client: TestClient, reference: dict[str, Any]
) -> None:
    for row in rows(reference):
        found = variants_of(ask(client, **shape_of(row)))
        assert set(found) == set(VARIANTS)
        for variant, key in VARIANTS.items():
            assert found[variant] == row["bytes"][key], variant
        causal = variants_of(ask(client, **shape_of(row), causal=True))
        assert causal["standard", "unfused_mask"] == row["bytes"]["std_fwd_causal_unfused_mask"]


def test_from_hbm_flash_attention_moves_each_byte_once_when_the_l2_holds_it(client: TestClient) -> None:
    models = ask(client, seqlen=4096)["models"]
    assert models["fa2"]["lines"]["hbm"]["total_bytes"] == models["least"]["total_bytes"]
    assert models["fa2"]["lines"]["l2_to_sm"]["total_bytes"] == models["fa2"]["total_bytes"]
    assert models["standard"]["lines"]["hbm"] == models["standard"]["lines"]["l2_to_sm"]


@pytest.mark.parametrize("algorithm", ["standard", "fa1", "fa2"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("heads", [{}, {"num_heads": 8, "num_heads_kv": 2, "batch": 3}])
@pytest.mark.parametrize(("seqlen", "blocks_m", "blocks_n"), [(2048, 8, 16), (1000, 7, 5), (513, 9, 2)])
def test_the_moves_add_up_on_both_lines(
    client: TestClient,
    algorithm: str,
    direction: str,
    causal: bool,
    heads: dict[str, int],
    seqlen: int,
    blocks_m: int,
    blocks_n: int,
) -> None:
    query: dict[str, Any] = {"seqlen": seqlen, "head_dim": 72, "causal": causal, "direction": direction, **heads}
    plan = client.get(
        "/api/schedule", params={**query, "algorithm": algorithm, "blocks_m": blocks_m, "blocks_n": blocks_n}
    ).json()
    moved = {"hbm": 0, "l2_to_sm": 0}
    for move in plan["moves"]:
        moved["hbm" if "hbm" in (move["source"], move["target"]) else "l2_to_sm"] += move["bytes"]
    model = ask(client, **query, block_m=plan["block_m"], block_n=plan["block_n"])["models"][algorithm]
    assert moved == {line: total["total_bytes"] for line, total in model["lines"].items()}
    assert set(range(plan["num_steps"])) >= {move["step"] for move in plan["moves"]}


def test_shared_heads_save_keys_and_values_only(client: TestClient) -> None:
    own = ask(client, seqlen=777, num_heads=8)["models"]["least"]["by_tensor"]
    shared = ask(client, seqlen=777, num_heads=8, num_heads_kv=2)["models"]["least"]["by_tensor"]
    for before, after in zip(own, shared, strict=True):
        factor = 4 if before["tensor"] in ("k", "v") else 1
        assert before["read_bytes"] == factor * after["read_bytes"]


def test_precision_scales_matrices_and_leaves_row_statistics(client: TestClient) -> None:
    half = ask(client, seqlen=1000)["models"]["fa1"]["by_tensor"]
    single = ask(client, seqlen=1000, dtype="fp32")["models"]["fa1"]["by_tensor"]
    for before, after in zip(half, single, strict=True):
        factor = 1 if before["tensor"] == "stats" else 2
        assert after["read_bytes"] == factor * before["read_bytes"]
        assert after["written_bytes"] == factor * before["written_bytes"]


def test_exactness_is_reported_as_it_is(client: TestClient) -> None:
    query = {"seed": 3, "seqlen": 200, "head_dim": 64, "block_m": 48, "block_n": 64}
    answer = client.get("/api/exactness", params=query).json()
    assert client.get("/api/exactness", params=query).json() == answer
    assert client.get("/api/exactness", params={**query, "seed": 4}).json()["tiled"] != answer["tiled"]
    # fp16 has 11 significant bits; O is an average of N(0, 1) values, so no error may reach 2^-8.
    for way in ("standard", "tiled", "floor"):
        assert 0 < answer[way]["rms"] <= answer[way]["max_abs"] < 2**-8
    assert answer["floor"]["rms"] <= answer["tiled"]["rms"] * 1.0001
    assert answer["standard_over_tiled"] == pytest.approx(answer["standard"]["rms"] / answer["tiled"]["rms"])
