"""Bodies of the JSON answers: the contract with the browser, every field with its unit. Counts are exact integers."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.web.queries import Algorithm, Direction, Dtype, GpuId, Level, Line, Model, Tensor, TrafficQuery


class Answer(BaseModel):
    """Filled from the dataclasses of `app.theory` by the names of their fields."""

    model_config = ConfigDict(from_attributes=True)


class TensorTraffic(Answer):
    """What one matrix adds to a count."""

    tensor: Tensor = Field(description="which matrix, or which statistic of the rows")
    read_bytes: int = Field(description="bytes read, towards the SMs")
    written_bytes: int = Field(description="bytes written, towards HBM")


class LineSum(Answer):
    """Bytes that cross a line."""

    read_bytes: int = Field(description="bytes towards the SMs")
    written_bytes: int = Field(description="bytes towards HBM")
    total_bytes: int = Field(description="bytes both ways")


class ModelTraffic(Answer):
    """One way of counting, summed over heads and batch."""

    line: Line = Field(description="the line the count is about: hbm (HBM to chip) or l2_to_sm (L2 cache to the SMs)")
    variant: str = Field(description="form of the algorithm counted; `variants` lists the others")
    read_bytes: int = Field(description="bytes read")
    written_bytes: int = Field(description="bytes written")
    total_bytes: int = Field(description="bytes read and written")
    lines: dict[Line, LineSum] = Field(
        description="both lines; on hbm, fa1 and fa2 are counted with an L2 cache that holds what is in use"
    )
    needed_bytes: int = Field(description="bytes of memory allocated while it runs, inputs and results included")
    saved_bytes: int = Field(description="bytes the forward pass keeps for the backward one, beyond Q, K and V")
    by_tensor: list[TensorTraffic] = Field(description="the same, matrix by matrix")


class Violation(Answer):
    """A limit that a block breaks."""

    resource: Literal["smem", "rmem"] = Field(description="smem: shared memory; rmem: registers")
    needed_bytes: int = Field(description="bytes one block needs")
    limit_bytes: int = Field(description="bytes one block may have")
    over_bytes: int = Field(description="bytes too many")


class BlockBudget(Answer):
    """What one block holds on the SM, against the limits of the GPU."""

    smem_bytes: int = Field(description="shared memory for one block each of Q, K and V, in bytes")
    smem_limit_bytes: int = Field(description="shared memory one thread block may use, in bytes")
    rmem_bytes: int = Field(description="registers for the score block, the output and the row statistics, in bytes")
    rmem_limit_bytes: int = Field(description="registers of one SM, in bytes")
    blocks_m: int = Field(description="number of Q blocks, the last one perhaps shorter")
    blocks_n: int = Field(description="number of K/V blocks, the last one perhaps shorter")
    min_warps: int = Field(description="fewest warps that can hold the registers, at 255 a thread")
    fits: bool = Field(description="whether both limits hold")
    violations: list[Violation] = Field(description="each limit that breaks, and by how much")


class RooflineTime(Answer):
    """Least time by the roofline: the slower of arithmetic and memory."""

    compute_us: float = Field(description="operations over the dense peak, in microseconds")
    memory_us: float = Field(description="counted bytes over the HBM bandwidth, in microseconds")
    time_us: float = Field(description="the larger of the two, in microseconds")
    bound: Literal["compute", "memory"] = Field(description="which of the two binds")


class VariantTraffic(Answer):
    """Another form of an algorithm, counted on the same line."""

    model: Model
    variant: str
    line: Line
    total_bytes: int = Field(description="bytes read and written")


class MeasuredPoint(Answer):
    """A real kernel on a real GPU at exactly this setting, its own block sizes apart."""

    kernel: str = Field(description="id of the kernel in the record")
    name: str = Field(description="its name on the page")
    model: Model = Field(description="the count it is to be read beside")
    gpu: str = Field(description="name the GPU reports")
    date: str = Field(description="day of the measurement, UTC")
    dtype: Dtype = Field(description="precision of the inputs; a 16-bit setting finds both 16-bit kinds")
    block_m: int | None = Field(description="rows of Q the kernel handles at once, where it is known")
    block_n: int | None = Field(description="rows of K and V it handles at once, where it is known")
    hbm_bytes: int | None = Field(description="read and written, HBM, by hardware counters, bytes; null: only timed")
    l2_sm_bytes: int | None = Field(description="both ways between L2 and SMs, by hardware counters, bytes")
    time_ms: float = Field(description="median time of one pass, milliseconds")


class TrafficAnswer(Answer):
    """Everything counted for one shape."""

    shape: TrafficQuery = Field(description="the question, defaults filled in")
    scores_bytes: int = Field(description="size of the score matrix S over all heads, in bytes")
    models: dict[Model, ModelTraffic] = Field(description="the counts, by way of counting")
    standard_over: dict[Model, float] = Field(description="standard traffic divided by each model's traffic")
    block: BlockBudget
    flops: dict[Model, int] = Field(
        description="matrix-multiply operations really computed, whole visited blocks (multiply and add are two)"
    )
    arithmetic_intensity: dict[Model, float] = Field(description="operations per counted byte, FLOP/byte")
    roofline: dict[Model, RooflineTime] | None = Field(
        description="least time by the roofline; null for fp8 and fp32, whose peaks are not in the hardware table"
    )
    kv_passes: dict[Model, float] | None = Field(
        description="forward: how often K and V are read from first to last row, not a whole number if causal; "
        "null for backward"
    )
    variants: list[VariantTraffic] = Field(description="other forms of the same algorithms, for comparison")
    measured: list[MeasuredPoint] = Field(description="what was recorded for exactly this setting, or an empty list")


class SweepAnswer(Answer):
    """One setting at every stop of the lever."""

    seqlens: list[int] = Field(description="the lever's stops, in tokens")
    points: list[TrafficAnswer] = Field(description="one answer per stop, in the same order")


class SoftmaxStep(Answer):
    """The running state after one block of scores."""

    start: int = Field(description="index of the first score of the block")
    stop: int = Field(description="index after the last score of the block")
    row_max: float = Field(description="running maximum m")
    row_sum: float = Field(description="running sum l, relative to row_max")
    rescale: float = Field(description="correction factor exp(old maximum - new maximum); 0 in the first step")
    acc: float = Field(description="output before division by row_sum")


class SoftmaxAnswer(Answer):
    """Online softmax of one row, step by step, beside the direct softmax."""

    scores: list[float]
    values: list[float]
    block: int = Field(description="scores taken per step")
    steps: list[SoftmaxStep]
    row_max: float
    row_sum: float
    lse: float = Field(description="log-sum-exp: row_max + log(row_sum)")
    output: float = Field(description="acc / row_sum after the last step")
    direct_output: float = Field(description="the same by the direct softmax in float64")
    difference: float = Field(description="largest absolute difference over the outputs and all probabilities")


class ScheduleMove(Answer):
    """One tile crossing one line."""

    step: int = Field(description="step in which it moves, from 0")
    tensor: Tensor = Field(description="which matrix it is a tile of; lse: log-sum-exp, one number per row")
    m_block: int | None = Field(description="block of Q rows, or null for K and V")
    n_block: int | None = Field(description="block of K and V rows, or null for Q and O")
    source: Level
    target: Level
    bytes: int = Field(description="bytes of the tile's real rows over all heads")


class ScheduleCompute(Answer):
    """The score block worked on in a step."""

    step: int
    m_block: int
    n_block: int


class ScheduleAnswer(Answer):
    """Every tile move in order; the sums equal the counts of /api/traffic for the same shape and blocks."""

    algorithm: Algorithm
    direction: Direction
    causal: bool
    seqlen: int = Field(description="tokens")
    head_dim: int
    blocks_m: int = Field(description="blocks of Q rows made")
    blocks_n: int = Field(description="blocks of K and V rows made")
    block_m: int = Field(description="rows of a whole Q block")
    block_n: int = Field(description="rows of a whole K/V block")
    blocks_in_one_m: int = Field(description="blocks of the block_m asked for that one drawn Q block stands for, or 1")
    blocks_in_one_n: int = Field(description="the same for K/V blocks")
    heads: int = Field(description="query heads over the batch that the bytes are summed over")
    num_steps: int = Field(description="number of steps")
    sums: dict[Line, LineSum]
    moves: list[ScheduleMove]
    computes: list[ScheduleCompute]


class RoofPoint(Answer):
    """One point of a roof."""

    intensity: float = Field(description="operations per byte of HBM traffic, FLOP/byte")
    flops_per_s: float = Field(description="most a program of this intensity can reach, operations per second")
    share_of_peak: float = Field(description="the same as a share of the dense 16-bit peak, 0 to 1")
    bound: Literal["compute", "memory"] = Field(description="which of the two binds")


class RooflineAnswer(Answer):
    """The roof of one GPU for 16-bit matrix arithmetic."""

    gpu: GpuId = Field(description="GPU whose roof it is")
    name: str
    hbm_bytes_per_s: int = Field(description="HBM bandwidth, bytes per second")
    flops_per_s: int = Field(description="dense 16-bit peak, operations per second")
    ridge_point: float = Field(description="where the slope meets the roof, FLOP/byte")
    points: list[RoofPoint] = Field(description="one point per intensity asked for, or per stop, in their order")


class RoundingError(Answer):
    """Distance from the float64 result over all entries of O."""

    max_abs: float = Field(description="largest absolute difference")
    rms: float = Field(description="root mean square of the differences")


class ExactnessAnswer(Answer):
    """The same attention three ways on the same seeded input: standard in fp16, tiled in fp16, float64."""

    seed: int
    seqlen: int = Field(description="tokens")
    head_dim: int
    block_m: int
    block_n: int
    causal: bool
    outliers: bool
    standard: RoundingError = Field(description="S and P rounded to fp16, because they go through memory")
    tiled: RoundingError = Field(description="score block and row statistics kept in fp32")
    floor: RoundingError = Field(
        description="what rounding the float64 result to fp16 costs: the least an fp16 output can have"
    )
    output_rms: float = Field(description="root mean square of O itself, to compare the errors with")
    standard_over_tiled: float | None = Field(description="ratio of the rms errors; null if the tiled way has none")


class RunAnswer(Answer):
    """One session of the bench with those of its rows that were asked for."""

    id: str = Field(description="name of the record")
    yours: bool = Field(description="made on this machine by its owner; false: part of the exhibit")
    run: dict[str, Any] = Field(description="date, command, commit, order, GPU as queried, driver, versions, clocks")
    timings: list[dict[str, Any]] = Field(
        description="rows: kernel, case, times in ms with every sample, TFLOP/s, error, bytes moved and counted, status"
    )


class RefusedAnswer(Answer):
    """A file that is not shown."""

    name: str = Field(description="name of the file")
    why: str = Field(description="what is wrong with it, in one clause")


class TimingsAnswer(Answer):
    """Recorded measurements."""

    runs: list[RunAnswer] = Field(description="records, oldest first")
    refused: list[RefusedAnswer] = Field(description="files that lie among the records and are none")


class GpuSource(Answer):
    """Where one field of the hardware table comes from."""

    field: str
    document: str
    place: str
    verified: Literal["primary", "secondary", "recomputed", "unverified"]


class GpuAnswer(Answer):
    """One row of the hardware table."""

    id: GpuId
    name: str
    hbm_label: str = Field(description="capacity and kind of memory as the vendor labels it")
    hbm_bytes_per_s: int = Field(description="HBM bandwidth, bytes per second")
    flops_per_s: int = Field(description="dense 16-bit tensor-core peak, operations per second")
    ridge_point: float = Field(description="operations per byte at which arithmetic and memory balance, FLOP/byte")
    sms: int = Field(description="streaming multiprocessors")
    smem_per_sm_bytes: int = Field(description="shared memory of one SM, bytes")
    smem_per_block_bytes: int = Field(description="shared memory one thread block may use, bytes")
    rmem_per_sm_bytes: int = Field(description="registers of one SM, bytes")
    l2_bytes: int = Field(description="L2 cache, bytes")
    sources: list[GpuSource] = Field(description="where each field comes from")


class GpusAnswer(Answer):
    """The hardware table."""

    gpus: list[GpuAnswer]


class FactSource(Answer):
    """A document that figures were taken from."""

    id: str
    title: str
    authors: str
    year: int
    taken: str = Field(description="what was taken from it, in one sentence")
    arxiv: str | None = Field(description="arXiv number, if it has one")


class FactAnswer(Answer):
    """One entry of the ledger."""

    id: str
    claim: str = Field(description="what the figure says")
    value: Any = Field(description="number, phrase, or several of them, in `unit`; null for a claim without a number")
    unit: str = Field(description="unit of `value`; empty for a bare number or a phrase")
    text: str = Field(description="value and unit as the page writes them")
    kind: Literal["vendor", "published", "estimate", "counted", "measured"]
    label: str = Field(description="the mark on the page")
    conditions: str = Field(description="for what the figure holds")
    source: FactSource
    locator: str = Field(description="place in the source")
    verified: Literal["primary", "secondary", "recomputed", "unverified"] = Field(description="how far it was checked")
    formula: str | None = Field(description="how it is computed, where it is derived")
    note: str
    chapter: int | None = Field(description="chapter that states it")


class FactsAnswer(Answer):
    """The whole ledger."""

    facts: list[FactAnswer]


class HealthAnswer(Answer):
    """Liveness and what is loaded."""

    status: Literal["ok"]
    version: str
    facts: int = Field(description="entries in the ledger")
    chapters: int
    files: int = Field(description="built browser files in memory")
