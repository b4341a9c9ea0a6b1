"""The CUDA kernel with e4m3 numbers, run without a GPU, as `test_fa3_emulated.py` runs it with 16 bits.

Triton's interpreter does not carry when it rounds to e4m3, so PyTorch quantises here.
"""

import subprocess
from functools import partial
from pathlib import Path

import pytest

from tests.kernels import fp8_emulation
from tests.kernels.emulated import COMPILER, SEEDS, Emulator, case, is_found

if COMPILER is None:
    pytest.skip("there is no C++ compiler here", allow_module_level=True)

from app.kernels import fa3_fp8_cuda
from app.kernels.bench import check
from app.kernels.bench.cases import CheckCase
from app.theory import cluster_roles
from app.theory.cluster_roles import ClusterRoles

SMS = 4
forward = partial(case, "forward")
CODE = [
    (head_dim, causal, roles)
    for head_dim in fa3_fp8_cuda.HEAD_DIMS
    for causal in (False, True)
    for roles in cluster_roles.byte_choices(head_dim)
]
IN_PAIRS = ClusterRoles(2, 192, 3, 2, 2, late=50, lazy=True)
WRONG = {
    "V's scale left out of the sum": ("fmaf(even + odd, scale.back, rows.sum[half])", "even + odd + rows.sum[half]"),
    "V's scale left out of the exponent": ("rows.max[half] - (scale.lift + SHIFT)", "rows.max[half] - SHIFT"),
    "shift left in lse": ("log2_fast(sum) - SHIFT", "log2_fast(sum)"),
    "words in another order": (
        "s[first], s[first + 1], s[first + 4], s[first + 5]",
        "s[first], s[first + 1], s[first + 2], s[first + 3]",
    ),
    "the scale of another block": ("max(tile.first_block + block, 0)", "max(tile.first_block + block - 1, 0)"),
    "V's chunks apart": ("step / 2 * (HEAD_DIM * 64 / 16)", "step / 2 * (HEAD_DIM * 128 / 16)"),
    "half of V's rows": ("(c * HEAD_DIM + rank * V_ROWS) * 64", "(c * HEAD_DIM) * 64"),
}


@pytest.fixture(autouse=True)
def _quantised_by_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fa3_fp8_cuda, "quantize", lambda x, rows, turn=False: fp8_emulation.quantized(x, rows, turn))


def verdict(emulator: Emulator, case: CheckCase, roles: ClusterRoles) -> check.Verdict:
    fa3_fp8_cuda._loaded.cache_clear()
    problem, _ = check.draw(case, "cpu", seed=7)
    with emulator.in_place(SMS):
        bound = fa3_fp8_cuda.bind(problem, roles)
        found = check.results(bound, "forward")
    return check.judge(found, check.truth(problem, bound), case.dtype)


@pytest.mark.parametrize(("head_dim", "causal", "roles"), CODE, ids=str)
def test_every_choice_is_right(folder: Path, head_dim: int, causal: bool, roles: ClusterRoles) -> None:
    for seqlen in (1, 129, 777):
        found = verdict(Emulator(folder, seed=seqlen), forward(seqlen, head_dim, causal), roles)
        assert found.ok, (seqlen, found.message)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(
    "more",
    [{"num_heads": 4, "num_heads_kv": 2, "batch": 2}, {"spread": 30.0}, {"uneven": 1.0}, {"dtype": "fp16"}],
    ids=["shared heads", "large values", "blocks of unequal size", "fp16"],
)
def test_awkward_problems(folder: Path, causal: bool, more: dict[str, object]) -> None:
    found = verdict(Emulator(folder), forward(600, 128, causal, **more), IN_PAIRS)
    assert found.ok, found.message


def test_two_emulated_kernels_in_one_process_share_nothing(folder: Path) -> None:
    """Statics of the one, of other sizes, were taken for the other's: what the loader makes one is marked u."""
    for roles in (IN_PAIRS, cluster_roles.BYTE_DEFAULTS[256, False][0]):
        head_dim = 128 if roles is IN_PAIRS else 256
        assert verdict(Emulator(folder), forward(129, head_dim, False), roles).ok
    libraries = list(folder.glob("*/kernel.so"))
    assert len(libraries) >= 2
    for library in libraries:
        listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
        marks = {line.split()[-1]: line.split()[-2] for line in listed.stdout.splitlines()}
        assert marks["emulate"] == "T"
        assert not [name for name, mark in marks.items() if mark == "u" or "machine" in name or "multiply" in name]


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_order_of_events_matters(folder: Path, seed: int) -> None:
    found = verdict(Emulator(folder, seed=seed), forward(777, 128, True), IN_PAIRS)
    assert found.ok, found.message


@pytest.mark.parametrize("edit", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_found(folder: Path, edit: tuple[str, str]) -> None:
    """Of blocks whose scales differ; how the threads' order is found wrong the 16-bit test shows."""
    problem = forward(777, 128, False, uneven=1.0)
    assert is_found(lambda seed: verdict(Emulator(folder, edit, seed), problem, IN_PAIRS), seeds=1)
