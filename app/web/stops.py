"""The lever's stops: sequence lengths from 512 to 65,536, four to an octave (4/4, 5/4, 6/4, 7/4 of a power of two)."""

from __future__ import annotations

FIRST = 512
LAST = 65_536
PER_OCTAVE = 4


def seqlen_stops() -> tuple[int, ...]:
    """All stops in rising order."""
    stops: list[int] = []
    octave = FIRST
    while octave < LAST:
        stops += [octave * (PER_OCTAVE + quarter) // PER_OCTAVE for quarter in range(PER_OCTAVE)]
        octave *= 2
    return (*stops, LAST)
