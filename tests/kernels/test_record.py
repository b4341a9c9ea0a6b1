"""Rows, files and tables of a record; counted bytes against numbers worked out by hand."""

import json
from pathlib import Path
from typing import Any

import pytest

from app.facts import timings
from app.facts.record_schema import RecordError
from app.kernels import registry
from app.kernels.bench import record
from app.kernels.bench.cases import TimingCase
from app.kernels.bench.harness import Summary, summarize
from app.theory.shapes import BlockShape
from tests.facts.test_timings import RUN

CASE = TimingCase("forward", "bf16", 2, 4, 4096, 128, False)
BLOCK = BlockShape(128, 64)
ERROR = {"relative": 1e-3, "plain": 2e-3}


def timed(kernel: str = "fa2_triton", case: TimingCase = CASE, l2: str = "warm", ms: float = 2.0) -> dict[str, Any]:
    summary: Summary = summarize([ms, ms, ms])
    return record.row(registry.get(kernel), case, l2, summary=summary, launch="graph", error=ERROR, block=BLOCK)


def test_a_rate_is_operations_over_time() -> None:
    """4 · N² · d for each of 8 heads in 2 ms."""
    assert timed()["tflops_per_s"] == pytest.approx(4 * 4096**2 * 128 * 8 / 2e-3 / 1e12, rel=1e-5)


def test_a_mask_halves_the_operations_and_backward_has_two_and_a_half_times_as_many() -> None:
    causal = TimingCase("forward", "bf16", 2, 4, 4096, 128, True)
    backward = TimingCase("backward", "bf16", 2, 4, 4096, 128, False)
    whole = timed()["tflops_per_s"]
    assert timed(case=causal)["tflops_per_s"] == pytest.approx(whole / 2, rel=1e-5)
    assert timed(case=backward)["tflops_per_s"] == pytest.approx(whole * 2.5, rel=1e-5)
    assert timed("standard", backward)["tflops_per_s"] == pytest.approx(whole * 2.5, rel=1e-5)


def test_counted_bytes_of_the_second_version() -> None:
    """Q once, K and V once for each of 32 q blocks, O and 4 bytes a row of log-sum-exp written."""
    tensor = 8 * 4096 * 128 * 2
    assert record.counted(registry.get("fa2_triton"), CASE, BLOCK) == {
        "hbm_read_bytes": 3 * tensor,
        "hbm_written_bytes": tensor + 8 * 4096 * 4,
        "l2_to_sm_bytes": tensor + 2 * 32 * tensor,
        "sm_to_l2_bytes": tensor + 8 * 4096 * 4,
    }


def test_counted_bytes_of_the_standard_way_need_no_block() -> None:
    tensor, scores = 8 * 4096 * 128 * 2, 8 * 4096**2 * 2
    counted = record.counted(registry.get("standard"), CASE, None)
    assert counted is not None
    assert counted["hbm_read_bytes"] == 3 * tensor + 2 * scores
    assert counted["hbm_written_bytes"] == tensor + 2 * scores


@pytest.mark.parametrize("kernel", ["sdpa_cudnn", "sdpa_math", "blocksparse_triton", "fa3_wheel"])
def test_what_is_not_known_is_not_counted(kernel: str) -> None:
    assert record.counted(registry.get(kernel), CASE, None) is None


def test_a_file_is_written_checked_and_can_be_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "run.json"
    growing = record.Record(path, RUN)
    growing.write()
    assert timings.read(path.parent).records[0].timings == ()
    assert growing.add(timed()) is None
    assert growing.add(record.row(registry.get("sdpa_math"), CASE, "warm", cannot="out of memory")) is None
    growing.write()
    (found,) = timings.read(path.parent).records
    assert [(row.kernel, row.status) for row in found.timings] == [
        ("fa2_triton", "ok"),
        ("sdpa_math", "cannot run: out of memory"),
    ]
    assert found.timings[0].counted is not None
    assert [item.name for item in path.parent.iterdir()] == ["run.json"]


def test_a_bad_row_is_refused_and_the_others_stay(tmp_path: Path) -> None:
    growing = record.Record(tmp_path / "run.json", RUN)
    growing.add(timed())
    why = growing.add(timed() | {"l2": "hot"})
    assert why is not None
    assert "l2 must be one of" in why
    assert len(growing.rows) == 1


def test_a_record_without_its_environment_is_never_written(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    with pytest.raises(RecordError, match="has no driver"):
        record.Record(path, {name: value for name, value in RUN.items() if name != "driver"}).write()
    assert not path.exists()


def test_a_refused_rewrite_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    growing = record.Record(tmp_path / "run.json", RUN)
    growing.write()
    before = growing.path.read_text()
    growing.run.pop("gpu")
    with pytest.raises(RecordError):
        growing.write()
    assert growing.path.read_text() == before


def test_numbers_are_written_to_six_digits(tmp_path: Path) -> None:
    growing = record.Record(tmp_path / "run.json", RUN)
    growing.add(timed(ms=1.23456789))
    growing.write()
    assert json.loads(growing.path.read_text())["timings"][0]["time_ms"]["median"] == 1.23457


def test_the_file_is_named_for_day_gpu_and_suite() -> None:
    assert record.file_name(RUN, "targets") == "2026-11-29-nvidia-h200-targets.json"


def test_the_table_has_a_line_a_case_and_a_column_a_kernel() -> None:
    rows = [
        timed(),
        timed("sdpa_flash", ms=4.0),
        timed(l2="flushed", ms=8.0),
        record.row(registry.get("sdpa_math"), CASE, "warm", cannot="out of memory"),
    ]
    lines = record.table(rows).splitlines()
    assert lines[0].split()[-3:] == ["fa2", "math", "FA2"]
    assert lines[1].split() == ["for", "d128", "n4096", "2x4", "full", "34", "-", "17"]
    assert record.table(rows, "flushed").splitlines()[1].split()[-3:] == ["9", "-", "-"]


def test_counters_stand_beside_what_was_counted() -> None:
    moved = {"hbm_read_bytes": 25_000_000, "hbm_written_bytes": 8_000_000, "l2_to_sm_bytes": 545_000_000}
    row = timed() | {"counters": moved | {"sm_to_l2_bytes": 8_500_000, "duration_us": 1.0, "xu_instructions": 1}}
    assert record.counters_table([row, timed()]).splitlines()[1].split()[-9:] == [
        *("33.0", "/", "33.7"),
        *("545.0", "/", "545.3"),
        *("8.5", "/", "8.5"),
    ]
