"""CUDA C++ kernels of this folder: compiled by NVIDIA's run-time compiler, kept on disk, launched through the driver.

PyTorch's CUDA builds bring both libraries; no other compiler and no headers are needed.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).parent / "cuda"
ARCHITECTURE = "sm_90a"


class CompileError(RuntimeError):
    """The compiler refused a kernel; the message is its log."""


@dataclass(frozen=True, slots=True)
class Cubin:
    """Machine code of one kernel, and what the compiler said about it (registers, spills)."""

    name: str
    code: bytes
    log: str


def compiled(source: str, name: str, constants: Mapping[str, int], headers: Mapping[str, str]) -> Cubin:
    """The kernel `name` of the file `source` with `constants` defined; from the disk when it has been compiled before.

    `headers` are texts made by the caller, by file name; the folder's own headers are found by themselves.
    CompileError with the compiler's log.
    """
    texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.cuh"))} | dict(headers)
    main = (SOURCES / source).read_text(encoding="utf-8")
    options = (
        f"--gpu-architecture={ARCHITECTURE}",
        "--std=c++17",
        "--use_fast_math",
        "--device-as-default-execution-space",
        "--ptxas-options=-v",
        *(f"-D{key}={value}" for key, value in sorted(constants.items())),
    )
    key = hashlib.sha256(repr((_version(), main, texts, options, name)).encode()).hexdigest()[:32]
    code, log = cache_folder() / f"{key}.cubin", cache_folder() / f"{key}.log"
    if not code.is_file():
        made, said = _compile(main, source, texts, options)
        _write(log, said.encode())
        _write(code, made)
    return Cubin(name, code.read_bytes(), log.read_text(encoding="utf-8"))


def cache_folder() -> Path:
    """Where compiled kernels are kept: $EXHIBIT_KERNEL_CACHE, else a folder under the user's cache."""
    given = os.environ.get("EXHIBIT_KERNEL_CACHE")
    folder = Path(given) if given else Path.home() / ".cache" / "exhibit-kernels"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(path: Path, data: bytes) -> None:
    """Several processes may compile the same kernel at once; each puts a whole file in place."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    Path(file.name).replace(path)


@cache
def _version() -> tuple[int, int]:
    from cuda.bindings import nvrtc

    _, major, minor = nvrtc.nvrtcVersion()
    return int(major), int(minor)


def _compile(main: str, name: str, texts: Mapping[str, str], options: Sequence[str]) -> tuple[bytes, str]:
    from cuda.bindings import nvrtc

    status, program = nvrtc.nvrtcCreateProgram(
        main.encode(),
        name.encode(),
        len(texts),
        [text.encode() for text in texts.values()],
        [key.encode() for key in texts],
    )
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CompileError(str(status))
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), [option.encode() for option in options])
    _, size = nvrtc.nvrtcGetProgramLogSize(program)
    log = b" " * size
    nvrtc.nvrtcGetProgramLog(program, log)
    said = log.rstrip(b"\0 ").decode(errors="replace")
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        raise CompileError(said or str(status))
    _, size = nvrtc.nvrtcGetCUBINSize(program)
    code = b" " * size
    nvrtc.nvrtcGetCUBIN(program, code)
    nvrtc.nvrtcDestroyProgram(program)
    return code, said


class Kernel:
    """A kernel loaded onto the current GPU, with `smem_bytes` of shared memory for each thread block."""

    def __init__(self, cubin: Cubin, smem_bytes: int) -> None:
        from cuda.bindings import driver

        self._module = _checked(driver.cuModuleLoadData(cubin.code))
        self._function = _checked(driver.cuModuleGetFunction(self._module, cubin.name.encode()))
        limit = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
        _checked(driver.cuFuncSetAttribute(self._function, limit, smem_bytes))
        self._smem_bytes = smem_bytes

    def launch(self, blocks: int, threads: int, cluster: int, arguments: Sequence[Any]) -> None:
        """Queue it on the current stream; `arguments` are ctypes objects or tensor maps, passed by value."""
        import torch
        from cuda.bindings import driver

        config = driver.CUlaunchConfig()
        config.gridDimX, config.gridDimY, config.gridDimZ = blocks, 1, 1
        config.blockDimX, config.blockDimY, config.blockDimZ = threads, 1, 1
        config.sharedMemBytes = self._smem_bytes
        config.hStream = driver.CUstream(torch.cuda.current_stream().cuda_stream)
        if cluster > 1:
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            attribute.value.clusterDim.x = cluster
            attribute.value.clusterDim.y = 1
            attribute.value.clusterDim.z = 1
            config.attrs, config.numAttrs = [attribute], 1
        places = (ctypes.c_void_p * len(arguments))(*(_address(argument) for argument in arguments))
        _checked(driver.cuLaunchKernelEx(config, self._function, ctypes.addressof(places), 0))


def _address(argument: Any) -> int:
    return int(argument.getPtr()) if hasattr(argument, "getPtr") else ctypes.addressof(argument)


def _checked(answer: tuple[Any, ...]) -> Any:
    """What a driver call gives besides its status. RuntimeError with the driver's name for the error."""
    from cuda.bindings import driver

    status, *rest = answer
    if status != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"CUDA driver: {status.name}")
    return rest[0] if rest else None


def tensor_map(tensor: Any, strides: Sequence[int], box_rows: int, box_chunks: int, chunk_bytes: int = 128) -> Any:
    """How the copy engine finds boxes of a (batch, heads, rows, columns) tensor of 16-bit or e4m3 numbers.

    A box is `box_chunks` × `box_rows` rows of `chunk_bytes` (128 or 64, swizzled) of one head; rows that do not exist
    come as zeros. `strides` are the tensor's, in elements.
    """
    import torch
    from cuda.bindings import driver

    kinds = driver.CUtensorMapDataType
    kind = {
        torch.bfloat16: kinds.CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
        torch.float16: kinds.CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
        torch.float8_e4m3fn: kinds.CU_TENSOR_MAP_DATA_TYPE_UINT8,
    }[tensor.dtype]
    swizzles = driver.CUtensorMapSwizzle
    swizzle = {128: swizzles.CU_TENSOR_MAP_SWIZZLE_128B, 64: swizzles.CU_TENSOR_MAP_SWIZZLE_64B}[chunk_bytes]
    batch, heads, rows, columns = tensor.shape
    size = tensor.element_size()
    chunk = chunk_bytes // size
    u32, u64 = driver.cuuint32_t, driver.cuuint64_t
    return _checked(
        driver.cuTensorMapEncodeTiled(
            kind,
            5,
            tensor.data_ptr(),
            [u64(n) for n in (chunk, rows, columns // chunk, heads, batch)],
            [u64(size * n) for n in (strides[2], chunk, strides[1], strides[0])],
            [u32(n) for n in (chunk, box_rows, box_chunks, 1, 1)],
            [u32(1)] * 5,
            driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
            swizzle,
            driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
            driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
        )
    )
