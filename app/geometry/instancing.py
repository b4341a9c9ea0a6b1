"""Repeated parts: where each copy stands, and the arrays that say so in a GLB (EXT_mesh_gpu_instancing)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEP = 4096.0  # positions are rounded to this part of a millimetre: exact in 32 bits, alike on every machine


@dataclass(frozen=True, slots=True)
class Copies:
    """Places of the copies of one mesh, in its node's coordinates.

    Attributes:
        translation: (n, 3), mm.
        scale: (n, 3) or None when all copies are of the mesh's own size.
        turn: (n,) degrees about y, multiples of 90, or None when no copy is turned.
    """

    translation: NDArray[np.float64]
    scale: NDArray[np.float64] | None = None
    turn: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Number of copies."""
        return len(self.translation)

    def arrays(self, unit: tuple[float, float, float]) -> dict[str, NDArray[np.float32]]:
        """Arrays by the extension's attribute names; places in whole steps of the unit, which the node's scale undoes."""
        found = {"TRANSLATION": self._whole(unit).astype("<f4")}
        if self.turn is not None:
            half = np.radians(self.turn) / 2
            none = np.zeros(len(self))
            found["ROTATION"] = np.round(np.column_stack([none, np.sin(half), none, np.cos(half)]), 9).astype("<f4")
        if self.scale is not None:
            found["SCALE"] = rounded(self.scale)
        return found

    def _whole(self, unit: tuple[float, float, float]) -> NDArray[np.float64]:
        return np.round(self.translation / np.array(unit)) + 0.0

    def bounds(self, mesh: NDArray[np.float64], unit: tuple[float, float, float]) -> NDArray[np.float64]:
        """Bounds of all copies, as stored, of a mesh with the given bounds (2, 3)."""
        size = np.ones((len(self), 3)) if self.scale is None else self.scale
        corners = [size * corner for corner in mesh]
        turn = np.radians(np.zeros(len(self)) if self.turn is None else self.turn)
        cos, sin = np.round(np.cos(turn)), np.round(np.sin(turn))
        turned = [np.column_stack([c[:, 0] * cos + c[:, 2] * sin, c[:, 1], c[:, 2] * cos - c[:, 0] * sin]) for c in corners]
        places = self._whole(unit) * np.array(unit)
        return np.array(
            [(np.minimum(*turned) + places).min(axis=0), (np.maximum(*turned) + places).max(axis=0)]
        )


def at(places: Iterable[tuple[float, float]], y: float = 0.0) -> Copies:
    """Copies at places (x, z), all at one height."""
    return Copies(np.array([(x, y, z) for x, z in places]))


def pile(number: int, start: float, pitch: float) -> Copies:
    """Copies one above the other, lowest first."""
    return Copies(np.array([(0.0, start + index * pitch, 0.0) for index in range(number)]))


def rounded(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Values rounded to a fixed binary step, as 32-bit floats."""
    return (np.round(values * _STEP) / _STEP + 0.0).astype(np.float32)
