"""/api/timings gives the records as they stand, narrowed as asked; /api/traffic brings the counters of its setting."""

import csv
import io
import json
from typing import Any

from fastapi.testclient import TestClient

from app.facts.timings import MEASURED
from app.kernels import registry
from app.web.recorded import KERNELS
from tests.web.test_traffic_api import ask


def raw_rows() -> list[dict[str, Any]]:
    """Every row of every record, oldest run first, read from the files without our loader."""
    records = [json.loads(path.read_text()) for path in MEASURED.glob("*.json")]
    records.sort(key=lambda record: record["run"]["date"])
    return [row for record in records for row in record["timings"]]


def answered(client: TestClient, **query: Any) -> list[dict[str, Any]]:
    runs = client.get("/api/timings", params=query).json()["runs"]
    return [row for run in runs for row in run["timings"]]


def test_every_recorded_row_is_there_with_its_environment(client: TestClient) -> None:
    runs = client.get("/api/timings").json()["runs"]
    assert sum(len(run["timings"]) for run in runs) == len(raw_rows()) > 0
    for run in runs:
        assert run["run"]["gpu"]["name"]
        assert run["run"]["driver"]
        assert {"torch", "triton", "cuda"} <= set(run["run"]["versions"])


def test_parameters_narrow_the_choice(client: TestClient) -> None:
    query = {"kernel": "fa2_triton", "direction": "forward", "head_dim": 128, "seqlen": 4096, "causal": False}
    expected = [row for row in raw_rows() if all(row[name] == value for name, value in query.items())]
    found = answered(client, **query)
    assert [row["time_ms"]["median"] for row in found] == [row["time_ms"]["median"] for row in expected]
    assert answered(client, kernel="no_such_kernel") == []


def test_a_record_can_be_asked_for_alone(client: TestClient) -> None:
    for path in sorted(MEASURED.glob("*.json")):
        whole = client.get(f"/api/timings/{path.stem}").json()
        assert whole["run"]["command"] == json.loads(path.read_text())["run"]["command"]
        assert whole["timings"] == answered(client, record=path.stem)
        assert whole["yours"] is False
    missing = client.get("/api/timings/nothing")
    assert missing.status_code == 404
    assert missing.headers["content-type"] == "application/problem+json"


def test_samples_come_as_csv_one_a_line(client: TestClient) -> None:
    query = {"kernel": "standard", "seqlen": 4096, "head_dim": 128, "causal": False}
    answer = client.get("/api/timings.csv", params=query)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8; header=present"
    lines = list(csv.DictReader(io.StringIO(answer.text)))
    expected = [row for row in raw_rows() if all(row[name] == value for name, value in query.items())]
    samples = [sample for row in expected for sample in row["time_ms"]["samples"]]
    assert [float(line["time (ms)"]) for line in lines] == samples
    assert {line["causal"] for line in lines} == {"false"}
    assert lines[0]["sample"] == "1"


def test_counted_by_hardware_and_counted_by_formula_meet(client: TestClient) -> None:
    """The count of K and V once per Q block is what crosses from the L2 cache into the SMs, within 1 %."""
    rows = [row for row in raw_rows() if row["kernel"] == "fa2_triton" and row["counters"]]
    rows = [row for row in rows if row["direction"] == "forward" and not row["causal"]]
    assert rows
    for row in rows:
        models = ask(
            client,
            seqlen=row["seqlen"],
            head_dim=row["head_dim"],
            num_heads=row["num_heads"],
            block_m=row["block_m"],
            block_n=row["block_n"],
        )["models"]
        moved = row["counters"]["moved"] if "moved" in row["counters"] else row["counters"]
        assert abs(moved["l2_to_sm_bytes"] / models["fa2"]["read_bytes"] - 1) < 0.01


def of_row(row: dict[str, Any]) -> tuple[Any, ...]:
    """What a recorded row must bring: its kernel, settings and time, and its bytes where they were counted."""
    read = row["counters"]
    hbm = read and read["hbm_read_bytes"] + read["hbm_written_bytes"]
    l2_sm = read and read["l2_to_sm_bytes"] + read["sm_to_l2_bytes"]
    return (row["kernel"], row["dtype"], row["block_m"], row["time_ms"]["median"], hbm, l2_sm)


def of_point(point: dict[str, Any]) -> tuple[Any, ...]:
    """The same of a point in the answer."""
    names = ("kernel", "dtype", "block_m", "time_ms", "hbm_bytes", "l2_sm_bytes")
    return tuple(point[name] for name in names)


def exact(kernel: registry.Kernel) -> bool:
    """Neither approximate nor of fewer bits: what the counts are about."""
    return not kernel.approximate and kernel.quantized is None


def test_a_setting_brings_everything_recorded_for_it(client: TestClient) -> None:
    """Rows with counters bring their bytes, rows that were only timed bring their time; nothing else comes along."""
    names = ("direction", "batch", "num_heads", "seqlen", "head_dim", "causal")
    rows = [row for row in raw_rows() if row["status"] == "ok" and row["l2"] == "warm"]
    rows = [row for row in rows if exact(registry.get(row["kernel"]))]
    settings = {tuple(row[name] for name in names) for row in rows}
    timed_only = 0
    for setting in sorted(settings):
        query = dict(zip(names, setting, strict=True))
        found = ask(client, **query)["measured"]
        wanted = [row for row in rows if tuple(row[name] for name in names) == setting]
        assert sorted(map(of_point, found), key=str) == sorted(map(of_row, wanted), key=str)
        assert all(point["gpu"].startswith("NVIDIA ") for point in found)
        timed_only += sum(row["counters"] is None for row in wanted)
    assert timed_only > 0
    assert ask(client, seqlen=4097, head_dim=128, num_heads=16)["measured"] == []
    assert ask(client, seqlen=4096, head_dim=128, num_heads=16, num_heads_kv=4)["measured"] == []
    assert ask(client, seqlen=4096, head_dim=128, num_heads=16, dtype="fp32")["measured"] == []


def test_every_recorded_kernel_has_the_name_and_the_count_of_its_registry() -> None:
    assert set(KERNELS) == {kernel.id for kernel in registry.of_kind("rung", "peer") if exact(kernel)}
    registered = {kernel.id: kernel for kernel in registry.KERNELS}
    for key, (name, model) in KERNELS.items():
        assert name == registered[key].title
        counted_as = registered[key].counted_as
        assert counted_as is None or counted_as[0] == model, key


def test_measured_bytes_lie_at_the_edges_of_the_band(client: TestClient) -> None:
    """What crosses from L2 to the SMs is the upper edge; what HBM saw is close to the lower one, from 4 MB on.

    Shorter runs carry a few megabytes that are not the attention's; part of O may lie in the L2 when a kernel ends.
    """
    met = 0
    for num_heads in (1, 16):
        for head_dim in (64, 128, 256):
            query = {"head_dim": head_dim, "num_heads": num_heads}
            sweep = client.get("/api/traffic/sweep", params=query).json()
            for point, lab in zip(sweep["points"], sweep["lab"], strict=True):
                band = lab["bands"]["fa2"]
                for seen in point["measured"]:
                    if seen["kernel"] not in ("fa2_triton", "sdpa_cudnn") or seen["hbm_bytes"] is None:
                        continue
                    met += 1
                    assert abs(seen["l2_sm_bytes"] / band["upper_bytes"] - 1) < 0.01, seen
                    if band["lower_bytes"] > 4e6:
                        assert 0.8 < seen["hbm_bytes"] / band["lower_bytes"] < 1.5, seen
    assert met >= 36
