"""The problem objects: sizes, heads, and a clear sentence for every bad field."""

import dataclasses

import pytest

from app.theory.shapes import AttentionShape, BlockShape


def test_sizes_of_a_grouped_layer():
    shape = AttentionShape(100, 64, batch=3, num_heads=8, num_heads_kv=2, dtype="bf16")
    assert (shape.heads, shape.heads_kv, shape.element_bytes) == (24, 6, 2)
    assert (shape.q_bytes, shape.kv_bytes) == (24 * 100 * 64 * 2, 6 * 100 * 64 * 2)
    assert (shape.scores_bytes, shape.row_statistic_bytes) == (24 * 100 * 100 * 2, 24 * 100 * 4)


def test_key_value_heads_default_to_query_heads():
    assert AttentionShape(8, 8, batch=2, num_heads=5).heads_kv == 10


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("seqlen", 0, "seqlen must be at least 1, got 0"),
        ("seqlen", 2.0, "seqlen must be a whole number, got 2.0"),
        ("seqlen", True, "seqlen must be a whole number, got True"),
        ("head_dim", -8, "head_dim must be at least 1, got -8"),
        ("batch", 0, "batch must be at least 1, got 0"),
        ("num_heads", "4", "num_heads must be a whole number, got '4'"),
        ("num_heads_kv", 3, r"num_heads_kv must divide num_heads \(4\), got 3"),
        ("num_heads_kv", 0, "num_heads_kv must be at least 1, got 0"),
        ("causal", 1, "causal must be True or False, got 1"),
        ("dtype", "int8", "dtype must be one of fp16, bf16, fp8, fp32, got 'int8'"),
    ],
)
def test_bad_fields_are_named(field, value, message):
    good = {"seqlen": 8, "head_dim": 8, "num_heads": 4}
    with pytest.raises(ValueError, match=message):
        AttentionShape(**{**good, field: value})


@pytest.mark.parametrize("sides", [(0, 16), (16, 0), (16, 1.5)])
def test_bad_blocks_are_refused(sides):
    with pytest.raises(ValueError, match=r"block_[mn] must be"):
        BlockShape(*sides)


def test_shapes_are_immutable_and_hashable():
    shape = AttentionShape(8, 8)
    assert {shape: 1}[AttentionShape(8, 8)] == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        shape.seqlen = 9
