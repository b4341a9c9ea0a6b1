"""From a question to the counts: calls the formulas and fills the answers. No HTTP, no arithmetic of its own beyond
the ratio of two counts."""

from __future__ import annotations

from dataclasses import asdict

from app.theory import budget, flops, roofline, tiling, traffic
from app.theory.gpus import GPUS
from app.theory.shapes import AttentionShape, BlockShape
from app.web.problems import BadParameterError
from app.web.queries import SweepQuery, TrafficQuery
from app.web.schemas import (
    BlockBudget,
    LineSum,
    ModelTraffic,
    RooflineTime,
    SweepAnswer,
    TensorTraffic,
    TrafficAnswer,
    VariantTraffic,
    Violation,
)
from app.web.stops import seqlen_stops

# JSON has one kind of number and browsers read it as float64: above this a count would arrive changed.
LARGEST_EXACT = 2**53 - 1
RATES_HOLD_FOR = ("fp16", "bf16")


def traffic_answer(query: TrafficQuery) -> TrafficAnswer:
    """Everything counted for one shape.

    Raises:
        BadParameterError: a count is too large to arrive exactly.
    """
    shape, block, gpu = query.shape(query.seqlen), query.block(), GPUS[query.gpu]
    counted = {model: traffic.count(model, shape, block, query.direction) for model in traffic.MODELS}
    lines = {model: _lines(model, shape, block, query.direction) for model in traffic.MODELS}
    operations = {model: flops.count(shape, block, model, query.direction).computed_flops for model in counted}
    largest = max(*(item.total_bytes for item in counted.values()), *operations.values())
    if largest > LARGEST_EXACT:
        message = "the counts of this shape exceed 2^53 - 1 and would not arrive as exact integers"
        raise BadParameterError("batch", message, "a smaller batch, num_heads or seqlen", query.batch)
    held = budget.budget(shape, block, gpu)
    grid = tiling.grid(shape, block)
    total = {model: item.total_bytes for model, item in counted.items()}
    return TrafficAnswer.model_validate(
        {
            "shape": query,
            "scores_bytes": shape.scores_bytes,
            "models": {model: _model(item, lines[model]) for model, item in counted.items()},
            "standard_over": {model: total["standard"] / total[model] for model in total},
            "block": BlockBudget(
                smem_bytes=held.smem_bytes,
                smem_limit_bytes=held.smem_limit_bytes,
                rmem_bytes=held.rmem_bytes,
                rmem_limit_bytes=held.rmem_limit_bytes,
                blocks_m=grid[0],
                blocks_n=grid[1],
                min_warps=held.min_warps,
                fits=held.fits,
                violations=[Violation.model_validate(asdict(item)) for item in held.violations],
            ),
            "flops": operations,
            "arithmetic_intensity": {
                model: roofline.arithmetic_intensity(operations[model], total[model]) for model in total
            },
            "roofline": (
                {
                    model: RooflineTime.model_validate(asdict(roofline.roofline(operations[model], total[model], gpu)))
                    for model in total
                }
                if query.dtype in RATES_HOLD_FOR
                else None
            ),
            "kv_passes": (
                {model: traffic.kv_passes(shape, block, model) for model in total}
                if query.direction == "forward"
                else None
            ),
            "variants": _variants(shape, block, query.direction, counted),
            "measured": [],
        }
    )


def sweep_answer(query: SweepQuery) -> SweepAnswer:
    """The same at every stop of the lever."""
    stops = seqlen_stops()
    asked = query.model_dump()
    return SweepAnswer(
        seqlens=list(stops), points=[traffic_answer(TrafficQuery(**asked, seqlen=seqlen)) for seqlen in stops]
    )


def _lines(model: str, shape: AttentionShape, block: BlockShape, direction: str) -> dict[str, LineSum]:
    crossed = {line: traffic.count(model, shape, block, direction, line=line) for line in traffic.LINES}
    return {
        line: LineSum(read_bytes=item.read_bytes, written_bytes=item.written_bytes, total_bytes=item.total_bytes)
        for line, item in crossed.items()
    }


def _variants(
    shape: AttentionShape, block: BlockShape, direction: str, counted: dict[str, traffic.Traffic]
) -> list[VariantTraffic]:
    """Every form of every algorithm that is not the one `counted` holds."""
    found = []
    for (model, known_direction), names in traffic.VARIANTS.items():
        for variant in names if known_direction == direction else ():
            without_mask = variant == "unfused_mask" and not shape.causal  # no mask, no kernel that applies it
            if variant != counted[model].variant and not without_mask:
                item = traffic.count(model, shape, block, direction, variant)
                found.append(
                    VariantTraffic.model_validate(
                        {"model": model, "variant": variant, "line": item.line, "total_bytes": item.total_bytes}
                    )
                )
    return found


def _model(item: traffic.Traffic, lines: dict[str, LineSum]) -> ModelTraffic:
    return ModelTraffic.model_validate(
        {
            "line": item.line,
            "variant": item.variant,
            "lines": lines,
            "read_bytes": item.read_bytes,
            "written_bytes": item.written_bytes,
            "total_bytes": item.total_bytes,
            "needed_bytes": item.needed_bytes,
            "saved_bytes": item.saved_bytes,
            "by_tensor": [TensorTraffic.model_validate(asdict(transfer)) for transfer in item.by_tensor],
        }
    )
