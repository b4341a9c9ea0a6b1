"""Walkers: visit every block, look at the mask entry by entry, and add up bytes as they go.

An independent second opinion on the closed forms of `app.theory.traffic`. They share no code with it: which
blocks exist is decided by asking for one (query, key) pair the mask lets through, heads are walked one by one, and rows
are counted as ranges.
"""

from collections import Counter
from dataclasses import dataclass

ELEMENT = {"fp16": 2, "bf16": 2, "fp8": 1, "fp32": 4}


@dataclass(frozen=True)
class Problem:
    seqlen: int
    head_dim: int
    block_m: int
    block_n: int
    causal: bool = False
    batch: int = 1
    num_heads: int = 1
    num_heads_kv: int = 1
    dtype: str = "fp16"


def cut(length: int, block: int) -> list[range]:
    rows = list(range(length))
    return [range(part[0], part[-1] + 1) for part in (rows[i : i + block] for i in range(0, length, block))]


def sees(problem: Problem, queries: range, keys: range) -> bool:
    if not problem.causal:
        return True
    return any(key <= query for query in queries for key in keys)


class Ledger:
    """Bytes by (tensor, "read" or "written")."""

    def __init__(self) -> None:
        self.bytes: Counter[tuple[str, str]] = Counter()

    def read(self, tensor: str, amount: int) -> None:
        self.bytes[tensor, "read"] += amount

    def write(self, tensor: str, amount: int) -> None:
        self.bytes[tensor, "written"] += amount

    def total(self) -> int:
        return sum(self.bytes.values())


def groups(problem: Problem):
    """Each key/value head of each sequence with the number of query heads that share it."""
    for _sequence in range(problem.batch):
        for _head in range(problem.num_heads_kv):
            yield range(problem.num_heads // problem.num_heads_kv)


def rows_bytes(problem: Problem, rows: range, element: int | None = None) -> int:
    return sum(problem.head_dim * (element or ELEMENT[problem.dtype]) for _ in rows)


def least_forward(problem: Problem) -> Ledger:
    ledger = Ledger()
    everything = range(problem.seqlen)
    for group in groups(problem):
        ledger.read("k", rows_bytes(problem, everything))
        ledger.read("v", rows_bytes(problem, everything))
        for _ in group:
            ledger.read("q", rows_bytes(problem, everything))
            ledger.write("o", rows_bytes(problem, everything))
    return ledger


def standard_forward(problem: Problem, *, mask_kernel: bool = False) -> Ledger:
    ledger = Ledger()
    element = ELEMENT[problem.dtype]
    q_blocks, k_blocks = cut(problem.seqlen, problem.block_m), cut(problem.seqlen, problem.block_n)
    for group in groups(problem):
        for keys in k_blocks:
            ledger.read("k", rows_bytes(problem, keys))
            ledger.read("v", rows_bytes(problem, keys))
        for _ in group:
            for queries in q_blocks:
                ledger.read("q", rows_bytes(problem, queries))
                ledger.write("o", rows_bytes(problem, queries))
                for keys in k_blocks:
                    tile = len(queries) * len(keys) * element
                    ledger.write("s", tile)
                    if mask_kernel:
                        ledger.read("s", tile)
                        ledger.write("s", tile)
                    ledger.read("s", tile)
                    ledger.write("p", tile)
                    ledger.read("p", tile)
    return ledger


def fa1_forward(problem: Problem, *, init: bool = False, fp32_output: bool = False) -> Ledger:
    ledger = Ledger()
    o, o_element = ("o_acc", 4) if fp32_output else ("o", None)
    q_blocks, k_blocks = cut(problem.seqlen, problem.block_m), cut(problem.seqlen, problem.block_n)
    for group in groups(problem):
        if init:
            for _ in group:
                ledger.write(o, rows_bytes(problem, range(problem.seqlen), o_element))
                ledger.write("stats", 2 * 4 * problem.seqlen)
        for keys in k_blocks:
            ledger.read("k", rows_bytes(problem, keys))
            ledger.read("v", rows_bytes(problem, keys))
            for _ in group:
                for queries in q_blocks:
                    if not sees(problem, queries, keys):
                        continue
                    ledger.read("q", rows_bytes(problem, queries))
                    ledger.read(o, rows_bytes(problem, queries, o_element))
                    ledger.write(o, rows_bytes(problem, queries, o_element))
                    ledger.read("stats", 2 * 4 * len(queries))
                    ledger.write("stats", 2 * 4 * len(queries))
    return ledger


def fa2_forward(problem: Problem, *, lse: bool = False) -> Ledger:
    ledger = Ledger()
    q_blocks, k_blocks = cut(problem.seqlen, problem.block_m), cut(problem.seqlen, problem.block_n)
    for group in groups(problem):
        for queries in q_blocks:
            for _ in group:
                ledger.read("q", rows_bytes(problem, queries))
            for keys in k_blocks:
                if sees(problem, queries, keys):
                    ledger.read("k", rows_bytes(problem, keys))
                    ledger.read("v", rows_bytes(problem, keys))
            for _ in group:
                ledger.write("o", rows_bytes(problem, queries))
                if lse:
                    ledger.write("lse", 4 * len(queries))
    return ledger


def score_entries_visited(problem: Problem) -> int:
    """Entries in the visited blocks of one head."""
    return sum(
        len(queries) * len(keys)
        for queries in cut(problem.seqlen, problem.block_m)
        for keys in cut(problem.seqlen, problem.block_n)
        if sees(problem, queries, keys)
    )
