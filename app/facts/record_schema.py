"""Checks a record of the bench and reads it into `records`.

A time is only worth showing with everything it was measured on, so a record that lacks any field of its environment is
refused, as is one whose summary does not follow from its samples. The bench runs the same check before it writes.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from typing import Any

from app.facts.records import (
    BYTE_FIELDS,
    CANNOT,
    CASE_FIELDS,
    CLOCK_FIELDS,
    COUNTER_FIELDS,
    DIRECTIONS,
    GPU_FIELDS,
    L2_STATES,
    LAUNCHES,
    ORDERS,
    RUN_FIELDS,
    SCHEMA,
    VERSION_FIELDS,
    Bytes,
    Clocks,
    Counters,
    Gpu,
    Record,
    Run,
    Times,
    Timing,
)

# A summary is rounded when it is written; it must agree with its samples to this share.
SUMMARY_AGREES = 1e-3
# Nothing that is measured here comes near it; it keeps what follows within the range of floats.
LARGEST = 1e30
LONGEST_SHOWN = 80


class RecordError(ValueError):
    """A record is incomplete or contradicts itself; the message names the place."""


def parse(document: Any, record_id: str) -> Record:
    """A record from its JSON document, checked. RecordError when a field is missing, unknown or makes no sense."""
    table = _table(document, "the record", ("schema", "run", "timings"))
    if table["schema"] != SCHEMA:
        raise RecordError(f"schema is {_shown(table['schema'])}, this version reads {SCHEMA}")
    if not isinstance(table["timings"], list):
        raise RecordError("timings must be a list")
    timings = tuple(timing(row, f"timings[{index}]") for index, row in enumerate(table["timings"]))
    return Record(record_id, _run(table["run"]), timings)


def _run(value: Any) -> Run:
    table = _table(value, "run", RUN_FIELDS, ("order",))
    gpu = _table(table["gpu"], "run.gpu", GPU_FIELDS)
    versions = _table(table["versions"], "run.versions", VERSION_FIELDS)
    clocks = _table(table["clocks"], "run.clocks", ("before", "after"))
    before, after = (
        Clocks(**_numbers(_table(clocks[when], f"run.clocks.{when}", CLOCK_FIELDS), f"run.clocks.{when}"))
        for when in ("before", "after")
    )
    for name in ("date", "command", "commit", "driver"):
        _text(table[name], f"run.{name}")
    for name, version in versions.items():
        _text(version, f"run.versions.{name}")
    try:
        moment = datetime.datetime.fromisoformat(table["date"])
    except ValueError as error:
        raise RecordError(f"run.date: {error}") from error
    if moment.tzinfo is None:
        raise RecordError("run.date must name its time zone")
    order = table.get("order", ORDERS[0])
    _one_of(order, ORDERS, "run.order")
    for name in GPU_FIELDS[1:]:
        _whole(gpu[name], f"run.gpu.{name}")
    return Run(
        table["date"],
        table["command"],
        table["commit"],
        Gpu(_text(gpu["name"], "run.gpu.name"), *(gpu[name] for name in GPU_FIELDS[1:])),
        table["driver"],
        dict(versions),
        before,
        after,
        order,
    )


def timing(value: Any, where: str) -> Timing:
    """One row, checked; `where` is how messages call it."""
    optional = ("block_m", "block_n", "settings", "launch", "kernel_names", "counted")
    needed = (*CASE_FIELDS, "status", "time_ms", "tflops_per_s", "error", "counters")
    table = _table(value, where, needed, optional)
    for name in ("kernel", "dtype", "status"):
        _text(table[name], f"{where}.{name}")
    for name in ("batch", "num_heads", "seqlen", "head_dim"):
        _whole(table[name], f"{where}.{name}")
    if not isinstance(table["causal"], bool):
        raise RecordError(f"{where}.causal must be true or false")
    _one_of(table["direction"], DIRECTIONS, f"{where}.direction")
    _one_of(table["l2"], L2_STATES, f"{where}.l2")
    _one_of(table.get("launch"), (*LAUNCHES, None), f"{where}.launch")
    ok = table["status"] == "ok"
    if not ok and not table["status"].startswith(CANNOT):
        raise RecordError(f'{where}.status must be "ok" or start with "{CANNOT}"')
    for name in ("time_ms", "tflops_per_s", "error"):
        if (table[name] is not None) != ok:
            raise RecordError(
                f"{where}.{name} must {'be there' if ok else 'be null'} when status is {table['status']!r}"
            )
    errors = ("relative", "plain")
    error = _table(table["error"], f"{where}.error", errors, ("computing",)) if ok else dict.fromkeys(errors)
    computing = error.get("computing")
    return Timing(
        **{name: table[name] for name in CASE_FIELDS},
        status=table["status"],
        block_m=_whole_or_none(table.get("block_m"), f"{where}.block_m"),
        block_n=_whole_or_none(table.get("block_n"), f"{where}.block_n"),
        settings=_string(table.get("settings", ""), f"{where}.settings"),
        launch=table.get("launch"),
        kernel_names=_names(table.get("kernel_names", []), f"{where}.kernel_names"),
        time_ms=_times(table["time_ms"], f"{where}.time_ms") if ok else None,
        tflops_per_s=_positive(table["tflops_per_s"], f"{where}.tflops_per_s") if ok else None,
        error=_number(error["relative"], f"{where}.error.relative") if ok else None,
        plain_error=_number(error["plain"], f"{where}.error.plain") if ok else None,
        computing_error=None if computing is None else _number(computing, f"{where}.error.computing"),
        counters=counters(table["counters"], f"{where}.counters"),
        counted=_bytes(table.get("counted"), f"{where}.counted"),
    )


def _times(value: Any, where: str) -> Times:
    table = _table(value, where, ("median", "p10", "p90", "samples"))
    samples = table["samples"]
    if not isinstance(samples, list) or not samples:
        raise RecordError(f"{where}.samples must be a list of at least one time")
    for index, sample in enumerate(samples):
        _positive(sample, f"{where}.samples[{index}]")
    ordered = sorted(samples)
    for name, share in (("p10", 0.1), ("median", 0.5), ("p90", 0.9)):
        stated = _number(table[name], f"{where}.{name}")
        follows = _quantile(ordered, share)
        if not math.isclose(stated, follows, rel_tol=SUMMARY_AGREES):
            raise RecordError(f"{where}.{name} is {stated}, its samples give {follows}")
    return Times(table["median"], table["p10"], table["p90"], tuple(samples))


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below, above = math.floor(position), math.ceil(position)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def counters(value: Any, where: str) -> Counters | None:
    """A row's counters, checked; None when there are none."""
    if value is None:
        return None
    table = _table(value, where, (*BYTE_FIELDS, *COUNTER_FIELDS))
    moved = _bytes({name: table[name] for name in BYTE_FIELDS}, where)
    if moved is None or None in (moved.hbm_read_bytes, moved.l2_to_sm_bytes):
        raise RecordError(f"{where} must give the bytes read")
    return Counters(
        moved,
        _number(table["duration_us"], f"{where}.duration_us"),
        _whole(table["xu_instructions"], f"{where}.xu_instructions", least=0),
        _whole(table["passes"], f"{where}.passes"),
    )


def _bytes(value: Any, where: str) -> Bytes | None:
    if value is None:
        return None
    table = _table(value, where, BYTE_FIELDS)
    return Bytes(**{name: _whole_or_none(table[name], f"{where}.{name}", least=0) for name in BYTE_FIELDS})


def _table(value: Any, where: str, needed: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RecordError(f"{where} must be an object")
    for name in needed:
        if name not in value:
            raise RecordError(f"{where} has no {name}")
    unknown = sorted(set(value) - {*needed, *optional})
    if unknown:
        raise RecordError(f"{where} has an unknown field {_shown(unknown[0])}")
    return value


def _numbers(table: Mapping[str, Any], where: str) -> dict[str, float]:
    return {name: _number(value, f"{where}.{name}") for name, value in table.items()}


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise RecordError(f"{where} must be a number, got {_shown(value)}")
    return float(value)


def _positive(value: Any, where: str) -> float:
    if _number(value, where) <= 0:
        raise RecordError(f"{where} must be positive")
    return float(value)


def _whole(value: Any, where: str, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST:
        raise RecordError(f"{where} must be a whole number of at least {least}, got {_shown(value)}")
    return value


def _whole_or_none(value: Any, where: str, least: int = 1) -> int | None:
    return None if value is None else _whole(value, where, least)


def _text(value: Any, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise RecordError(f"{where} must be a text that says something, got {_shown(value)}")
    return value


def _string(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise RecordError(f"{where} must be a text, got {_shown(value)}")
    return value


def _names(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise RecordError(f"{where} must be a list of names")
    return tuple(_text(name, f"{where}[{index}]") for index, name in enumerate(value))


def _shown(value: Any) -> str:
    """A value for a message, at most a line of it."""
    try:
        text = repr(value)
    except ValueError:  # Python prints no integer of thousands of digits
        return "a number of too many digits"
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"


def _one_of(value: Any, known: Sequence[str | None], where: str) -> None:
    if value not in known:
        raise RecordError(f"{where} must be one of {', '.join(map(str, known))}, got {_shown(value)}")
