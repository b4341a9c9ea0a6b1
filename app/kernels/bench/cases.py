"""Reads `cases.toml`: the cases to check kernels on, and the suites of cases to time."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from app.theory.shapes import AttentionShape

FILE = Path(__file__).parent / "cases.toml"


class CasesError(ValueError):
    """The file of cases does not make sense; the message says where."""


@dataclass(frozen=True, slots=True)
class CheckCase:
    """One problem a kernel's results are checked on.

    `spread` is the standard deviation of q, `uneven` that of the binary logarithm of a factor that every 64 rows of q,
    k and v have of their own.
    """

    name: str
    direction: str
    batch: int
    num_heads: int
    seqlen_q: int
    seqlen_k: int
    head_dim: int
    causal: bool
    dtype: str
    spread: float = 1.0
    dropout: float = 0.0
    num_heads_kv: int | None = None
    uneven: float = 0.0

    def __str__(self) -> str:
        """As printed beside a verdict."""
        lengths = f"{self.seqlen_q}" if self.seqlen_q == self.seqlen_k else f"{self.seqlen_q}x{self.seqlen_k}"
        extras = ("", " causal")[self.causal] + (f" x{self.spread:g}" if self.spread != 1 else "")
        extras += f" dropout {self.dropout:g}" if self.dropout else ""
        extras += f" uneven {self.uneven:g}" if self.uneven else ""
        extras += f" kv heads {self.num_heads_kv}" if self.num_heads_kv else ""
        return f"{self.direction} {self.dtype} {self.batch}x{self.num_heads} n {lengths} d {self.head_dim}{extras}"


@dataclass(frozen=True, slots=True)
class TimingCase:
    """One problem to time: self-attention, no dropout."""

    direction: str
    dtype: str
    batch: int
    num_heads: int
    seqlen: int
    head_dim: int
    causal: bool

    @property
    def shape(self) -> AttentionShape:
        """The same as the formulas take it."""
        return AttentionShape(
            self.seqlen, self.head_dim, batch=self.batch, num_heads=self.num_heads, causal=self.causal, dtype=self.dtype
        )

    @property
    def to_check(self) -> CheckCase:
        """The same as the checker takes it."""
        sizes = (self.batch, self.num_heads, self.seqlen, self.seqlen, self.head_dim)
        return CheckCase("timing", self.direction, *sizes, self.causal, self.dtype)

    def __str__(self) -> str:
        """As printed in tables."""
        mask = "causal" if self.causal else "full"
        size = f"{self.batch}x{self.num_heads} n {self.seqlen} d {self.head_dim}"
        return f"{self.direction} {self.dtype} {size} {mask}"


@dataclass(frozen=True, slots=True)
class Cases:
    """Everything in the file."""

    checks: tuple[CheckCase, ...]
    suites: Mapping[str, tuple[TimingCase, ...]]


@cache
def load(path: Path = FILE) -> Cases:
    """The cases of a file. CasesError, naming the table, when a key is missing or unknown."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    checks = [case for entry in table.pop("check", []) for case in _check_cases(entry)]
    suites = {
        name: tuple(dict.fromkeys(case for entry in entries for case in _timing_cases(name, entry)))
        for name, entries in table.pop("suite", {}).items()
    }
    if table:
        raise CasesError(f"{path.name}: unknown table {sorted(table)[0]!r}")
    return Cases(tuple(checks), suites)


def _combinations(entry: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    lists = [value if isinstance(value, list) else [value] for value in entry.values()]
    for values in itertools.product(*lists):
        yield dict(zip(entry, values, strict=True))


def _check_cases(entry: dict[str, Any]) -> Iterator[CheckCase]:
    directions = entry.pop("directions", ["forward"])
    for keys in _combinations(entry):
        for direction in directions:
            try:
                yield CheckCase(direction=direction, **{"seqlen_k": keys["seqlen_q"], **keys})
            except (TypeError, KeyError) as error:
                raise CasesError(f"check {entry.get('name', '(without a name)')!r}: {error}") from error


def _timing_cases(suite: str, entry: dict[str, Any]) -> Iterator[TimingCase]:
    for keys in _combinations(entry):
        if "tokens" in keys:
            keys["batch"] = max(1, keys.pop("tokens") // keys["seqlen"])
            keys["num_heads"] = keys.pop("width") // keys["head_dim"]
        try:
            case = TimingCase(**keys)
        except TypeError as error:
            raise CasesError(f"suite {suite}: {error}") from error
        yield case
