"""The list of kernels: complete, consistent, and readable without torch."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.kernels import capability, registry
from app.kernels.bench import record
from app.theory import traffic

ROOT = Path(__file__).parents[2]


def test_ids_are_unique_and_can_be_looked_up() -> None:
    assert len(registry.BY_ID) == len(registry.KERNELS)
    assert registry.get("fa2_triton").title == "FlashAttention-2 style"
    with pytest.raises(KeyError, match="there is no kernel 'fa9'"):
        registry.get("fa9")


@pytest.mark.parametrize("kernel", registry.KERNELS, ids=lambda kernel: kernel.id)
def test_every_launcher_is_a_function_in_its_file(kernel: registry.Kernel) -> None:
    module, function = kernel.launcher.split(":")
    text = (ROOT / (module.replace(".", "/") + ".py")).read_text()
    assert re.search(rf"^def {function}\(", text, re.MULTILINE)
    assert set(kernel.needs) <= set(capability.QUESTIONS)


@pytest.mark.parametrize("kernel", registry.of_kind("rung", "peer"), ids=lambda kernel: kernel.id)
def test_what_it_is_counted_as_can_be_counted(kernel: registry.Kernel) -> None:
    assert kernel.id in record.COLUMNS
    if kernel.counted_as is None:
        return
    model, forward, backward = kernel.counted_as
    assert forward in traffic.VARIANTS[model, "forward"]
    assert (backward is None) == ("backward" not in kernel.directions)
    if backward is not None:
        assert backward in traffic.VARIANTS[model, "backward"]


def test_only_a_kernel_that_says_so_rounds_its_inputs() -> None:
    """What is bound must then give the problem its quantised inputs stand for, or the general rule is applied."""
    rounding = {kernel.id: kernel.quantized for kernel in registry.KERNELS if kernel.quantized}
    assert rounding == {"fa3_fp8_gluon": "e4m3", "fa3_fp8_cuda": "e4m3"}
    for kernel in registry.of_kind("rung"):
        module = kernel.launcher.partition(":")[0]
        text = (ROOT / (module.replace(".", "/") + ".py")).read_text()
        assert ("meant=" in text) == (kernel.quantized is not None)


def test_a_kernel_says_why_it_cannot_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capability, "missing", lambda needs: None)
    fa1, flash = registry.get("fa1_triton"), registry.get("sdpa_flash")
    assert fa1.cannot_run(direction="forward", dtype="bf16", head_dim=64) is None
    assert fa1.cannot_run(direction="backward", dtype="bf16", head_dim=64) == "it has no backward pass"
    assert fa1.cannot_run(direction="forward", dtype="fp8", head_dim=64) == "it has no fp8"
    assert fa1.cannot_run(direction="forward", dtype="bf16", head_dim=96) == "it has no head_dim 96"
    hopper = registry.get("fa3_cuda")
    assert hopper.cannot_run(direction="backward", dtype="bf16", head_dim=128) is None
    assert hopper.cannot_run(direction="forward", dtype="bf16", head_dim=256) is None
    wanted = "its backward pass has no head_dim 256"
    assert hopper.cannot_run(direction="backward", dtype="bf16", head_dim=256) == wanted
    one_length = flash.cannot_run(direction="forward", dtype="bf16", head_dim=64, same_lengths=False)
    assert one_length == "it takes queries and keys of one length only"
    monkeypatch.setattr(capability, "missing", lambda needs: "there is no NVIDIA GPU here")
    assert fa1.cannot_run(direction="forward", dtype="bf16", head_dim=64) == "there is no NVIDIA GPU here"


def test_nothing_the_bench_lists_with_imports_torch() -> None:
    program = "import sys; import app.kernels.registry, app.kernels.bench.cli; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_server_imports_neither_torch_nor_triton() -> None:
    program = (
        "import sys\n"
        "class Refuse:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in ('torch', 'triton'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import app.main\n"
        "print('ready')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith("ready"), done.stderr
