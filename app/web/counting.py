"""From a question to the counts: calls the formulas and fills the answers. No HTTP, no arithmetic of its own beyond
the ratio of two counts."""

from __future__ import annotations

from typing import Any

from app.facts.timings import load as load_timings
from app.theory import budget, flops, roofline, tiling, traffic
from app.theory.gpus import GPUS
from app.theory.shapes import AttentionShape, BlockShape
from app.web.problems import BadParameterError
from app.web.queries import TrafficQuery
from app.web.recorded import measured_points
from app.web.schemas import TrafficAnswer

# JSON has one kind of number and browsers read it as float64: above this a count would arrive changed.
LARGEST_EXACT = 2**53 - 1
RATES_HOLD_FOR = ("fp16", "bf16")


def traffic_answer(query: TrafficQuery) -> TrafficAnswer:
    """Everything counted for one shape.

    Raises:
        BadParameterError: a count is too large to arrive exactly.
    """
    shape, block, gpu = query.shape(query.seqlen), query.block(), GPUS[query.gpu]
    forward = query.direction == "forward"
    counted = {model: traffic.count(model, shape, block, query.direction) for model in traffic.MODELS}
    operations = {model: flops.count(shape, block, model, query.direction).computed_flops for model in counted}
    total = {model: item.total_bytes for model, item in counted.items()}
    if max(*total.values(), *operations.values()) > LARGEST_EXACT:
        message = "the counts of this shape exceed 2^53 - 1 and would not arrive as exact integers"
        raise BadParameterError("batch", message, "a smaller batch, num_heads or seqlen", query.batch)
    blocks_m, blocks_n = tiling.grid(shape, block)
    held = budget.budget(shape, block, gpu)
    return TrafficAnswer.model_validate(
        {
            "shape": query,
            "scores_bytes": shape.scores_bytes,
            "models": {
                model: _with(item, lines=_lines(item, shape, block), total_bytes=total[model])
                for model, item in counted.items()
            },
            "standard_over": {model: total["standard"] / total[model] for model in total},
            "block": _with(held, blocks_m=blocks_m, blocks_n=blocks_n, fits=held.fits),
            "flops": operations,
            "arithmetic_intensity": {
                model: roofline.arithmetic_intensity(operations[model], total[model]) for model in total
            },
            "roofline": (
                {model: roofline.roofline(operations[model], total[model], gpu) for model in total}
                if query.dtype in RATES_HOLD_FOR
                else None
            ),
            "kv_passes": {model: traffic.kv_passes(shape, block, model) for model in total} if forward else None,
            "variants": _variants(shape, block, query.direction, counted),
            "measured": measured_points(load_timings(), query),
        }
    )


def _with(item: Any, **more: Any) -> dict[str, Any]:
    """The fields of a dataclass and those its properties add, without copying what they hold."""
    names = item.__dataclass_fields__
    added = {name: getattr(item, name) for name in ("read_bytes", "written_bytes") if hasattr(item, name)}
    return {name: getattr(item, name) for name in names} | added | more


def _lines(item: traffic.Traffic, shape: AttentionShape, block: BlockShape) -> dict[str, traffic.Traffic]:
    """The same count on its own line and on the other one."""
    other = "hbm" if item.line == "l2_to_sm" else "l2_to_sm"
    return {
        item.line: item,
        other: traffic.count(item.model, shape, block, item.direction, item.variant, line=other),
    }


def _variants(
    shape: AttentionShape, block: BlockShape, direction: str, counted: dict[str, traffic.Traffic]
) -> list[traffic.Traffic]:
    """Every form of every algorithm that is not the one `counted` holds."""
    found = []
    for (model, known_direction), names in traffic.VARIANTS.items():
        for variant in names if known_direction == direction else ():
            without_mask = variant == "unfused_mask" and not shape.causal  # no mask, no kernel that applies it
            if variant != counted[model].variant and not without_mask:
                found.append(traffic.count(model, shape, block, direction, variant))
    return found
