"""/api/gpus against the reference table."""

from typing import Any

import pytest
from fastapi.testclient import TestClient


def test_the_hardware_table_is_the_reference_one(client: TestClient, reference: dict[str, Any]) -> None:
    gpus = {gpu["id"]: gpu for gpu in client.get("/api/gpus").json()["gpus"]}
    assert set(gpus) == set(reference["gpus"])
    for key, row in reference["gpus"].items():
        gpu = gpus[key]
        assert gpu["hbm_bytes_per_s"] == row["bytes_per_s"]
        assert gpu["flops_per_s"] == row["flop_per_s"]
        assert gpu["sms"] == row["sms"]
        assert gpu["smem_per_sm_bytes"] == row["smem_sm"]
        assert gpu["smem_per_block_bytes"] == row["smem_block"]
        assert gpu["rmem_per_sm_bytes"] == row["regs_sm"]
        assert gpu["ridge_point"] == pytest.approx(row["ridge_flop_per_byte"], abs=5e-5)
        assert {source["field"] for source in gpu["sources"]} >= {"hbm_bytes_per_s", "flops_per_s", "sms"}
