"""What the model's file says about the block diagram: the ledger's figures, and nothing about which units are off."""

from typing import Any

from app.facts import registry
from app.geometry import diagram, floorplan


def test_the_die_carries_the_diagram(model: Any) -> None:
    assert model.nodes["gpu_die"]["extras"]["diagram"] == diagram.extras()


def test_what_is_in_use_is_part_of_what_is_drawn() -> None:
    plan, used = floorplan.regions(), diagram.extras()["in_use"]
    assert used["sm"] < len(plan["sm"])
    assert used["memory_controller"] == 2 * used["site"] < len(plan["memory_controller"])


def test_shared_memory_is_part_of_the_combined_memory() -> None:
    inside = diagram.extras()["inside_sm"]
    assert 0 < inside["shared_kib"] < inside["l1_kib"]


def test_every_text_cites_facts_that_exist_and_is_a_sentence() -> None:
    known = registry.load().facts
    assert set(diagram.texts()) == {"gpc", "tpc", "sm"}
    for entry in diagram.texts().values():
        assert entry["title"].count("{number}") == 1
        assert entry["what"].endswith(".")
        assert entry["facts"]
        assert set(entry["facts"]) <= set(known)
