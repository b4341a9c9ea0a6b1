"""The project's own records: what the hardware counted beside what the formulas count, with the blocks that ran."""

import json
from typing import Any

import pytest

from app.facts import timings
from app.kernels import peers, registry
from app.kernels.bench.cases import TimingCase
from app.kernels.bench.record import counted
from app.theory.shapes import BlockShape

ROWS = [
    row
    for path in sorted(timings.MEASURED.glob("*.json"))
    for row in json.loads(path.read_text(encoding="utf-8"))["timings"]
    if row["counters"]
]
FORWARD = [row for row in ROWS if row["direction"] == "forward"]
# K and V once for every block of queries: so the count says, and so the SMs fetch.
BY_BLOCKS = ("fa2_triton", "sdpa_flash", "sdpa_cudnn")


def case_of(row: dict[str, Any]) -> TimingCase:
    return TimingCase(**{name: row[name] for name in TimingCase.__slots__})


def over_hbm(moved: dict[str, int]) -> int:
    return moved["hbm_read_bytes"] + moved["hbm_written_bytes"]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['kernel']} {case_of(row)}")
def test_the_count_is_that_of_the_blocks_that_ran(row: dict[str, Any]) -> None:
    kernel, case = registry.get(row["kernel"]), case_of(row)
    block = BlockShape(row["block_m"], row["block_n"]) if row["block_m"] else None
    assert row["counted"] == counted(kernel, case, block)
    if kernel.kind == "peer":
        assert block == peers.block_of(kernel.id, row["kernel_names"], case.direction)


@pytest.mark.parametrize("kernel", BY_BLOCKS)
def test_sms_fetch_what_is_counted(kernel: str) -> None:
    pairs = [
        (row["counters"]["l2_to_sm_bytes"], row["counted"]["l2_to_sm_bytes"])
        for row in FORWARD
        if row["kernel"] == kernel and row["counted"]
    ]
    assert len(pairs) >= 10
    for measured, by_formula in pairs:
        assert measured == pytest.approx(by_formula, rel=0.01)


@pytest.mark.parametrize("kernel", ["fa3_wheel", "fa3_cuda"])
def test_the_copy_engine_fetches_the_last_block_whole(kernel: str) -> None:
    """What lies past the end counts as fetched. Tiles cut along k and v, which fetch more than is counted, apart."""
    pairs = [
        (row["counters"]["l2_to_sm_bytes"], row["counted"]["l2_to_sm_bytes"], row)
        for row in FORWARD
        if row["kernel"] == kernel and row["counted"] and "cut" not in row["settings"]
    ]
    assert len(pairs) >= 5
    for measured, by_formula, row in pairs:
        whole = -(-row["seqlen"] // row["block_n"]) * row["block_n"] / row["seqlen"]
        assert measured == pytest.approx(by_formula * whole, rel=0.01)


def test_the_round_trip_of_the_standard_way_is_what_is_counted() -> None:
    """Sixteen heads and 4,096 tokens or more: S is several times the L2 cache."""
    chosen = [
        row for row in FORWARD if row["kernel"] == "standard" and row["num_heads"] == 16 and row["seqlen"] >= 4096
    ]
    pairs = [(over_hbm(row["counters"]), over_hbm(row["counted"])) for row in chosen]
    assert len(pairs) >= 5
    for measured, by_formula in pairs:
        assert measured == pytest.approx(by_formula, rel=0.03)
