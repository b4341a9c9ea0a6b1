"""Reading Nsight Compute's table: a sample in the form its documentation gives, and tables that are broken."""

from pathlib import Path

import pytest

from app.facts import record_schema
from app.kernels.bench import counters
from app.kernels.bench.counters import CountersError

NAMES = ("ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size", "Grid Size")
HEADER = (*NAMES, "Device", "CC", *counters.METRICS)
BASE_UNITS = dict.fromkeys(counters.METRICS, "byte") | {counters.DURATION: "ns", counters.EXPONENTIALS: "inst"}


def line(*cells: str) -> str:
    return ",".join(f'"{cell}"' for cell in cells)


def launch(index: int, name: str, *values: str) -> str:
    where = ("(128, 1, 1)", "(2048, 1, 1)", "0", "9.0")
    return line(str(index), "4711", "python3.12", "127.0.0.1", name, "1", "7", *where, *values)


def output(*launches: str, units: dict[str, str] | None = None, header: tuple[str, ...] = HEADER) -> str:
    given = BASE_UNITS | (units or {})
    return "\n".join(
        [
            "==PROF== Connected to process 4711 (/usr/bin/python3.12)",
            '==PROF== Profiling "fa2_forward": 0%....50%....100% - 1 pass',
            '==PROF== Profiling "counters_marker": 0%....50%....100% - 2 passes',
            "==PROF== Disconnected from process 4711",
            line(*header),
            line(*(given.get(name, "") for name in header)),
            *launches,
        ]
    )


TWO_CASES = output(
    launch(0, "standard_matmul", "1,000", "2,000", "10,000", "20,000", "5,000", "0"),
    launch(1, "standard_softmax", "3,000", "4,000", "30,000", "40,000", "7,000", "64"),
    launch(2, "counters_marker", "251,658,240", "500", "251,658,240", "33,792", "90,000", "0"),
    launch(3, "fa2_forward", "16,777,216", "0", "285,212,672", "16,793,600", "120,500", "4,325,376"),
    launch(4, "counters_marker", "251,658,240", "16,777,216", "251,658,240", "33,792", "90,000", "0"),
)


def test_every_launch_is_read_with_its_metrics() -> None:
    launches = counters.parse(TWO_CASES)
    assert [item.name for item in launches] == [
        "standard_matmul",
        "standard_softmax",
        "counters_marker",
        "fa2_forward",
        "counters_marker",
    ]
    assert launches[3].metrics[counters.L2_TO_SM] == 285_212_672
    assert launches[3].metrics[counters.DURATION] == 120_500


def test_a_case_ends_with_its_marker_and_owns_what_the_marker_pushes_out() -> None:
    first, second = counters.by_case(counters.parse(TWO_CASES))
    assert counters.summed(first, passes=1) == {
        "hbm_read_bytes": 4000,
        "hbm_written_bytes": 6500,
        "l2_to_sm_bytes": 40_000,
        "sm_to_l2_bytes": 60_000,
        "duration_us": 12.0,
        "xu_instructions": 64,
        "passes": 1,
    }
    assert counters.summed(second, passes=1)["hbm_written_bytes"] == 16_777_216


def test_what_is_read_fits_the_record() -> None:
    (_, second) = counters.by_case(counters.parse(TWO_CASES))
    found = record_schema.counters(counters.summed(second, passes=2), "here")
    assert found is not None
    assert found.moved.l2_to_sm_bytes == 285_212_672
    assert found.passes == 2


def test_launches_after_the_last_marker_belong_to_no_case() -> None:
    text = output(launch(0, "fa2_forward", "1", "1", "1", "1", "1", "1"))
    assert counters.by_case(counters.parse(text)) == []


def test_the_largest_number_of_passes_counts() -> None:
    assert counters.most_passes(TWO_CASES) == 2
    assert counters.most_passes("nothing of the kind") == 1


def test_units_are_brought_to_base_units() -> None:
    text = output(launch(0, "fa2_forward", "1", "2", "3", "4", "1.5", "6"), units={counters.DURATION: "us"})
    assert counters.parse(text)[0].metrics[counters.DURATION] == 1500


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("==ERROR== ERR_NVGPUCTRPERM - no permission", "no permission"),
        ("", "no table"),
        (output(header=HEADER[:-1]), "no column 'smsp__inst"),
        (output(launch(0, "k", "1", "2", "3", "4", "5", "6"), units={counters.HBM_READ: "furlong"}), "furlong"),
        (output(launch(0, "k", "n/a", "2", "3", "4", "5", "6")), "'n/a' for dram__bytes_read"),
    ],
)
def test_a_broken_table_is_refused_with_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(CountersError, match=message):
        counters.parse(text)


def test_ncu_leaves_the_clocks_alone_and_reads_what_is_needed() -> None:
    command = counters.command("fa2_triton", Path("cases"), Path("done"))
    assert command[:3] == ["ncu", "--clock-control", "none"]
    assert command[command.index("--metrics") + 1].split(",") == list(counters.METRICS)
    assert command[-3:] == ["fa2_triton", "cases", "done"]


def test_without_ncu_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters.shutil, "which", lambda name: None)
    with pytest.raises(CountersError, match="not on the PATH"):
        counters.collect("fa2_triton", [], 10)
