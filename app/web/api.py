"""The JSON addresses: parse, call a pure function, answer with a schema. Stateless, read-only, deterministic."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

from fastapi import APIRouter, Query

from app import __version__
from app.theory import online_softmax, schedule, tiling
from app.theory.gpus import GPUS
from app.theory.shapes import BlockShape
from app.web import problems
from app.web.counting import sweep_answer, traffic_answer
from app.web.problems import BadParameterError
from app.web.queries import ScheduleQuery, SoftmaxQuery, SweepQuery, TrafficQuery
from app.web.schemas import (
    GpuAnswer,
    GpusAnswer,
    HealthAnswer,
    LineSum,
    ScheduleAnswer,
    ScheduleCompute,
    ScheduleMove,
    SoftmaxAnswer,
    SoftmaxStep,
    SweepAnswer,
    TrafficAnswer,
)

LINES = ("hbm", "l2_to_sm")


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the server has in memory, for /healthz."""

    facts: int = 0
    chapters: int = 0
    files: int = 0


def router(loaded: Loaded) -> APIRouter:
    """All JSON routes."""
    routes = APIRouter(responses=problems.RESPONSES)

    @routes.get("/api/traffic", tags=["counts"], summary="Bytes moved, memory needed, operations, limits of one block")
    async def get_traffic(query: Annotated[TrafficQuery, Query()]) -> TrafficAnswer:
        return traffic_answer(query)

    @routes.get("/api/traffic/sweep", tags=["counts"], summary="The same at every stop of the lever, in one answer")
    async def get_sweep(query: Annotated[SweepQuery, Query()]) -> SweepAnswer:
        return sweep_answer(query)

    @routes.get("/api/online-softmax", tags=["algorithms"], summary="Online softmax of one row, step by step")
    async def get_online_softmax(query: Annotated[SoftmaxQuery, Query()]) -> SoftmaxAnswer:
        return softmax_answer(query)

    @routes.get("/api/schedule", tags=["algorithms"], summary="Every tile move in order")
    async def get_schedule(query: Annotated[ScheduleQuery, Query()]) -> ScheduleAnswer:
        return schedule_answer(query)

    @routes.get("/api/gpus", tags=["counts"], summary="The hardware table")
    async def get_gpus() -> GpusAnswer:
        gpus = [{**asdict(gpu), "ridge_point": gpu.ridge_point} for gpu in GPUS.values()]
        return GpusAnswer(gpus=[GpuAnswer.model_validate(gpu) for gpu in gpus])

    @routes.get("/healthz", tags=["server"], summary="Liveness, version, what is loaded")
    async def get_health() -> HealthAnswer:
        return HealthAnswer(status="ok", version=__version__, **asdict(loaded))

    return routes


def softmax_answer(query: SoftmaxQuery) -> SoftmaxAnswer:
    """Online softmax of one row.

    Raises:
        BadParameterError: the lists are not 1 to 64 finite numbers, or their lengths differ.
    """
    scores = _numbers("scores", query.scores)
    values = _numbers("values", query.values) if query.values is not None else [1.0] * len(scores)
    if len(values) != len(scores):
        message = f"{len(values)} values for {len(scores)} scores"
        raise BadParameterError("values", message, "one value per score", query.values)
    try:
        trace = online_softmax.trace(scores, query.block, values)
    except ValueError as error:
        raise BadParameterError("scores", str(error), "1 to 64 finite numbers", query.scores) from error
    return SoftmaxAnswer.model_validate(
        {
            "scores": scores,
            "values": values,
            "block": query.block,
            "steps": [SoftmaxStep.model_validate(asdict(step)) for step in trace.steps],
            "row_max": trace.row_max,
            "row_sum": trace.row_sum,
            "lse": trace.lse,
            "output": trace.output,
            "direct_output": trace.direct_output,
            "difference": trace.difference,
        }
    )


def schedule_answer(query: ScheduleQuery) -> ScheduleAnswer:
    """Every tile move for a grid of blocks_m by blocks_n.

    Raises:
        BadParameterError: the sequence cannot be cut into that many blocks of equal size (the last may be shorter).
    """
    shape = query.shape(query.seqlen)
    block = BlockShape(_rows("blocks_m", query.seqlen, query.blocks_m), _rows("blocks_n", query.seqlen, query.blocks_n))
    plan = schedule.build(query.algorithm, shape, block, query.direction)
    crossed = {line: plan.line_bytes(line) for line in LINES}
    return ScheduleAnswer.model_validate(
        {
            "algorithm": plan.algorithm,
            "direction": plan.direction,
            "causal": plan.causal,
            "seqlen": query.seqlen,
            "head_dim": query.head_dim,
            "blocks_m": plan.blocks_m,
            "blocks_n": plan.blocks_n,
            "block_m": plan.block_m,
            "block_n": plan.block_n,
            "num_steps": plan.num_steps,
            "sums": {
                line: LineSum(read_bytes=read, written_bytes=written, total_bytes=read + written)
                for line, (read, written) in crossed.items()
            },
            "moves": [ScheduleMove.model_validate(asdict(move)) for move in plan.moves],
            "computes": [ScheduleCompute(step=step, m_block=m, n_block=n) for step, m, n in plan.computes],
        }
    )


def _rows(parameter: str, seqlen: int, blocks: int) -> int:
    """Rows of a block so that `seqlen` rows make exactly `blocks` blocks."""
    rows = tiling.num_blocks(seqlen, blocks)
    made = tiling.num_blocks(seqlen, rows)
    if made != blocks:
        message = f"{seqlen} rows cannot be cut into {blocks} blocks of equal size; blocks of {rows} rows make {made}"
        raise BadParameterError(parameter, message, f"{made}, or another number of blocks", blocks)
    return rows


def _numbers(parameter: str, text: str) -> list[float]:
    numbers: list[float] = []
    for item in text.split(","):
        try:
            numbers.append(float(item))
        except ValueError as error:
            raise BadParameterError(parameter, "not a list of numbers", "numbers separated by commas", text) from error
    return numbers
