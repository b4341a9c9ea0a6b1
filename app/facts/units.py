"""Units of the ledger: how each is written on the page and what one of it is in base units.

Expressions are evaluated in base units (bytes, bits for Gb, seconds, operations, mm²), so that
`h100_peak_fp16 / h100_hbm_bandwidth` divides operations per second by bytes per second. Decimal
prefixes are powers of ten, KiB and MiB powers of two.
"""

from __future__ import annotations

from dataclasses import dataclass

NBSP = "\u00a0"  # keeps a value and its unit on one line


@dataclass(frozen=True, slots=True)
class Unit:
    """How one unit is written after its value, and its size in base units."""

    written: str
    factor: float = 1.0
    spaced: bool = True


UNITS: dict[str, Unit] = {
    # amounts of data
    "bytes": Unit("bytes"),
    "KiB": Unit("KiB", 1024.0),
    "MiB": Unit("MiB", 1024.0**2),
    "KB": Unit("KB", 1e3),
    "MB": Unit("MB", 1e6),
    "GB": Unit("GB", 1e9),
    "bits": Unit("bits"),
    "Gb": Unit("Gb", 1e9),
    # rates
    "GB/s": Unit("GB/s", 1e9),
    "TB/s": Unit("TB/s", 1e12),
    "Gb/s": Unit("Gb/s", 1e9),
    "MHz": Unit("MHz", 1e6),
    "TFLOP/s": Unit("TFLOP/s", 1e12),
    "trillion/s": Unit("trillion/s", 1e12),
    "bytes per clock": Unit("bytes per clock"),
    # arithmetic
    "FLOP": Unit("FLOP"),
    "GFLOP": Unit("GFLOP", 1e9),
    "FLOP/byte": Unit("FLOP/byte"),
    # time
    "µs": Unit("µs", 1e-6),
    "ms": Unit("ms", 1e-3),
    "min": Unit("min", 60.0),
    "days": Unit("days", 86_400.0),
    # length and area
    "mm²": Unit("mm²"),
    # ratios
    "×": Unit("×", 1.0, spaced=False),
    "%": Unit("%", 0.01),
    "number": Unit(""),
    # counted things
    "SMs": Unit("SMs"),
    "GPCs": Unit("GPCs"),
    "stacks": Unit("stacks"),
    "sites": Unit("sites"),
    "layers": Unit("layers"),
    "lines": Unit("lines"),
    "controllers": Unit("controllers"),
    "tensor cores": Unit("tensor cores"),
    "billion transistors": Unit("billion transistors", 1e9),
    "rows": Unit("rows"),
    "passes": Unit("passes"),
    "scores": Unit("scores"),
    "matrix multiplications": Unit("matrix multiplications"),
    "numbers per row": Unit("numbers per row"),
    "number per row": Unit("number per row"),
    "registers": Unit("registers"),
    # a claim without a figure: its value is a phrase
    "statement": Unit(""),
}
