"""The thing to touch in each chapter: by mouse and by keyboard, and against what the server answers."""

import itertools

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import Visit, box_of
from tests.browser.touch_page import said, touch


def lit(page: Page) -> list[str]:
    found: list[str] = page.evaluate("() => [...window.exhibitStand.state.lit]")
    return found


def test_parts_light_when_rested_on_and_stay_when_picked(visit: Visit) -> None:
    host = touch(visit, 1, stand=True)
    page = visit.page
    moulding = host.locator("li[data-part=moulding] button")
    moulding.hover()
    assert lit(page) == ["moulding"]
    page.mouse.move(5, 300)
    moulding.focus()
    page.keyboard.press("Enter")
    assert moulding.get_attribute("aria-pressed") == "true"
    assert lit(page) == ["moulding"]
    page.locator("#part-card", has_text="Moulding").wait_for()
    page.keyboard.press("Enter")
    assert moulding.get_attribute("aria-pressed") == "false"


def test_a_level_of_the_ladder_lights_on_the_stand(visit: Visit) -> None:
    host = touch(visit, 2, stand=True)
    host.locator("input[value=l2]").check()
    assert lit(visit.page) == ["l2"]
    assert "50 MB" in said(host)
    visit.page.keyboard.press("ArrowRight")
    assert lit(visit.page) == ["sm"]
    assert "228 KiB" in said(host)


def test_the_roofline_reads_what_the_server_says(visit: Visit) -> None:
    host = touch(visit, 3)
    roof = visit.api("/api/roofline", gpu="a100_sxm4_40", intensities="62.06")
    host.locator("select").select_option("a100_sxm4_40")
    rate = roof["points"][0]["flops_per_s"] / 1e12
    host.locator(".touch-said", has_text=f"{rate:.2f}".rstrip("0")).wait_for()
    assert "Memory binds it" in said(host)
    host.locator("[data-operation=matmul]").click()
    assert "Arithmetic binds it" in said(host)
    assert "100 % of the peak" in said(host)
    before = said(host)
    host.locator("input[type=range]").focus()
    visit.page.keyboard.press("Home")
    assert said(host) != before
    assert "0.250 FLOP/byte" in said(host)


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*end, steps=4)
    page.mouse.up()


def test_the_operation_can_be_dragged(visit: Visit) -> None:
    host = touch(visit, 3)
    host.locator("path.roof").wait_for()
    host.locator(".figure-host").scroll_into_view_if_needed()
    box = box_of(host.locator(".figure-host svg"))
    middle = box["y"] + box["height"] / 2
    drag(visit.page, (box["x"] + box["width"] * 0.5, middle), (box["x"] + box["width"] * 0.95, middle))
    assert "Arithmetic binds it" in said(host)
    drag(visit.page, (box["x"] + box["width"] * 0.9, middle), (box["x"] + box["width"] * 0.25, middle))
    assert "Memory binds it" in said(host)


def test_the_round_trip_ends_at_the_count_of_the_server(visit: Visit) -> None:
    host = touch(visit, 4)
    page = visit.page
    page.wait_for_selector("#stand-panel.has-flow")
    whole = visit.api("/api/traffic", seqlen=4096, head_dim=128)["models"]["standard"]["total_bytes"]
    host.get_by_role("button", name="Kernel 1").click()
    assert host.locator(".touch-said").get_attribute("data-bytes") == "0"
    host.get_by_role("button", name="One block on").click()
    assert page.locator("#moment").text_content() == "step 1 of 192"
    page.locator("#scrub").press("End")
    assert host.locator(".touch-said").get_attribute("data-bytes") == str(whole)
    host.get_by_role("button", name="Kernel 3").click()
    assert page.locator("#moment").text_content() == "step 128 of 192"
    page.locator('input[name="algorithm"][value="fa2"]').check()
    host.get_by_role("button", name="Show the standard way").click()
    host.get_by_role("button", name="Play").wait_for()


def test_a_layer_can_be_picked_in_list_and_drawing(visit: Visit) -> None:
    host = touch(visit, 5, stand=True)
    host.locator("li[data-part=substrate] button").click()
    assert lit(visit.page) == ["substrate"]
    assert host.locator(".layer-green.held").count() == 1
    host.locator(".layer-lane").click()
    assert host.locator("li[data-part=interposer_lanes] button").get_attribute("aria-pressed") == "true"


def test_the_cut_on_the_stand_moves_by_lever_and_grip(visit: Visit) -> None:
    host = touch(visit, 5, stand=True)
    page = visit.page
    cut = "() => window.exhibitStand.state.cut"
    assert page.evaluate(cut) == {"axis": "z", "at": 0.36}
    place = host.get_by_label("Move the plane")
    place.press("ArrowLeft")
    assert page.evaluate(cut)["at"] == pytest.approx(0.34)
    host.get_by_label("from the side").check()
    assert page.evaluate(cut)["axis"] == "x"
    host.get_by_label("leave it whole").check()
    assert page.evaluate(cut) is None
    assert place.is_disabled()
    host.get_by_label("Open the pile").press("End")
    assert page.evaluate("() => window.exhibitStand.state.open") == 1
    assert host.get_by_label("Open the pile").get_attribute("aria-valuetext") == "100 percent open"
    # The lever beside the stand tells the same, and what was moved here stays in this chapter.
    assert page.locator("#open-stack").input_value() == "1"
    page.locator('.rail a[href="#chapter-12"]').click()
    page.wait_for_function("() => window.exhibitStand.state.open === 0")


def test_a_piece_can_be_shown_alone(visit: Visit) -> None:
    host = touch(visit, 13, stand=True)
    page = visit.page
    alone = "() => window.exhibitStand.state.isolate"
    die = host.locator("li[data-part=gpu_die] button")
    die.click()
    assert page.evaluate(alone) == "gpu_die"
    host.locator('li[data-part^="hbm_stack"] button').press("Enter")
    assert page.evaluate(alone) == "hbm"
    assert die.get_attribute("aria-pressed") == "false"
    host.locator('li[data-part^="hbm_stack"] button').press("Enter")
    assert page.evaluate(alone) is None


def test_what_is_picked_in_the_die_opens_on_the_stand(visit: Visit) -> None:
    host = touch(visit, 6, stand=True)
    page = visit.page
    die = "() => window.exhibitStand.state.die"
    host.locator(".gpc").nth(2).click()
    assert page.evaluate(die) == {"kind": "gpc", "index": 2}
    host.locator(".sm").nth(4).click()
    assert page.evaluate(die) == {"kind": "sm", "index": 2 * 18 + 4}
    host.get_by_role("button", name="Die").click()
    assert page.evaluate(die) is None


CHART = "() => window.exhibitStand.state.chart"


def test_the_row_of_scores_stands_on_the_die(visit: Visit) -> None:
    host = touch(visit, 8, stand=True)
    page = visit.page
    page.wait_for_function("() => window.exhibitStand.state.chart !== null")
    scores = [float(field.input_value()) for field in host.locator('input[data-kind="score"]').all()]
    shares = [bar["share"] for bar in page.evaluate(CHART)["bars"]]
    assert sorted(range(len(scores)), key=scores.__getitem__) == sorted(range(len(shares)), key=shares.__getitem__)
    waiting = [bar["waiting"] for bar in page.evaluate(CHART)["bars"]]
    host.get_by_role("button", name="Next block").click()
    later = [bar["waiting"] for bar in page.evaluate(CHART)["bars"]]
    assert waiting.count(True) == later.count(True) + 2
    page.locator('.rail a[href="#chapter-12"]').click()
    page.wait_for_function("() => window.exhibitStand.state.chart === null")


def test_two_columns_of_memory_follow_the_row_of_the_table(visit: Visit) -> None:
    host = touch(visit, 10, stand=True)
    page = visit.page
    host.get_by_label("linear", exact=True).check()
    lever = host.get_by_label("Row")
    lever.press("Home")
    heights = []
    for row in host.locator(".memory-table tr[data-row]").all():
        cells = [row.locator(f"[data-cell={cell}]").get_attribute("data-value") for cell in ("standard", "flash")]
        shown = [bar["share"] for bar in page.evaluate(CHART)["bars"]]
        heights.append((shown, [float(cell) if cell else 0 for cell in cells]))
        lever.press("ArrowRight")
    per_byte = heights[0][0][0] / heights[0][1][0]
    for shown, stated in heights:
        assert shown == pytest.approx([value * per_byte for value in stated])


def test_the_turns_of_one_sm_stand_over_the_die(visit: Visit) -> None:
    host = touch(visit, 11, stand=True)
    chart = visit.page.evaluate(CHART)
    assert chart["kind"] == "timeline"
    assert len(chart["spans"]) == host.locator(".timeline-table tr[data-row]").count()
    products = sorted((span["start"], span["stop"]) for span in chart["spans"] if span["work"] == "matmul")
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(products))


def test_the_die_opens_to_an_sm_by_keyboard(visit: Visit) -> None:
    host = touch(visit, 6)
    page = visit.page
    assert host.locator(".gpc").count() == 8
    assert host.locator(".gpc .cells i").count() == 144
    host.locator(".gpc").nth(2).focus()
    page.keyboard.press("Enter")
    assert host.locator(".sm").count() == 18
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert host.locator(".quarter").count() == 4
    assert host.locator(".tensor-core").count() == 4
    page.keyboard.press("Enter")  # the focus is on the way back
    assert host.locator(".sm").count() == 18
    assert "Cluster 3" in said(host)


@pytest.mark.parametrize(("rows", "passes"), [(64, "64"), (128, "32"), (256, "16")])
def test_taller_blocks_mean_fewer_passes(visit: Visit, rows: int, passes: str) -> None:
    host = touch(visit, 7)
    host.locator("select").first.select_option(str(rows))
    host.locator(f".touch-said[data-passes='{passes}']").wait_for()
    counted = visit.api("/api/traffic", seqlen=4096, head_dim=128, block_m=rows, block_n=128)
    assert counted["kv_passes"]["fa2"] == float(passes)


def test_the_order_of_2022_passes_over_q_instead(visit: Visit) -> None:
    host = touch(visit, 7)
    host.locator("input[value=fa1]").check()
    host.locator(".touch-said", has_text="Q is read 32 times").wait_for()
    host.locator("input[type=range]").press("Home")
    assert host.locator(".grid-place rect[data-cell=working]").count() == 1


def test_the_readers_own_row(visit: Visit) -> None:
    host = touch(visit, 8)
    page = visit.page
    first = host.locator("input[data-kind=score]").first
    first.fill("3")
    host.locator(".tally-state dd[data-value='3']").wait_for()
    for _ in range(3):
        host.get_by_role("button", name="Next block").click()
    answer = visit.api(
        "/api/online-softmax", scores="3,-1,1.5,0,2.5,2,-0.5,1", values="1,-2,3,0.5,-1,2,4,-0.5", block=2
    )
    shown = [float(cell.get_attribute("data-value") or "nan") for cell in host.locator(".tally-state dd").all()]
    last = answer["steps"][-1]
    assert shown == [last["row_max"], last["rescale"], last["row_sum"], last["acc"]]
    assert f"{answer['output']:.6f}"[:7] in said(host)
    host.get_by_role("button", name="− score").click()
    assert host.locator("input[data-kind=score]").count() == 7
    host.get_by_role("button", name="Our row").click()
    assert first.input_value() == "0.5"
    page.wait_for_function("() => document.querySelectorAll('.score').length === 8")


def test_a_bar_can_be_dragged(visit: Visit) -> None:
    host = touch(visit, 8)
    figure = host.locator(".figure-host")
    figure.scroll_into_view_if_needed()
    grip = figure.locator(".grip").nth(3)
    box, whole = box_of(grip), box_of(figure)
    x = box["x"] + box["width"] / 2
    drag(visit.page, (x, box["y"] + box["height"] / 2), (x, whole["y"] + 20))
    assert float(host.locator("input[data-kind=score]").nth(3).input_value()) > 2
    host.get_by_role("button", name="Next block").click()
    host.locator(".touch-said", has_text="scores 3 to 4").wait_for()


def test_storing_and_recomputing_are_the_counts_of_the_server(visit: Visit) -> None:
    host = touch(visit, 9)
    counted = visit.api("/api/traffic", seqlen=4096, head_dim=128, direction="backward")
    saved = {way: counted["models"][way]["saved_bytes"] for way in ("standard", "fa2")}
    host.locator("svg text", has_text=f"{saved['standard'] / 1e6:.2f}").wait_for()
    host.locator("input[value=fa2]").check()
    host.locator("svg text", has_text=f"{saved['fa2'] / 1e6:.3f}").wait_for()
    assert "1.25 times the arithmetic" in said(host)


def test_the_published_series(visit: Visit) -> None:
    host = touch(visit, 10)
    assert "17,024 MiB" in said(host)
    host.locator("input[type=range]").press("End")
    assert "does not run" in said(host)
    assert "13,376 MiB" in said(host)
    log = host.locator(".series-s").get_attribute("d")
    host.locator("input[value=linear]").check()
    assert host.locator(".series-s").get_attribute("d") != log
    assert host.locator(".dot-s").count() == 6
    assert host.locator(".dot-o").count() == 10
    host.locator("input[value=time]").check()
    for told in ("BERT-large", "8 A100, N = 512", "MLPerf 1.1 record", "Megatron-LM"):
        assert host.locator("svg text:visible", has_text=told).count() >= 1, told


def test_the_ladder_of_versions(visit: Visit) -> None:
    host = touch(visit, 11)
    measured = visit.api(
        "/api/timings",
        direction="forward",
        dtype="bf16",
        batch=1,
        num_heads=16,
        seqlen=16384,
        head_dim=128,
        causal=False,
        l2="warm",
    )["runs"]
    rows = [row for run in measured for row in run["timings"] if row["tflops_per_s"]]
    for kernel in ("standard", "fa1_triton", "fa2_triton", "fa3_gluon", "fa3_cuda"):
        rates = [row["tflops_per_s"] for row in rows if row["kernel"] == kernel]
        shown = host.locator(f"tr[data-row={kernel}] [data-cell=rate]")
        if rates:
            assert float(shown.get_attribute("data-value") or 0) == pytest.approx(rates[-1] * 1e12)
        else:
            assert shown.text_content() == "not measured yet"
    host.locator("select").select_option("fa3-bf16")
    assert "840 TFLOP/s" in said(host)
    assert "BF16" in said(host)
    host.locator("input[value=share]").check()
    assert host.locator("svg text", has_text="84.9 %").count() == 1
    drawn = host.locator(".touch-live > .figure-host").last
    assert drawn.evaluate("(figure) => figure.nextElementSibling.className") == "own-roles"


def test_exactness_is_run_when_asked(visit: Visit) -> None:
    host = touch(visit, 12)
    page = visit.page
    host.get_by_role("button", name="Start again with none").click()
    assert page.locator(".myths .answer:visible").count() == 0
    host.get_by_role("button", name="Cross out the next").click()
    assert page.locator(".myths .answer:visible").count() == 1
    host.get_by_role("button", name="Draw and compare").click()
    host.locator(".touch-said", has_text="Seed 1").wait_for()
    answer = visit.api("/api/exactness", seed=1, seqlen=256, head_dim=64, outliers=True)
    assert f"{answer['standard']['rms']:.1e}".split("e")[0] in said(host)
    assert answer["standard"]["rms"] > answer["tiled"]["rms"]


def test_pieces_come_apart_and_one_can_be_isolated(visit: Visit) -> None:
    host = touch(visit, 13, stand=True)
    page = visit.page
    host.get_by_role("button", name="Assemble").click()
    assert page.evaluate("() => window.exhibitStand.state.explode") == 0
    assert page.locator("#explode").input_value() == "0"
    host.locator("input[type=range]").press("End")
    assert page.evaluate("() => window.exhibitStand.state.explode") == 1
    host.locator("li", has_text="Base").get_by_role("button").click()
    assert lit(page) == ["base"]
