"""The Hopper kernel's roles: they fit one SM, and shared memory is counted tile by tile."""

import pytest

from app.theory.gpus import GPUS
from app.theory.hopper_roles import DEFAULTS, Roles, Smem, smem

SM_REGISTERS = 65_536
HOPPER = GPUS["h100_sxm5"]


@pytest.mark.parametrize("head_dim", DEFAULTS)
def test_the_defaults_fit_one_sm(head_dim: int) -> None:
    roles = DEFAULTS[head_dim]
    assert smem(roles, head_dim).total <= HOPPER.smem_per_block_bytes
    assert roles.threads * roles.launch_registers <= SM_REGISTERS
    registers = (roles.threads - 128) * roles.consumer_registers + 128 * roles.producer_registers
    assert registers <= roles.threads * roles.launch_registers
    for count in (roles.launch_registers, roles.consumer_registers, roles.producer_registers):
        assert count % 8 == 0  # registers are handed out by eights
        assert count <= 255


def test_shared_memory_tile_by_tile() -> None:
    two = DEFAULTS[128]
    rows = 128 * 2  # bytes
    assert smem(two, 128) == Smem(q=2 * 2 * 64 * rows, kv=2 * 2 * 128 * rows, o=2 * 64 * rows, barriers=12 * 8)
    assert smem(two, 128).total == 229_472


def test_a_wide_output_leaves_in_halves_or_from_registers() -> None:
    assert smem(Roles(2, 64, 2, 1, 168, 240, 24), 128).o == 32_768
    assert smem(Roles(2, 64, 2, 1, 168, 240, 24), 256).o == 32_768  # half of the columns at a time
    assert smem(DEFAULTS[256], 256).o == 0


def test_each_further_stage_or_consumer_takes_its_place() -> None:
    one = Roles(1, 64, 1, 1, 168, 240, 24)
    assert smem(Roles(1, 64, 2, 1, 168, 240, 24), 64).total - smem(one, 64).total == 2 * (64 * 64 * 2 + 8)
    assert smem(Roles(1, 64, 1, 1, 168, 240, 24, more_k_stages=1), 64).total - smem(one, 64).total == 64 * 64 * 2 + 8
    assert smem(Roles(1, 64, 1, 2, 168, 240, 24), 64).total - smem(one, 64).total == 64 * 64 * 2 + 16
    assert smem(Roles(2, 64, 1, 1, 168, 240, 24), 64).total - smem(one, 64).total == 2 * 64 * 64 * 2 + 16
