"""What a timing was made on: GPU as it reports itself, driver, library versions, clocks, commit, date.

A record without any of these is not worth keeping; `app.facts.record_schema` refuses it.
"""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from app.facts.records import CLOCK_FIELDS, ORDERS

FA3_WHEELS = ("tokenspeed-fa3", "fa3-fwd", "flash-attn-3")
ROOT = Path(__file__).resolve().parents[3]


class MissingEnvironmentError(RuntimeError):
    """Something a record must name cannot be found out here; the message says what to do."""


def commit(given: str | None = None) -> str:
    """Git commit of this checkout, with "+changes" when files differ from it; `given` where there is no checkout.

    MissingEnvironmentError when there is neither.
    """
    if given:
        return given
    found = _output(["git", "-C", str(ROOT), "rev-parse", "HEAD"])
    if not found:
        raise MissingEnvironmentError("there is no git checkout here; name the commit with --commit")
    return found + ("+changes" if _output(["git", "-C", str(ROOT), "status", "--porcelain"]) else "")


def now() -> str:
    """This moment, UTC, to the second."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def gpu() -> dict[str, Any]:
    """Name and properties of the current GPU as it reports them."""
    import torch

    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    return {
        "name": properties.name,
        "sms": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "hbm_bytes": properties.total_memory,
        "smem_per_sm_bytes": properties.shared_memory_per_multiprocessor,
    }


def driver() -> str:
    """Version of the NVIDIA driver. MissingEnvironmentError when nvidia-smi does not tell."""
    found = _output(["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader", "-i", "0"])
    if not found:
        raise MissingEnvironmentError("nvidia-smi does not tell the driver's version")
    return found.splitlines()[0].strip()


def versions() -> dict[str, str]:
    """Versions of everything that takes part: python, torch, cuda, cudnn, triton, and FlashAttention-3's wheel."""
    import torch

    found = {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "cuda": str(torch.version.cuda),
        "cudnn": str(torch.backends.cudnn.version()),
        "triton": _installed(["triton"]) or "absent",
    }
    wheel = next((f"{name} {_installed([name])}" for name in FA3_WHEELS if _installed([name])), None)
    return found | {"fa3_wheel": wheel or "absent"}


def clocks() -> dict[str, float]:
    """Clocks, power and temperature right now, from nvidia-smi; MissingEnvironmentError when it does not answer."""
    query = "clocks.sm,clocks.mem,power.draw,temperature.gpu"
    found = _output(["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", "-i", "0"])
    return parse_clocks(found)


def parse_clocks(text: str) -> dict[str, float]:
    """One line "1980, 3201, 98.31, 34" → clocks by name. A value the GPU does not report is -1.

    MissingEnvironmentError when the line has another form.
    """
    values = [part.strip() for part in text.strip().splitlines()[0].split(",")] if text.strip() else []
    if len(values) != len(CLOCK_FIELDS):
        raise MissingEnvironmentError(f"nvidia-smi answered {text.strip()!r}, not {len(CLOCK_FIELDS)} numbers")
    return {name: _number(value) for name, value in zip(CLOCK_FIELDS, values, strict=True)}


def run_header(command: Sequence[str], commit_given: str | None) -> dict[str, Any]:
    """The `run` part of a record, with the clocks before; the clocks after are added when it ends."""
    before = clocks()
    return {
        "date": now(),
        "command": " ".join(command),
        "commit": commit(commit_given),
        "order": ORDERS[1],
        "gpu": gpu(),
        "driver": driver(),
        "versions": versions(),
        "clocks": {"before": before, "after": before},
    }


def with_clocks_after(header: Mapping[str, Any]) -> dict[str, Any]:
    """The header with the clocks of this moment as those after."""
    return {**header, "clocks": {**header["clocks"], "after": clocks()}}


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return -1.0


def _installed(names: Sequence[str]) -> str | None:
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def _output(command: list[str]) -> str:
    """What a command prints, "" when it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
