"""The page of measurements as a reader without a script gets it: complete, narrowed as asked, nothing invented."""

import bisect
import json
import re
import xml.etree.ElementTree as ElementTree
from html import unescape
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.facts import timings
from app.facts.timings import Timings
from app.kernels import registry
from app.web import kernel_names, measurements, timing_plots
from app.web.queries import MeasurementsQuery
from tests.facts.test_timings import NOTHING, ROW, document, write
from tests.web.test_pages import Page
from tests.web.test_timings_api import raw_rows

SVG = re.compile(r"<svg viewBox=\"0 0 320 210\".*?</svg>", re.DOTALL)


@pytest.fixture(scope="module")
def html(client: TestClient) -> str:
    return client.get("/measurements").text


def build(folder: Path, **choice: Any) -> measurements.Measurements:
    return measurements.build(timings.read(folder, folder / "yours"), MeasurementsQuery(**choice))


def rate(kernel: str, value: float, **other: Any) -> dict[str, Any]:
    return ROW | {"kernel": kernel, "tflops_per_s": value, "counters": None} | other


def rows_of(page: measurements.Measurements) -> list[measurements.Row]:
    return [row for _, cases in page.groups for case in cases for row in case.rows]


@pytest.fixture
def whole(client: TestClient, html: str) -> str:
    """The page with the pages of the cases that it only links to."""
    links = re.findall(r'<p class="case"><a href="(/measurements[^"]+)"', html)
    assert links, "there are more rows than one page holds"
    return html + "".join(client.get(unescape(link)).text for link in links)


def test_every_recorded_timing_has_its_row_and_its_numbers(whole: str) -> None:
    rows = raw_rows()
    assert whole.count('<tr id="row-') == len(rows)
    shown = sorted(float(cell.replace(",", "")) for cell in re.findall(r"<td>([\d,.]+)</td>", whole))
    for row in rows:
        if row["time_ms"]:
            median = row["time_ms"]["median"]
            assert shown[bisect.bisect_left(shown, median * 0.999)] == pytest.approx(median, rel=1e-3)


def test_every_row_unfolds_to_its_whole_record(whole: str) -> None:
    unfolded = re.findall(r"<summary>Whole record.*?</dl>", whole, re.DOTALL)
    assert len(unfolded) == len(raw_rows())
    runs = {path.stem: json.loads(path.read_text())["run"] for path in timings.MEASURED.glob("*.json")}
    for record in unfolded:
        named = re.search(r'href="#run-([\w-]+)"', record)
        assert named
        run = runs[named[1]]  # two runs may begin in the same second, on two GPUs
        text = unescape(record)
        for expected in (run["command"], run["commit"], run["driver"], *run["versions"].values()):
            assert expected in text, expected
        assert f"<dd>timed {run.get('order', 'one after the other')}</dd>" in text
    assert sum("<dt>Error</dt>" in record for record in unfolded) == sum(row["error"] is not None for row in raw_rows())


def test_samples_of_a_row_are_one_address_away(client: TestClient, html: str) -> None:
    addresses = [unescape(link) for link in re.findall(r'href="(/api/timings[^"]*)"', html)]
    assert "/api/timings" in addresses
    assert "/api/timings.csv" in addresses
    one = next(link for link in addresses if link.startswith("/api/timings?record="))
    (run,) = client.get(one).json()["runs"]
    (row,) = run["timings"]
    lines = client.get(one.replace("/api/timings?", "/api/timings.csv?")).text.split("\r\n")
    assert [float(line.split(",")[-1]) for line in lines[1:-1]] == row["time_ms"]["samples"]


def test_a_plot_is_named_described_and_given_as_a_table(html: str) -> None:
    drawn = SVG.findall(html)
    assert len(drawn) > 5
    table = html[html.index("The plots as a table") :]
    for text in drawn:
        svg = ElementTree.fromstring(text)
        named = {item.get("id"): item.text for item in (svg.find("title"), svg.find("desc")) if item is not None}
        assert set(str(svg.get("aria-labelledby")).split()) == set(named)
        assert all(named.values())
        points = [item.text for item in svg.iterfind(".//g/g/title")]
        assert points
        for point in points:
            found = re.fullmatch(r"(.+), (.+), N = ([\d,]+): ([\d.,]+) TFLOP/s", point or "")
            assert found is not None, point
            assert f"<td>{found[4]}</td>" in table
        for place in re.findall(r"translate\(([\d.]+) ([\d.]+)\)", text):
            assert 0 <= float(place[0]) <= timing_plots.WIDTH
            assert 0 <= float(place[1]) <= timing_plots.HEIGHT


def test_the_address_narrows_the_page(client: TestClient) -> None:
    query = {"direction": "forward", "head_dim": 128, "causal": "false", "kernel": "fa2_triton", "gpu": "", "plot": ""}
    page = client.get("/measurements", params=query).text
    expected = [
        row
        for row in raw_rows()
        if row["kernel"] == "fa2_triton"
        and (row["direction"], row["head_dim"], row["causal"]) == ("forward", 128, False)
    ]
    assert page.count('<tr id="row-') == len(expected) > 0
    assert 'value="fa2_triton" selected' in page
    assert 'href="/api/timings?kernel=fa2_triton&amp;direction=forward&amp;head_dim=128&amp;causal=false"' in page


def test_nothing_found_is_said_and_no_error(client: TestClient) -> None:
    answer = client.get("/measurements?kernel=nobody&theme=dark")
    assert answer.status_code == 200
    assert "Nothing was recorded for this choice." in answer.text
    assert 'name="theme" value="dark"' in answer.text


NO_SENSE = ["seqlen=x", "seqlen=0", "colour=red", "theme=pink", "over=fa9", "kernel=" + "x" * 61]


@pytest.mark.parametrize("query", NO_SENSE)
def test_a_choice_that_makes_no_sense_is_refused_in_words(client: TestClient, query: str) -> None:
    answer = client.get(f"/measurements?{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"].startswith("text/html")
    assert query.split("=")[0] in answer.text
    assert "Traceback" not in answer.text


def test_what_a_reader_types_is_text(client: TestClient) -> None:
    page = client.get("/measurements", params={"kernel": "<script>alert(1)</script>"}).text
    assert "<script>alert" not in page


def test_ids_are_unique_links_lead_somewhere_and_headings_leave_no_level_out(html: str) -> None:
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids, link
    assert page.headings[0] == 1
    for above, below in zip(page.headings, page.headings[1:], strict=False):
        assert below <= above + 1


def test_a_ratio_stays_within_one_run_and_one_case(tmp_path: Path) -> None:
    write(
        tmp_path, "a.json", document(rate("fa2_triton", 300), rate("sdpa_flash", 200), rate("standard", 50, seqlen=8))
    )
    write(tmp_path, "b.json", document(rate("fa2_triton", 999)))
    assert [(row.record.id, row.kernel.id, row.ratio) for row in rows_of(build(tmp_path))] == [
        ("a", "standard", ""),
        ("a", "fa2_triton", "1.5×"),
        ("b", "fa2_triton", ""),
        ("a", "sdpa_flash", "1.0×"),
    ]
    narrowed = rows_of(build(tmp_path, kernel="fa2_triton"))
    assert [row.ratio for row in narrowed] == ["1.5×", ""]


@pytest.mark.parametrize(
    ("over", "name", "ratio"),
    [
        ("sdpa_flash", "FlashAttention-2", "3.0×"),
        ("sdpa_cudnn", "cuDNN", "1.2×"),
        ("fa3_wheel", "FlashAttention-3", "0.96×"),
    ],
)
def test_the_reader_says_what_a_ratio_refers_to(tmp_path: Path, over: str, name: str, ratio: str) -> None:
    rates = {"fa3_cuda": 600, "sdpa_flash": 200, "sdpa_cudnn": 500, "fa3_wheel": 625}
    write(tmp_path, "a.json", document(*(rate(kernel, value) for kernel, value in rates.items())))
    page = build(tmp_path, over=over)
    assert {row.kernel.id: row.ratio for row in rows_of(page)}["fa3_cuda"] == ratio
    assert page.over == name
    ((_, (case,)),) = page.groups
    assert case.headline.endswith(f"{ratio} {name}’s")
    assert ("over=" in case.query) == (over != "sdpa_flash")


def test_a_folded_case_names_the_fastest_of_ours_that_is_exact(tmp_path: Path) -> None:
    skipping = rate("blocksparse_triton", 2000)
    write(tmp_path, "a.json", document(rate("fa2_triton", 300), rate("sdpa_flash", 200), skipping))

    def headline() -> str:
        ((_, (case,)),) = build(tmp_path).groups
        return case.headline

    assert headline() == "Second version’s order: 300 TFLOP/s, 1.5× FlashAttention-2’s"
    write(tmp_path, "b.json", document(rate("fa3_gluon", 700), rate("fa3_wheel", 710)))
    assert headline() == "Third version’s means: 700 TFLOP/s"
    write(tmp_path, "c.json", document(rate("fa3_gluon", 640), rate("sdpa_flash", 320)))
    write(tmp_path, "d.json", document(rate("fa3_gluon", 600), rate("sdpa_flash", 240)))
    assert headline() == "Third version’s means: 640 TFLOP/s (median of 3 runs), 2.25× FlashAttention-2’s"


def test_what_could_not_run_says_why(tmp_path: Path) -> None:
    write(tmp_path, "a.json", document(ROW | NOTHING | {"status": "cannot run: out of memory"}))
    (row,) = rows_of(build(tmp_path))
    assert row.why_not == "out of memory"
    assert (row.median, row.rate, row.ratio) == ("", "", "")


def test_measured_bytes_stand_beside_counted_ones(tmp_path: Path) -> None:
    write(tmp_path, "a.json", document())
    (row,) = rows_of(build(tmp_path))
    assert row.hbm == measurements.Pair(150, 149, "+0.7\u00a0%")
    assert row.l2_to_sm == measurements.Pair(900, 900, "±0.0\u00a0%")


def test_another_gpu_stands_beside_ours_and_is_labelled(tmp_path: Path) -> None:
    (tmp_path / "yours").mkdir()
    lengths = [rate("fa2_triton", 300.0, seqlen=seqlen) for seqlen in (1024, 4096)]
    write(tmp_path, "ours.json", document(*lengths))
    other = document(*lengths)
    other["run"]["gpu"]["name"] = "NVIDIA A100-SXM4-80GB"
    write(tmp_path / "yours", "mine.json", other)
    page = build(tmp_path)
    assert {row.gpu for row in rows_of(page)} == {"NVIDIA H200", "NVIDIA A100-SXM4-80GB (yours)"}
    (panel,) = page.plots.panels
    assert [(curve.gpu, curve.other) for curve in panel.curves] == [
        ("NVIDIA H200", 0),
        ("NVIDIA A100-SXM4-80GB (yours)", 1),
    ]
    assert len(page.plots.columns) == 2
    assert next(control for control in page.controls if control.name == "gpu").options[2].text == "NVIDIA H200"


def test_a_refused_file_is_named_and_nothing_else_is_lost(tmp_path: Path) -> None:
    write(tmp_path, "good.json", document())
    write(tmp_path, "bad.json", {"schema": 1, "run": {}})
    page = build(tmp_path)
    assert page.shown == 1
    assert [(item.name, item.why) for item in page.refused] == [("bad.json", "the record has no timings")]


def test_a_page_of_thousands_of_rows_is_cut_into_addresses(tmp_path: Path) -> None:
    write(tmp_path, "a.json", document(*(rate("standard", 1.0, seqlen=seqlen) for seqlen in range(1, 1001))))
    cases = [case for _, cases in build(tmp_path).groups for case in cases]
    assert len(cases) == 1000
    assert len([case for case in cases if case.rows]) == measurements.MOST_ROWS
    assert "seqlen=1000" in cases[-1].query
    assert len(rows_of(build(tmp_path, seqlen=1000))) == 1


def test_no_records_at_all_make_an_empty_page(tmp_path: Path) -> None:
    page = measurements.build(Timings(()), MeasurementsQuery())
    assert (page.total, page.groups, page.plots.panels) == (0, (), ())


def test_a_plot_takes_one_run_a_gpu(tmp_path: Path) -> None:
    """The run with most points; among equals the newest."""
    write(tmp_path, "a.json", document(rate("standard", 1.0, seqlen=1024), rate("standard", 2.0, seqlen=2048)))
    later = document(rate("standard", 3.0, seqlen=1024), rate("standard", 4.0, seqlen=2048))
    later["run"]["date"] = "2026-12-24T18:00:00+00:00"
    write(tmp_path, "b.json", later)
    write(tmp_path, "c.json", document(rate("standard", 9.0, seqlen=4096)))
    (panel,) = build(tmp_path).plots.panels
    assert [(seqlen, cells[0].text) for seqlen, cells in panel.rows] == [(1024, "3.0"), (2048, "4.0")]


def test_a_kernel_that_the_shown_run_lacks_comes_from_the_run_with_most_of_it(tmp_path: Path) -> None:
    write(tmp_path, "a.json", document(*(rate("standard", 1.0, seqlen=seqlen) for seqlen in (512, 1024, 2048, 4096))))
    for name, value in (("b", 5.0), ("c", 6.0)):
        other = (rate("fa3_cuda", value, seqlen=seqlen) for seqlen in (1024, 2048))
        write(tmp_path, f"{name}.json", document(rate("standard", 9.0, seqlen=512), *other))
    write(tmp_path, "d.json", document(rate("fa3_cuda", 7.0, seqlen=1024)))
    (panel,) = build(tmp_path).plots.panels
    assert {curve.kernel.id: len(curve.points) for curve in panel.curves} == {"standard": 4, "fa3_cuda": 2}
    texts = [(seqlen, [cell.text for cell in cells]) for seqlen, cells in panel.rows]
    assert texts == [(512, ["1.0"]), (1024, ["1.0", "6.0"]), (2048, ["1.0", "6.0"]), (4096, ["1.0"])]


def test_work_that_was_left_out_makes_no_rate(tmp_path: Path) -> None:
    """65,536 tokens, a few percent of the blocks kept: fifty thousand TFLOP/s were drawn, and the axis with them."""
    lengths = [{"seqlen": seqlen} for seqlen in (4096, 65536)]
    skipping = [rate("blocksparse_triton", 50_000, **length) for length in lengths]
    write(tmp_path, "a.json", document(*skipping, *(rate("fa2_triton", 500, **length) for length in lengths)))
    page = build(tmp_path)
    assert {row.kernel.id: row.rate for row in rows_of(page)} == {"blocksparse_triton": "", "fa2_triton": "500"}
    (panel,) = page.plots.panels
    assert [curve.kernel.id for curve in panel.curves] == ["fa2_triton"]
    for kernel in registry.of_kind("rung", "peer"):
        assert kernel_names.named(kernel.id).whole != kernel.approximate


@pytest.mark.parametrize("most", [0.3, 1, 4.4, 9, 47, 330, 1327, 5_000, 49_000, 8e6])
def test_an_axis_has_room_for_its_numbers(tmp_path: Path, most: float) -> None:
    write(tmp_path, "a.json", document(*(rate("fa2_triton", most, seqlen=seqlen) for seqlen in (512, 1024))))
    (panel,) = build(tmp_path).plots.panels
    heights = [y for y, _ in panel.y_ticks]
    assert 2 <= len(heights) <= 6
    assert min(upper - lower for upper, lower in pairwise(heights)) > 20
    assert max(float(text.replace(",", "")) for _, text in panel.y_ticks) >= most


def test_every_kernel_of_the_bench_has_a_name() -> None:
    listed = {kernel.id for kernel in registry.of_kind("rung", "peer")}
    assert listed <= set(kernel_names.NAMES)
    assert {item.id for item in kernel_names.NAMES.values() if item.ours} >= {
        kernel.id for kernel in registry.of_kind("rung")
    }


def test_every_page_leads_to_it(client: TestClient) -> None:
    for path in ("/", "/numbers", "/glossary"):
        assert 'href="/measurements"' in client.get(path).text
