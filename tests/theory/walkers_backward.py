"""Walkers of the backward passes; see `walkers`."""

from tests.theory.walkers import ELEMENT, Ledger, Problem, cut, groups, rows_bytes, sees


def least_backward(problem: Problem) -> Ledger:
    ledger = Ledger()
    everything = rows_bytes(problem, range(problem.seqlen))
    for group in groups(problem):
        for tensor in ("k", "v"):
            ledger.read(tensor, everything)
            ledger.write(f"d{tensor}", everything)
        for _ in group:
            ledger.read("q", everything)
            ledger.read("do", everything)
            ledger.write("dq", everything)
    return ledger


def standard_backward(problem: Problem) -> Ledger:
    """Kernel by kernel, each matrix read and written by one kernel once."""
    kernels = [
        (("p", "do"), ("dv",)),
        (("do", "v"), ("dp",)),
        (("p", "dp"), ("ds",)),
        (("ds", "k"), ("dq",)),
        (("ds", "q"), ("dk",)),
    ]
    square = sum(ELEMENT[problem.dtype] for _ in range(problem.seqlen) for _ in range(problem.seqlen))
    rows = rows_bytes(problem, range(problem.seqlen))
    ledger = Ledger()
    for group in groups(problem):
        for reads, writes in kernels:
            for tensors, note in ((reads, ledger.read), (writes, ledger.write)):
                for tensor in tensors:
                    copies = 1 if tensor in ("k", "v", "dk", "dv") else len(group)
                    note(tensor, copies * (square if tensor in ("p", "dp", "ds") else rows))
    return ledger


def fa1_backward(problem: Problem) -> Ledger:
    ledger = Ledger()
    for group in groups(problem):
        for keys in cut(problem.seqlen, problem.block_n):
            ledger.read("k", rows_bytes(problem, keys))
            ledger.read("v", rows_bytes(problem, keys))
            for queries in cut(problem.seqlen, problem.block_m):
                if not sees(problem, queries, keys):
                    continue
                for _ in group:
                    for tensor in ("q", "o", "do", "dq"):
                        ledger.read(tensor, rows_bytes(problem, queries))
                    ledger.read("stats", sum(4 + 4 for _ in queries))
                    ledger.write("dq", rows_bytes(problem, queries))
            ledger.write("dk", rows_bytes(problem, keys))
            ledger.write("dv", rows_bytes(problem, keys))
    return ledger


def fa2_backward(problem: Problem, *, as_listed: bool = False) -> Ledger:
    ledger = Ledger()
    for group in groups(problem):
        for _ in group:
            for queries in cut(problem.seqlen, problem.block_m):
                ledger.read("o", rows_bytes(problem, queries))
                ledger.read("do", rows_bytes(problem, queries))
                ledger.write("delta", 4 * len(queries))
        for keys in cut(problem.seqlen, problem.block_n):
            ledger.read("k", rows_bytes(problem, keys))
            ledger.read("v", rows_bytes(problem, keys))
            for queries in cut(problem.seqlen, problem.block_m):
                if not sees(problem, queries, keys):
                    continue
                for _ in group:
                    ledger.read("q", rows_bytes(problem, queries))
                    ledger.read("do", rows_bytes(problem, queries))
                    ledger.read("lse", 4 * len(queries))
                    ledger.read("delta", 4 * len(queries))
                    if as_listed:
                        ledger.read("o", rows_bytes(problem, queries))
                        ledger.read("dq", rows_bytes(problem, queries))
                        ledger.write("dq", rows_bytes(problem, queries))
                    else:
                        ledger.read("dq_acc", rows_bytes(problem, queries, 4))
                        ledger.write("dq_acc", rows_bytes(problem, queries, 4))
            ledger.write("dk", rows_bytes(problem, keys))
            ledger.write("dv", rows_bytes(problem, keys))
        if not as_listed:
            for _ in group:
                ledger.read("dq_acc", rows_bytes(problem, range(problem.seqlen), 4))
                ledger.write("dq", rows_bytes(problem, range(problem.seqlen)))
    return ledger
