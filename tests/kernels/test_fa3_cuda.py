"""The kernel in CUDA C++, as far as a machine without a GPU can tell: it compiles, fits, spills nothing, and its two
tensor-core instructions name every register once."""

import re
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from app.kernels import capability

if not (capability.has_torch() and capability.has_nvrtc()):
    pytest.skip("PyTorch or cuda-bindings is not installed", allow_module_level=True)

from app.kernels import fa3_cuda, fa3_cuda_backward, nvrtc, wgmma
from app.kernels.problem import KernelInputError
from app.theory import backward_roles, cluster_roles
from app.theory.backward_roles import BackwardRoles
from app.theory.cluster_roles import ClusterRoles
from app.theory.gpus import GPUS
from app.theory.hopper_roles import WARPGROUP_THREADS

CODE = sorted(
    {
        (head_dim, causal, fa3_cuda.compiled_part(roles))
        for (head_dim, causal), defaults in cluster_roles.DEFAULTS.items()
        for roles in defaults
    },
    key=str,
)

# A thread's registers are given out in eights (PTX ISA, setmaxnreg); an SM has 64 Ki of them, the ledger says.
REGISTERS_OF_SM, GRANULE = GPUS["h100_sxm5"].rmem_per_sm_bytes // 4, 8
FEWEST = 24  # registers a producer is left with
BACKWARD = [
    (head_dim, causal, roles)
    for head_dim in backward_roles.HEAD_DIMS
    for causal in (False, True)
    for roles in backward_roles.choices(head_dim)
]


@pytest.fixture(scope="module", autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXHIBIT_KERNEL_CACHE", str(tmp_path_factory.mktemp("cubins")))
        yield


@pytest.mark.parametrize(("head_dim", "causal", "roles"), CODE, ids=str)
def test_it_compiles_without_spills_and_the_tensor_cores_run_freely(
    head_dim: int, causal: bool, roles: ClusterRoles
) -> None:
    for few in products(roles, causal):
        given = fa3_cuda.compiled(head_dim, causal, "bf16", roles, few=few)
        if roles.producer_registers == FEWEST:
            # What spills is the producer's, which mostly waits: with more registers for it nothing does.
            assert spilled_bytes(given) <= FEWEST * 4
            given = fa3_cuda.compiled(head_dim, causal, "bf16", replace(roles, producer_registers=2 * FEWEST), few=few)
        assert_runs_freely(given)


def products(roles: ClusterRoles, causal: bool, element_bytes: int = 2) -> set[int]:
    """Every size of the smaller products that some length asks for; 0 when all are whole."""
    lengths = range(1, roles.block_n + 1)
    return {cluster_roles.few_keys(roles, n, causal=causal, element_bytes=element_bytes) for n in lengths}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("head_dim", [128, 256])
def test_so_do_blocks_of_bytes(head_dim: int, causal: bool) -> None:
    for roles in map(fa3_cuda.compiled_part, cluster_roles.byte_choices(head_dim)):
        for few in products(roles, causal, element_bytes=1):
            assert_runs_freely(fa3_cuda.compiled(head_dim, causal, "bf16", roles, "e4m3", few))
        smem = cluster_roles.smem(roles, head_dim, element_bytes=1)
        assert smem.total <= GPUS["h100_sxm5"].smem_per_block_bytes


@pytest.mark.parametrize(("head_dim", "causal", "roles"), BACKWARD, ids=str)
def test_so_does_the_backward_pass(head_dim: int, causal: bool, roles: BackwardRoles) -> None:
    for dtype in ("bf16", "fp16"):
        assert_runs_freely(fa3_cuda_backward.compiled(head_dim, causal, dtype, roles))
    assert backward_roles.smem_bytes(roles, head_dim) <= GPUS["h100_sxm5"].smem_per_block_bytes


def spilled_bytes(cubin: nvrtc.Cubin) -> int:
    spilled = re.findall(r"(\d+) bytes spill stores", cubin.log)
    assert spilled
    return sum(map(int, spilled))


def assert_runs_freely(cubin: nvrtc.Cubin) -> None:
    assert cubin.code.startswith(b"\x7fELF")
    assert spilled_bytes(cubin) == 0
    assert "erialized" not in cubin.log  # ptxas says so when it makes WGMMAs wait for one another


def test_codes_and_maxima_take_the_instructions_they_were_made_for() -> None:
    """A word of four codes is two instructions that convert and pack; of three bits' maxima one is made."""
    triton = pytest.importorskip("triton")  # it brings the disassembler
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    roles = cluster_roles.BYTE_DEFAULTS[128, False][2]
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        cubin = fa3_cuda.compiled(128, False, "bf16", fa3_cuda.compiled_part(roles), "e4m3")
        Path(file.name).write_bytes(cubin.code)
        listing = subprocess.run([tool, "-sass", file.name], capture_output=True, text=True, check=True).stdout
    visits = listing.count("QGMMA.64x192x32") // 4
    words = roles.block_n // 8
    assert visits > 0
    assert listing.count("F2IP.U8.F32.NTZ") == 2 * words * visits
    assert listing.count("VIMNMX3") == roles.block_n // 4 * visits
    for word in ("I2IP", "F2FP.SATFINITE.E4M3"):
        assert word not in listing


EVERYTHING = [
    *(roles for head_dim in (64, 128, 256) for roles in cluster_roles.choices(head_dim)),
    *(roles for head_dim in (128, 256) for roles in cluster_roles.byte_choices(head_dim)),
    *(roles for head_dim in backward_roles.HEAD_DIMS for roles in backward_roles.choices(head_dim)),
]


@pytest.mark.parametrize("roles", dict.fromkeys(EVERYTHING), ids=str)
def test_the_roles_take_no_more_registers_than_the_thread_block_was_given(roles: ClusterRoles | BackwardRoles) -> None:
    """What is asked for beyond that is waited for until another role gives some back, which none does: a deadlock."""
    given = REGISTERS_OF_SM // roles.threads // GRANULE * GRANULE * roles.threads
    consumers = roles.threads // WARPGROUP_THREADS - 1
    asked = consumers * roles.consumer_registers + roles.producer_registers
    assert asked * WARPGROUP_THREADS <= given
    assert roles.consumer_registers % GRANULE == roles.producer_registers % GRANULE == 0


def test_roles_that_cannot_serve_a_mask_are_refused_where_the_source_would_refuse_them(monkeypatch) -> None:
    """Pairs of 192 rows under a mask: two stages of 80 keys are too few for what passes by unseen, three are enough."""
    pairs = cluster_roles.DEFAULTS[128, False][3]
    with pytest.raises(KernelInputError, match="causal"):
        fa3_cuda.compiled(128, True, "bf16", pairs)
    assert_runs_freely(fa3_cuda.compiled(128, True, "bf16", replace(pairs, stages=3)))
    monkeypatch.setattr(cluster_roles.ClusterRoles, "serves", lambda *_: True)
    with pytest.raises(nvrtc.CompileError, match="pass by unseen"):
        fa3_cuda.compiled(128, True, "bf16", pairs)


def test_fp16_is_another_instruction_and_other_code() -> None:
    roles = cluster_roles.DEFAULTS[128, False][0]
    assert ".f16.f16" in wgmma.product("product_ss", 128, "fp16", left="smem")
    codes = {fa3_cuda.compiled(128, False, dtype, roles).code for dtype in ("bf16", "fp16")}
    assert len(codes) == 2


@pytest.mark.parametrize("left", ["smem", "turned", "registers"])
@pytest.mark.parametrize("columns", [64, 80, 256])
def test_an_instruction_names_each_register_of_its_result_once(columns: int, left: str) -> None:
    text = wgmma.product("product", columns, "bf16", left=left)
    names = re.search(r"bf16\.bf16\"?\s*\"? \{([^}]*)\}", text)
    assert names is not None
    assert names[1].split(", ") == [f"%{i}" for i in range(columns // 2)]
    assert re.findall(r'"\+f"\(d\[(\d+)\]\)', text) == [str(i) for i in range(columns // 2)]


def test_what_was_compiled_is_kept_and_a_changed_constant_is_not_taken_for_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("EXHIBIT_KERNEL_CACHE", str(tmp_path))
    roles = cluster_roles.DEFAULTS[64, False][0]
    first = fa3_cuda.compiled(64, False, "bf16", roles)
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert fa3_cuda.compiled(64, False, "bf16", roles) == first
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == kept
    assert fa3_cuda.compiled(64, True, "bf16", roles).code != first.code
    assert len(list(tmp_path.iterdir())) == 2 * len(kept)


def test_the_compiler_s_complaint_is_the_message(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("EXHIBIT_KERNEL_CACHE", str(tmp_path))
    with pytest.raises(nvrtc.CompileError, match="HEAD_DIM"):
        nvrtc.compiled("fa3_forward.cu", "fa3_forward", {"CAUSAL": 0}, {"wgmma.cuh": ""})
    assert not list(tmp_path.glob("*.cubin"))
