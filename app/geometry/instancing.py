"""Repeated parts: where each copy stands, and the arrays that say so in a GLB (EXT_mesh_gpu_instancing)."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_TURN_STEP, _SCALE_STEP = 2.0**-16, 2.0**-9


@dataclass(frozen=True, slots=True)
class Copies:
    """Places of the copies of one mesh, in its node's coordinates.

    Attributes:
        translation: (n, 3), mm.
        scale: (n, 3) or None when all copies are of the mesh's own size.
        turn: (n,) degrees about y, or None when no copy is turned.
    """

    translation: NDArray[np.float64]
    scale: NDArray[np.float64] | None = None
    turn: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Number of copies."""
        return len(self.translation)

    def arrays(self, unit: tuple[float, float, float]) -> dict[str, NDArray[np.float32]]:
        """Arrays by the extension's attribute names; places in whole steps of the unit, as the node's scale demands."""
        found = {"TRANSLATION": self._whole(unit).astype("<f4")}
        if self.turn is not None:
            half, none = np.radians(self.turn) / 2, np.zeros(len(self))
            turn = np.column_stack([none, np.sin(half), none, np.cos(half)])
            found["ROTATION"] = rounded(turn, _TURN_STEP)
        if self.scale is not None:
            found["SCALE"] = rounded(self.scale, _SCALE_STEP)
        return found

    def _whole(self, unit: tuple[float, float, float]) -> NDArray[np.float64]:
        steps: NDArray[np.float64] = np.round(self.translation / np.array(unit)) + 0.0
        return steps

    def bounds(self, mesh: NDArray[np.float64], unit: tuple[float, float, float]) -> NDArray[np.float64]:
        """Bounds of all copies, as stored, of a mesh with the given bounds (2, 3), its box turned with it."""
        size = np.ones((len(self), 3)) if self.scale is None else rounded(self.scale, _SCALE_STEP).astype(float)
        turn = np.radians(np.zeros(len(self)) if self.turn is None else self.turn)
        places, spots = self._whole(unit) * np.array(unit), []
        for x, y, z in itertools.product(*mesh.T):
            spot = size * np.array([x, y, z])
            turned_x = spot[:, 0] * np.cos(turn) + spot[:, 2] * np.sin(turn)
            turned_z = spot[:, 2] * np.cos(turn) - spot[:, 0] * np.sin(turn)
            spots.append(np.column_stack([turned_x, spot[:, 1], turned_z]) + places)
        return np.array([np.min(spots, axis=(0, 1)), np.max(spots, axis=(0, 1))])


def at(places: Iterable[tuple[float, float]], y: float = 0.0) -> Copies:
    """Copies at places (x, z), all at one height."""
    return Copies(np.array([(x, y, z) for x, z in places]))


def rows(columns: int, number: int, pitch: float) -> Copies:
    """Copies on a grid that begins at the origin, row by row along x."""
    return at((column * pitch, row * pitch) for row in range(number) for column in range(columns))


def pile(number: int, start: float, pitch: float) -> Copies:
    """Copies one above the other, lowest first."""
    return Copies(np.array([(0.0, start + index * pitch, 0.0) for index in range(number)]))


def rounded(values: NDArray[np.float64], step: float) -> NDArray[np.float32]:
    """Values rounded to a fixed binary step, as 32-bit floats: alike on every machine, and short when compressed."""
    return (np.round(values / step) * step + 0.0).astype("<f4")
