"""The roles of the kernel in CUDA C++: every choice fits one SM, and shared memory is counted tile by tile."""

import pytest

from app.theory.cluster_roles import BYTE_DEFAULTS, DEFAULTS, ClusterRoles, choices, few_keys, held_share, smem
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
    held = roles.block_n // 2 + roles.block_n // 4 + head_dim // 2 + 4 * roles.held
    assert held < roles.consumer_registers
    assert 0 <= held_share(roles, head_dim) <= 1
    assert roles.block_n % 16 == 0  # the depth of one product
    assert head_dim // 64 % roles.cluster == 0  # thread blocks of a cluster share a block of k by its columns


def test_every_default_serves_its_own_mask() -> None:
    for (_, causal), listed in (*DEFAULTS.items(), *BYTE_DEFAULTS.items()):
        assert all(roles.serves(causal) for roles in listed)


@pytest.mark.parametrize("element_bytes", [1, 2])
@pytest.mark.parametrize("block_n", [80, 128, 176, 192])
def test_smaller_products_hold_every_key_of_a_last_block(block_n: int, element_bytes: int) -> None:
    roles = ClusterRoles(2, block_n, 2, 1, 1, fitted=True)
    depth = 32 // element_bytes  # of a product, in numbers (PTX ISA, wgmma: k16 of 16 bits, k32 of 8)
    for seqlen in range(1, 4 * block_n):
        few = few_keys(roles, seqlen, causal=False, element_bytes=element_bytes)
        left = seqlen % block_n
        assert few % depth == 0
        assert few == 0 if left == 0 else few == 0 or left <= few < block_n
        assert few_keys(ClusterRoles(2, block_n, 2, 1, 1), seqlen, causal=False) == 0
    sizes = {few_keys(roles, n, causal=False, element_bytes=element_bytes) for n in range(1, block_n + 1)}
    assert len(sizes) <= 4, "lengths share machine code"


def test_under_a_mask_smaller_products_hold_what_a_consumer_sees() -> None:
    """Of the first block a tile visits a consumer sees the keys up to its own last row: 64 or all of a block of 128."""
    for defaults in (*DEFAULTS.items(), *BYTE_DEFAULTS.items()):
        (_, causal), listed = defaults
        for roles in listed:
            if causal and roles.fitted:
                few = few_keys(roles, 4096, causal=True)
                seen = {
                    min((tile * roles.consumers + consumer + 1) * 64 - block * roles.block_n, roles.block_n)
                    for tile in range(40)
                    for consumer in range(roles.consumers)
                    for block in [((tile + 1) * roles.block_m - 1) // roles.block_n]
                }
                assert 0 < few < roles.block_n
                assert any(keys <= few for keys in seen), "no tile would ever use them"


def test_there_is_a_default_for_every_kind_of_problem() -> None:
    assert set(DEFAULTS) == {(head_dim, causal) for head_dim in (64, 128, 256) for causal in (False, True)}
    for (head_dim, _), defaults in DEFAULTS.items():
        assert len(defaults) == 4
        assert set(defaults) <= set(choices(head_dim))


def test_shared_memory_tile_by_tile() -> None:
    rows = 128 * 2  # bytes
    two = ClusterRoles(2, 128, 2, 2, 2)
    tile = 5 * 4  # five 32-bit numbers beside each place for q
    assert smem(two, 128) == Smem(q=2 * 128 * rows, kv=2 * 2 * 128 * rows, o=0, barriers=12 * 8 + 2 * tile)
    coded = ClusterRoles(2, 192, 3, 2, 1, coded=True)
    blocks = 3 * (192 * 128 + 192 * (128 + 8))
    assert smem(coded, 128, element_bytes=1) == Smem(q=2 * 128 * 128, kv=blocks, o=0, barriers=16 * 8 + 2 * tile)
    one = ClusterRoles(2, 80, 2, 1, 1)
    assert smem(one, 256) == Smem(q=128 * 512, kv=2 * 2 * 80 * 512, o=0, barriers=10 * 8 + tile)


def test_what_is_unusual_is_named() -> None:
    assert str(ClusterRoles(2, 128, 2, 2, 2, late=25, cut_last=True)) == "2 consumers x128 s2 cluster late25 cut"
    named = "2 consumers x80 s2 coded agreeing"
    assert str(ClusterRoles(2, 80, 2, 1, 1, coded=True, agreeing=True)) == named
    assert str(ClusterRoles(3, 80, 3, 2, 1, lazy=True)) == "3 consumers x80 s3 lazy"
    assert str(ClusterRoles(2, 80, 2, 1, 1, patient=True, drawn=True)) == "2 consumers x80 s2 patient drawn"
