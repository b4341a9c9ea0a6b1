"""Traffic and memory of the backward passes: the golden file, walkers, the HBM line, a published measurement."""

import pytest
from hypothesis import given

from app.theory import traffic
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory import walkers_backward
from tests.theory.reference import ROWS, block_of, row_id, shape_of
from tests.theory.strategies import block_of_problem, problems, repeatable, shape_of_problem
from tests.theory.test_traffic import FORWARD_KEYS, as_ledger

BACKWARD_KEYS = {
    "std_bwd": ("standard", None, False),
    "fa1_bwd": ("fa1", None, False),
    "fa1_bwd_causal": ("fa1", None, True),
    "fa2_bwd_listed": ("fa2", "listed", False),
    "fa2_bwd_kernel": ("fa2", None, False),
    "fa2_bwd_kernel_causal": ("fa2", "kernel", True),
}
WALKS = {
    ("least", None): walkers_backward.least_backward,
    ("standard", None): walkers_backward.standard_backward,
    ("fa1", None): walkers_backward.fa1_backward,
    ("fa2", "kernel"): walkers_backward.fa2_backward,
    ("fa2", "listed"): lambda problem: walkers_backward.fa2_backward(problem, as_listed=True),
}


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_backward_bytes_equal_the_golden_row(row):
    counted = {
        key: traffic.count(model, shape_of(row, causal=causal), block_of(row), "backward", variant).total_bytes
        for key, (model, variant, causal) in BACKWARD_KEYS.items()
    }
    assert counted == {key: value for key, value in row["bytes"].items() if key in BACKWARD_KEYS}


def test_no_golden_count_is_left_out():
    assert {key for row in ROWS for key in row["bytes"]} == FORWARD_KEYS.keys() | BACKWARD_KEYS.keys()


@pytest.mark.parametrize(("model", "variant"), WALKS)
@repeatable
@given(problem=problems())
def test_backward_formula_equals_the_walk_tensor_by_tensor(model, variant, problem):
    counted = traffic.count(model, shape_of_problem(problem), block_of_problem(problem), "backward", variant)
    assert as_ledger(counted) == dict(WALKS[model, variant](problem).bytes)


def test_standard_backward_does_not_shrink_under_a_causal_mask():
    block = BlockShape(64, 64)
    full, causal = (
        traffic.count("standard", AttentionShape(512, 64, causal=causal), block, "backward").total_bytes
        for causal in (False, True)
    )
    assert full == causal


def test_hbm_line_of_the_backward_passes():
    # N = 100, d = 8, fp16, one head: 1,600 B a tensor, 400 B an fp32 number a row, 3,200 B an fp32 accumulator.
    shape, block = AttentionShape(100, 8), BlockShape(16, 16)
    fa1 = as_ledger(traffic.count("fa1", shape, block, "backward", line="hbm"))
    assert fa1 == {
        **{(tensor, "read"): 1600 for tensor in ("q", "k", "v", "o", "do", "dq")},
        **{(tensor, "written"): 1600 for tensor in ("dq", "dk", "dv")},
        ("stats", "read"): 800,
    }
    kernel = as_ledger(traffic.count("fa2", shape, block, "backward", line="hbm"))
    assert kernel == {
        **{(tensor, "read"): 1600 for tensor in ("q", "k", "v", "o", "do")},
        **{(tensor, "written"): 1600 for tensor in ("dq", "dk", "dv")},
        ("lse", "read"): 400,
        ("delta", "written"): 400,
        ("dq_acc", "read"): 3200,
        ("dq_acc", "written"): 3200,
    }


def test_memory_of_the_backward_pass():
    # N = 4096, d = 128, one head: 1 MiB a tensor, 32 MiB a score matrix, 16 KiB a row statistic.
    shape, block = AttentionShape(4096, 128), BlockShape(128, 128)
    mib, kib = 2**20, 2**10

    def needed(model: str, variant: str | None = None) -> int:
        return traffic.count(model, shape, block, "backward", variant).needed_bytes

    assert needed("least") == 7 * mib
    assert needed("standard") == 7 * mib + 3 * 32 * mib
    assert needed("fa1") == 8 * mib + 2 * 16 * kib
    assert needed("fa2", "listed") == 8 * mib + 2 * 16 * kib
    assert needed("fa2") == 8 * mib + 2 * 16 * kib + 2 * mib


def test_extra_memory_grows_linearly_for_flash_attention_and_quadratically_for_the_standard_way():
    block = BlockShape(128, 128)
    for direction in traffic.DIRECTIONS:
        sizes = {
            model: [traffic.count(model, AttentionShape(n, 64), block, direction).saved_bytes for n in (1024, 2048)]
            for model in traffic.MODELS
        }
        assert sizes["standard"][1] == 4 * sizes["standard"][0]
        assert sizes["fa1"][1] == 2 * sizes["fa1"][0]
        assert sizes["fa2"][1] == 2 * sizes["fa2"][0]


def test_grouped_query_attention_counts_keys_and_values_once_per_group():
    # 8 query heads on 2 key/value heads: K, V, dK, dV have a quarter of the bytes, everything else is unchanged.
    block = BlockShape(32, 32)
    for model in traffic.MODELS:
        for direction in traffic.DIRECTIONS:
            every, grouped = (
                as_ledger(traffic.count(model, AttentionShape(100, 16, num_heads=8, num_heads_kv=kv), block, direction))
                for kv in (8, 2)
            )
            shared = {key for key in every if key[0] in ("k", "v", "dk", "dv")}
            assert {key: grouped[key] * (4 if key in shared else 1) for key in grouped} == every


@pytest.mark.parametrize(("model", "published_count"), [("standard", 25_232_932_864), ("fa1", 5_200_936_960)])
def test_both_passes_of_gpt2_medium_by_the_bare_algorithms(model, published_count):
    # 64 sequences, 16 heads, N = 1,024, d = 64, the first release's 256 keys a block. Standard: 11 N x N and 12 N x d
    # passes of 2 bytes. FlashAttention: 38 N x d passes of 2 bytes and 24 bytes a row for each of 4 key blocks.
    shape, block = AttentionShape(1024, 64, batch=64, num_heads=16), BlockShape(64, 256)
    both = sum(traffic.count(model, shape, block, direction).total_bytes for direction in traffic.DIRECTIONS)
    assert both == published_count
