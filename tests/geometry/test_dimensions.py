"""The dimension table: every size sourced, published ones equal to the ledger, sums that must agree."""

from pathlib import Path

import pytest

from app.facts import registry
from app.geometry import dimensions
from app.geometry.dimensions import DimensionError, load, mm, table

ENTRY = 'a = { value = 1.0, kind = "estimate", reason = "why", drawing = "to_scale" }'
START = '[factors.thickness]\nvalue = 4\nkind = "estimate"\nreason = "why"\n[counts]\n[mm]\n'


def test_only_the_area_of_the_die_is_published() -> None:
    assert [name for name, entry in table().sizes.items() if entry.kind == "published"] == ["die_area_mm2"]


def test_the_drawn_die_has_the_published_area() -> None:
    published = registry.load().facts["gh100-die-area"].value
    assert mm("die_width") * mm("die_depth") == pytest.approx(published, rel=0.01)


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("gpcs", "gh100-gpcs"),
        ("sms", "gh100-sms"),
        ("memory_controllers", "gh100-controllers"),
        ("stacks_in_use", "h100-stacks"),
        ("dram_layers", "h100-layers"),
        ("sms_in_use", "h100-sms"),
        ("controllers_in_use", "h100-controllers"),
        ("tensor_cores_per_sm", "gh100-tensor-cores-sm"),
        ("registers_per_sm_kib", "h100-registers-sm"),
        ("l1_per_sm_kib", "h100-l1-combined"),
        ("shared_per_sm_kib", "h100-smem-sm"),
    ],
)
def test_counts_equal_the_ledger(name: str, fact: str) -> None:
    assert table().count(name) == registry.load().facts[fact].value
    assert table().counts[name].fact == fact


def test_clusters_and_pairs_make_up_the_sms() -> None:
    count = table().count
    assert count("gpcs") * count("tpcs_per_gpc") * count("sms_per_tpc") == count("sms")


def test_every_fact_named_in_the_table_exists() -> None:
    named = {entry.fact for entry in (*table().sizes.values(), *table().counts.values()) if entry.fact}
    assert named <= set(registry.load().facts)


def test_the_layers_of_a_stack_fill_its_height() -> None:
    sizes = {name: entry.value for name, entry in table().sizes.items()}
    layers = table().count("dram_layers") * (sizes["dram_die_thickness"] + sizes["film_thickness"])
    assert sizes["base_die_thickness"] + layers == pytest.approx(sizes["tops_thickness"])


def test_thicknesses_alone_are_drawn_taller() -> None:
    for name, entry in table().sizes.items():
        factor = 4.0 if entry.drawing == "thickness" else 1.0
        assert mm(name) == pytest.approx(entry.value * factor), name
        assert (entry.drawing == "thickness") == name.endswith("_thickness"), name


def test_every_entry_is_used() -> None:
    sources = [path.read_text(encoding="utf-8") for path in Path(dimensions.__file__).parent.glob("*.py")]
    code = "\n".join(sources)
    # layers of the board are looked up by kind, the area is what the sides must give
    by_kind = {f"{kind}_thickness" for kind in ("mask", "core")}
    unused = {name for name in (*table().sizes, *table().counts) if f'"{name}"' not in code}
    assert unused == by_kind | {"die_area_mm2", "sms"}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        (ENTRY.replace("1.0", "0"), "positive number"),
        (ENTRY.replace("1.0", '"wide"'), "positive number"),
        (ENTRY.replace("1.0", "true"), "positive number"),
        (ENTRY.replace("estimate", "guess"), "unknown kind"),
        (ENTRY.replace("estimate", "published"), "names the fact"),
        (ENTRY.replace('reason = "why", ', ""), "says where it comes from"),
        (ENTRY.replace("to_scale", "roughly"), "unknown drawing"),
        (ENTRY.replace(', drawing = "to_scale"', ""), "unknown drawing"),
        (ENTRY.replace("reason", 'raeson = "typo", reason'), "unknown keys"),
    ],
)
def test_a_malformed_entry_is_refused(line: str, complaint: str) -> None:
    with pytest.raises(DimensionError, match=complaint):
        load(START + line)


def test_a_count_must_be_whole() -> None:
    with pytest.raises(DimensionError, match="whole number"):
        load(START.replace("[mm]", 'n = { value = 1.5, kind = "estimate", reason = "why" }\n[mm]'))
