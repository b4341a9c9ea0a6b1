"""The four GPUs against the golden file; every constant has a source."""

import dataclasses

import pytest

from app.theory.gpus import GPUS
from tests.theory.reference import REFERENCE


def test_the_same_gpus_are_listed():
    assert set(GPUS) == set(REFERENCE["gpus"])
    assert all(gpu.id == key for key, gpu in GPUS.items())


@pytest.mark.parametrize("gpu_id", REFERENCE["gpus"])
def test_constants_equal_the_golden_file(gpu_id):
    gpu, expected = GPUS[gpu_id], REFERENCE["gpus"][gpu_id]
    assert {
        "name": gpu.name,
        "bytes_per_s": gpu.hbm_bytes_per_s,
        "flop_per_s": gpu.flops_per_s,
        "sms": gpu.sms,
        "smem_sm": gpu.smem_per_sm_bytes,
        "smem_block": gpu.smem_per_block_bytes,
        "regs_sm": gpu.rmem_per_sm_bytes,
        "ridge_flop_per_byte": round(gpu.ridge_point, 4),
    } == expected


@pytest.mark.parametrize("gpu_id", GPUS)
def test_every_constant_has_exactly_one_source(gpu_id):
    constants = {field.name for field in dataclasses.fields(GPUS[gpu_id])} - {"id", "name", "sources"}
    assert sorted(source.field for source in GPUS[gpu_id].sources) == sorted(constants)
    assert all(source.verified in ("primary", "secondary", "recomputed") for source in GPUS[gpu_id].sources)


def test_l2_sizes_devices_report():
    assert GPUS["h200_sxm"].l2_bytes == 62_914_560
    assert GPUS["a100_sxm4_40"].l2_bytes == GPUS["a100_sxm4_80"].l2_bytes == 41_943_040
