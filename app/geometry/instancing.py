"""Repeated parts: where each copy stands, and how that is written into a GLB (EXT_mesh_gpu_instancing).

trimesh writes no instancing. Its exporter lets the accessor table be completed before the file is put together; that
is where the arrays of copies are added.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

EXTENSION = "EXT_mesh_gpu_instancing"
_FLOAT = 5126
_STEP = 4096.0  # positions are rounded to this part of a millimetre: exact in 32 bits, alike on every machine


@dataclass(frozen=True, slots=True)
class Copies:
    """Places of the copies of one mesh, in its node's coordinates.

    Attributes:
        translation: (n, 3), mm.
        scale: (n, 3) or None when all copies are of the mesh's own size.
        quarter: (n,) booleans, True where a copy is turned by 90° about y, or None when none is.
    """

    translation: NDArray[np.float64]
    scale: NDArray[np.float64] | None = None
    quarter: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        """Number of copies."""
        return len(self.translation)

    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Arrays by the extension's attribute names."""
        found = {"TRANSLATION": rounded(self.translation)}
        if self.quarter is not None:
            half = float(np.sqrt(0.5))
            turn = np.where(self.quarter[:, None], [[0.0, half, 0.0, half]], [[0.0, 0.0, 0.0, 1.0]])
            found["ROTATION"] = turn.astype(np.float32)
        if self.scale is not None:
            found["SCALE"] = rounded(self.scale)
        return found

    def bounds(self, mesh: NDArray[np.float64]) -> NDArray[np.float64]:
        """Bounds of all copies of a mesh with the given bounds (2, 3); the mesh is centred in x and z when turned."""
        size = np.ones((len(self), 3)) if self.scale is None else self.scale
        low, high = mesh[0] * size, mesh[1] * size
        if self.quarter is not None:
            turned = self.quarter[:, None]
            low, high = (np.where(turned, corner[:, [2, 1, 0]], corner) for corner in (low, high))
        return np.array([(low + self.translation).min(axis=0), (high + self.translation).max(axis=0)])


def at(places: Iterable[tuple[float, float]], y: float = 0.0) -> Copies:
    """Copies at places (x, z), all at one height."""
    return Copies(np.array([(x, y, z) for x, z in places]))


def pile(number: int, start: float, pitch: float) -> Copies:
    """Copies one above the other, lowest first."""
    return Copies(np.array([(0.0, start + index * pitch, 0.0) for index in range(number)]))


def rounded(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """Values rounded to a fixed binary step, as 32-bit floats."""
    return (np.round(values * _STEP) / _STEP + 0.0).astype(np.float32)


def write_arrays(buffers: Any, tree: dict[str, Any], copies: dict[str, Copies]) -> None:
    """Add the arrays of all copies to trimesh's buffers and accessors, and name them in the nodes.

    Args:
        buffers: trimesh's ordered buffer pieces; each becomes a buffer view.
        tree: the glTF tree under construction; its accessors are still an ordered mapping.
        copies: by node name.
    """
    for node in tree["nodes"]:
        if node["name"] not in copies:
            continue
        attributes = {}
        for name, values in copies[node["name"]].arrays().items():
            data = values.tobytes()
            if data not in buffers:
                buffers[data] = data
            accessor = {
                "componentType": _FLOAT,
                "type": f"VEC{values.shape[1]}",
                "count": len(values),
                "bufferView": list(buffers).index(data),
            }
            key = (name, data)
            if key not in tree["accessors"]:
                tree["accessors"][key] = accessor
            attributes[name] = list(tree["accessors"]).index(key)
        node["extensions"] = {EXTENSION: {"attributes": attributes}}
    tree["extensionsUsed"] = sorted({*tree.get("extensionsUsed", ()), EXTENSION})
