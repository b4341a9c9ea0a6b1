"""Writes the tensor-core instructions of the CUDA C++ kernels: an instruction names every register of its result.

Source: PTX ISA, wgmma.mma_async.
"""

from __future__ import annotations

PTX_TYPES = {"bf16": "bf16", "fp16": "f16", "e4m3": "e4m3"}
DEPTHS = {"bf16": 16, "fp16": 16, "e4m3": 32}


def product(name: str, columns: int, dtype: str, *, left: str) -> str:
    """One instruction as a function: d[64, columns] (+)= left[64, depth] b[depth, columns], 32-bit sums.

    `dtype` is bf16 or fp16, of depth 16, or e4m3, of depth 32. `left` is "smem" (both operands' rows lie along the
    sum), "turned" (the left one's rows lie across it), "registers" (and b's rows lie across the sum, as V's do; with
    e4m3 they lie along it, there is no other way) or "held" (in registers too, and b's rows lie along the sum).
    """
    kind, count = PTX_TYPES[dtype], columns // 2
    results = ", ".join(f"%{i}" for i in range(count))
    constraints = ", ".join(f'"+f"(d[{i}])' for i in range(count))
    if left in ("registers", "held"):
        takes = "u32 a0, u32 a1, u32 a2, u32 a3"
        operand = "{" + ", ".join(f"%{count + i}" for i in range(4)) + "}"
        inputs = ", ".join(f'"r"(a{i})' for i in range(4))
        used, turned = 4, "1" if left == "registers" else "0"
    else:
        takes, operand, inputs, used = "u64 a", f"%{count}", '"l"(a)', 1
        turned = "1, 0" if left == "turned" else "0, 0"
    turned = "" if dtype == "e4m3" else f", {turned}"
    right, keep = f"%{count + used}", f"%{count + used + 1}"
    return f"""
__device__ __forceinline__ void {name}(float (&d)[{count}], {takes}, u64 b, int keep) {{
    asm volatile(
        "{{ .reg .pred p; setp.ne.b32 p, {keep}, 0;"
        " wgmma.mma_async.sync.aligned.m64n{columns}k{DEPTHS[dtype]}.f32.{kind}.{kind}"
        " {{{results}}}, {operand}, {right}, p, 1, 1{turned}; }}"
        : {constraints}
        : {inputs}, "l"(b), "r"(keep));
}}"""


def header(*products: str) -> dict[str, str]:
    """`wgmma.cuh` of a kernel that needs these."""
    return {"wgmma.cuh": "\n".join(("#pragma once", *products))}
