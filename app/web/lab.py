"""What the laboratory asks beside /api/traffic: calls the formulas, fills the answers, writes the sweep as CSV."""

from __future__ import annotations

import csv
import io

from app.theory import bounds, budget, flops, formulas, roofline, traffic
from app.theory.gpus import GPUS, Gpu
from app.theory.shapes import AttentionShape, BlockShape
from app.web.counting import RATES_HOLD_FOR, traffic_answer
from app.web.lab_schemas import LabPoint, LabSweepAnswer, LeastTime
from app.web.problems import BadParameterError
from app.web.queries import LabSweepQuery, TrafficQuery
from app.web.schemas import TrafficAnswer
from app.web.stops import seqlen_stops

LONGEST_SEQLEN = 1_048_576
MOST_EXTRA = 4


def lab_sweep(query: LabSweepQuery) -> LabSweepAnswer:
    """The lever's stops and the lengths asked for beside them, in rising order.

    Raises:
        BadParameterError: `also` is no list of lengths, or a count is too large to arrive exactly.
    """
    asked = query.model_dump(exclude={"also"})
    questions = [TrafficQuery(**asked, seqlen=seqlen) for seqlen in sorted({*seqlen_stops(), *_lengths(query.also)})]
    return LabSweepAnswer(
        seqlens=[question.seqlen for question in questions],
        points=[traffic_answer(question) for question in questions],
        lab=[lab_point(question) for question in questions],
    )


def lab_point(query: TrafficQuery) -> LabPoint:
    """Formulas, bands, least times on every GPU and what a block holds, for one shape."""
    shape, block, gpu = query.shape(query.seqlen), query.block(), GPUS[query.gpu]
    bands = {model: bounds.band(model, shape, block, gpu, query.direction) for model in traffic.MODELS}
    operations = {
        model: flops.count(shape, block, model, query.direction).computed_flops for model in ("standard", "fa2")
    }
    ways = {
        "standard": (operations["standard"], bands["standard"].upper_bytes),
        "fa2_lower": (operations["fa2"], bands["fa2"].lower_bytes),
        "fa2": (operations["fa2"], bands["fa2"].upper_bytes),
    }

    def limits(gpu: Gpu) -> dict[str, object]:
        timed = query.dtype in RATES_HOLD_FOR
        times = {name: roofline.roofline(*way, gpu) if timed else None for name, way in ways.items()}
        return {**times, "fits": budget.budget(shape, block, gpu).fits}

    return LabPoint.model_validate(
        {
            "formulas": formulas.formulas(shape, block, gpu, query.direction),
            "bands": bands,
            "by_tensor_hbm": {
                model: traffic.count(model, shape, block, query.direction, line="hbm").by_tensor
                for model in ("fa1", "fa2")
            },
            "intensity": {name: roofline.arithmetic_intensity(*way) for name, way in ways.items()},
            "gpus": {name: limits(gpu) for name, gpu in GPUS.items()},
            "holds": _holds(shape, block, gpu),
        }
    )


def _holds(shape: AttentionShape, block: BlockShape, gpu: Gpu) -> list[dict[str, object]]:
    held = budget.budget(shape, block, gpu)
    row = shape.head_dim * shape.element_bytes
    pieces = (
        ("smem", "q", block.block_m * row),
        ("smem", "k", block.block_n * row),
        ("smem", "v", block.block_n * row),
        ("rmem", "s", held.scores_rmem_bytes),
        ("rmem", "o", held.acc_rmem_bytes),
        ("rmem", "stats", held.row_statistics_rmem_bytes),
    )
    return [{"resource": resource, "what": what, "bytes": size} for resource, what, size in pieces]


def _lengths(text: str | None) -> list[int]:
    lengths: list[int] = []
    for item in text.split(",") if text is not None else ():
        number = int(item) if item.strip().isdecimal() and len(item) < 10 else 0
        if not 1 <= number <= LONGEST_SEQLEN:
            raise BadParameterError("also", "not a list of sequence lengths", f"1 to {LONGEST_SEQLEN}, by commas", text)
        lengths.append(number)
    if len(lengths) > MOST_EXTRA:
        raise BadParameterError("also", f"{len(lengths)} lengths", f"at most {MOST_EXTRA}", text)
    return lengths


def sweep_csv(query: LabSweepQuery) -> str:
    """The sweep as RFC 4180 text: one row a length, units in the header, lines ended by CR LF."""
    sweep = lab_sweep(query)
    rows = [_csv_row(point, lab) for point, lab in zip(sweep.points, sweep.lab, strict=True)]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _csv_row(point: TrafficAnswer, lab: LabPoint) -> dict[str, object]:
    """Header with its unit → number."""
    row: dict[str, object] = {"seqlen (tokens)": point.shape.seqlen, "scores S (bytes)": point.scores_bytes}
    for model, counted in point.models.items():
        row[f"{model} needed (bytes)"] = counted.needed_bytes
        row[f"{model} read over {counted.line} (bytes)"] = counted.read_bytes
        row[f"{model} written over {counted.line} (bytes)"] = counted.written_bytes
        row[f"{model} HBM lower edge (bytes)"] = lab.bands[model].lower_bytes
        row[f"{model} computed (FLOP)"] = point.flops[model]
    limits = lab.gpus[point.shape.gpu]
    for way in ("standard", "fa2_lower", "fa2"):
        time: LeastTime | None = getattr(limits, way)
        row[f"{way} least time on {point.shape.gpu} (microseconds)"] = "" if time is None else time.time_us
    return row
