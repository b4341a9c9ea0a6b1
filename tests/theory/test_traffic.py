"""Traffic against the golden file, exact to the byte, and against walkers on random shapes."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory import tiling, traffic
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory import walkers
from tests.theory.reference import ROWS, block_of, row_id, shape_of
from tests.theory.strategies import block_of_problem, problems, repeatable, shape_of_problem

FORWARD_KEYS = {
    "compulsory_fwd": ("least", None, False, "fp16"),
    "std_fwd": ("standard", None, False, "fp16"),
    "std_fwd_causal_fused_mask": ("standard", "fused_mask", True, "fp16"),
    "std_fwd_causal_unfused_mask": ("standard", "unfused_mask", True, "fp16"),
    "handbook_fwd_fp32": ("standard", "v_twice", False, "fp32"),
    "handbook_fwd_16bit": ("standard", "v_twice", False, "bf16"),
    "fa2_fwd": ("fa2", None, False, "fp16"),
    "fa2_fwd_with_lse": ("fa2", "with_lse", False, "fp16"),
    "fa2_fwd_causal": ("fa2", None, True, "bf16"),
    "fa1_fwd": ("fa1", None, False, "fp16"),
    "fa1_fwd_acc32": ("fa1", "acc32", False, "fp16"),
    "fa1_fwd_with_init": ("fa1", "with_init", False, "fp16"),
    "fa1_fwd_causal": ("fa1", None, True, "fp16"),
}


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_forward_bytes_equal_the_golden_row(row):
    counted = {
        key: traffic.count(model, shape_of(row, causal=causal, dtype=dtype), block_of(row), variant=variant).total_bytes
        for key, (model, variant, causal, dtype) in FORWARD_KEYS.items()
    }
    assert counted == {key: value for key, value in row["bytes"].items() if key in FORWARD_KEYS}


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_sizes_and_block_counts_equal_the_golden_row(row):
    shape, block = shape_of(row), block_of(row)
    assert (shape.scores_bytes, shape.q_bytes) == (row["s_bytes_16bit"], row["q_bytes_16bit"])
    assert tiling.grid(shape, block) == (row["t_r"], row["t_c"])
    assert traffic.kv_passes(shape, block, "fa2") == row["t_r"]
    assert traffic.kv_passes(shape, block, "fa1") == 1


WALKS = {
    ("least", None): walkers.least_forward,
    ("standard", None): walkers.standard_forward,
    ("fa1", None): walkers.fa1_forward,
    ("fa1", "with_init"): lambda problem: walkers.fa1_forward(problem, init=True),
    ("fa1", "acc32"): lambda problem: walkers.fa1_forward(problem, fp32_output=True),
    ("fa2", None): walkers.fa2_forward,
    ("fa2", "with_lse"): lambda problem: walkers.fa2_forward(problem, lse=True),
}


def as_ledger(counted: traffic.Traffic) -> dict[tuple[str, str], int]:
    entries = {}
    for transfer in counted.by_tensor:
        entries[transfer.tensor, "read"] = transfer.read_bytes
        entries[transfer.tensor, "written"] = transfer.written_bytes
    return {key: value for key, value in entries.items() if value}


@pytest.mark.parametrize(("model", "variant"), WALKS)
@repeatable
@given(problem=problems())
def test_forward_formula_equals_the_walk_tensor_by_tensor(model, variant, problem):
    counted = traffic.count(model, shape_of_problem(problem), block_of_problem(problem), variant=variant)
    assert as_ledger(counted) == dict(WALKS[model, variant](problem).bytes)


@repeatable
@given(problem=problems())
def test_unfused_mask_equals_the_walk(problem):
    problem = dataclasses.replace(problem, causal=True)
    counted = traffic.count("standard", shape_of_problem(problem), block_of_problem(problem), variant="unfused_mask")
    assert as_ledger(counted) == dict(walkers.standard_forward(problem, mask_kernel=True).bytes)


@repeatable
@given(problem=problems())
def test_causal_passes_equal_the_keys_walked(problem):
    keys = sum(
        len(keys)
        for queries in walkers.cut(problem.seqlen, problem.block_m)
        for keys in walkers.cut(problem.seqlen, problem.block_n)
        if walkers.sees(problem, queries, keys)
    )
    passes = traffic.kv_passes(shape_of_problem(problem), block_of_problem(problem), "fa2")
    assert passes == keys / problem.seqlen


def test_hand_counted_example():
    # N = 3, d = 2, one head, fp16, blocks of 2: Q 12 B; the blocks of q are rows {0,1} and {2}.
    shape, block = AttentionShape(3, 2), BlockShape(2, 2)
    counted = traffic.count("fa2", shape, block)
    assert [(t.tensor, t.read_bytes, t.written_bytes) for t in counted.by_tensor] == [
        ("q", 12, 0),
        ("k", 24, 0),
        ("v", 24, 0),
        ("o", 0, 12),
    ]
    assert (counted.read_bytes, counted.written_bytes, counted.total_bytes) == (60, 12, 72)
    # causal: block of rows {0,1} needs keys {0,1} only, 8 B of K less and 4 B a key row.
    assert traffic.count("fa2", AttentionShape(3, 2, causal=True), block).total_bytes == 72 - 2 * 4


@repeatable
@given(problem=problems())
def test_hbm_line_of_fa2_forward_is_the_least_possible(problem):
    shape, block = shape_of_problem(problem), block_of_problem(problem)
    assert traffic.count("fa2", shape, block, line="hbm").by_tensor == traffic.count("least", shape, block).by_tensor


def test_models_name_the_line_they_cross():
    shape, block = AttentionShape(512, 64), BlockShape(64, 64)
    assert {model: traffic.count(model, shape, block).line for model in traffic.MODELS} == {
        "least": "hbm",
        "standard": "hbm",
        "fa1": "l2_to_sm",
        "fa2": "l2_to_sm",
    }


@repeatable
@given(seqlen=st.integers(2**19, 2**20), block_m=st.integers(16, 512), block_n=st.integers(16, 512))
def test_long_causal_sequences_equal_the_sum_over_q_blocks(seqlen, block_m, block_n):
    shape, block = AttentionShape(seqlen, 128, causal=True), BlockShape(block_m, block_n)
    keys = 0
    for first in range(0, seqlen, block_m):
        last = min(first + block_m, seqlen) - 1
        keys += min(seqlen, (last // block_n + 1) * block_n)
    assert traffic.count("fa2", shape, block).read_bytes == 256 * seqlen + 2 * 256 * keys


def test_memory_of_the_forward_pass():
    # N = 4096, d = 128, one head: Q, K, V, O of 1 MiB each, S and P of 32 MiB each, 16 KiB a row statistic.
    shape, block = AttentionShape(4096, 128), BlockShape(128, 128)
    mib, kib = 2**20, 2**10
    needed = {model: traffic.count(model, shape, block).needed_bytes for model in traffic.MODELS}
    saved = {model: traffic.count(model, shape, block).saved_bytes for model in traffic.MODELS}
    assert needed == {
        "least": 4 * mib,
        "standard": 4 * mib + 64 * mib,
        "fa1": 4 * mib + 32 * kib,
        "fa2": 4 * mib + 16 * kib,
    }
    assert saved == {"least": 0, "standard": 32 * mib, "fa1": mib + 32 * kib, "fa2": mib + 16 * kib}
    assert traffic.count("fa1", shape, block, variant="acc32").needed_bytes == 5 * mib + 32 * kib


def test_row_statistics_stay_four_bytes_in_every_precision():
    block = BlockShape(64, 64)
    for dtype, element in walkers.ELEMENT.items():
        shape = AttentionShape(512, 64, dtype=dtype)
        counted = as_ledger(traffic.count("fa2", shape, block, variant="with_lse"))
        assert counted["lse", "written"] == 4 * 512
        assert counted["q", "read"] == 512 * 64 * element


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"model": "fa4"}, "model must be one of least, standard, fa1, fa2, got 'fa4'"),
        ({"model": "fa2", "direction": "sideways"}, "direction must be forward or backward, got 'sideways'"),
        ({"model": "fa2", "variant": "acc32"}, "variant of fa2 forward must be one of without_lse, with_lse"),
        ({"model": "fa2", "line": "pcie"}, "line must be one of hbm, l2_to_sm, got 'pcie'"),
        ({"model": "standard", "variant": "unfused_mask"}, "unfused_mask needs a causal shape"),
    ],
)
def test_unknown_names_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        traffic.count(shape=AttentionShape(512, 64), block=BlockShape(64, 64), **arguments)


def test_passes_of_an_unknown_model_are_refused():
    with pytest.raises(ValueError, match="model must be one of"):
        traffic.kv_passes(AttentionShape(512, 64), BlockShape(64, 64), "fa4")
