"""The block diagram of the full chip in figures and words: what the stand draws on its plaque and inside one SM.

The rectangles are those of the floor plan; here are the counts of what a product uses, what an SM holds, and what is
said about each region. Every figure is one of the ledger's, named in the dimension table.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from app.geometry.dimensions import count


@cache
def texts() -> dict[str, dict[str, Any]]:
    """Title, sentence and facts of each kind of region that can be picked."""
    return tomllib.loads(Path(__file__).with_name("diagram.toml").read_text(encoding="utf-8"))


def extras() -> dict[str, Any]:
    """What the model's file says about the diagram, under `diagram` of the die.

    `in_use`: of the SMs, memory controllers and sites drawn, how many an H100 SXM5 uses; which ones is not published.
    `inside_sm`: tensor cores of an SM (one in each quarter), and in KiB its registers, its combined L1 and shared
    memory, and how much of that can be shared memory.
    """
    return {
        "texts": texts(),
        "in_use": {
            "sm": count("sms_in_use"),
            "memory_controller": count("controllers_in_use"),
            "site": count("stacks_in_use"),
        },
        "inside_sm": {
            "tensor_cores": count("tensor_cores_per_sm"),
            "registers_kib": count("registers_per_sm_kib"),
            "l1_kib": count("l1_per_sm_kib"),
            "shared_kib": count("shared_per_sm_kib"),
        },
    }
