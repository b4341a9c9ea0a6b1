"""Blocks read from the names of a library's kernels, against what the hardware counted. Needs no torch.

The names and counters are those of the project's records: reading Q once and K and V once for every block of queries
must give the bytes that crossed from the L2 cache into the SMs.
"""

import pytest

from app.facts import timings
from app.kernels import peers, registry
from app.kernels.bench import record
from app.kernels.bench.cases import TimingCase
from app.theory.shapes import BlockShape

FA3 = (
    "void cutlass::device_kernel<flash::enable_sm90<flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2, "
    "cute::tuple<cute::C<1>, cute::C<1>, cute::C<1>>, cute::tuple<cute::C<128>, cute::C<176>, cute::C<128>>, 128, "
    "cutlass::bfloat16_t, float, cutlass::arch::Sm90, false>>>>(Params)"
)
FLASH_BACKWARD = "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<256, 64, 64, 8, 4, 2, 2, false"


@pytest.mark.parametrize("kernel", ["sdpa_flash", "sdpa_cudnn"])
def test_the_count_with_the_block_read_is_what_the_hardware_counted(kernel: str) -> None:
    found = [item.timing for item in timings.load().ours().select(kernel=kernel, ran=True) if item.timing.counters]
    compared = 0
    for timing in found:
        block = peers.block_of(kernel, timing.kernel_names, timing.direction)
        case = TimingCase(**{name: getattr(timing, name) for name in TimingCase.__slots__})
        counted = record.counted(registry.get(kernel), case, block)
        if counted is None or timing.direction == "backward" or timing.counters is None:
            continue
        compared += 1
        assert timing.counters.moved.l2_to_sm_bytes == pytest.approx(counted["l2_to_sm_bytes"], rel=0.01), timing
    assert compared >= 14


def test_keys_shared_out_among_thread_blocks_are_not_counted() -> None:
    names = ["void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4", "combine"]
    assert peers.block_of("sdpa_flash", names, "forward") is None


@pytest.mark.parametrize(
    ("kernel", "name", "direction", "block"),
    [
        ("fa3_wheel", FA3, "forward", BlockShape(128, 176)),
        (
            "sdpa_flash",
            "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<Flash_bwd_kernel_traits<256, 64, 64, 8",
            "backward",
            BlockShape(64, 64),
        ),
        ("sdpa_math", "softmax", "forward", None),
        ("sdpa_cudnn", "something new", "forward", None),
    ],
)
def test_names(kernel: str, name: str, direction: str, block: BlockShape | None) -> None:
    assert peers.block_of(kernel, [name], direction) == block
