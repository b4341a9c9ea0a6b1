"""The CUDA kernel with e4m3 numbers, run without a GPU, as `test_fa3_emulated.py` runs it with 16 bits.

Triton's interpreter does not carry when it rounds to e4m3, so PyTorch quantises here.
"""

import subprocess
from dataclasses import replace
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
CODED = ClusterRoles(2, 192, 3, 2, 1, 240, 24, late=50, lazy=True, coded=True)
WRONG = {
    "V's scale left out of the sum": ("fmaf(even + odd, scale.back, rows.sum[half])", "even + odd + rows.sum[half]"),
    "V's scale left out of the exponent": ("rows.max[half] - (scale.lift + SHIFT)", "rows.max[half] - SHIFT"),
    "shift left in lse": ("log2_fast(sum) - SHIFT", "log2_fast(sum)"),
    "words in another order": (
        "in_one_word(s[first], s[first + 1], s[first + 4], s[first + 5])",
        "in_one_word(s[first], s[first + 1], s[first + 2], s[first + 3])",
    ),
    "the scale of another block": ("max(tile.first_block + block, 0)", "max(tile.first_block + block - 1, 0)"),
    "V's chunks apart": ("step / 2 * (O_COLUMNS * 64 / 16)", "step / 2 * (O_COLUMNS * 128 / 16)"),
    "half of V's rows": ("(c * O_COLUMNS + rank * V_ROWS) * 64", "(c * O_COLUMNS) * 64"),
}
SUMS = "o[HEAD_DIM / 2 + 2 * half]"
WRONG_CODES = {
    "V's scale left out of the code": ("rows.max[half] - scale.lift;", "rows.max[half];"),
    "the largest number is another": ("TOP_CODE = 126,", "TOP_CODE = 120,"),
    "shift left in lse": ("log2_fast(sum) - SHIFT", "log2_fast(sum)"),
    "words in another order": (
        "in_one_word(s[first], s[first + 1], s[first + 4], s[first + 5])",
        "in_one_word(s[first], s[first + 1], s[first + 2], s[first + 3])",
    ),
    "the last visit's sums left out": (f"rows.sum[half] + {SUMS}) * unit", "rows.sum[half]) * unit"),
    "sums are not rescaled": (f"fmaf({SUMS}, rescale[half], rows.sum[half])", f"{SUMS} + rows.sum[half]"),
    "sums are taken twice": (f"{SUMS} = o[HEAD_DIM / 2 + 2 * half + 1] = 0;", ""),
    "sums in another unit": ("* unit;", "* 1.0f;"),
    "no room for the sums' columns": ("(ROW_BYTES + O_COLUMNS - HEAD_DIM)", "ROW_BYTES"),
}


@pytest.fixture(autouse=True)
def _quantised_by_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fa3_fp8_cuda, "quantize", fp8_emulation.quantize)


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


AWKWARD: dict[str, dict[str, object]] = {
    "shared heads": {"num_heads": 4, "num_heads_kv": 2, "batch": 2},
    "large values": {"spread": 30.0},
    "very large values": {"spread": 1000.0},
    "blocks of unequal size": {"uneven": 1.0},
    "blocks of very unequal size": {"uneven": 4.0},
    "fp16": {"dtype": "fp16"},
}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("roles", [IN_PAIRS, CODED], ids=str)
@pytest.mark.parametrize("more", AWKWARD.values(), ids=AWKWARD)
def test_awkward_problems(folder: Path, roles: ClusterRoles, causal: bool, more: dict[str, object]) -> None:
    found = verdict(Emulator(folder), forward(600, 128, causal, **more), roles)
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
@pytest.mark.parametrize("roles", [IN_PAIRS, replace(CODED, fitted=True)], ids=str)
def test_no_order_of_events_matters(folder: Path, roles: ClusterRoles, seed: int) -> None:
    found = verdict(Emulator(folder, seed=seed), forward(777, 128, True), roles)
    assert found.ok, found.message


@pytest.mark.parametrize("edit", WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_found(folder: Path, edit: tuple[str, str]) -> None:
    """Of blocks whose scales differ; how the threads' order is found wrong the 16-bit test shows."""
    problem = forward(777, 128, False, uneven=1.0)
    assert is_found(lambda seed: verdict(Emulator(folder, edit, seed), problem, IN_PAIRS), seeds=1)


@pytest.mark.parametrize("edit", WRONG_CODES.values(), ids=WRONG_CODES)
def test_a_kernel_with_wrong_codes_is_found(folder: Path, edit: tuple[str, str]) -> None:
    problem = forward(777, 128, False, uneven=1.0)
    assert is_found(lambda seed: verdict(Emulator(folder, edit, seed), problem, CODED), seeds=1)
