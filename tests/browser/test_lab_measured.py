"""What was really measured, beside what is counted: points, times in the readout, all records as a table."""

import json
from typing import Any

from app.facts.timings import MEASURED
from app.web.recorded import KERNELS
from tests.browser.conftest import Visit
from tests.browser.lab_page import open_lab, set_setting, shown_settings, wait_for_answer

MARKS = """() => [...document.querySelectorAll('.log-panel .mark-measured')]
    .map((mark) => mark.parentElement.querySelector('title').textContent)"""


def rows() -> list[dict[str, Any]]:
    """Every row of every record, oldest run first, read from the files without our loader."""
    records = [json.loads(path.read_text()) for path in MEASURED.glob("*.json")]
    records.sort(key=lambda record: record["run"]["date"])
    return [row for record in records for row in record["timings"]]


def ran(head_dim: int, num_heads: int) -> list[dict[str, Any]]:
    """Rows of one sequence, forward, no mask, that ended in a time; approximate kernels stand beside no count."""
    setting = {"direction": "forward", "causal": False, "batch": 1, "head_dim": head_dim, "num_heads": num_heads}
    setting["l2"] = "warm"  # times with the cache flushed stand on /measurements only
    exact = [row for row in rows() if row["time_ms"] and row["kernel"] in KERNELS]
    return [row for row in exact if all(row[name] == value for name, value in setting.items())]


def counted(head_dim: int, num_heads: int) -> list[dict[str, Any]]:
    return [row for row in ran(head_dim, num_heads) if row["counters"]]


def test_counters_become_points_of_the_panel_and_rows_of_a_table(visit: Visit) -> None:
    open_lab(visit, "num_heads=16&head_dim=64")
    wanted = counted(64, 16)
    flash = [row for row in wanted if KERNELS[row["kernel"]][1] == "fa2"]
    titles = visit.page.evaluate(MARKS)
    # One mark a row for HBM, and one for the line into the SMs where that is the band's upper edge.
    assert len(titles) == len(wanted) + len(flash) > 0
    for row in wanted:
        moved = (row["counters"]["hbm_read_bytes"] + row["counters"]["hbm_written_bytes"]) / 1e6
        text = f"{moved:.4g}" if moved < 1000 else f"{moved / 1000:.4g}"
        assert any(f"HBM {text}" in title and "NVIDIA H200, 2026-" in title for title in titles), (row["kernel"], text)
    note = visit.page.locator("#lab-measured").text_content() or ""
    assert "NVIDIA H200" in note
    assert "The stand is an H100: the same die, other memory." in note
    table = visit.page.locator("#lab-measured-table")
    table.locator("summary").click()
    table.locator("tbody tr").first.wait_for()
    lengths = table.locator("tbody tr").evaluate_all(
        "(rows) => rows.map((row) => [row.dataset.kernel, row.cells[1].textContent])"
    )
    assert sorted(lengths) == sorted([row["kernel"], f"{row['seqlen']:,}"] for row in ran(64, 16))
    assert table.locator("tr.chosen").count() == sum(row["seqlen"] == 4096 for row in ran(64, 16))
    visit.page.locator("#seqlen").press("ArrowRight")
    wait_for_answer(visit, 5120)
    assert table.locator("tr.chosen").count() == 0


def test_points_lie_where_their_bytes_are(visit: Visit) -> None:
    """The marks' heights, read off the panel's own axis, are the bytes of the records."""
    open_lab(visit, "num_heads=16", 4096)
    scale = visit.page.evaluate(
        """() => {
            const texts = [...document.querySelectorAll('.log-panel text[text-anchor=end]')];
            const at = (name) => Number(texts.find((text) => text.textContent === name).getAttribute('y')) - 4;
            return { G: at('1 G'), M: at('1 M') };
        }"""
    )
    places = visit.page.evaluate(
        """() => [...document.querySelectorAll('.log-panel .mark-measured')].map((mark) =>
            Number(mark.parentElement.getAttribute('transform').match(/ ([-\\d.]+)\\)/)[1]))"""
    )
    read = sorted(1e6 * 10 ** (3 * (y - scale["M"]) / (scale["G"] - scale["M"])) for y in places)
    wanted = []
    for row in counted(128, 16):
        moved = row["counters"]
        wanted.append(moved["hbm_read_bytes"] + moved["hbm_written_bytes"])
        if KERNELS[row["kernel"]][1] == "fa2":
            wanted.append(moved["l2_to_sm_bytes"] + moved["sm_to_l2_bytes"])
    assert len(read) == len(wanted)
    # A tenth of a pixel is the grain of the drawing.
    assert all(abs(a / b - 1) < 0.03 for a, b in zip(read, sorted(wanted), strict=True))


def test_a_setting_nobody_measured_says_so(visit: Visit) -> None:
    open_lab(visit, "num_heads=4")
    assert visit.page.evaluate(MARKS) == []
    assert "Nothing was measured for this setting" in (visit.page.locator("#lab-measured").text_content() or "")
    assert visit.page.locator("#lab-measured-table").is_hidden()
    assert visit.page.locator(".readout[data-readout=time]").text_content().count("no record") == 2  # type: ignore[union-attr]


def test_a_setting_that_was_only_timed_has_times_and_no_points(visit: Visit) -> None:
    open_lab(visit, "num_heads=16&batch=4")
    assert visit.page.evaluate(MARKS) == []
    assert "timed only" in (visit.page.locator("#lab-measured").text_content() or "")
    card = visit.page.locator(".readout[data-readout=time]").text_content() or ""
    assert card.count("on H200") == 2
    # No point is drawn for the setting before either.
    set_setting(visit, {"batch": 1, "seqlen": 4096})
    wait_for_answer(visit, 4096)
    visit.page.wait_for_function(f"() => ({MARKS})().length > 0")


def test_all_records_are_listed_with_their_samples_and_open_their_setting(visit: Visit) -> None:
    open_lab(visit)
    assert not [url for url in visit.requests if "/api/timings" in url]
    page = visit.page
    page.locator("#lab-records summary").first.click()
    page.locator("#lab-records tbody tr").first.wait_for()
    recorded = rows()
    assert page.locator("#lab-records tbody tr").count() == len(recorded)
    at = next(i for i, row in enumerate(recorded) if row["causal"] and row["head_dim"] == 64)
    row = page.locator("#lab-records tbody tr").nth(at)
    row.locator("summary").click()
    text = row.locator(".samples").text_content() or ""
    page.wait_for_function("() => [...document.querySelectorAll('.samples')].some((s) => s.textContent)")
    text = row.locator(".samples").text_content() or ""
    assert [float(sample) for sample in text.removesuffix(" ms").split()] == recorded[at]["time_ms"]["samples"]
    row.locator("a.record").click()
    wait_for_answer(visit, recorded[at]["seqlen"])
    chosen = shown_settings(visit)
    for name in ("head_dim", "num_heads", "batch", "direction", "dtype"):
        assert chosen[name] == str(recorded[at][name])
    assert chosen["causal"] == "1"
    assert (page.locator(".readout[data-readout=time]").text_content() or "").count("on H200") == 2


def test_records_that_cannot_be_had_are_asked_for_again(visit: Visit) -> None:
    open_lab(visit)
    page = visit.page
    page.route("**/api/timings", lambda route: route.abort())
    fold = page.locator("#lab-records > summary")
    fold.click()
    page.locator("#lab-records", has_text="could not be loaded").wait_for()
    page.unroute("**/api/timings")
    fold.click()
    fold.click()
    page.locator("#lab-records tbody tr").first.wait_for()
    visit.complaints.clear()
