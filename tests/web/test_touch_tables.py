"""Chapter 11's tables: the ladder as the records have it, and what our own kernel uses."""

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.facts import registry, timings
from app.theory import cluster_roles, hopper_roles
from app.web import touch_tables
from tests.facts.test_timings import ROW, document, write

CASE = ROW | touch_tables.CASE


def rate(kernel: str, value: float, **other: Any) -> dict[str, Any]:
    return CASE | {"kernel": kernel, "tflops_per_s": value, "counters": None} | other


def rungs(folder: Path) -> dict[str, touch_tables.Rung]:
    built = touch_tables.build(registry.load(), timings.read(folder, folder / "yours"))
    return {rung.kernel: rung for rung in built.rungs}


def on(day: int, *rows: dict[str, Any]) -> dict[str, Any]:
    made = document(*rows)
    made["run"]["date"] = f"2026-11-{day}T18:00:00+00:00"
    return made


def test_a_rung_without_a_record_says_so(tmp_path: Path) -> None:
    assert {rung.shown for rung in rungs(tmp_path).values()} == {"not measured yet"}


def test_a_rung_is_set_against_the_library_of_its_own_run_and_case_only(tmp_path: Path) -> None:
    write(tmp_path, "a.json", on(20, rate("fa2_triton", 500), rate("fa3_wheel", 640)))
    write(
        tmp_path,
        "b.json",
        on(
            21,
            rate("fa3_gluon", 660),
            rate("fa3_wheel", 650),
            rate("fa3_wheel", 10, seqlen=512),
            rate("fa3_wheel", 20, l2="flushed"),
        ),
    )
    write(tmp_path, "c.json", on(22, rate("fa1_triton", 10)))
    found = rungs(tmp_path)
    assert {kernel: rung.against for kernel, rung in found.items()} == {
        "standard": "",
        "fa1_triton": "",
        "fa2_triton": "0.781×",
        "fa3_gluon": "1.02×",
        "fa3_cuda": "",
    }
    assert found["fa3_gluon"].title == "Third version’s means"
    assert found["fa3_gluon"].shown == "660\N{NO-BREAK SPACE}TFLOP/s"
    assert found["fa3_gluon"].share_of_peak == pytest.approx(660e12 / touch_tables.GPUS["h200_sxm"].flops_per_s)


def test_the_library_s_own_rates_say_how_far_runs_lie_apart(tmp_path: Path) -> None:
    def shown() -> str:
        return touch_tables.build(registry.load(), timings.read(tmp_path, tmp_path / "yours")).library_rates

    assert shown() == ""
    write(
        tmp_path, "a.json", on(20, rate("fa1_triton", 40), rate("fa3_wheel", 640.4), rate("fa3_wheel", 900, seqlen=512))
    )
    assert shown() == "", "one run tells nothing"
    write(tmp_path, "b.json", on(21, rate("fa3_wheel", 800)))
    assert shown() == "", "no rung stands beside it"
    write(tmp_path, "c.json", on(22, rate("fa3_gluon", 600), rate("fa3_wheel", 751.2)))
    assert shown() == "640–751\N{NO-BREAK SPACE}TFLOP/s"


def test_the_newest_record_counts_even_if_the_library_is_not_in_it(tmp_path: Path) -> None:
    write(tmp_path, "a.json", on(20, rate("fa3_gluon", 640), rate("fa3_wheel", 640)))
    write(tmp_path, "b.json", on(21, rate("fa3_gluon", 660)))
    rung = rungs(tmp_path)["fa3_gluon"]
    assert (rung.shown, rung.against) == ("660\N{NO-BREAK SPACE}TFLOP/s", "")


def test_the_timeline_has_the_stages_and_groups_of_our_own_kernel(tmp_path: Path) -> None:
    built = touch_tables.build(registry.load(), timings.read(tmp_path))
    roles = hopper_roles.DEFAULTS[128]
    assert built.timeline.stages == roles.stages
    assert len(built.timeline.rows) == 1 + roles.consumers
    assert {span.row for span in built.timeline.spans} == set(range(1 + roles.consumers))
    assert built.own_kernel.shown.roles == roles
    assert [own.head_dim for own in built.own_kernel.listed] == [64, 128, 256]


def test_chapter_11_shows_what_our_own_kernel_uses(client: TestClient) -> None:
    page = client.get("/").text
    table = page[page.index('class="roles-table"') :]
    table = table[: table.index("</table>")]
    for head_dim, roles in hopper_roles.DEFAULTS.items():
        bytes_ = hopper_roles.smem(roles, head_dim)
        for number in (head_dim, roles.block_m, roles.block_n, roles.consumer_registers, bytes_.kv, bytes_.total):
            assert f">{number:,}<" in table
    assert "At d = 128 one" in page


def test_chapter_11_shows_what_the_kernel_in_cuda_uses(client: TestClient) -> None:
    page = client.get("/").text
    table = page[page.index('id="roles-in-cuda"') :]
    rows = re.findall(r'<tr><th scope="row">([^<]*)</th>(.*)</tr>', table[: table.index("</table>")])
    cells = {name: re.findall(r"<td>([^<]*)</td>", text) for name, text in rows}
    listed = [(key[0], defaults[1]) for key, defaults in cluster_roles.DEFAULTS.items()]
    assert cells["Rows in a block of K or V"] == [str(roles.block_n) for _, roles in listed]
    assert cells["Thread blocks that share each load"] == [str(roles.cluster) for _, roles in listed]
    others = {roles.cluster for defaults in cluster_roles.DEFAULTS.values() for roles in (defaults[0], *defaults[2:])}
    assert ("at other lengths two thread blocks share" in table) == (2 in others)
    shares = [cluster_roles.held_share(roles, head_dim) for head_dim, roles in listed]
    reads = [{0: "shared memory", 1: "registers"}.get(share, "both") for share in shares]
    assert cells["Products read Q from"] == reads
    assert set(reads) == {"registers", "shared memory"}
    totals = [f"{cluster_roles.smem(roles, head_dim).total / 2**10:.1f}" for head_dim, roles in listed]
    assert cells["KiB of shared memory"] == totals
