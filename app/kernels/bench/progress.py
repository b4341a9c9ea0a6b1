"""What a person sees while the bench runs: one bar on a terminal, one line a step in a log."""

from __future__ import annotations

import sys
import time
from typing import TextIO

BAR = 24


class Progress:
    """Counts steps of a stage. On a terminal the bar is redrawn in place; elsewhere each tenth of the way is a line."""

    def __init__(self, stage: str, steps: int, stream: TextIO | None = None) -> None:
        self._stage, self._steps, self._done = stage, steps, 0
        self._stream = stream or sys.stderr
        self._started = time.monotonic()
        self._tenth = -1

    def step(self, what: str) -> None:
        """One more step is done; `what` it was."""
        self._done += 1
        if self._stream.isatty():
            filled = BAR * self._done // max(1, self._steps)
            bar = "█" * filled + "·" * (BAR - filled)
            end = "\n" if self._done == self._steps else ""
            self._stream.write(f"\r\x1b[K{self._stage} {bar} {self._done}/{self._steps} {what}{end}")
        elif 10 * self._done // max(1, self._steps) > self._tenth:
            self._tenth = 10 * self._done // max(1, self._steps)
            seconds = time.monotonic() - self._started
            self._stream.write(f"{self._stage} {self._done}/{self._steps} after {seconds:.0f} s: {what}\n")
        self._stream.flush()


def say(line: str) -> None:
    """One line for the reader, at once."""
    print(line, flush=True)


def first_line(error: BaseException) -> str:
    """Of its message, or the error's kind where it says nothing."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
