"""The formula behind each count of the laboratory, ready to be shown with symbols and with the current numbers.

They are written out by hand from the tables of `accesses`, tensor by tensor, and do not call the functions that count:
the tests evaluate every expression and compare. Symbols: N tokens, d head dimension, B_r and B_c rows of a block,
e bytes of an element, h query heads and h_kv key/value heads over the batch, Z bytes of L2 cache, C operations,
M bytes, F operations a second, W bytes a second.
"""

from dataclasses import dataclass

from app.theory import formula_text
from app.theory.bounds import band
from app.theory.budget import budget
from app.theory.flops import count as count_flops
from app.theory.gpus import Gpu
from app.theory.roofline import roofline
from app.theory.shapes import AttentionShape, BlockShape
from app.theory.traffic import MODELS, count, kv_passes

# Rows of K one query head's Q blocks load, rows of Q one K/V block's passes load, scores in the blocks computed.
_KEYS = "min(N, ((min((i + 1)*Br, N) - 1)//Bc + 1)*Bc)"
_LOADED = {
    False: {"keys": "N*ceil(N, Br)", "rows": "N*ceil(N, Bc)", "scores": "N**2"},
    True: {
        "keys": f"sum({_KEYS} for i in range(ceil(N, Br)))",
        "rows": "sum(N - j*Bc//Br*Br for j in range(ceil(N, Bc)))",
        "scores": f"sum(min(Br, N - i*Br)*{_KEYS} for i in range(ceil(N, Br)))",
    },
}
_TIMED_DTYPES = ("fp16", "bf16")


@dataclass(frozen=True, slots=True)
class Formula:
    """One number and where it comes from. `readout` groups them: needs, moves, computes, fits, time."""

    readout: str
    id: str
    unit: str
    symbolic: str
    substituted: str
    expression: str
    value: float


def formulas(shape: AttentionShape, block: BlockShape, gpu: Gpu, direction: str = "forward") -> tuple[Formula, ...]:
    """Every formula of the laboratory for one shape. ValueError for an unknown direction."""
    values = {
        "N": shape.seqlen,
        "d": shape.head_dim,
        "Br": block.block_m,
        "Bc": block.block_n,
        "e": shape.element_bytes,
        "h": shape.heads,
        "k": shape.heads_kv,
        "Z": gpu.l2_bytes,
        "F": gpu.flops_per_s,
        "W": gpu.hbm_bytes_per_s,
    }

    def made(readout: str, name: str, unit: str, source: str, value: float, **more: int) -> Formula:
        numbers = values | more
        return Formula(
            readout,
            name,
            unit,
            formula_text.symbolic(source),
            formula_text.substituted(source, numbers),
            formula_text.expression(source, numbers),
            value,
        )

    forward = direction == "forward"
    moved = {model: count(model, shape, block, direction) for model in MODELS}
    edges = {model: band(model, shape, block, gpu, direction) for model in MODELS}
    operations = {model: count_flops(shape, block, model, direction).computed_flops for model in MODELS}
    held = budget(shape, block, gpu)
    needs, moves, low = _needs(shape, forward), _moves(shape, forward), _low(shape, forward)
    found = [made("needs", "scores", "bytes", f"e*{_h(shape)}N**2", shape.scores_bytes)]
    found += [made("needs", model, "bytes", needs[model], moved[model].needed_bytes) for model in MODELS]
    found += [made("moves", model, "bytes", moves[model], moved[model].total_bytes) for model in MODELS]
    found += [
        made("moves", f"{model}_lower", "bytes", low[model], edges[model].lower_bytes)
        for model in ("standard", "fa1", "fa2")
    ]
    if forward:
        passes = "ceil(N, Br)" if not shape.causal else f"{_LOADED[True]['keys']}/N"
        found.append(made("moves", "passes", "passes", passes, kv_passes(shape, block, "fa2")))
    computes = _computes(shape, 2 if forward else 4)
    found += [made("computes", model, "FLOP", computes[model], operations[model]) for model in MODELS]
    found.append(made("fits", "smem", "bytes", "e*d*(Br + 2*Bc)", held.smem_bytes))
    found.append(made("fits", "rmem", "bytes", "4*(Br*Bc + Br*d + 2*Br)", held.rmem_bytes))
    if shape.dtype in _TIMED_DTYPES:
        for name, model, num_bytes in (
            ("standard", "standard", edges["standard"].upper_bytes),
            ("fa2_lower", "fa2", edges["fa2"].lower_bytes),
            ("fa2", "fa2", edges["fa2"].upper_bytes),
        ):
            flops = operations[model]
            time = roofline(flops, num_bytes, gpu).time_us
            source = "max(C/F*10**6, M/W*10**6)"
            found.append(made("time", name, "µs", source, time, C=flops, M=num_bytes))
    return tuple(found)


def _h(shape: AttentionShape, symbol: str = "h") -> str:
    """The factor for the heads, left out where there is one."""
    return "" if shape.heads == 1 else f"{symbol}*"


def _matrices(shape: AttentionShape, q: int, kv: int) -> str:
    """Elements of `q` matrices of Q's shape and `kv` of K's."""
    if shape.heads == shape.heads_kv:
        return f"{q + kv}*{_h(shape)}N*d"
    parts = [f"{many}*{symbol}" for many, symbol in ((q, "h"), (kv, "k")) if many]
    return f"({' + '.join(parts)})*N*d"


def _needs(shape: AttentionShape, forward: bool) -> dict[str, str]:
    h = _h(shape)
    if forward:
        inputs = _matrices(shape, 2, 2)
        return {
            "least": f"e*{inputs}",
            "standard": f"e*({inputs} + 2*{h}N**2)",
            "fa1": f"e*{inputs} + 8*{h}N",
            "fa2": f"e*{inputs} + 4*{h}N",
        }
    inputs, with_o = _matrices(shape, 3, 4), _matrices(shape, 4, 4)
    return {
        "least": f"e*{inputs}",
        "standard": f"e*({inputs} + 3*{h}N**2)",
        "fa1": f"e*{with_o} + 8*{h}N",
        "fa2": f"e*{with_o} + 8*{h}N + 4*{h}N*d",
    }


def _moves(shape: AttentionShape, forward: bool) -> dict[str, str]:
    """Each model on its own line."""
    h, k, loaded = _h(shape), _h(shape, "k"), _LOADED[shape.causal]
    if forward:
        return {
            "least": f"e*{_matrices(shape, 2, 2)}",
            "standard": f"e*({_matrices(shape, 2, 2)} + 4*{h}N**2)",
            "fa1": f"e*{_matrices(shape, 0, 2)} + {h}(3*e*d + 16)*({loaded['rows']})",
            "fa2": f"e*{_matrices(shape, 2, 0)} + 2*e*{k}d*({loaded['keys']})",
        }
    return {
        "least": f"e*{_matrices(shape, 3, 4)}",
        "standard": f"e*({_matrices(shape, 4, 4)} + 7*{h}N**2)",
        "fa1": f"e*{_matrices(shape, 0, 4)} + {h}(5*e*d + 8)*({loaded['rows']})",
        "fa2": f"e*{_matrices(shape, 3, 4)} + 4*{h}N*(d + 1) + {h}(2*e*d + 8*d + 8)*({loaded['rows']})",
    }


def _low(shape: AttentionShape, forward: bool) -> dict[str, str]:
    """HBM traffic when the L2 spares all it can."""
    h = _h(shape)
    least, standard = _moves(shape, forward)["least"], _moves(shape, forward)["standard"]
    spared = f"{4 if forward else 6}*min(Z, e*{h}N**2)"
    if forward:
        return {
            "standard": f"max({least}, {standard} - {spared})",
            "fa1": f"e*{_matrices(shape, 3, 2)} + 16*{h}N",
            "fa2": least,
        }
    return {
        "standard": f"max({least}, {standard} - {spared})",
        "fa1": f"e*{_matrices(shape, 5, 4)} + 8*{h}N",
        "fa2": f"e*{_matrices(shape, 4, 4)} + 8*{h}N*(d + 1)",
    }


def _computes(shape: AttentionShape, multiplies: int) -> dict[str, str]:
    """A multiply and an add are two operations; FlashAttention's backward pass computes S once more."""
    h = _h(shape)
    again = multiplies + (multiplies > 2)
    flash = f"{2 * again}*{h}d*({_LOADED[shape.causal]['scores']})"
    standard = f"{2 * multiplies}*{h}d*N**2"
    least = f"{multiplies}*{h}d*N*(N + 1)" if shape.causal else standard
    return {"least": least, "standard": standard, "fa1": flash, "fa2": flash}
