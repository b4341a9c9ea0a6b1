"""Every formula evaluates to the count it stands beside, on random shapes, and says the same in all its writings."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory import bounds, budget, flops, formula_text, formulas, roofline, traffic
from app.theory.gpus import GPUS
from app.theory.shapes import AttentionShape, BlockShape
from tests.theory.strategies import repeatable

ALLOWED = {"__builtins__": {}, "sum": sum, "min": min, "max": max, "range": range}
IDS = {
    ("needs", "scores"),
    *(("needs", model) for model in traffic.MODELS),
    *(("moves", model) for model in traffic.MODELS),
    ("moves", "standard_lower"),
    ("moves", "fa1_lower"),
    ("moves", "fa2_lower"),
    *(("computes", model) for model in traffic.MODELS),
    ("fits", "smem"),
    ("fits", "rmem"),
}
TIMES = {("time", "standard"), ("time", "fa2_lower"), ("time", "fa2")}


def evaluated(expression: str) -> float:
    return eval(expression, ALLOWED)


def transliterated(text: str) -> str:
    """The text shown to the reader, turned into Python by plain replacement: no code in common with the writer."""
    text = text.replace(",\N{NO-BREAK SPACE}", ", ")
    text = re.sub(r"(\d),(?=\d{3}(?!\d))", r"\1", text).replace("·", "*").replace("−", "-")
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda hit: "**" + str("⁰¹²³⁴⁵⁶⁷⁸⁹".index(hit.group())), text)
    text = text.replace("⌈", "ceil(").replace("⌉", ")").replace("⌊", "floor(").replace("⌋", ")")
    while "Σ" in text:
        head, _, rest = text.rpartition("Σ[")
        variable, _, rest = rest.partition(" = 0 … ")
        count, _, rest = rest.partition(" - 1] ")
        end = next(at for at in range(len(rest) + 1) if (rest + ")")[: at + 1].count(")") > rest[: at + 1].count("("))
        text = f"{head}sum({rest[:end]} for {variable} in range({count})){rest[end:]}"
    return text


def read(text: str) -> float:
    """What a reader with a pocket calculator gets; divisions that are not rounded are taken exactly."""
    from fractions import Fraction
    from math import ceil, floor

    exact = re.sub(r"\b\d+\b", lambda hit: f"F({hit.group()})", transliterated(text))
    names = {**ALLOWED, "F": Fraction, "ceil": ceil, "floor": floor, "range": lambda count: range(int(count))}
    return float(eval(exact, names))


@st.composite
def shapes(draw: st.DrawFn) -> AttentionShape:
    heads_kv = draw(st.sampled_from([1, 2, 5]))
    return AttentionShape(
        seqlen=draw(st.integers(1, 3000)),
        head_dim=draw(st.sampled_from([8, 64, 72, 128, 256])),
        batch=draw(st.integers(1, 3)),
        num_heads=heads_kv * draw(st.integers(1, 4)),
        num_heads_kv=draw(st.sampled_from([None, heads_kv])),
        causal=draw(st.booleans()),
        dtype=draw(st.sampled_from(["fp16", "bf16", "fp8", "fp32"])),
    )


blocks = st.builds(BlockShape, st.integers(16, 512), st.integers(16, 512))


@repeatable
@given(shapes(), blocks, st.sampled_from(sorted(GPUS)), st.sampled_from(traffic.DIRECTIONS))
def test_every_expression_evaluates_to_the_count(shape, block, gpu_id, direction):
    gpu = GPUS[gpu_id]
    found = {(item.readout, item.id): item for item in formulas.formulas(shape, block, gpu, direction)}
    timed = TIMES if shape.dtype in ("fp16", "bf16") else set()
    assert set(found) == IDS | timed | ({("moves", "passes")} if direction == "forward" else set())
    counted = {model: traffic.count(model, shape, block, direction) for model in traffic.MODELS}
    computed = {model: flops.count(shape, block, model, direction).computed_flops for model in traffic.MODELS}
    held = budget.budget(shape, block, gpu)
    expected = {
        ("needs", "scores"): shape.scores_bytes,
        ("fits", "smem"): held.smem_bytes,
        ("fits", "rmem"): held.rmem_bytes,
        ("moves", "standard_lower"): bounds.band("standard", shape, block, gpu, direction).lower_bytes,
    }
    for model in traffic.MODELS:
        expected["needs", model] = counted[model].needed_bytes
        expected["moves", model] = counted[model].total_bytes
        expected["computes", model] = computed[model]
    for model in ("fa1", "fa2"):
        expected["moves", f"{model}_lower"] = traffic.count(model, shape, block, direction, line="hbm").total_bytes
    if direction == "forward":
        expected["moves", "passes"] = traffic.kv_passes(shape, block, "fa2")
    if timed:
        for name, model, moved in (
            ("standard", "standard", counted["standard"].total_bytes),
            ("fa2", "fa2", counted["fa2"].total_bytes),
            ("fa2_lower", "fa2", expected["moves", "fa2_lower"]),
        ):
            expected["time", name] = roofline.roofline(computed[model], moved, gpu).time_us
    for key, value in expected.items():
        assert evaluated(found[key].expression) == value == found[key].value, (key, found[key].expression)


@repeatable
@given(shapes(), blocks, st.sampled_from(traffic.DIRECTIONS))
def test_the_text_shown_says_the_same(shape, block, direction):
    for item in formulas.formulas(shape, block, GPUS["h100_sxm5"], direction):
        assert read(item.substituted) == pytest.approx(item.value, rel=1e-12), item.substituted


def test_one_head_of_the_default_setting_reads_as_in_the_papers():
    shape, block = AttentionShape(4096, 128), BlockShape(128, 128)
    found = {(item.readout, item.id): item for item in formulas.formulas(shape, block, GPUS["h100_sxm5"])}
    assert found["moves", "standard"].symbolic == "e·(4·N·d + 4·N²)"
    assert found["moves", "fa2"].symbolic == "e·2·N·d + 2·e·d·N·⌈N / B_r⌉"
    assert found["moves", "fa2"].substituted == "2·2·4,096·128 + 2·2·128·4,096·⌈4,096 / 128⌉"
    assert found["fits", "smem"].substituted == "2·128·(128 + 2·128)"


def test_symbols_and_numbers_stand_in_the_same_places():
    shape, block = AttentionShape(1000, 64, num_heads=8, num_heads_kv=2, causal=True), BlockShape(96, 192)
    numbers = {"N": "1,000", "d": "64", "B_r": "96", "B_c": "192", "e": "2", "h": "8", "h_kv": "2"}
    for item in formulas.formulas(shape, block, GPUS["h100_sxm5"]):
        if item.readout == "time" or "Z" in item.symbolic:
            continue
        filled = re.sub(r"[A-Za-z][A-Za-z_]*", lambda hit: numbers.get(hit.group(), hit.group()), item.symbolic)
        assert filled == item.substituted


@pytest.mark.parametrize("source", ["N % 2", "abs(N)", "N if d else 0", "sum([N])", "sum(i for i in N)", "N**d"])
def test_what_no_formula_needs_is_refused(source):
    with pytest.raises(ValueError, match=r"no way to write|runs over range"):
        formula_text.written(source)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("N - (d - e)", "9 − (4 − 2)"),
        ("(N + d)*e", "(9 + 4)·2"),
        ("N*(d*e)", "9·4·2"),
        ("N/(d*e)", "9 / (4·2)"),
        ("(N - 1)//d", "⌊(9 − 1) / 4⌋"),
        ("ceil(N, d)*e", "⌈9 / 4⌉·2"),
        ("(N + 1)**2", "(9 + 1)²"),
        ("sum(N - i for i in range(d))/e", "(Σ[i = 0 … 4 − 1] (9 − i)) / 2"),
    ],
)
def test_brackets_stand_where_they_are_needed(source, text):
    values = {"N": 9, "d": 4, "e": 2}
    assert formula_text.substituted(source, values) == text
    meant = eval(source, {**ALLOWED, **values, "ceil": lambda above, below: -(-above // below)})
    assert evaluated(formula_text.expression(source, values)) == meant
    assert read(text) == meant
