"""The JSON addresses: parse, call a pure function, answer with a schema. Stateless, read-only, deterministic."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query
from pydantic import BaseModel

from app import __version__
from app.facts.registry import Registry
from app.facts.timings import load as load_timings
from app.theory import exactness, online_softmax, roofline, schedule, tiling
from app.theory.gpus import GPUS
from app.theory.shapes import BlockShape
from app.web import lab_api, problems
from app.web.counting import traffic_answer
from app.web.lab_api import CsvResponse
from app.web.problems import BadParameterError
from app.web.queries import ExactnessQuery, RooflineQuery, ScheduleQuery, SoftmaxQuery, TimingsQuery, TrafficQuery
from app.web.recorded import record_answer, timings_answer, timings_csv
from app.web.schemas import (
    ExactnessAnswer,
    FactAnswer,
    FactsAnswer,
    GpuAnswer,
    GpusAnswer,
    HealthAnswer,
    LineSum,
    RooflineAnswer,
    RoofPoint,
    RunAnswer,
    ScheduleAnswer,
    ScheduleCompute,
    SoftmaxAnswer,
    TimingsAnswer,
    TrafficAnswer,
)

LINES = ("hbm", "l2_to_sm")
MOST_INTENSITIES = 16
# Stops of the roof when none are asked for: eight an octave from 1/4 to 4,096 FLOP/byte.
ROOF_STOPS = tuple(2 ** (step / 8) for step in range(-16, 97))


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the server has in memory, for /healthz."""

    chapters: int = 0
    files: int = 0


def router(registry: Registry, loaded: Loaded) -> APIRouter:
    """All JSON routes."""
    routes = APIRouter(responses=problems.RESPONSES)

    @routes.get(
        "/api/traffic",
        tags=["counts"],
        summary="Bytes moved, memory needed, operations, limits of one block",
        responses=_example(traffic_answer(TrafficQuery())),
    )
    async def get_traffic(query: Annotated[TrafficQuery, Query()]) -> TrafficAnswer:
        return traffic_answer(query)

    routes.include_router(lab_api.router())

    @routes.get(
        "/api/online-softmax",
        tags=["algorithms"],
        summary="Online softmax of one row, step by step",
        responses=_example(softmax_answer(SoftmaxQuery(scores="0.5,-1,1.5,0"))),
    )
    async def get_online_softmax(query: Annotated[SoftmaxQuery, Query()]) -> SoftmaxAnswer:
        return softmax_answer(query)

    @routes.get(
        "/api/schedule",
        tags=["algorithms"],
        summary="Every tile move in order",
        responses=_example(schedule_answer(ScheduleQuery(algorithm="fa2", blocks_m=1, blocks_n=2))),
    )
    async def get_schedule(query: Annotated[ScheduleQuery, Query()]) -> ScheduleAnswer:
        return schedule_answer(query)

    @routes.get("/api/exactness", tags=["algorithms"], summary="Standard, tiled and float64 on the same random input")
    async def get_exactness(query: Annotated[ExactnessQuery, Query()]) -> ExactnessAnswer:
        return ExactnessAnswer.model_validate(exactness.exactness(**query.model_dump()))

    @routes.get("/api/roofline", tags=["counts"], summary="The roof of one GPU: most FLOP/s at each intensity")
    async def get_roofline(query: Annotated[RooflineQuery, Query()]) -> RooflineAnswer:
        return roofline_answer(query)

    @routes.get("/api/timings", tags=["facts"], summary="Recorded measurements of real kernels on real GPUs")
    async def get_timings(query: Annotated[TimingsQuery, Query()]) -> TimingsAnswer:
        return TimingsAnswer.model_validate(timings_answer(load_timings(), query))

    @routes.get(
        "/api/timings.csv",
        tags=["facts"],
        summary="The raw samples of recorded measurements as CSV, one a line",
        response_class=CsvResponse,
    )
    async def get_timings_csv(query: Annotated[TimingsQuery, Query()]) -> CsvResponse:
        return CsvResponse(timings_csv(load_timings(), query))

    @routes.get("/api/timings/{record_id}", tags=["facts"], summary="One whole record", responses=problems.NOT_FOUND)
    async def get_record(record_id: Annotated[str, Path(description="id of the record", max_length=120)]) -> RunAnswer:
        record = load_timings().record(record_id)
        if record is None:
            raise HTTPException(404, f"There is no record {record_id!r}; /api/timings lists all of them.")
        return RunAnswer.model_validate(record_answer(record))

    @routes.get("/api/gpus", tags=["counts"], summary="The hardware table")
    async def get_gpus() -> GpusAnswer:
        return GpusAnswer(gpus=[GpuAnswer.model_validate(gpu) for gpu in GPUS.values()])

    @routes.get("/api/facts", tags=["facts"], summary="The ledger: every figure with its source")
    async def get_facts() -> FactsAnswer:
        return FactsAnswer(facts=[FactAnswer.model_validate(fact) for fact in registry.facts.values()])

    @routes.get("/api/facts/{fact_id}", tags=["facts"], summary="One figure", responses=problems.NOT_FOUND)
    async def get_fact(fact_id: Annotated[str, Path(description="id of the entry", max_length=100)]) -> FactAnswer:
        if fact_id not in registry.facts:
            raise HTTPException(404, f"The ledger has no entry {fact_id!r}; /api/facts lists all of them.")
        return FactAnswer.model_validate(registry.facts[fact_id])

    @routes.get("/healthz", tags=["server"], summary="Liveness, version, what is loaded")
    async def get_health() -> HealthAnswer:
        return HealthAnswer(status="ok", version=__version__, facts=len(registry.facts), **asdict(loaded))

    return routes


def _example(answer: BaseModel) -> dict[int | str, dict[str, Any]]:
    """An example of the answer for the OpenAPI document, computed like every other answer."""
    return {200: {"content": {"application/json": {"example": answer.model_dump(mode="json")}}}}


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
        # The sentence opens with the name of the argument it is about.
        parameter, allowed = (
            ("values", "numbers up to 1e300") if str(error).startswith("values") else ("scores", "1 to 64")
        )
        raise BadParameterError(parameter, str(error), allowed, getattr(query, parameter)) from error
    return SoftmaxAnswer.model_validate(
        {
            "scores": scores,
            "values": values,
            "block": query.block,
            "steps": trace.steps,
            "row_max": trace.row_max,
            "row_sum": trace.row_sum,
            "lse": trace.lse,
            "output": trace.output,
            "direct_output": trace.direct_output,
            "difference": trace.difference,
        }
    )


def roofline_answer(query: RooflineQuery) -> RooflineAnswer:
    """The roof of one GPU.

    Raises:
        BadParameterError: the intensities are not 1 to 16 positive finite numbers.
    """
    gpu = GPUS[query.gpu]
    asked = query.intensities
    stops = list(ROOF_STOPS) if asked is None else _numbers("intensities", asked)
    if asked is not None and (len(stops) > MOST_INTENSITIES or min(stops) <= 0):
        raise BadParameterError("intensities", "not 1 to 16 positive numbers", "positive numbers", asked)
    points = []
    for intensity in stops:
        rate = roofline.attainable(intensity, gpu)
        bound: Literal["compute", "memory"] = "compute" if intensity >= gpu.ridge_point else "memory"
        points.append(
            RoofPoint(intensity=intensity, flops_per_s=rate, share_of_peak=rate / gpu.flops_per_s, bound=bound)
        )
    return RooflineAnswer(
        gpu=query.gpu,
        name=gpu.name,
        hbm_bytes_per_s=gpu.hbm_bytes_per_s,
        flops_per_s=gpu.flops_per_s,
        ridge_point=gpu.ridge_point,
        points=points,
    )


def schedule_answer(query: ScheduleQuery) -> ScheduleAnswer:
    """Every tile move for a grid of at most blocks_m by blocks_n blocks."""
    shape = query.shape(query.seqlen)
    in_one_m, rows_m = _rows(query.seqlen, query.blocks_m, query.block_m)
    in_one_n, rows_n = _rows(query.seqlen, query.blocks_n, query.block_n)
    block = BlockShape(rows_m, rows_n)
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
            "blocks_in_one_m": in_one_m,
            "blocks_in_one_n": in_one_n,
            "heads": shape.heads,
            "num_steps": plan.num_steps,
            "sums": {
                line: LineSum(read_bytes=read, written_bytes=written, total_bytes=read + written)
                for line, (read, written) in crossed.items()
            },
            "moves": plan.moves,
            "computes": [ScheduleCompute(step=step, m_block=m, n_block=n) for step, m, n in plan.computes],
        }
    )


def _rows(seqlen: int, most_blocks: int, rows: int | None) -> tuple[int, int]:
    """Blocks in one drawn block, and its rows: `seqlen` cut into at most `most_blocks` equal ones when `rows` is None,
    otherwise as many whole blocks of `rows` in each as that takes."""
    if rows is None:
        return 1, tiling.num_blocks(seqlen, most_blocks)
    in_one = tiling.num_blocks(tiling.num_blocks(seqlen, rows), most_blocks)
    return in_one, in_one * rows


def _numbers(parameter: str, text: str) -> list[float]:
    numbers: list[float] = []
    for item in text.split(","):
        try:
            numbers.append(float(item))
        except ValueError as error:
            raise BadParameterError(parameter, "not a list of numbers", "numbers separated by commas", text) from error
        if not math.isfinite(numbers[-1]):
            raise BadParameterError(parameter, f"{item.strip()} is not finite", "finite numbers", text)
    return numbers
