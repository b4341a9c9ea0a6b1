"""The golden file of exact counts, and what tests need to ask for its rows.

`tests/golden/traffic_reference.json` was made by an independent script (its own formulas, checked by its own walk over
the blocks): one head, one batch element, 16-bit elements, fp32 row statistics.
"""

import json
from pathlib import Path
from typing import Any

from app.theory.shapes import AttentionShape, BlockShape

REFERENCE: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "golden" / "traffic_reference.json").read_text(encoding="utf-8")
)
ROWS: list[dict[str, Any]] = REFERENCE["grid"] + REFERENCE["partial_blocks"]


def row_id(row: dict[str, Any]) -> str:
    return "-".join(f"{key}{row[key]}" for key in ("n", "d", "br", "bc") if key in row)


def shape_of(row: dict[str, Any], *, causal: bool = False, dtype: str = "fp16") -> AttentionShape:
    return AttentionShape(row["n"], row["d"], causal=causal, dtype=dtype)


def block_of(row: dict[str, Any]) -> BlockShape:
    return BlockShape(row["br"], row["bc"])
