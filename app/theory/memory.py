"""Memory each way of computing attention needs, and what it leaves for the backward pass.

Bytes over all heads. Only tensors of the attention itself are counted: no allocator rounding, no framework copies.
Row statistics are fp32 whatever the dtype: two numbers a row in the first version (running max and sum), one in the
second (log-sum-exp). Sources: FlashAttention (arXiv 2205.14135) Section 3.1 and FlashAttention-2 (arXiv 2307.08691)
Section 3.1.1.
"""

from app.theory.shapes import AttentionShape


def saved_bytes(model: str, shape: AttentionShape) -> int:
    """What the forward pass keeps for the backward one, beyond Q, K and V, which every way needs.

    standard: P. fa1: O, running max and running sum. fa2: O and the log-sum-exp. least: nothing (all of it can be
    computed again).
    """
    if model == "standard":
        return shape.scores_bytes
    if model == "fa1":
        return shape.q_bytes + 2 * shape.row_statistic_bytes
    if model == "fa2":
        return shape.q_bytes + shape.row_statistic_bytes
    return 0


def needed_bytes(model: str, shape: AttentionShape, direction: str, variant: str) -> int:
    """Memory that is allocated while the pass runs: inputs, results and everything that lives in memory between.

    Forward: Q, K, V, O, and S and P (standard) or the row statistics (fa1, fa2; they are allocated even when the
    traffic variant does not count their writing). Backward: Q, K, V, dO, dQ, dK, dV, and P, dP and dS (standard), or
    O and the row statistics (fa1, fa2; fa2 adds delta, its kernels also the fp32 accumulator of dQ).
    """
    q, kv, stat = shape.q_bytes, shape.kv_bytes, shape.row_statistic_bytes
    if direction == "forward":
        o = shape.q_fp32_bytes if variant == "acc32" else q
        return q + 2 * kv + o + {"standard": 2 * shape.scores_bytes, "fa1": 2 * stat, "fa2": stat}.get(model, 0)
    inputs_and_gradients = 3 * q + 4 * kv
    if model == "standard":
        return inputs_and_gradients + 3 * shape.scores_bytes
    if model == "least":
        return inputs_and_gradients
    dq_acc = shape.q_fp32_bytes if variant == "kernel" else 0
    return inputs_and_gradients + q + 2 * stat + dq_acc
