"""The laboratory as tests handle it: wait for an answer, read what is shown, compare it with the API."""

import statistics
from typing import Any

import pytest

from tests.browser.conftest import Visit

MODELS = ("standard", "fa1", "fa2", "least")
FIELDS = ("read_bytes", "written_bytes", "total_bytes", "needed_bytes", "saved_bytes")
ALLOWED = {"__builtins__": {}, "sum": sum, "min": min, "max": max, "range": range}
ANSWERED = """(text) => document.getElementById('seqlen-shown').textContent === text
    && document.getElementById('lab-shown')?.textContent.startsWith(`N = ${text},`)
    && document.getElementById('lab-body').getAttribute('aria-busy') === 'false'
    && !document.getElementById('lab-body').dataset.stale"""


def open_lab(visit: Visit, query: str = "", seqlen: int = 4096) -> None:
    """The page at the laboratory, answered."""
    visit.go(f"/?tier=low&{query}#lab", stand=False)
    wait_for_answer(visit, seqlen)
    visit.rest()


def wait_for_answer(visit: Visit, seqlen: int) -> None:
    visit.page.wait_for_function(ANSWERED, arg=f"{seqlen:,}")


def set_setting(visit: Visit, setting: dict[str, Any]) -> None:
    """Chooses a setting by its controls, the typed length last."""
    page = visit.page
    for name, value in setting.items():
        if name == "seqlen":
            continue
        text = str(int(value)) if isinstance(value, bool) else "" if value is None else str(value)
        page.locator(f"#{name}").select_option(value=text)
    page.locator("#seqlen-typed").fill(str(setting["seqlen"]))
    page.locator("#seqlen-typed").press("Enter")


def shown_settings(visit: Visit) -> dict[str, str]:
    return visit.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('#lab-form select')].map((s) => [s.id, s.value]))"""
    )


def table(visit: Visit) -> dict[str, list[str]]:
    """Exact values of the table of all counts, by field, in the order of MODELS."""
    return visit.page.evaluate(
        """async () => {
            const fold = document.getElementById('lab-table');
            if (!fold.open) await new Promise((done) => {
                fold.addEventListener('toggle', done, { once: true });
                fold.open = true;
            });
            return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {
                const found = {};
                for (const cell of document.querySelectorAll('#lab-table td[data-field]'))
                    (found[cell.dataset.field] ??= []).push(cell.dataset.value);
                done(found);
            })));
        }"""
    )


def cards(visit: Visit) -> dict[str, list[str]]:
    """Exact values of the five readouts, in the order they are read."""
    return visit.page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('.readout')].map((card) =>
            [card.dataset.readout, [...card.querySelectorAll('.figure-row b')].map((cell) => cell.dataset.value)]))"""
    )


def formulas(visit: Visit) -> list[dict[str, str]]:
    """Every formula, unfolded: its readout, id, what is shown and the number beside it."""
    return visit.page.evaluate(
        """async () => {
            for (const card of document.querySelectorAll('.readout')) card.open = true;
            await new Promise((done) => setTimeout(done, 60));
            return [...document.querySelectorAll('.formulas dd')].map((dd) => ({
                readout: dd.closest('.readout').dataset.readout,
                id: dd.dataset.id,
                expression: dd.dataset.expression,
                substituted: dd.querySelector('.substituted').textContent.slice(2),
                result: dd.querySelector('.result').textContent.slice(2),
                value: dd.dataset.value,
            }));
        }"""
    )


def check_readouts(visit: Visit, setting: dict[str, Any]) -> None:
    """Everything shown equals the API's answer for `setting`."""
    query = {name: value for name, value in setting.items() if value is not None}
    answer = visit.api("/api/traffic", **query)
    models, block = answer["models"], answer["block"]
    found = table(visit)
    for field in FIELDS:
        assert found[field] == [str(models[model][field]) for model in MODELS], field
    assert found["flops"] == [str(answer["flops"][model]) for model in MODELS]
    if answer["roofline"]:
        assert [float(text) for text in found["time_us"]] == [answer["roofline"][model]["time_us"] for model in MODELS]
        assert found["bound"] == [answer["roofline"][model]["bound"] for model in MODELS]
    seen = cards(visit)
    fa2 = models["fa2"]
    standard_and_flash = [str(models[model]["needed_bytes"]) for model in ("standard", "fa2")]
    assert seen["needs"] == [*standard_and_flash, str(answer["scores_bytes"])]
    moved = [models["standard"]["total_bytes"], fa2["lines"]["hbm"]["total_bytes"], fa2["total_bytes"]]
    assert seen["moves"] == [str(count) for count in moved]
    assert seen["computes"] == [str(answer["flops"][model]) for model in ("standard", "fa2")]
    assert seen["fits"] == [str(block["smem_bytes"]), str(block["rmem_bytes"]), str(block["fits"]).lower()]
    if answer["roofline"]:
        assert float(seen["time"][0]) == answer["roofline"]["standard"]["time_us"]
        assert float(seen["time"][2]) == answer["roofline"]["fa2"]["time_us"]
    else:
        assert seen["time"][:3] == ["undefined"] * 3
    for shown, model in zip(seen["time"][3:], ("standard", "fa2"), strict=True):
        runs: dict[tuple[str, ...], list[float]] = {}
        for point in answer["measured"]:
            if point["model"] == model:
                kernel = (point["kernel"], point["gpu"], point["dtype"])
                runs.setdefault(kernel, []).append(point["time_ms"])
        times = [statistics.median_low(of) for of in runs.values()]
        assert shown == "undefined" if not times else float(shown) == pytest.approx(1000 * min(times)), model


def check_formulas(visit: Visit, least: int = 15) -> None:
    """Each formula unfolded evaluates to the number shown."""
    found = formulas(visit)
    assert len(found) >= least
    for item in found:
        value = float(eval(item["expression"], ALLOWED))
        assert value == float(item["value"]), item
        digits = item["result"].split(" ")[0].split("\N{NO-BREAK SPACE}")[0].replace(",", "")
        assert abs(float(digits) - value) <= 1e-5 * abs(value), item
