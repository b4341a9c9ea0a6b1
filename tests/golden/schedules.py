"""Writes `schedules.json`: what `/api/schedule` answers for each algorithm, direction and mask, on a small uneven grid.

The browser's tests read it, so that they check real schedules against the server's own sums. Moves are stored as lists
to keep the file small. Regenerate with `python -m tests.golden.schedules`; a test compares the file with the API.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

from app.web.api import schedule_answer
from app.web.queries import ScheduleQuery

FILE = Path(__file__).with_name("schedules.json")
# 50 rows: the last block of either side is a partial one.
SHAPE = {"seqlen": 50, "head_dim": 64, "blocks_m": 4, "blocks_n": 3}


def answers() -> list[dict[str, Any]]:
    """Every case as the API answers it, moves and score blocks as lists of their values."""
    found = []
    for algorithm, direction, causal in itertools.product(
        ("standard", "fa1", "fa2"), ("forward", "backward"), (False, True)
    ):
        query = ScheduleQuery.model_validate(
            {"algorithm": algorithm, "direction": direction, "causal": causal, **SHAPE}
        )
        answer = schedule_answer(query).model_dump(mode="json")
        answer["moves"] = [list(move.values()) for move in answer["moves"]]
        answer["computes"] = [list(block.values()) for block in answer["computes"]]
        found.append(answer)
    return found


def text() -> str:
    """The file's text: one case a line."""
    return "[\n" + ",\n".join(json.dumps(answer, separators=(",", ":")) for answer in answers()) + "\n]\n"


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
