"""The README's test command downloads no PyTorch, so every test module must be collected where there is none."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# pytest in a process that finds neither PyTorch nor what comes with it, whether they are installed or not.
PROGRAM = """
import sys
import pytest

class Without:
    def __init__(self, finders):
        self.finders = finders
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "triton", "cuda"):
            return None
        found = (finder.find_spec(name, path, target) for finder in self.finders if hasattr(finder, "find_spec"))
        return next((spec for spec in found if spec is not None), None)
    def find_distributions(self, *arguments):
        for finder in self.finders:
            yield from getattr(finder, "find_distributions", lambda *_: ())(*arguments)

sys.meta_path[:] = [Without(list(sys.meta_path))]
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


def collected(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_module_of_the_kernels_tests_is_collected_or_skipped_without_torch() -> None:
    done = collected("tests/kernels")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "test_cases.py" in done.stdout  # a module that needs no PyTorch


def test_a_module_that_imports_torch_unasked_is_found(tmp_path: Path) -> None:
    (tmp_path / "test_careless.py").write_text("import torch\n\n\ndef test_nothing() -> None:\n    torch.zeros(1)\n")
    assert "No module named 'torch'" in collected(str(tmp_path), "-c", "/dev/null").stdout
