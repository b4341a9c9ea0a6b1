"""How the model is stored small: whole numbers instead of floats, few tables, nothing twice (KHR_mesh_quantization).

trimesh writes one float table per mesh. Its exporter lets tables be replaced before the file is put together; that is
where positions become 16-bit steps of the shape's unit, normals 8-bit, indices as narrow as they fit, and places of
copies are added (EXT_mesh_gpu_instancing). The node's scale turns steps back into millimetres.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.geometry.instancing import Copies
from app.geometry.solids import Solid

QUANTISED, INSTANCED = "KHR_mesh_quantization", "EXT_mesh_gpu_instancing"
_BYTE, _UBYTE, _SHORT, _USHORT, _FLOAT = 5120, 5121, 5122, 5123, 5126
_VERTEX_DATA, _INDEX_DATA = 34962, 34963
# view of the buffer → what the file says about it besides its place
_VIEWS: dict[str, dict[str, int]] = {
    "positions": {"byteStride": 8, "target": _VERTEX_DATA},
    "normals": {"byteStride": 4, "target": _VERTEX_DATA},
    "wide_indices": {"target": _INDEX_DATA},
    "indices": {"target": _INDEX_DATA},
    "copies": {},
}


def steps(values: NDArray[np.float64], unit: tuple[float, float, float]) -> NDArray[np.int64]:
    """Places (n, 3) in mm as whole steps of a unit (mm per step along x, y, z).

    Raises:
        ValueError: a place is too far out for 16 bits.
    """
    whole: NDArray[np.int64] = np.round(values / np.array(unit)).astype(np.int64)
    if len(whole) and np.abs(whole).max() > 32_767:
        raise ValueError(f"{np.abs(values).max()} mm does not fit into 16 bits at {unit} mm a step")
    return whole


def stored(solid: Solid, unit: tuple[float, float, float]) -> Solid:
    """The solid as the file holds it, in mm."""
    return Solid(steps(solid.vertices, unit) * np.array(unit), solid.normals, solid.faces)


class Tables:
    """The buffer under construction: its views and the accessors into them."""

    def __init__(self) -> None:
        self.pieces: dict[str, bytes] = dict.fromkeys(_VIEWS, b"")
        self.accessors: list[dict[str, Any]] = []

    def mesh(self, solid: Solid, unit: tuple[float, float, float]) -> tuple[dict[str, int], int]:
        """Store a shape; returns the accessors of its attributes and of its indices."""
        places = steps(solid.vertices, unit)
        # both kinds are padded, because each vertex must begin at a multiple of four bytes
        wide = np.zeros((len(places), 4), dtype="<i2")
        wide[:, :3] = places
        leaning = np.zeros((len(places), 4), dtype=np.int8)
        leaning[:, :3] = np.round(solid.normals * 127)
        limits = {"min": places.min(axis=0).tolist(), "max": places.max(axis=0).tolist()}
        position = self._add("positions", wide.tobytes(), _SHORT, "VEC3", len(places), **limits)
        normal = self._add("normals", leaning.tobytes(), _BYTE, "VEC3", len(places), normalized=True)
        small = len(places) <= 255
        data = solid.faces.astype(np.uint8 if small else "<u2").tobytes()
        kind = ("indices", _UBYTE) if small else ("wide_indices", _USHORT)
        indices = self._add(kind[0], data, kind[1], "SCALAR", solid.faces.size)
        return {"POSITION": position, "NORMAL": normal}, indices

    def copies(self, copies: Copies, unit: tuple[float, float, float]) -> dict[str, int]:
        """Store places of copies; returns their accessors by the extension's attribute names."""
        return {
            name: self._add("copies", values.tobytes(), _FLOAT, f"VEC{values.shape[1]}", len(values))
            for name, values in copies.arrays(unit).items()
        }

    def _add(self, view: str, data: bytes, component: int, kind: str, count: int, **more: Any) -> int:
        """An accessor for the data, which is stored only where it does not stand in the view already."""
        start = self.pieces[view].find(data)
        while start % 4 and start >= 0:
            start = self.pieces[view].find(data, start + 1)
        if start < 0:
            start = len(self.pieces[view])
            self.pieces[view] += data if view.endswith("indices") else data + bytes(-len(data) % 4)
            if view == "wide_indices":
                self.pieces[view] += bytes(-len(self.pieces[view]) % 4)
        accessor = {"bufferView": view, "componentType": component, "count": count, "type": kind, **more}
        if start:
            accessor["byteOffset"] = start
        if accessor not in self.accessors:
            self.accessors.append(accessor)
        return self.accessors.index(accessor)

    def fill(self, buffers: Any, tree: dict[str, Any]) -> None:
        """Put these tables in place of trimesh's own."""
        used = [view for view, data in self.pieces.items() if data]
        buffers.clear()
        for view in used:
            buffers[view] = self.pieces[view] + bytes(-len(self.pieces[view]) % 4)
        tree["accessors"] = {
            number: accessor | {"bufferView": used.index(accessor["bufferView"])}
            for number, accessor in enumerate(self.accessors)
        }
        tree["extensionsUsed"] = [INSTANCED, QUANTISED]
        tree["extensionsRequired"] = [QUANTISED]

    def describe(self, views: Iterable[dict[str, Any]]) -> None:
        """Complete the views trimesh has laid out."""
        for view, name in zip(views, (name for name, data in self.pieces.items() if data), strict=True):
            view |= _VIEWS[name]
