"""The roles of the kernel in CUDA C++: every choice fits one SM, and shared memory is counted tile by tile."""

import pytest

from app.theory.cluster_roles import DEFAULTS, ClusterRoles, choices, smem
from app.theory.gpus import GPUS
from app.theory.hopper_roles import Smem

SM_REGISTERS = 65_536
HOPPER = GPUS["h100_sxm5"]
LISTED = [(head_dim, roles) for head_dim in (64, 128, 256) for roles in choices(head_dim)]


@pytest.mark.parametrize(("head_dim", "roles"), LISTED, ids=str)
def test_every_choice_fits_one_sm(head_dim: int, roles: ClusterRoles) -> None:
    assert smem(roles, head_dim).total <= HOPPER.smem_per_block_bytes
    at_launch = SM_REGISTERS // roles.threads // 8 * 8  # registers are handed out by eights
    registers = (roles.threads - 128) * roles.consumer_registers + 128 * roles.producer_registers
    assert registers <= roles.threads * at_launch
    for count in (roles.consumer_registers, roles.producer_registers):
        assert count % 8 == 0
        assert count <= 255


@pytest.mark.parametrize(("head_dim", "roles"), LISTED, ids=str)
def test_scores_probabilities_and_output_fit_a_consumer_s_registers(head_dim: int, roles: ClusterRoles) -> None:
    # 64 rows in 128 threads: half a register for each column of 32-bit numbers, a quarter for 16-bit ones
    held = roles.block_n // 2 + roles.block_n // 4 + head_dim // 2
    assert held < roles.consumer_registers
    assert roles.block_n % 16 == 0  # the depth of one product
    assert head_dim // 64 % roles.cluster == 0  # thread blocks of a cluster share a block of k by its columns


def test_there_is_a_default_for_every_kind_of_problem() -> None:
    assert set(DEFAULTS) == {(head_dim, causal) for head_dim in (64, 128, 256) for causal in (False, True)}
    for (head_dim, _), defaults in DEFAULTS.items():
        assert len(defaults) == 3
        assert set(defaults) <= set(choices(head_dim))


def test_shared_memory_tile_by_tile() -> None:
    rows = 128 * 2  # bytes
    two = ClusterRoles(2, 128, 2, 2, 2)
    tile = 5 * 4  # five 32-bit numbers beside each place for q
    assert smem(two, 128) == Smem(q=2 * 128 * rows, kv=2 * 2 * 128 * rows, o=0, barriers=12 * 8 + 2 * tile)
    one = ClusterRoles(2, 80, 2, 1, 1)
    assert smem(one, 256) == Smem(q=128 * 512, kv=2 * 2 * 80 * 512, o=0, barriers=10 * 8 + tile)


def test_what_is_unusual_is_named() -> None:
    assert str(ClusterRoles(2, 128, 2, 2, 2, late=25, cut_last=True)) == "2 consumers x128 s2 cluster late25 cut"
    assert str(ClusterRoles(3, 80, 3, 2, 1, lazy=True)) == "3 consumers x80 s3 lazy"
    assert str(ClusterRoles(2, 80, 2, 1, 1, patient=True, drawn=True)) == "2 consumers x80 s2 patient drawn"
