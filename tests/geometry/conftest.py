"""Reads the committed GLB without the exporter or trimesh: JSON chunk, accessors, whole numbers back to millimetres."""

import json
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

MODELS = Path(__file__).parents[2] / "models"
TYPES = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
LARGEST = {5120: 127.0, 5122: 32767.0}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


@dataclass
class Mesh:
    """Triangles of one mesh: vertices (n, 3) in mm, normals (n, 3), faces (m, 3)."""

    vertices: Any
    normals: Any
    faces: Any
    material: str

    def welded(self) -> tuple[Any, Any]:
        """Vertices merged by position, and the faces on them."""
        places, back = np.unique(np.round(self.vertices, 5), axis=0, return_inverse=True)
        return places, back.reshape(-1)[self.faces]

    def pieces(self) -> list[Any]:
        """Bounds (2, 3) of each connected solid in the mesh."""
        places, faces = self.welded()
        root = list(range(len(places)))

        def find(index: int) -> int:
            while root[index] != index:
                root[index] = root[root[index]]
                index = root[index]
            return index

        for a, b, c in faces:
            root[find(int(a))] = find(int(b))
            root[find(int(b))] = find(int(c))
        groups: dict[int, list[int]] = {}
        for index in range(len(places)):
            groups.setdefault(find(index), []).append(index)
        return [np.array([places[g].min(axis=0), places[g].max(axis=0)]) for g in groups.values()]

    def volume(self) -> float:
        """Signed volume, positive when the faces look outwards."""
        a, b, c = (self.vertices[self.faces[:, k]].astype(float) for k in range(3))
        return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


class Model:
    """The file, by node name. Places are in millimetres of the package: the root's scale is left out."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON"
        self.tree = json.loads(data[20 : 20 + size])
        self.binary = data[20 + size + 8 :]
        self.nodes: dict[str, dict[str, Any]] = {node["name"]: node for node in self.tree["nodes"]}
        names = [node["name"] for node in self.tree["nodes"]]
        assert len(names) == len(self.nodes), "two nodes share a name"
        self.known: dict[str, Any] = {}
        self.parent = {names[child]: node["name"] for node in self.tree["nodes"] for child in node.get("children", ())}

    def accessor(self, index: int) -> Any:
        accessor = self.tree["accessors"][index]
        view = self.tree["bufferViews"][accessor["bufferView"]]
        start = view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
        width = WIDTHS[accessor["type"]]
        kind = np.dtype(TYPES[accessor["componentType"]])
        stride = view.get("byteStride", kind.itemsize * width)
        assert start % kind.itemsize == 0
        assert view.get("byteOffset", 0) + view["byteLength"] >= start + stride * (accessor["count"] - 1)
        values = np.ndarray((accessor["count"], width), kind, self.binary, start, (stride, kind.itemsize))
        if accessor.get("normalized"):
            values = np.maximum(values / LARGEST[accessor["componentType"]], -1.0)
        return values[:, 0] if width == 1 else values

    def family(self, name: str) -> list[str]:
        """The node of that name, or the numbered nodes that share its field."""
        if name in self.nodes:
            return [name]
        found = [node for node in self.nodes if re.fullmatch(rf"{name}_\d+", node)]
        assert found, f"no node is called {name}"
        return found

    def scale(self, name: str) -> Any:
        """Millimetres per step of a node's whole numbers."""
        return np.array(self.nodes[name].get("scale", (1.0, 1.0, 1.0)))

    def meshes(self) -> list[str]:
        """Names of the nodes that draw something."""
        return [name for name, node in self.nodes.items() if "mesh" in node]

    def mesh(self, name: str) -> Mesh:
        (primitive,) = self.tree["meshes"][self.nodes[name]["mesh"]]["primitives"]
        attributes = primitive["attributes"]
        faces = self.accessor(primitive["indices"]).reshape(-1, 3).astype(int)
        material = self.tree["materials"][primitive["material"]]["name"]
        vertices = self.accessor(attributes["POSITION"]) * self.scale(name)
        return Mesh(vertices, self.accessor(attributes["NORMAL"]), faces, material)

    def origin(self, name: str) -> Any:
        place = np.zeros(3)
        while name:
            place = place + np.array(self.nodes[name].get("translation", (0, 0, 0)))
            name = self.parent.get(name, "")
        return place

    def copies(self, name: str) -> Iterator[Any]:
        """A 4 × 4 matrix per copy of the mesh in mm, the node's own place included."""
        if name not in self.nodes:
            for part in self.family(name):
                yield from self.copies(part)
            return
        extension = self.nodes[name].get("extensions", {}).get("EXT_mesh_gpu_instancing")
        base = np.eye(4)
        base[:3, 3] = self.origin(name)
        if extension is None:
            yield base
            return
        arrays = {key: self.accessor(index).astype(float) for key, index in extension["attributes"].items()}
        for index in range(len(arrays["TRANSLATION"])):
            matrix = np.eye(4)
            if "ROTATION" in arrays:
                x, y, z, w = arrays["ROTATION"][index]
                assert abs(x) + abs(z) < 1e-6, "copies turn about the upright axis only"
                matrix[0, 0] = matrix[2, 2] = 1 - 2 * y * y
                matrix[0, 2], matrix[2, 0] = 2 * y * w, -2 * y * w
            if "SCALE" in arrays:
                matrix[:3, :3] = matrix[:3, :3] @ np.diag(arrays["SCALE"][index])
            # the node's scale lies between package and copies: undone for the mesh, which is in mm already
            step = self.scale(name)
            matrix[:3, :3] = np.diag(step) @ matrix[:3, :3] @ np.diag(1 / step)
            matrix[:3, 3] = step * arrays["TRANSLATION"][index]
            yield base @ matrix

    def boxes(self, name: str) -> Any:
        """Bounds of every connected solid of every copy, shape (n, 2, 3), package millimetres."""
        if name in self.known:
            return self.known[name]
        boxes = []
        for part in self.family(name):
            pieces = self.mesh(part).pieces()
            for matrix in self.copies(part):
                for piece in pieces:
                    corners = np.array(list(product(*piece.T))) @ matrix[:3, :3].T + matrix[:3, 3]
                    boxes.append([corners.min(axis=0), corners.max(axis=0)])
        self.known[name] = np.array(boxes)
        return self.known[name]

    def bounds(self, name: str) -> Any:
        boxes = self.boxes(name)
        return np.array([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])


@pytest.fixture(scope="session")
def models() -> Path:
    return MODELS


@pytest.fixture(scope="session")
def model() -> Model:
    return Model(MODELS / "h100_sxm5.glb")


@pytest.fixture(scope="session")
def manifest() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((MODELS / "manifest.json").read_text(encoding="utf-8"))
    return content
