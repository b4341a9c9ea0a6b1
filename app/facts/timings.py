"""Recorded timings: every record in `measured/`, one file a run of the bench, and the rows in them. Needs no torch.

What lies in `measured/` itself is ours and part of the project; `measured/yours/` is where `exhibit bench` writes on a
reader's machine, and git ignores it. Both are shown side by side. A file that is no record is left out and named.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from app.facts.record_schema import RecordError, parse
from app.facts.records import Record, Timing

MEASURED = Path(__file__).parent / "measured"
YOURS = MEASURED / "yours"
__all__ = ["MEASURED", "YOURS", "Found", "RecordError", "Refused", "Timings", "load", "read"]


@dataclass(frozen=True, slots=True)
class Found:
    """One row with the record it stands in."""

    record: Record
    timing: Timing


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that is not shown: its name, and why in one clause."""

    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Timings:
    """All records, oldest first, and the files that are none."""

    records: tuple[Record, ...]
    refused: tuple[Refused, ...] = ()

    def ours(self) -> Timings:
        """Only what is part of the project."""
        return Timings(tuple(record for record in self.records if not record.yours))

    def select(
        self,
        *,
        record: str | None = None,
        kernel: str | None = None,
        direction: str | None = None,
        dtype: str | None = None,
        batch: int | None = None,
        num_heads: int | None = None,
        seqlen: int | None = None,
        head_dim: int | None = None,
        causal: bool | None = None,
        l2: str | None = None,
        gpu: str | None = None,
        ran: bool | None = None,
    ) -> tuple[Found, ...]:
        """The rows that match everything given, oldest record first. `gpu` is a name as reported, `record` an id."""
        wanted = {
            "kernel": kernel,
            "direction": direction,
            "dtype": dtype,
            "batch": batch,
            "num_heads": num_heads,
            "seqlen": seqlen,
            "head_dim": head_dim,
            "causal": causal,
            "l2": l2,
            "ran": ran,
        }
        given = {name: value for name, value in wanted.items() if value is not None}
        return tuple(
            Found(item, timing)
            for item in self.records
            if gpu in (None, item.run.gpu.name) and record in (None, item.id)
            for timing in item.timings
            if all(getattr(timing, name) == value for name, value in given.items())
        )

    def record(self, record_id: str) -> Record | None:
        """The record with this id, None when there is none."""
        return next((record for record in self.records if record.id == record_id), None)

    def gpus(self) -> tuple[str, ...]:
        """Names of the GPUs there are records from, each once, in order of the records."""
        return tuple(dict.fromkeys(record.run.gpu.name for record in self.records))


@cache
def load() -> Timings:
    """The records of this package and the reader's own, read once."""
    return read(MEASURED, YOURS)


def read(ours: Path, yours: Path | None = None) -> Timings:
    """Every record of one or two folders, which may be missing. A file that is none is named in `refused`."""
    records: dict[str, Record] = {}
    refused = []
    for folder in (ours, yours):
        for path in sorted(folder.glob("*.json")) if folder else ():
            name = f"yours/{path.name}" if folder is yours else path.name
            record_id = _id(name)
            try:
                if record_id in records:
                    raise RecordError("another record has the same name")
                found = parse(json.loads(path.read_text(encoding="utf-8")), record_id)
                records[record_id] = replace(found, yours=folder is yours)
            except (OSError, ValueError, RecursionError) as error:
                refused.append(Refused(name, _why(error)))
    return Timings(tuple(sorted(records.values(), key=lambda record: (record.run.date, record.id))), tuple(refused))


def _id(name: str) -> str:
    """`yours/my run.json` → `yours-my-run`: fit for an address and an HTML id."""
    return re.sub(r"[^A-Za-z0-9_.]+", "-", name.removesuffix(".json")).strip("-.") or "unnamed"


def _why(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error}"
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    if isinstance(error, OSError):
        return error.strerror or "cannot be read"
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)
