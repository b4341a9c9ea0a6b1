"""CUDA kernels of this project on a processor: the real source, `emulator/hopper.cuh` in place of Hopper's functions.

Stands in for `app.kernels.nvrtc` (`Kernel`, `compiled`, `tensor_map`), so a kernel's own `bind` does the rest.
"""

import ctypes
import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from app.kernels import launching, nvrtc
from app.kernels.bench.cases import CheckCase
from app.kernels.bench.check import Verdict

EMULATOR = Path(__file__).parent / "emulator"
COMPILER = shutil.which("g++")
# Every library has its own machine: g++ would else give all that are loaded one copy of each static, the first one's.
FLAGS = (
    "-std=c++17",
    "-O2",
    "-Wno-all",
    "-Werror=array-bounds",
    "-shared",
    "-fPIC",
    "-fpermissive",
    "-fvisibility=hidden",
    "-fno-gnu-unique",
)
PRODUCT = re.compile(
    r"void (?P<name>\w+)\(float \(&d\)\[\d+\], (?P<left>[^)]*), u64 b, int keep\).*?"
    r"m64n(?P<columns>\d+)k(?:16|32).*?, p, 1, 1(?P<turned>[01, ]*);",
    re.DOTALL,
)


SEEDS = 8


def case(direction: str, seqlen: int, head_dim: int, causal: bool, **more: object) -> CheckCase:
    """Self-attention of one sequence and two heads, if not given otherwise."""
    given = {"batch": 1, "num_heads": 2, "dtype": "bf16", **more}
    return CheckCase("", direction, seqlen_q=seqlen, seqlen_k=seqlen, head_dim=head_dim, causal=causal, **given)  # type: ignore[arg-type]


def is_found(run: Callable[[int], Verdict], seeds: int = 2 * SEEDS) -> bool:
    """Whether a wrong kernel, run with one seed after the other, breaks off or gives a wrong result."""
    for seed in range(seeds):
        try:
            if not run(seed).ok:
                return True
        except RuntimeError:
            return True
    return False


class TensorMap(ctypes.Structure):
    """`TensorMap` of the emulator."""

    _fields_ = (
        ("base", ctypes.c_void_p),
        ("extent", ctypes.c_longlong * 4),
        ("stride", ctypes.c_longlong * 4),
        ("box_rows", ctypes.c_int),
        ("box_chunks", ctypes.c_int),
        ("chunk_bytes", ctypes.c_int),
    )


def tensor_map(
    tensor: torch.Tensor, strides: Sequence[int], box_rows: int, box_chunks: int, chunk_bytes: int = 128
) -> TensorMap:
    batch, heads, rows, columns = tensor.shape
    size = tensor.element_size()
    extent = (ctypes.c_longlong * 4)(rows, columns * size // chunk_bytes, heads, batch)
    stride = (ctypes.c_longlong * 4)(strides[2] * size, chunk_bytes, strides[1] * size, strides[0] * size)
    return TensorMap(tensor.data_ptr(), extent, stride, box_rows, box_chunks, chunk_bytes)


def products(header: str) -> str:
    """The tensor-core instructions of a `wgmma.cuh`, as calls of the emulator; what is turned is read off the PTX."""
    found = list(PRODUCT.finditer(header))
    assert len(found) == header.count("wgmma.mma_async")
    text = '#pragma once\n#include "hopper.cuh"\n'
    for each in found:
        turned = ["true" if flag == "1" else "false" for flag in re.findall("[01]", each["turned"]) or "00"]
        count = int(each["columns"]) // 2
        if "a0" in each["left"]:
            takes = ", ".join(f"const u32& a{i}" for i in range(4))
            call = f"product_of_registers<{each['columns']}>(d, a0, a1, a2, a3, b, {turned[0]}, keep)"
        else:
            takes = "u64 a"
            call = f"product_of_smem<{each['columns']}>(d, a, {turned[0]}, b, {turned[1]}, keep)"
        text += f"inline void {each['name']}(float (&d)[{count}], {takes}, u64 b, int keep) {{ {call}; }}\n"
    return text


class Emulator:
    """Builds kernels in `folder` and runs them; `seed` decides in which order threads, copies and products go on.

    `edit`, a passage of the source and what to put in its place, makes a wrong kernel of a right one.
    """

    def __init__(self, folder: Path, edit: tuple[str, str] | None = None, seed: int = 0) -> None:
        self.folder, self.edit, self.seed = folder, edit, seed

    def compiled(self, source: str, name: str, constants: Mapping[str, int], headers: Mapping[str, str]) -> ctypes.CDLL:
        key = hashlib.sha256(repr((source, sorted(constants.items()), self.edit)).encode()).hexdigest()[:16]
        place = self.folder / key
        if not (place / "kernel.so").is_file():
            place.mkdir(parents=True, exist_ok=True)
            for path in (nvrtc.SOURCES / source, *nvrtc.SOURCES.glob("*.cuh"), *EMULATOR.iterdir()):
                shutil.copy(path, place)  # the emulator's come last and take the place of the real ones
            (place / "wgmma.cuh").write_text(products(headers["wgmma.cuh"]))
            if self.edit:
                self._put_wrong(place)
            text = (place / source).read_text()
            takes = re.search(name + r"\(([^{]*)\) \{", text)
            assert takes is not None
            maps = takes[1].count("TensorMap")
            call = f"{name}({', '.join(f'maps[{i}]' for i in range(maps))}, arguments)"
            defines = {"KERNEL_FILE": f'"{source}"', "KERNEL_CALL": call, "MAPS": maps, **constants}
            assert COMPILER is not None
            given = [f"-D{key}={value}" for key, value in defines.items()]
            command = [COMPILER, *FLAGS, *given, "launch.cpp", "-o", "kernel.so"]
            run = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            assert run.returncode == 0, run.stderr[:4000]
        library = ctypes.CDLL(str(place / "kernel.so"))
        library.emulate.restype = ctypes.c_char_p
        return library

    def _put_wrong(self, place: Path) -> None:
        """The softmax of 16 bits and that of 8 may have the passage alike; only one of them is compiled."""
        assert self.edit is not None
        files = [path for path in place.glob("*.cu*") if self.edit[0] in path.read_text()]
        assert files, "the passage stands nowhere"
        for path in files:
            text = path.read_text()
            assert text.count(self.edit[0]) == 1
            path.write_text(text.replace(*self.edit))

    def kernel(self, library: ctypes.CDLL, smem_bytes: int) -> "Kernel":
        return Kernel(self, library, smem_bytes)

    @contextmanager
    def in_place(self, multiprocessors: int) -> Iterator[None]:
        """While this lasts, `bind` of a CUDA kernel takes tensors in the processor's memory."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(nvrtc, "compiled", self.compiled)
            patch.setattr(nvrtc, "Kernel", self.kernel)
            patch.setattr(nvrtc, "tensor_map", tensor_map)
            patch.setattr(launching, "multiprocessors", lambda _: multiprocessors)
            patch.setattr(launching, "compiling", lambda: False)
            yield


class Kernel:
    """Takes the place of `nvrtc.Kernel`."""

    def __init__(self, emulator: Emulator, library: ctypes.CDLL, smem_bytes: int) -> None:
        self.emulator, self.library, self.smem_bytes = emulator, library, smem_bytes

    def launch(self, blocks: int, threads: int, cluster: int, arguments: Sequence[Any]) -> None:
        """RuntimeError with what the emulator found: a deadlock and who waits, an address beyond shared memory."""
        places = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(each) for each in arguments))
        sizes = (ctypes.c_size_t * len(arguments))(*(ctypes.sizeof(each) for each in arguments))
        assert blocks % cluster == 0
        problem = self.library.emulate(
            blocks // cluster, cluster, threads, self.smem_bytes, ctypes.c_ulonglong(self.emulator.seed), places, sizes
        ).decode()
        if problem:
            raise RuntimeError(problem)
