"""How the CUDA kernel's thread blocks come by their tiles: told through shared memory, drawn from one list, done twice.

Run without a GPU like the rest of the kernel (`test_fa3_emulated.py`). Thread blocks run one after another here, so the
first draws all that is left; that several draw at once is for `test_on_gpu.py` and `bench --check`.
"""

from functools import partial
from pathlib import Path

import pytest
import torch

from tests.kernels.emulated import COMPILER, SEEDS, Emulator, case, is_found

if COMPILER is None:
    pytest.skip("there is no C++ compiler here", allow_module_level=True)

from app.kernels import fa3_cuda
from app.kernels.bench import check
from app.theory.cluster_roles import ClusterRoles

SMS = 3
DEALT = ClusterRoles(2, 80, 2, 2, 1)
DRAWN = ClusterRoles(2, 80, 2, 2, 1, drawn=True)
ONE_Q = ClusterRoles(2, 80, 2, 1, 1, drawn=True)
PROBLEM = partial(case, "forward")(500, 64, True)


def twice(emulator: Emulator, roles: ClusterRoles) -> tuple[check.Verdict, dict[str, torch.Tensor]]:
    """The verdict on the second of two runs, before which nothing is left of the first one's results, and its results.

    RuntimeError if a run does not come to its end.
    """
    fa3_cuda._loaded.cache_clear()
    problem, _ = check.draw(PROBLEM, "cpu", seed=7)
    with emulator.in_place(SMS):
        bound = fa3_cuda.bind(problem, roles)
        for tensor in check.results(bound, "forward").values():
            tensor.fill_(float("nan"))
        found = check.results(bound, "forward")
    return check.judge(found, check.truth(problem, bound), PROBLEM.dtype), found


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("roles", [DRAWN, ONE_Q], ids=str)
def test_tiles_that_are_drawn_give_the_same_bits_as_tiles_that_are_dealt(
    folder: Path, roles: ClusterRoles, seed: int
) -> None:
    verdict, found = twice(Emulator(folder, seed=seed), roles)
    assert verdict.ok, verdict.message
    dealt = twice(Emulator(folder), DEALT)[1]
    for name, tensor in found.items():
        assert torch.equal(tensor, dealt[name]), name


WAIT = "        barrier_wait(bars.q_empty(slot), (turn / Q_STAGES & 1) ^ 1);\n"
SCORES = "            scores_and_output(s, keys_before);\n"
WRONG = {
    "the count is left as it is": (DRAWN, ("if (before == a.listed - 1) *a.drawn = 0;", "")),
    "a tile is left out": (DRAWN, ("index = gridDim.x + before;", "index = gridDim.x + before + 1;")),
    "the next tile is told while this one is worked on": (ONE_Q, (WAIT, "")),
    "the end is not told": (DEALT, ("    barrier_arrive(bars.q_full(turn % Q_STAGES));\n", "")),
    "the end is told as another tile": (DEALT, ("tell(turn, Tile{});", "")),
    "q's place is given back before its last scores": (
        ONE_Q,
        (SCORES, "            if (block == 0) give_q_back();\n" + SCORES),
    ),
    "q's place is given back twice": (
        ONE_Q,
        ("if (!ALL_HELD && (Q_STAGES > 1 || last == 0)) give_q_back();", "give_q_back();"),
    ),
}


@pytest.mark.parametrize(("roles", "edit"), WRONG.values(), ids=WRONG)
def test_a_wrong_kernel_is_found(folder: Path, roles: ClusterRoles, edit: tuple[str, str]) -> None:
    assert is_found(lambda seed: twice(Emulator(folder, edit, seed), roles)[0])
