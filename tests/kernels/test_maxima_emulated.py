"""Maxima compared as integers, in emulated CUDA kernels: scores whose signs are what makes that go wrong (`signs`)."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from tests.kernels.emulated import COMPILER, Emulator

if COMPILER is None:
    pytest.skip("there is no C++ compiler here", allow_module_level=True)

from app.kernels import fa3_cuda, fa3_fp8_cuda
from app.kernels.bench import check
from app.kernels.problem import Problem
from app.theory.cluster_roles import ClusterRoles
from tests.kernels import fp8_emulation
from tests.kernels.signs import SIGNS, problem

SMS = 4
CHECKED = ClusterRoles(2, 128, 2, 1, 1, late=25, patient=True, held=8, fitted=True)
AGREEING = ClusterRoles(2, 176, 2, 1, 2, late=25, lazy=True, ordered=True, relying=True, agreeing=True)
IN_BYTES = ClusterRoles(2, 128, 3, 2, 2)
THREE = ClusterRoles(3, 80, 2, 1, 1, 160, 32, lazy=True, ordered=True, relying=True, agreeing=True)
CODED = ClusterRoles(2, 192, 3, 2, 1, 240, 24, late=50, lazy=True, coded=True)
KERNELS = {
    "checked": (fa3_cuda, CHECKED),
    "agreeing": (fa3_cuda, AGREEING),
    "agreeing, not lazy": (fa3_cuda, replace(AGREEING, lazy=False)),
    "agreeing, three consumers": (fa3_cuda, THREE),
    "8 bits": (fa3_fp8_cuda, IN_BYTES),
    "codes": (fa3_fp8_cuda, CODED),
}


@pytest.fixture(autouse=True)
def _quantised_by_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fa3_fp8_cuda, "quantize", fp8_emulation.quantize)


def verdict(emulator: Emulator, kernel: ModuleType, roles: ClusterRoles, given: Problem) -> check.Verdict:
    kernel._loaded.cache_clear()
    with emulator.in_place(SMS):
        bound = kernel.bind(given, roles)
        found = check.results(bound, "forward")
    return check.judge(found, check.truth(given, bound), "bf16")


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("signs", SIGNS)
@pytest.mark.parametrize("name", KERNELS)
def test_scores_of_any_sign_have_the_right_maximum(folder: Path, name: str, signs: str, causal: bool) -> None:
    kernel, roles = KERNELS[name]
    found = verdict(Emulator(folder), kernel, roles, problem(signs, causal))
    assert found.ok, found.message


NO_SIGN_SEEN = ("__any_sync(0xffffffff, sign_in(mine))", "false")
WRONG = {
    "checked: signs are not looked at": ("checked", NO_SIGN_SEEN),
    "8 bits: signs are not looked at": ("8 bits", NO_SIGN_SEEN),
    "codes: signs are not looked at": ("codes", NO_SIGN_SEEN),
    "checked: one row's sign only": ("checked", ("| __float_as_int(two[1])", "| 0")),
    "agreeing: -0 passes for a number without a sign": (
        "agreeing, not lazy",  # the others take no maximum that is below the one before
        ("!sign_in(rows.max)", "rows.max[0] >= 0 && rows.max[1] >= 0"),
    ),
    "agreeing: nobody asks": ("agreeing", ("bool agreed = none_negative();", "bool agreed = true;")),
    "agreeing: every negative maximum is far enough up at the start": ("agreeing", (" && max * scale > -SLACK", "")),
    "agreeing: one row's sign only": ("agreeing", ("| __float_as_int(two[1])", "| 0")),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_maximum_is_found(folder: Path, name: str) -> None:
    of, edit = WRONG[name]
    kernel, roles = KERNELS[of]
    run = partial(verdict, Emulator(folder, edit), kernel, roles)
    found = []
    for signs in SIGNS:
        try:
            found.append(run(problem(signs, False)).ok)
        except RuntimeError:
            found.append(False)
    assert not all(found)
