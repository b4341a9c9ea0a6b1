"""Intensity, savings and roofline times against the golden file."""

import pytest

from app.theory import flops, roofline, traffic
from app.theory.gpus import GPUS
from tests.theory.reference import ROWS, block_of, row_id, shape_of

MODEL_OF_INTENSITY = {"std_fwd": "standard", "fa2_fwd": "fa2", "fa1_fwd": "fa1", "compulsory_fwd": "least"}
MODEL_OF_ROOFLINE = {"std": "standard", "fa2_no_l2": "fa2", "compulsory": "least"}


def bytes_of(model: str, row: dict) -> int:
    return traffic.count(model, shape_of(row), block_of(row)).total_bytes


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_intensity_and_saving_equal_the_golden_row(row):
    operations = flops.count(shape_of(row), block_of(row)).convention_flops
    for key, model in MODEL_OF_INTENSITY.items():
        assert roofline.arithmetic_intensity(operations, bytes_of(model, row)) == pytest.approx(
            row["intensity"][key], abs=5.1e-7
        )
    standard = bytes_of("standard", row)
    assert standard / bytes_of("fa2", row) == pytest.approx(row["saving"]["std_over_fa2"], abs=5.1e-7)
    assert standard / bytes_of("fa1", row) == pytest.approx(row["saving"]["std_over_fa1"], abs=5.1e-7)
    # The file's key also holds where both move the same.
    assert (bytes_of("fa2", row) >= standard) == row["saving"]["fa2_moves_more_than_std"]


@pytest.mark.parametrize("row", ROWS, ids=row_id)
def test_roofline_times_equal_the_golden_row(row):
    operations = flops.count(shape_of(row), block_of(row)).convention_flops
    for gpu_id, by_model in row["roofline_fwd"].items():
        for key, expected in by_model.items():
            ours = roofline.roofline(operations, bytes_of(MODEL_OF_ROOFLINE[key], row), GPUS[gpu_id])
            assert ours.compute_us == pytest.approx(expected["compute_us"], abs=5.1e-5)
            assert ours.memory_us == pytest.approx(expected["memory_us"], abs=5.1e-5)
            assert ours.time_us == pytest.approx(expected["roofline_us"], abs=5.1e-5)
            assert ours.bound == expected["bound"]


def test_attainable_rate_has_a_slope_and_a_roof():
    gpu = GPUS["h100_sxm5"]
    assert roofline.attainable(100, gpu) == 100 * 3.35e12
    assert roofline.attainable(gpu.ridge_point * 2, gpu) == 989e12


def test_nonsense_is_refused():
    with pytest.raises(ValueError, match="num_bytes must be positive, got 0"):
        roofline.arithmetic_intensity(1, 0)
    with pytest.raises(ValueError, match="must not be negative"):
        roofline.roofline(-1, 1, GPUS["h100_sxm5"])
