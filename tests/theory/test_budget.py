"""What a block holds, against every footprint in the golden file, and the named violations."""

import pytest

from app.theory.budget import Violation, budget
from app.theory.gpus import GPUS
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory.reference import REFERENCE, ROWS, block_of, row_id, shape_of


@pytest.mark.parametrize("row", REFERENCE["block_footprints"], ids=row_id)
def test_footprints_equal_the_golden_file(row):
    shape, block = AttentionShape(4096, row["d"]), block_of(row)
    for gpu_id in ("h100_sxm5", "a100_sxm4_40"):
        gpu, expected = GPUS[gpu_id], row["fits"][gpu_id]
        single, double = budget(shape, block, gpu), budget(shape, block, gpu, stages=2)
        assert (single.smem_bytes, double.smem_bytes) == (row["smem"], row["smem_double_buffered_kv"])
        assert (single.rmem_bytes, single.min_warps) == (row["regs"], row["min_warps_at_255_regs"])
        assert (single.scores_rmem_bytes, single.acc_rmem_bytes, single.row_statistics_rmem_bytes) == (
            row["regs_s"],
            row["regs_o"],
            row["regs_ml"],
        )
        broken = {violation.resource for violation in single.violations}
        assert ("smem" not in broken, "rmem" not in broken) == (expected["smem_ok_one_block"], expected["regs_ok"])
        assert single.fits == expected["fits"]
        assert double.fits == row["fits_double_buffered_kv"][gpu_id]


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_blocks_of_the_grid_equal_the_golden_row(row):
    for gpu_id, fits in row["fits"].items():
        held = budget(shape_of(row), block_of(row), GPUS[gpu_id])
        assert (held.smem_bytes, held.rmem_bytes, held.fits) == (row["block"]["smem"], row["block"]["regs"], fits)


def test_a_violation_says_what_and_by_how_much():
    # 256 x 256 at d = 128: 2·128·(256 + 512) B of shared memory, 4·(256·256 + 256·128 + 512) B of registers.
    held = budget(AttentionShape(4096, 128), BlockShape(256, 256), GPUS["h100_sxm5"])
    assert not held.fits
    assert held.violations == (Violation("rmem", 395_264, 262_144, 133_120),)
    on_a100 = budget(AttentionShape(4096, 128), BlockShape(256, 256), GPUS["a100_sxm4_40"])
    assert on_a100.violations[0] == Violation("smem", 196_608, 166_912, 29_696)


def test_row_statistics_decide_the_edge_case():
    # 256 x 128 at d = 128: score and output blocks fill the register file exactly; m and l no longer fit.
    held = budget(AttentionShape(4096, 128), BlockShape(256, 128), GPUS["h100_sxm5"])
    assert held.scores_rmem_bytes + held.acc_rmem_bytes == held.rmem_limit_bytes
    assert held.violations == (Violation("rmem", 264_192, 262_144, 2_048),)


def test_a_block_that_fills_the_registers_exactly_fits():
    # 256 rows of 128 scores, 126 outputs and 2 statistics: 256 x 256 fp32 numbers are the whole register file.
    held = budget(AttentionShape(4096, 126), BlockShape(256, 128), GPUS["h100_sxm5"])
    assert held.rmem_bytes == held.rmem_limit_bytes
    assert held.fits


def test_stages_below_one_are_refused():
    with pytest.raises(ValueError, match="stages must be at least 1, got 0"):
        budget(AttentionShape(8, 8), BlockShape(16, 16), GPUS["h100_sxm5"], stages=0)
