"""One kernel, one case, for tools that watch it: what its arguments may be. That it runs is for a GPU to show."""

import subprocess
import sys
from pathlib import Path

import pytest

from app.kernels import capability
from app.kernels.bench import one

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the following arguments are required: KERNEL"),
        (["fa9"], "invalid choice: 'fa9'"),
        (["fa3_gluon", "--head-dim", "96"], "invalid choice: 96"),
        (["fa3_gluon", "--seqlen", "0"], "argument --seqlen: must be at least 1"),
        (["fa3_gluon", "--dtype", "fp64"], "invalid choice: 'fp64'"),
        (["fa3_gluon", "--direction", "sideways"], "invalid choice: 'sideways'"),
    ],
)
def test_unknown_words_are_refused(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        one.main(arguments)
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["fa1_triton", "--num-heads-kv", "1"], 2, "fa1_triton takes as many heads of k and v as of q"),
        (["fa1_triton", "--direction", "backward"], 1, "fa1_triton cannot run: it has no backward pass"),
    ],
)
def test_what_a_kernel_cannot_do_is_said_in_one_sentence(
    arguments: list[str], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert one.main(arguments) == code
    assert capsys.readouterr().err == f"bench.one: {sentence}.\n"


@pytest.mark.skipif(capability.has_cuda(), reason="here is a GPU")
def test_without_a_gpu_it_says_so() -> None:
    command = [sys.executable, "-m", "app.kernels.bench.one", "fa2_triton", "--seqlen", "257", "--head-dim", "128"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("bench.one: fa2_triton cannot run: ")
    assert len(done.stderr.splitlines()) == 1
