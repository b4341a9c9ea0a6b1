"""Recorded timings: every record in `measured/`, one file a run of the bench, and the rows in them. Needs no torch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from app.facts.record_schema import RecordError, parse
from app.facts.records import Record, Timing

MEASURED = Path(__file__).parent / "measured"
__all__ = ["MEASURED", "Found", "RecordError", "Timings", "load", "read"]


@dataclass(frozen=True, slots=True)
class Found:
    """One row with the record it stands in."""

    record: Record
    timing: Timing


@dataclass(frozen=True, slots=True)
class Timings:
    """All records, oldest first."""

    records: tuple[Record, ...]

    def select(
        self,
        *,
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
        """The rows that match everything given, oldest record first. `gpu` is the name the GPU reports."""
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
            Found(record, timing)
            for record in self.records
            if gpu in (None, record.run.gpu.name)
            for timing in record.timings
            if all(getattr(timing, name) == value for name, value in given.items())
        )

    def gpus(self) -> tuple[str, ...]:
        """Names of the GPUs there are records from, each once, in order of the records."""
        return tuple(dict.fromkeys(record.run.gpu.name for record in self.records))


@cache
def load() -> Timings:
    """The records of this package, read once."""
    return read(MEASURED)


def read(folder: Path) -> Timings:
    """Every record of a folder (which may be missing). RecordError, naming the file, when one is refused."""
    records = []
    for path in sorted(folder.glob("*.json")):
        try:
            records.append(parse(json.loads(path.read_text(encoding="utf-8")), path.stem))
        except (json.JSONDecodeError, RecordError) as error:
            raise RecordError(f"{path.name}: {error}") from error
    return Timings(tuple(sorted(records, key=lambda record: (record.run.date, record.id))))
