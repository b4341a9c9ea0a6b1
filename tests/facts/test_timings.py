"""Records: a complete one is read, one with anything missing or inconsistent is refused, rows are found."""

import contextlib
import copy
import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.facts import records, timings
from app.facts.record_schema import RecordError, parse

CLOCKS = {"sm_mhz": 1980.0, "memory_mhz": 3201.0, "power_w": 98.3, "temperature_c": 34.0}
RUN: dict[str, Any] = {
    "date": "2026-11-29T18:00:00+00:00",
    "command": "exhibit bench --cases targets",
    "commit": "0123abc",
    "gpu": {
        "name": "NVIDIA H200",
        "sms": 132,
        "l2_bytes": 62_914_560,
        "hbm_bytes": 150_109_880_320,
        "smem_per_sm_bytes": 233_472,
    },
    "driver": "580.159.04",
    "versions": {
        "python": "3.12.3",
        "torch": "2.11.0",
        "cuda": "13.0",
        "cudnn": "91900",
        "triton": "3.6.0",
        "fa3_wheel": "absent",
    },
    "clocks": {"before": CLOCKS, "after": {**CLOCKS}},
}
ROW: dict[str, Any] = {
    "kernel": "fa2_triton",
    "direction": "forward",
    "dtype": "bf16",
    "batch": 4,
    "num_heads": 16,
    "seqlen": 4096,
    "head_dim": 128,
    "causal": False,
    "l2": "warm",
    "block_m": 128,
    "block_n": 64,
    "settings": "128x64 w8 s3",
    "launch": "graph",
    "kernel_names": ["fa2_forward"],
    "time_ms": {"median": 1.2, "p10": 1.04, "p90": 1.36, "samples": [1.0, 1.1, 1.2, 1.3, 1.4]},
    "tflops_per_s": 458.1,
    "error": {"relative": 0.002, "plain": 0.0031},
    "counters": {
        "hbm_read_bytes": 100,
        "hbm_written_bytes": 50,
        "l2_to_sm_bytes": 900,
        "sm_to_l2_bytes": 60,
        "duration_us": 1200.5,
        "xu_instructions": 7,
        "passes": 1,
    },
    "counted": {"hbm_read_bytes": 99, "hbm_written_bytes": 50, "l2_to_sm_bytes": 900, "sm_to_l2_bytes": None},
    "status": "ok",
}
NOTHING = {"time_ms": None, "tflops_per_s": None, "error": None, "counters": None}


def document(*rows: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy({"schema": 1, "run": RUN, "timings": list(rows) or [ROW]})


# Every field of the environment, as the schema lists them: the tables first, then what stands in them.
ENVIRONMENT: tuple[tuple[str, ...], ...] = (
    ("run",),
    *(("run", name) for name in records.RUN_FIELDS),
    *(("run", "gpu", name) for name in records.GPU_FIELDS),
    *(("run", "versions", name) for name in records.VERSION_FIELDS),
    *(("run", "clocks", when) for when in ("before", "after")),
    *(("run", "clocks", when, name) for when in ("before", "after") for name in records.CLOCK_FIELDS),
)


def places(table: dict[str, Any], above: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Where every value and every table of a JSON object stands."""
    found = {(*above, name) for name in table}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= places(value, (*above, name))
    return found


def at(table: dict[str, Any], place: tuple[str, ...]) -> dict[str, Any]:
    for name in place:
        table = table[name]
    return table


def test_a_complete_record_is_read() -> None:
    record = parse(document(), "one")
    assert record.run.gpu == records.Gpu("NVIDIA H200", 132, 62_914_560, 150_109_880_320, 233_472)
    (row,) = record.timings
    assert row.ran
    assert row.time_ms is not None
    assert row.time_ms.samples == (1.0, 1.1, 1.2, 1.3, 1.4)
    assert (row.error, row.plain_error) == (0.002, 0.0031)
    assert row.counters is not None
    assert (row.counters.moved.l2_to_sm_bytes, row.counters.duration_us) == (900, 1200.5)
    assert row.counted == records.Bytes(99, 50, 900, None)


def test_the_schema_lists_every_field_that_a_complete_environment_has() -> None:
    assert set(ENVIRONMENT) == places({"run": RUN})


def test_every_field_of_the_environment_is_read_into_the_record() -> None:
    run = dataclasses.asdict(parse(document(), "one").run)
    clocks = {when: run.pop(f"clocks_{when}") for when in ("before", "after")}
    assert run.pop("order") == "one after the other", "what a record says that does not say it"
    assert run | {"clocks": clocks} == RUN


def test_a_record_says_in_which_order_its_kernels_ran() -> None:
    turns = document()
    turns["run"]["order"] = "in turns"
    assert parse(turns, "one").run.order == "in turns"
    for value in ("backwards", "", 5, None):
        turns["run"]["order"] = value
        with pytest.raises(RecordError, match=r"^run\.order must be one of "):
            parse(turns, "one")


@pytest.mark.parametrize("value", [None, [], True])
@pytest.mark.parametrize("place", ENVIRONMENT, ids=".".join)
def test_a_field_of_the_environment_that_says_nothing_is_refused(place: tuple[str, ...], value: Any) -> None:
    empty = document()
    at(empty, place[:-1])[place[-1]] = value
    with pytest.raises(RecordError, match=rf"^{re.escape('.'.join(place))}(\.name)? must be "):
        parse(empty, "one")


@pytest.mark.parametrize("place", ENVIRONMENT, ids=".".join)
def test_a_record_without_any_field_of_its_environment_is_refused(place: tuple[str, ...]) -> None:
    incomplete = document()
    del at(incomplete, place[:-1])[place[-1]]
    with pytest.raises(RecordError, match=f"has no {place[-1]}"):
        parse(incomplete, "one")


@pytest.mark.parametrize(
    "name",
    ["date", "command", "commit", "driver", "gpu.name", *(f"versions.{name}" for name in records.VERSION_FIELDS)],
)
@pytest.mark.parametrize("value", ["", "  ", 5])
def test_an_empty_text_of_the_environment_is_as_good_as_none(name: str, value: Any) -> None:
    empty = document()
    place = ("run", *name.split("."))
    at(empty, place[:-1])[place[-1]] = value
    with pytest.raises(RecordError, match=f"run.{name} must be a text"):
        parse(empty, "one")


@pytest.mark.parametrize("name", [*records.CASE_FIELDS, "status", "time_ms", "tflops_per_s", "error", "counters"])
def test_a_row_without_a_needed_field_is_refused(name: str) -> None:
    row = {key: value for key, value in ROW.items() if key != name}
    with pytest.raises(RecordError, match=rf"timings\[0\] has no {name}"):
        parse(document(row), "one")


def test_a_kernel_that_quantises_its_inputs_gives_a_third_error() -> None:
    three = {"relative": 0.06, "plain": 0.003, "computing": 0.027}
    plain, quantised = parse(document(ROW, ROW | {"error": three}), "one").timings
    assert plain.computing_error is None
    assert (quantised.error, quantised.plain_error, quantised.computing_error) == (0.06, 0.003, 0.027)
    with pytest.raises(RecordError, match=r"error\.computing must be a number"):
        parse(document(ROW | {"error": three | {"computing": "small"}}), "one")


def test_a_kernel_that_cannot_run_says_why_and_has_no_times() -> None:
    (row,) = parse(document(ROW | NOTHING | {"status": "cannot run: out of memory"}), "one").timings
    assert not row.ran
    assert row.tflops_per_s is row.error is row.counters is None


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"status": "failed"}, "status must be"),
        ({"status": "cannot run: why"}, r"time_ms must be null"),
        ({"time_ms": None}, "time_ms must be there"),
        ({"error": None}, "error must be there"),
        ({"time_ms": ROW["time_ms"] | {"median": 1.1}}, r"median is 1.1, its samples give 1.2"),
        ({"time_ms": ROW["time_ms"] | {"p90": 1.4}}, "p90 is 1.4"),
        ({"time_ms": ROW["time_ms"] | {"samples": []}}, "at least one time"),
        ({"time_ms": ROW["time_ms"] | {"samples": [1.0, -1.0]}}, r"samples\[1\] must be positive"),
        ({"tflops_per_s": float("nan")}, "must be a number"),
        ({"direction": "sideways"}, "direction must be one of forward, backward"),
        ({"l2": "hot"}, "l2 must be one of"),
        ({"launch": "magic"}, "launch must be one of"),
        ({"seqlen": 0}, "seqlen must be a whole number of at least 1"),
        ({"seqlen": 2.5}, "seqlen must be a whole number"),
        ({"causal": 1}, "causal must be true or false"),
        ({"block_m": -1}, "block_m must be"),
        ({"speed": 5}, "unknown field 'speed'"),
        ({"counters": {"hbm_read_bytes": 1}}, "counters has no hbm_written_bytes"),
        ({"counters": ROW["counters"] | {"l2_to_sm_bytes": None}}, "must give the bytes read"),
    ],
)
def test_a_row_that_contradicts_itself_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordError, match=message):
        parse(document(ROW | changed), "one")


@pytest.mark.parametrize("date", ["yesterday", "2026-11-29T18:00:00"])
def test_a_date_needs_a_form_and_a_time_zone(date: str) -> None:
    dated = document()
    dated["run"]["date"] = date
    with pytest.raises(RecordError, match="date"):
        parse(dated, "one")


def test_another_schema_is_refused() -> None:
    with pytest.raises(RecordError, match="schema is 2"):
        parse(document() | {"schema": 2}, "one")


@pytest.mark.parametrize("whole", [[], "text", {"schema": 1, "run": RUN, "timings": {}}])
def test_what_is_no_record_is_refused(whole: Any) -> None:
    with pytest.raises(RecordError):
        parse(whole, "one")


def write(folder: Path, name: str, content: dict[str, Any]) -> None:
    (folder / name).write_text(json.dumps(content))


def test_a_folder_is_read_oldest_first_and_a_refused_file_is_named(tmp_path: Path) -> None:
    later = document(ROW | {"seqlen": 1024}, ROW | {"kernel": "standard"})
    later["run"]["date"] = "2026-12-24T18:00:00+00:00"
    later["run"]["gpu"]["name"] = "NVIDIA H100"
    write(tmp_path, "a.json", later)
    write(tmp_path, "b.json", document())
    (tmp_path / "notes.txt").write_text("not a record")
    found = timings.read(tmp_path)
    assert [record.id for record in found.records] == ["b", "a"]
    assert found.gpus() == ("NVIDIA H200", "NVIDIA H100")
    write(tmp_path, "c.json", {"schema": 1})
    assert timings.read(tmp_path).refused == (timings.Refused("c.json", "the record has no run"),)
    assert timings.read(tmp_path).records == found.records


def test_the_reader_s_own_records_stand_beside_ours(tmp_path: Path) -> None:
    ours, yours = tmp_path / "measured", tmp_path / "measured" / "yours"
    yours.mkdir(parents=True)
    other = document()
    other["run"]["gpu"]["name"] = "NVIDIA A100-SXM4-80GB"
    write(ours, "run.json", document())
    write(yours, "run.json", other)
    write(yours, "my run (2).json", document())
    found = timings.read(ours, yours)
    assert {record.id: record.yours for record in found.records} == {
        "run": False,
        "yours-run": True,
        "yours-my-run-2": True,
    }
    assert [record.id for record in found.ours().records] == ["run"]
    assert len(found.select(record="yours-run")) == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"[" * 100_000, "nested too deeply"),
        (b"null", "the record must be an object"),
        (b'{"results": [{"model": "other"}]}', "the record has no schema"),
        (json.dumps(document() | {"schema": 10**50}).encode(), "this version reads 1"),
        (json.dumps(document(ROW | {"seqlen": 10**400})).encode(), "seqlen must be a whole number"),
        (json.dumps(document(ROW | {"tflops_per_s": 1e400})).encode(), "must be a number"),
        (json.dumps(document(ROW | {"kernel_names": 5})).encode(), "kernel_names must be a list"),
        (json.dumps(document(ROW | {"settings": {"a": 1}})).encode(), "settings must be a text"),
        (b'{"schema": 1, "schema": ' + b"9" * 5000 + b"}", "Exceeds the limit"),
    ],
)
def test_a_file_that_is_no_record_costs_nothing_else(tmp_path: Path, content: bytes, why: str) -> None:
    write(tmp_path, "good.json", document())
    (tmp_path / "bad.json").write_bytes(content)
    (tmp_path / "folder.json").mkdir()
    found = timings.read(tmp_path)
    assert [record.id for record in found.records] == ["good"]
    assert [item.name for item in found.refused] == ["bad.json", "folder.json"]
    assert why in found.refused[0].why
    assert len(found.refused[0].why) < 200


def leaves(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where everything in a JSON document stands."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, item in pairs for place in [(*above, key), *leaves(item, (*above, key))]]


@given(
    st.sampled_from(leaves(document())),
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.lists(st.integers())
    | st.sampled_from([{}, [], None, -1, 1e308, 10**400]),
)
@settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=400)
def test_whatever_stands_in_a_place_it_is_read_or_refused(place: tuple[Any, ...], value: Any) -> None:
    spoilt = document()
    target: Any = spoilt
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    with contextlib.suppress(RecordError):
        parse(spoilt, "one")


def test_rows_are_found_by_anything_given(tmp_path: Path) -> None:
    rows = [ROW, ROW | {"seqlen": 1024}, ROW | {"kernel": "standard", "causal": True}, ROW | {"l2": "flushed"}]
    failed = ROW | NOTHING | {"status": "cannot run: no backward", "direction": "backward"}
    write(tmp_path, "a.json", document(*rows, failed))
    found = timings.read(tmp_path)
    assert len(found.select()) == 5
    assert len(found.select(kernel="fa2_triton")) == 4
    assert [hit.timing.seqlen for hit in found.select(seqlen=1024)] == [1024]
    assert [hit.timing.kernel for hit in found.select(causal=True)] == ["standard"]
    assert len(found.select(kernel="fa2_triton", seqlen=4096, l2="warm", causal=False, ran=True)) == 1
    assert len(found.select(ran=False)) == 1
    assert found.select(gpu="NVIDIA H100") == ()
    assert found.select(gpu="NVIDIA H200", dtype="bf16", head_dim=128, num_heads=16, batch=4, direction="backward")
    assert all(hit.record.id == "a" for hit in found.select())


def test_no_folder_means_no_records(tmp_path: Path) -> None:
    assert timings.read(tmp_path / "missing").records == ()


def test_the_project_s_own_records_are_accepted() -> None:
    found = timings.read(timings.MEASURED)
    assert found.records
    assert found.refused == ()
    for record in found.records:
        assert record.timings
