"""The roof over the API: against the published rates, by hand."""

import pytest
from fastapi.testclient import TestClient


def test_the_roof_of_an_h100(client: TestClient) -> None:
    answer = client.get("/api/roofline", params={"intensities": "1,100,295.23,1000"}).json()
    # 3.35 TB/s times the intensity until 989 TFLOP/s are reached, which is at 989/3.35 = 295.22 FLOP/byte.
    rates = [point["flops_per_s"] for point in answer["points"]]
    assert rates == pytest.approx([3.35e12, 335e12, 989e12, 989e12], rel=1e-6)
    assert [point["bound"] for point in answer["points"]] == ["memory", "memory", "compute", "compute"]
    assert answer["points"][1]["share_of_peak"] == pytest.approx(335 / 989)
    assert answer["ridge_point"] == pytest.approx(295.2239, rel=1e-6)


@pytest.mark.parametrize("gpu", ["a100_sxm4_40", "a100_sxm4_80", "h100_sxm5", "h200_sxm"])
def test_the_stops_rise_and_end_at_the_peak(client: TestClient, gpu: str) -> None:
    points = client.get("/api/roofline", params={"gpu": gpu}).json()["points"]
    assert (points[0]["intensity"], points[-1]["intensity"]) == (0.25, 4096)
    assert len(points) == 14 * 8 + 1
    rates = [point["flops_per_s"] for point in points]
    assert rates == sorted(rates)
    assert points[-1]["share_of_peak"] == 1
    slope = [point for point in points if point["bound"] == "memory"]
    assert {round(point["flops_per_s"] / point["intensity"]) for point in slope} == {
        client.get("/api/roofline", params={"gpu": gpu}).json()["hbm_bytes_per_s"]
    }


@pytest.mark.parametrize("text", ["0", "-1", "1,nan", "inf", "a", "", ",".join(["1"] * 17)])
def test_what_is_no_intensity_is_refused(client: TestClient, text: str) -> None:
    answer = client.get("/api/roofline", params={"intensities": text})
    assert answer.status_code == 422
    assert "intensities" in answer.text
